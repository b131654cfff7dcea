"""The version, where every stage may read it.  pyproject.toml says the same, and a test compares them."""

VERSION = "0.2.0"
