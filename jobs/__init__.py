"""Everything that runs in the background. This room knows the others by a table alone: see `jobs.kinds`."""
