"""From labels to ratings: what a study reads, and what it leaves uncompared."""
