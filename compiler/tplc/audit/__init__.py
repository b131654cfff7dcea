"""Warn about a template before a user trusts it. `warnings` shows a defect by renders, `suspects` reads the source.

`warnings` proves it by renders, `suspects` reads the source.
"""
