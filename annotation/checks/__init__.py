"""Training, tests, hidden checks and repeats: who is given them when, and what follows from the answers."""
