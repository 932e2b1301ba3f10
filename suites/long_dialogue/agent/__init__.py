"""An agent that heard a long dialogue: how it is asked, what it remembers, and how its answers are read."""

from pathlib import Path

PROMPTS = Path(__file__).resolve().parent.parent / "prompts"
"""The released texts of these agents; one is never edited, a change is a new version."""
