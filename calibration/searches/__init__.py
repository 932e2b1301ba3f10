"""Searches: a model reads where a judge and people differ and proposes texts; what they are worth is measured
on dialogues that the search has not seen. A person decides."""

KIND = "search"
"""The kind of the jobs that take searches further."""
IMPROVE = "improve"
"""The kind of the runs in which improving models are asked."""
