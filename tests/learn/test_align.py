"""Alignment: prefixes, suffixes, cuts that read well, and the texts around repeated items."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tplc.ir.markers import common_prefix, common_suffix
from tplc.learn.align import (
    Repetition,
    cut_left,
    cut_right,
    pieces,
    repetition,
    token_spans,
)


@pytest.mark.parametrize(
    ("texts", "prefix", "suffix"),
    [
        (("abc", "abd"), "ab", ""),
        (("xab", "yab"), "", "ab"),
        (("aa", "aaa"), "aa", "aa"),
        (("", "a"), "", ""),
        (("a¶b", "a¶b", "a¶c¶b"), "a¶", "¶b"),
    ],
)
def test_common_ends(texts: tuple[str, ...], prefix: str, suffix: str) -> None:
    assert (common_prefix(*texts), common_suffix(*texts)) == (prefix, suffix)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("<|a b|>x[Y]", ["<|a b|>", "[Y]"]),
        ("[[depth]] {{end}}", ["[[depth]]", "{{end}}"]),
        ("a < b > c", []),
        ("<a\nb>", []),
        ("【鐘】<k=", ["【鐘】"]),
        ("<>", []),
        ("<k ]<v>", ["<v>"]),
    ],
)
def test_tokens_are_bracketed_text_on_one_line(text: str, tokens: list[str]) -> None:
    assert [text[start:end] for start, end in token_spans(text)] == tokens


@pytest.mark.parametrize(
    ("text", "at", "left", "right"),
    [
        ("<ab><cd>", 6, 4, 8),
        ("word next", 2, 0, 4),
        ("a|b", 1, 1, 1),
        ("]]x[[", 3, 3, 3),
    ],
)
def test_cuts_move_to_where_it_reads_well(text: str, at: int, left: int, right: int) -> None:
    assert (cut_left(text, at), cut_right(text, at)) == (left, right)


@pytest.mark.parametrize(
    ("pre", "mid", "post", "expected"),
    [
        (
            '<c>\n{"n": "',
            '}\n</c>\n<c>\n{"n": "',
            "}\n</c><end>",
            Repetition(start="", open='<c>\n{"n": "', close="}\n</c>", separator="\n", end="<end>"),
        ),
        (
            '<all>[{"n": "',
            '}, {"n": "',
            "}]</all>",
            Repetition(start="<all>[", open='{"n": "', close="}", separator=", ", end="]</all>"),
        ),
        (
            "<calls begin><call begin>",
            "<call end><call begin>",
            "<call end><calls end>",
            Repetition("<calls begin>", "<call begin>", "<call end>", "", "<calls end>"),
        ),
        (
            "\n<k>",
            "</v>\n<k>",
            "</v>\n</call>",
            Repetition(start="\n", open="<k>", close="</v>", separator="\n", end="\n</call>"),
        ),
        ("(", ", ", ")", Repetition("(", "", "", ", ", ")")),
        ("c>>", "<<cc>>", "<<c<end>", Repetition("", "c>>", "<<c", "", "<end>")),
        # the texts around items show a cut inside a word
        ("<f>aXa", "#laXa", "#l </f>", Repetition("<f>", "aXa", "#l", "", " </f>")),
        ("<f>'k", "'end'k", "'ended", Repetition("<f>", "'k", "'end", "", "ed")),
    ],
)
def test_repetition(pre: str, mid: str, post: str, expected: Repetition) -> None:
    assert repetition(pre, mid, post) == expected


_MARKS = st.text(alphabet="<>[]ab \n/|", max_size=8)


@given(_MARKS, _MARKS, _MARKS)
def test_any_split_gives_the_texts_back(pre: str, mid: str, post: str) -> None:
    split = repetition(pre, mid, post)
    assert split.start + split.open == pre
    assert split.close + split.separator + split.open == mid
    assert split.close + split.end == post


@pytest.mark.parametrize(
    ("marker", "expected"),
    [
        ("<outer>\n<f=", ["<outer>", "<f="]),
        ("<a><b>name:", ["<a>", "<b>", "name:"]),
        ("", []),
        ("plain words", ["plain", "words"]),
    ],
)
def test_pieces(marker: str, expected: list[str]) -> None:
    assert pieces(marker) == expected
