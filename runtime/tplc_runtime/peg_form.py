"""How a format writes calls: what the readers of the PEG need to know.

FormOfCalls(values=FormOfValues(styles), pairs=FormOfPairs(…), …), which the compiler makes from the state table
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Optional

from .escapes import Escapes
from .pattern import Pattern
from .scanner import NO_MARKERS, Scanner
from .values import Style

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

NEVER, NO_TEXTS, NO_ESCAPES = Pattern(r"\Z"), Pattern("(?!)"), Escapes({})
Styles = tuple[Style, Style, Style]


@dataclass(frozen=True)
class FormOfValues:
    """How values are written, and what shows that a string is one."""

    styles: Styles  # at the top, inside lists, inside objects
    follow: tuple[Pattern, Pattern] = (NEVER, NEVER)  # what follows a value in quotes, and one at the output's end
    text_words: tuple[str, ...] = ()  # what is text unless a schema says otherwise
    literals: str = ""  # a raw value that is a whole string in such quotes is that string


@dataclass(frozen=True)
class MarkersOfCalls:
    """The markers that readers look for around and after calls."""

    breaks: Scanner = NO_MARKERS  # those in no name and in no value
    in_content: Scanner = NO_MARKERS
    after_call: Scanner = NO_MARKERS
    closers: tuple[str, ...] = ()
    garbled: Pattern = NO_TEXTS  # closers with the right letters and other brackets
    are_juxtaposed: bool = False  # only white space shows that another call follows
    are_distinct: bool = True  # a text that begins like an opener is one


@dataclass(frozen=True)
class FormOfHeaders:
    """What comes before the arguments of a call."""

    texts: Pattern = NO_TEXTS  # those of which headers consist
    name_is_first: bool = True
    name_escapes: Escapes = NO_ESCAPES
    id_prefix: str = ""
    is_like_text: bool = False  # arguments must begin after a tool's name, because the openers of calls are like text
    unopened: Sequence[Any] = ()  # see `unopened_headers`


@dataclass(frozen=True)
class FormOfObjects:
    """The keys of calls that are objects; none if calls are no objects."""

    fields: Mapping[tuple[str, ...], str] = field(default_factory=dict)  # the role of each key of a call
    own_keys: tuple[str, ...] = ()
    own_fields: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class FormOfPairs:
    """Arguments that are pairs of a key and a value."""

    between: Optional[Scanner] = None  # the markers between pairs; None if the arguments are no pairs
    have_openers: bool = True
    begin: Optional[Pattern] = None  # the first pair, after a header that is like text
    around_key: Optional[tuple[Pattern, Pattern]] = None  # the texts before a key and after it
    key_escapes: Escapes = NO_ESCAPES
    value_opener: Optional[Pattern] = None
    elements_first: bool = False  # tags may lack the word with which the template's own begin
    damaged: Optional[Pattern] = None  # arguments with what a slip in a marker leaves in a value
    markers: Optional[Scanner] = None  # which show, in a value, that it contains another pair
    call_end: str = ""  # the call's closer, if it alone ends values: another one shows that a value was cut


@dataclass(frozen=True)
class FormOfCalls:
    """All that readers know about a format."""

    values: FormOfValues
    markers: MarkersOfCalls = MarkersOfCalls()
    header: FormOfHeaders = FormOfHeaders()
    objects: FormOfObjects = FormOfObjects()
    pairs: FormOfPairs = FormOfPairs()
    is_closed: bool = False  # a call ends with a closer
    names_alike: bool = True  # names of tools may be written otherwise
    reads_again: bool = True  # calls may be written otherwise
    escapes: Optional[Mapping[str, Escapes]] = None  # those in content and reasoning
