"""Long, dated dialogues: scripts, facts, questions, and agents that are asked what they remember."""
