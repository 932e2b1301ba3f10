"""Scheme versions: stored, and what each asks."""
