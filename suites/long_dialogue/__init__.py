"""Long, dated dialogues: scripts, facts, questions, and agents whose memory is tested."""
