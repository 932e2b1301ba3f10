"""Collecting: people talk with each other or with systems, answer for an agent, and a release is checked."""
