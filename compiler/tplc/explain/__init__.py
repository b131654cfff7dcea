"""Explain how a format was learned: the questions, the renders, and the conclusions."""

from tplc.explain.explain import AnsweredQuestion, Explanation, explain

__all__ = ["AnsweredQuestion", "Explanation", "explain"]
