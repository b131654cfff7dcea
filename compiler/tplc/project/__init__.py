"""Many models at once: the manifest, building what it names, and checking that what exists is current."""
