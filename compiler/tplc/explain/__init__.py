"""What the learner asked a template, what it saw, and what it concluded: for people to follow."""

from tplc.explain.explain import Explanation, Question, explain

__all__ = ["Explanation", "Question", "explain"]
