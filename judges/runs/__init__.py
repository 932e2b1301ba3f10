"""Runs of judges and metrics: who rates, what is covered and read, and how replies become labels."""
