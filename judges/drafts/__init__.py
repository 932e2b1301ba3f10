"""Drafts of judges: written, tried on dev items, thrown away or kept as a version of a prompt."""

DRAFT = "draft"
"""The kind of the runs of drafts."""
