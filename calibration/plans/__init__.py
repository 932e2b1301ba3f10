"""Plans: how many more double-rated dialogues a study needs, from what it has."""
