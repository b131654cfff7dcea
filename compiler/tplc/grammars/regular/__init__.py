"""Regular languages: characters, expressions and rules, automata, and how they are written."""
