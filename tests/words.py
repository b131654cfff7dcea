"""`make lint`: words and sentence lengths of everything that people read, and the first words of docstrings.

    python -m tests.words            fail if a folder has more of the listed words than tests/cases/words.json allows
    python -m tests.words --list X   print every place of the word X (or of all words)
    python -m tests.words --count    print how often each word occurs, and the lengths of sentences
    python -m tests.words --update   write the present counts; a count may only fall

It reads the prose of documents, docstrings, comments, texts of at least three words in the code (help, messages), and
the descriptions in JSON schemas, but not the code in documents.  A line that quotes a listed word on purpose ends in
`words: allowed`.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import re
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ALLOWED = ROOT / "tests" / "cases" / "words.json"
# Each with what to write instead.
WORDS = {
    r"behind": "after",
    r"signs?": "character, marker",
    r"tells?|told|telling": "report, say, distinguish",  # words: allowed
    r"besides?": "before, around, next to, with",
    r"anew": "again, regenerate",
    r"whoever|whatever|wherever": "the caller, any, if",  # words: allowed
    r"loosely|loose": "error-tolerant, approximately",
    r"(?:that|which|what) (?:is|are) there": "existing",
    r"(?:that|which|what) (?:is|are) (?-i:none)": "invalid",
    r"minds|minded": "depends on, respects",
    r"otherwise than|other than by": "differently from",  # words: allowed
    r"(?:hands?|handed) on": "pass on",  # words: allowed
    r"nobody|anybody": "name the actor: no template, the caller, …",  # words: allowed
    r"stands? (?:before|between|after|next to|around|inside|in the place)": "is, occurs",
}
PATTERNS = {word: re.compile(rf"\b(?:{word})\b", re.IGNORECASE) for word in WORDS}
# The first words of functions' docstrings, which may end in "s".
VERBS = frozenset(
    "account add allow append apply ask assert begin break build call cancel check close compare compile "
    "consume continue count create cut decide declare delay discard do does drop emit end enforce examine "
    "excuse find finish fold follow give go guard handle ignore insert join keep kill learn leave limit list "
    "load lower make map measure move name note open parse prepare print probe put raise read record refuse "
    "register remove render repeat replace report resolve return run send set show skip split start stop take "
    "treat try turn verify wait write yield".split()
)
PRAGMA = "words: allowed"
LONGEST, AVERAGE = 32, 16
WIDEST = 145  # characters of a line in a document
MOST_CHANGES = 60  # lines of one version in the changelog
# Written by make targets, with lists of figures that are not sentences.
LISTS = {"coverage.md", "hostile.md"}


def files() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    found = [ROOT / name for name in listed.split("\0") if name.endswith((".py", ".md", ".schema.json"))]
    left_out = ("tests/cases/", "examples/parsers/")
    return [
        path for path in found if path.is_file() and not _name(path).startswith(left_out) and "/out/" not in str(path)
    ]


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def group_of(path: Path) -> str:
    """Returns the folder that a file's words count for: two levels in code, each document by itself."""
    parts = Path(_name(path)).parts
    if path.suffix == ".md":
        return _name(path)
    return "/".join(parts[:3] if parts[0] == "compiler" else parts[:2]) if len(parts) > 2 else "/".join(parts[:-1])


def texts_of(path: Path) -> Iterator[tuple[int, str]]:
    """Yields what people read in a file, with line numbers."""
    text = path.read_text(encoding="utf-8")
    readers = {".md": prose, ".json": _descriptions, ".py": _texts_of_code}
    yield from readers[path.suffix](text)


def prose(text: str) -> Iterator[tuple[int, str]]:
    """Yields the lines of a document without code."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            fenced = not fenced
        elif not fenced and not line.startswith("<!--"):
            yield number, re.sub(r"(`+).*?\1", "x", re.sub(r"\]\([^)]*\)", "]", line))


def _descriptions(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        yield from ((number, found) for found in re.findall(r'"description": ("(?:[^"\\]|\\.)*")', line))


def _texts_of_code(text: str) -> Iterator[tuple[int, str]]:
    lines = text.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
    for node in ast.walk(ast.parse(text)):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and len(re.findall(r"[a-z]+\b", node.value)) > 2
        ):
            if PRAGMA not in lines[node.lineno - 1]:
                yield node.lineno, re.sub(r"(`+)[^`\n]*\1", "x", node.value)


def found_in(path: Path) -> Iterator[tuple[str, int, str]]:
    for number, text in texts_of(path):
        if PRAGMA in text:
            continue
        for word, pattern in PATTERNS.items():
            for _ in pattern.finditer(text):
                yield word, number, text.strip().splitlines()[0] if text.strip() else ""


def counts() -> dict[str, dict[str, int]]:
    found: dict[str, Counter[str]] = {}
    for path in files():
        for word, _, _ in found_in(path):
            found.setdefault(group_of(path), Counter())[word] += 1
    return {group: dict(sorted(words.items())) for group, words in sorted(found.items())}


def sentences(text: str) -> list[int]:
    """Returns the lengths, in words, of the sentences of a document: of paragraphs and list items, not of tables."""
    blocks: list[str] = [""]
    for _, line in prose(text):
        if not line.strip() or line.startswith(("#", "|")):
            blocks.append("")
        elif re.match(r"\s*(?:[-*]|\d+\.) ", line):
            blocks.append(line)
        else:
            blocks[-1] += " " + line
    parts = [part for block in blocks for part in re.split(r"(?<=[.!?:])\**\s+(?=[A-Z`\[*x])", block)]
    lengths = [len(re.findall(r"[\w'’`/.-]*\w[\w'’`/.-]*", part)) for part in parts]
    return [length for length in lengths if length > 2]


def documents() -> Iterator[tuple[Path, list[int]]]:
    """Yield the documents with the lengths of their sentences."""
    for path in files():
        if path.suffix == ".md" and path.name not in LISTS:
            lengths = sentences(path.read_text(encoding="utf-8"))
            if lengths:
                yield path, lengths


def described(lengths: list[int]) -> str:
    return f"sentences have {sum(lengths) / len(lengths):.1f} words on average, {max(lengths)} at most"


def long_sentences() -> Iterator[str]:
    for path, lengths in documents():
        if max(lengths) > LONGEST or sum(lengths) / len(lengths) > AVERAGE:
            yield f"{_name(path)}: {described(lengths)}"


def without_verb() -> Iterator[str]:
    """Yield functions of the compiler, the runtime and the benchmarks whose docstrings don't begin with a verb.

    The docstring of a parsing function may be its grammar rule, and that of a property says what it is.
    """
    for path in files():
        if path.suffix == ".py" and _name(path).startswith(("compiler/", "runtime/", "benchmarks/")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    first, *rest = (ast.get_docstring(node) or "return").split(maxsplit=1)
                    is_property = any("property" in ast.unparse(one) for one in node.decorator_list)
                    is_rule = bool(rest) and rest[0].startswith("= ")
                    word = first.lower().strip(".,:")
                    if not ({word, word.removesuffix("s")} & VERBS or is_property or is_rule):
                        yield f"{_name(path)}:{node.lineno}: docstring of {node.name}: {first!r} is not a verb"


def long_changelog() -> Iterator[str]:
    """Yield the versions whose part of the changelog is too long to be read."""
    for part in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").split("\n## ")[1:]:
        lines = part.rstrip().splitlines()
        if len(lines) > MOST_CHANGES:
            yield f"CHANGELOG.md: {lines[0]}: {len(lines)} lines, {MOST_CHANGES} allowed; join or shorten entries"


def long_lines() -> Iterator[str]:
    """Yield the lines of documents that are too long to be reviewed.  Rows of tables can't be wrapped."""
    for path in files():
        if path.suffix == ".md" and path.name not in (*LISTS, "CHANGELOG.md") and path.parent.name != "examples":
            lines = path.read_text(encoding="utf-8").splitlines()
            fences = accumulate(line.startswith("```") for line in lines)
            for number, (line, fence) in enumerate(zip(lines, fences, strict=True), 1):
                if len(line) > WIDEST and not fence % 2 and not line.startswith(("|", "#", "!", "<", "```")):
                    yield f"{_name(path)}:{number}: {len(line)} characters, {WIDEST} allowed; wrap the paragraph"


def problems() -> Iterator[str]:
    yield from without_verb()
    yield from long_lines()
    yield from long_changelog()
    allowed = json.loads(ALLOWED.read_text(encoding="utf-8"))
    for group, words in counts().items():
        for word, count in words.items():
            most = allowed["words"].get(group, {}).get(word, 0)
            if count > most:
                yield f"{group}: {count} times {word!r}, {most} allowed; write {WORDS[word]} (--list shows the places)"
    known = {line.split(":")[0] for line in allowed["sentences"]}
    yield from (line for line in long_sentences() if line.split(":")[0] not in known)


def update() -> None:
    found = {"words": counts(), "sentences": [line.split(":")[0] for line in long_sentences()]}
    ALLOWED.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--list", nargs="?", const="", metavar="WORD")
    parser.add_argument("--count", action="store_true", help="print how often words occur, and lengths of sentences")
    options = parser.parse_args()
    if options.update:
        update()
    elif options.list is not None:
        for path in files():
            for word, number, text in found_in(path):
                if options.list in ("", word) or re.fullmatch(word, options.list):
                    print(f"{_name(path)}:{number}: {word}: {text[:150]}")
    elif options.count:
        total: Counter[str] = Counter()
        for words in counts().values():
            total.update(words)
        print(json.dumps(dict(total.most_common())), *long_sentences(), sep="\n")
        print("all documents:", described([length for _, lengths in documents() for length in lengths]))
    else:
        found = list(problems())
        print(*found, sep="\n", end="\n" if found else "")
        sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
