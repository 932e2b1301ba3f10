"""The Answers report: how well agents of long dialogues answer their questions, by system and condition."""
