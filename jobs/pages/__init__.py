"""Pages of background work."""
