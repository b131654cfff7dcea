"""Run a generated parser as a command: python parser.py [--tools F] [--prompt F] [--stream] < output.txt"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def run_command(parser: Any) -> None:
    import argparse
    import json
    import sys

    arguments = argparse.ArgumentParser(description="Parse what the model answered into a message, as JSON.")
    arguments.add_argument("--tools", metavar="F", help="JSON file with the list of tools")
    arguments.add_argument("--prompt", metavar="F", help="text file with the prompt the model continued")
    continued = "the prompt ends with the beginning of this answer"
    arguments.add_argument("--continue-final-message", action="store_true", help=continued)
    arguments.add_argument("--stream", action="store_true", help="print the deltas of each line instead of the message")
    options = arguments.parse_args()
    tools = prompt = None
    try:
        if options.tools:
            with open(options.tools, encoding="utf-8") as file:
                tools = json.load(file)
        if options.prompt:
            with open(options.prompt, encoding="utf-8", newline="") as file:
                prompt = file.read()
    except (OSError, ValueError, RecursionError) as error:
        arguments.error(f"{options.tools if tools is None and options.tools else options.prompt}: {error}")
    stream = parser(tools=tools, prompt=prompt, continue_final_message=options.continue_final_message)
    if sys.stdout is None:
        arguments.error("standard output is closed")
    try:
        with open(0, encoding="utf-8", newline="", closefd=False) as output:
            line = "\n"
            while line:
                line = output.readline()
                for delta in stream.feed(line) if line else stream.finish():
                    if options.stream:
                        print(json.dumps(delta), flush=True)
        if not options.stream:
            print(json.dumps(stream.message, indent=2))
        sys.stdout.flush()
    except UnicodeError:
        arguments.error("standard input: this is not UTF-8 text")
    except OSError as error:
        sys.stdout = None  # Python would try to write the rest again at exit
        if isinstance(error, BrokenPipeError):
            arguments.exit(141)  # output was lost: as a shell sees a program that SIGPIPE ends
        arguments.error(f"standard input or standard output: {error.strerror}")
    for diagnostic in stream.diagnostics:
        print(f"{diagnostic.offset}: {diagnostic.text}", file=sys.stderr)
