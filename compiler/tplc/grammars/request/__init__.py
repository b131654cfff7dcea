"""A request, and its rules: the turn, its calls, and where they begin."""
