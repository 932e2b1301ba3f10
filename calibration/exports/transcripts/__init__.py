"""Transcripts with tags as files: CSV, Markdown, LaTeX, HTML."""
