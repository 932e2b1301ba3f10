"""Long dialogues of dated sessions: reading them by windows, and changing what is said of their sessions."""
