"""List the settings for serving a model: one page for one template."""

from tplc.doctor.advice import Advice, advise

__all__ = ["Advice", "advise"]
