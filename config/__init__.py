"""How Concord is configured and started."""
