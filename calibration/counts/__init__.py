"""Counts and scores by system and condition: from labels to the table, its charts and its files."""
