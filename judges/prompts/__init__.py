"""Prompts: their texts, their versions in the database, and the search for better ones."""
