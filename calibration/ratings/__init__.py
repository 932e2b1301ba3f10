"""Ratings files: read long or wide tables, and report what the statistics say about them. Imports no Django."""
