"""Targets that other people's libraries read: made by a backend, verified by that library itself."""
