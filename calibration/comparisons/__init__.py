"""Systems compared: counts, metric scores, preferences, outputs side by side, turn and dialogue ratings."""
