"""Fuzzing of generated parsers: any output, any chunking, any tools (some in `make test`, a million in `make fuzz`)."""
