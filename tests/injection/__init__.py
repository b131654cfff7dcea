"""No text of a template, a schema or a file name changes the structure of what is generated."""
