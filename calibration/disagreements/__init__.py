"""Disagreements: the items behind a figure of a report, those that differ most first."""
