"""Build the grammar of a request, independently of the syntax of any grammar language."""
