"""The HTTP API of long dialogues."""
