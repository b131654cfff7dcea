"""Warn about a template before anybody trusts it.

`warnings` proves it by renders, `suspects` reads the source.
"""
