"""The HTTP API of background work."""
