"""The grammar of a request: the turn, its calls, when it takes over, and the text."""
