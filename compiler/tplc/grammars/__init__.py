"""What a grammar of a request is made of, before any dialect of grammars spells it."""
