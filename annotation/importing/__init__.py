"""Importing files into corpora: atomic, recognised by content, bounded in memory."""
