"""Simulations: the summaries, vectors and answers of a system that hears a corpus's scripts and is asked."""
