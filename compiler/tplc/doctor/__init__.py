"""What to set where a model is served: one page for one template."""

from tplc.doctor.advice import Advice, advise

__all__ = ["Advice", "advise"]
