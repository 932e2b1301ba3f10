"""Ratings files: reading long or wide tables, and reporting the statistics. Imports no Django."""
