"""The researcher's pages of long dialogues."""
