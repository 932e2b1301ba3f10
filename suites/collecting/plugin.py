"""Entries of collecting in the core's tables."""

ENTRIES: dict[str, list[str]] = {"schemes": ["suites.collecting.schemes:SCHEMES"]}
