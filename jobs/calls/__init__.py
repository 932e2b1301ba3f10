"""The calls of runs: claimed, asked at once or in the provider's batches, read, and written down once."""
