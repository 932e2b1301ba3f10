"""Long, dated dialogues: sessions and who hears them, facts and questions, and what can be known when."""
