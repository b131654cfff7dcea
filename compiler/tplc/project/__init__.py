"""Many models at once: the manifest, building its files, and checking that existing files are current."""
