"""LLM endpoints: servers, keys, limits, the client, and the cost of a call."""
