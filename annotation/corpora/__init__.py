"""Corpora: import, queries for pages and programs, and the split into dev and test."""
