"""Comparisons of systems: counts, metric scores, preferences, outputs side by side, turns vs. dialogues."""
