"""Outputs that coverage guides: python -m tests.fuzz.guided [WORD] [-runs=200000] [libFuzzer's other options]

Bytes choose a parser, its keywords, and pieces of the output: markers of the format, fragments, and plain text.
"""

from __future__ import annotations

import importlib
import random
import sys
import tempfile
from pathlib import Path

import atheris

from tests.fuzz.check import check
from tests.fuzz.formats import Format, formats, with_source
from tests.fuzz.outputs import FRAGMENTS, markers_of, random_options


def instrumented(forms: list[Format], folder: Path) -> list[Format]:
    """Return the same parsers, imported so that their coverage is recorded."""
    sys.path.insert(0, str(folder))
    found = []
    with atheris.instrument_imports(include=[f"parser_{index}" for index in range(len(forms))]):
        for index, form in enumerate(forms):
            (folder / f"parser_{index}.py").write_text(form.source, encoding="utf-8")
            copy = with_source(form, form.source)
            vars(copy)["parser"] = importlib.import_module(f"parser_{index}")
            found.append(copy)
    return found


class Target:
    def __init__(self, forms: list[Format]) -> None:
        self.forms = forms
        self.pieces = [[*sorted(set(markers_of(form.ir))), *form.outputs, *FRAGMENTS] for form in forms]

    def __call__(self, data: bytes) -> None:
        source = atheris.FuzzedDataProvider(data)
        index = source.ConsumeIntInRange(0, len(self.forms) - 1)
        form = self.forms[index]
        options = random_options(form, random.Random(source.ConsumeIntInRange(0, 255)))
        text = ""
        while source.remaining_bytes() > 2 and len(text) < 4000:
            if source.ConsumeBool():
                text += source.PickValueInList(self.pieces[index])
            else:
                text += source.ConsumeUnicode(source.ConsumeIntInRange(0, 12))
        size = 1 + len(text) % 7
        checked = check(form, text, options, [text[at : at + size] for at in range(0, len(text), size)])
        if checked.broken:
            raise AssertionError(f"{form.name}\n{text!r}\n{options!r}\n{size} characters a chunk\n{checked.broken}")


def main(arguments: list[str]) -> None:
    word = next((argument for argument in arguments[1:] if not argument.startswith("-")), "")
    forms = [form for form in formats() if word in form.name]
    with tempfile.TemporaryDirectory() as folder:
        target = Target(instrumented(forms, Path(folder)))
        # Short inputs hold next to nothing: the bytes of a whole output from the beginning.
        atheris.Setup([*(argument for argument in arguments if argument != word), "-len_control=0"], target)
        atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv)
