"""The pages of judges."""
