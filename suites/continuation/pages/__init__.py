"""The researcher's pages of what writes."""
