"""Measure the cost of parsing: `make bench`."""
