"""An agent that heard a long dialogue: its questions, its memory, and the scoring of its answers."""

from pathlib import Path

PROMPTS = Path(__file__).resolve().parent.parent / "prompts"
"""Released prompts of these agents. A released prompt is never edited: a change is a new version."""
