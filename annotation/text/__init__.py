"""Texts as they may be shown: pure functions over strings."""
