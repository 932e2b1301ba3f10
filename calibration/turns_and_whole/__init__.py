"""Turns and whole: where people's labels of turns and their label of the whole continuation disagree."""
