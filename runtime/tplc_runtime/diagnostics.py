"""The codes of diagnostics: the one list of them, and what each means.

Diagnostic(7, "unknown tool f", "unknown_tool").code in CODES  →  True

Codes are stable; texts may change.  docs/diagnostics.md and schemas/diagnostic.schema.json list the same codes.
"""

from __future__ import annotations

CODES = {
    # How the output ends
    "ends_in_call": "The output ends inside a call.",
    "ends_in_marker": "The output ends with a truncated marker, which was dropped.",
    "ends_in_reasoning": "The output ends inside the reasoning.",
    "text_after_turn": "Text follows the end of the turn.",
    "text_after_finish": "Text was fed after `finish`.",
    # Parts of a turn
    "another_turn": "The answer contains the header of a turn. It was dropped.",
    "like_a_marker": "Text like a marker, another word between its brackets, or what no text begins or ends with (the "
    "role of a turn, an invisible character) remains in the message. Reported when the output has ended, only if there "
    "is no other diagnostic. The offset is the output's end.",
    "like_a_call": "Content, or reasoning that is alone, names a tool and one of its arguments, as a call does. "
    "Reported when the output has ended, only if there is no other diagnostic.",
    "marker_spelled_otherwise": "A marker is in other case, or has other separators or white space. It counts.",
    "reasoning_not_closed": "A call, or an opener of content, comes in open reasoning, and ends it.",
    "reasoning_not_open": "Reasoning is closed although none is open. The closer was dropped.",
    "reasoning_opened_twice": "Reasoning is opened twice, or the header comes again. The second one was dropped.",
    "unknown_special_token": "A special token isn't a marker of the format. It stays in the text.",
    # Calls
    "not_a_call": "Text begins like a call but isn't one. It stays in the content.",
    "markup_in_name": "The name of a tool contains markup, quotes or white space. Reported if no tools are given.",
    "unknown_tool": "A call names a tool that is not among the given tools.",
    "empty_call": "An opener of a call is followed directly by its closer. Both were dropped.",
    "call_not_opened": "A call has no opener.",
    "calls_opened_twice": "Calls are opened twice. The first opener was dropped.",
    "call_repaired": "The object of a call isn't valid JSON or a valid literal. It was repaired.",
    "left_over": "A bracket, a fence or a marker is left over after a call. It was dropped.",
    "other_form_of_calls": "Calls are in another form than the template's.",
    "other_header": "The header of a call is in another form than the template's.",
    "repeated_field": "A member of a call's object is repeated. The first one counts.",
    "repeated_slot": "A part of a call is repeated with another value.",
    "tool_name_corrected": "The name of a tool is spelled differently. The name of the given tool was used.",
    "unknown_field": "A member of a call's object is unknown. It was left out.",
    # Arguments
    "argument_not_closed": "An argument has no closer, or is in the value of another.",
    "argument_not_opened": "An argument has no opener.",
    "argument_of_other_type": "The value of an argument doesn't have the schema's type, or is written as another type.",
    "arguments_in_one": "One argument contains all of them.",
    "arguments_next_to_name": "The arguments of a call object are next to the name.",
    "arguments_not_an_object": "The arguments aren't an object. Their text is in the content.",
    "arguments_of_other_tool": "The arguments have none of the keys of the tool.",
    "arguments_repaired": "The arguments of a call aren't valid JSON or valid literals. They were repaired.",
    "call_as_arguments": "A whole call, or another object, is around the arguments.",
    "closer_in_argument": "An argument's value contains its own closer. The one before the call's next marker ends it.",
    "fence_around_arguments": "The arguments are inside a Markdown fence, which was dropped.",
    "key_in_quotes": "The name of an argument is in quotes, or before a colon. They were dropped.",
    "markup_in_key": "The name of an argument contains markup.",
    "no_argument": "Text inside a call isn't an argument.",
    "no_arguments": "A call has no arguments, or not all of them, where they were expected.",
    "object_as_arguments": "A JSON object is in the place of the arguments.",
    "other_form_of_argument": "An argument is in another form than the template's.",
    "positional_arguments": "Arguments have no keys. They were taken in the order of the schema.",
    "repeated_argument": "An argument is repeated, or a key of an object in it.",
    "unknown_argument": "The tool has no argument of this name.",
    # Rows of a table
    "no_parser": "No parser has the name that the row gives, or the row gives none. All of its text is content.",
    "row_not_read": "The row could not be read. All of its text is content.",
    "tools_not_read": "Tools that are not JSON, no list or have no name are ignored; formats without calls read none.",
}
