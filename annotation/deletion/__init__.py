"""Deleting what people may delete: whole corpora and a person's data."""
