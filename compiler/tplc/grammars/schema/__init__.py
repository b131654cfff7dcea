"""JSON Schema: what it allows, one JSON type at a time."""
