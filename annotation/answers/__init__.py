"""Answers in long dialogues as labels: what was chosen, what the key says, and how they are scored."""
