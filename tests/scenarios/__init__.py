"""Scenarios, their keys, and what the cascade makes of decisions."""
