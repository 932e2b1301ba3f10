"""Comparisons: pairs and rankings, from files and systems to answers."""
