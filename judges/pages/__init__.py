"""Pages of judges."""
