"""`agree --levels`: correlations at turn, dialogue and system level from a ratings file."""
