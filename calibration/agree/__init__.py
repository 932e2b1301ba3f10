"""Ratings files: reading long or wide tables, and reporting what the statistics say. Imports no Django."""
