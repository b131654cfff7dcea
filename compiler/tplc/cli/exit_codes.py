"""Exit codes of a process that a signal ended, as shells report them; those of errors are in `tplc.errors`."""

INTERRUPTED = 130  # SIGINT
CLOSED_PIPE = 141  # SIGPIPE
