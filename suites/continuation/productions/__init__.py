"""Generation: who writes for which dialogues, asked step by step, and what becomes of it."""
