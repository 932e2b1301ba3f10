"""The HTTP API of what writes."""
