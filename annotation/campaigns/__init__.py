"""Campaigns: opened and closed, their tasks, how far they are."""
