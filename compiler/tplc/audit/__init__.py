"""Warn about a template before a user trusts it.

`warnings` proves it by renders, `suspects` reads the source.
"""
