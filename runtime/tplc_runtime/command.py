"""Run a generated parser as a command: python parser.py [--tools F] [--prompt F] [--stream] [output.txt]"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def command_arguments() -> Any:
    import argparse

    arguments = argparse.ArgumentParser(description="Parse a model's output into a message, printed as JSON.")
    arguments.add_argument("output", metavar="FILE", nargs="?", default="-", help="text file; - is standard input")
    arguments.add_argument("--tools", metavar="F", help="JSON file with the list of tools")
    arguments.add_argument("--prompt", metavar="F", help="text file with the prompt the model continued")
    arguments.add_argument("--continue-final-message", action="store_true", help="the answer begins in the prompt")
    arguments.add_argument("--stream", action="store_true", help="print the deltas of each line instead of the message")
    return arguments


def run_command(parser: Any) -> None:
    import json

    arguments = command_arguments()
    options = arguments.parse_args()
    given: Any = {"tools": options.tools, "prompt": options.prompt}
    for name, path in given.items():
        try:
            if path is not None:
                with open(path, encoding="utf-8-sig", newline="") as file:
                    given[name] = json.load(file) if name == "tools" else file.read()
        except (OSError, ValueError, RecursionError) as error:
            arguments.error(f"{path}: {getattr(error, 'strerror', None) or error}")
    stream = parser(**given, continue_final_message=options.continue_final_message)
    if parser.CALLS and stream.diagnostics:
        arguments.error(f"{options.tools}: {stream.diagnostics[0].text}")
    if sys.stdout is None:
        arguments.error("standard output is closed")
    source: Any = 0 if options.output == "-" else options.output
    escaped = not sys.stdout.encoding.lower().startswith("utf")
    try:
        with open(source, encoding="utf-8-sig", newline="", closefd=bool(source)) as output:
            line = "\n"
            while line:
                line = output.readline()
                deltas = stream.feed(line) if line else stream.finish()
                for value in deltas if options.stream else [] if line else [stream.message]:
                    text = json.dumps(value, ensure_ascii=escaped, indent=None if options.stream else 2)
                    # Characters that control a terminal stay escaped, and so do lone surrogates.
                    seen = (char if char.isprintable() or char == "\n" else json.dumps(char)[1:-1] for char in text)
                    print("".join(seen), flush=True)
    except UnicodeError:
        arguments.error(f"{source or 'standard input'}: this is not UTF-8 text")
    except KeyboardInterrupt:
        arguments.exit(130)  # as a shell sees a program that SIGINT ends
    except OSError as error:
        sys.stdout = None  # Python would try to write the rest again at exit
        if isinstance(error, BrokenPipeError):
            arguments.exit(141)  # output was lost: as a shell sees a program that SIGPIPE ends
        arguments.error(f"{error.filename or 'standard input or standard output'}: {error.strerror}")
    for note in stream.diagnostics:
        print(f"{note.offset}: {note.text}", file=sys.stderr)
    if stream.incomplete:
        print("incomplete: don't run the calls, one of them may lack something", file=sys.stderr)
