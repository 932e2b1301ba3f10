"""Long, dated dialogues: sessions and their listeners, facts and questions, and their answerability."""
