"""Preferences: answers to pairs and rankings, of a file or of labels, to a report of systems and raters."""
