"""Agents of group chats: called once at every point of a scenario; replies are parsed strictly."""

from pathlib import Path

PROMPTS = Path(__file__).resolve().parent.parent / "prompts"
"""Released prompt texts of these agents; a text is never edited, a change is a new version."""
