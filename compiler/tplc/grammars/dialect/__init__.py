"""Values as a template writes them, of what a schema allows."""
