"""Agents of group chats: asked once at every point of a scenario, and read strictly."""

from pathlib import Path

PROMPTS = Path(__file__).resolve().parent.parent / "prompts"
"""The released texts of these agents; one is never edited, a change is a new version."""
