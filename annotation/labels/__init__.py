"""Raters and their labels: the one way in."""
