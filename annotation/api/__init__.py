"""The HTTP API of annotation."""
