"""Annotators' work on tasks, and researchers' actions on it afterwards."""
