"""Doing the calls of runs: asking models at the desk, computing metrics, writing what came of it."""
