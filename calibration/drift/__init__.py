"""Drift of judges: anchor sets, rechecks with their comparison, and monitoring of answers over time."""
