"""Lower an IR to an Acceptor: the one reading of a format, which every backend prints."""

from tplc.lower.acceptor import Acceptor, Marker
from tplc.lower.call_form import CallForm, CallShape, Following, PairForm, SlotEnd
from tplc.lower.lower import lower
from tplc.lower.printed import printed

__all__ = [
    "Acceptor",
    "CallForm",
    "CallShape",
    "Following",
    "Marker",
    "PairForm",
    "SlotEnd",
    "lower",
    "printed",
]
