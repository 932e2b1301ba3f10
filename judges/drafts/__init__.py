"""Drafts of judges: written, tried on dev items, then discarded or kept as a version of a prompt."""

DRAFT = "draft"
"""Kind of the runs of drafts."""
