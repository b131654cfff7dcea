"""What a user should know of a template before trusting it.

`warnings` proves it by renders, `suspects` reads the source.
"""
