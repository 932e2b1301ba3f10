"""The Answers report: how agents of long dialogues answer what they are asked, by system and condition."""
