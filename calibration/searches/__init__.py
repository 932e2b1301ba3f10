"""Searches: a model reads where a judge and people differ and proposes texts; what they are worth is measured
on dialogues that the search has not seen. A person decides."""

HELD_BACK = "held_back"
"""The part of a search's dialogues that it never sees; what texts are worth is measured there."""
IMPROVE = "improve"
"""The kind of the runs in which improving models are asked."""
