"""What parsing costs: `make bench`."""
