"""Generation: writers, their dialogues, the steps of their calls, and the results."""
