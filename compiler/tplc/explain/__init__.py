"""What the learner asked a template, what it saw, and what it concluded: for people to follow."""

from tplc.explain.explain import AnsweredQuestion, Explanation, explain

__all__ = ["AnsweredQuestion", "Explanation", "explain"]
