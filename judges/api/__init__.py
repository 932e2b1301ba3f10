"""The HTTP API of judges."""
