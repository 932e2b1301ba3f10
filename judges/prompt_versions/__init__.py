"""Prompts and their versions: stored, found by name, and what may be done with them."""
