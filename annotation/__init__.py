"""Corpora, schemes, campaigns, tasks and labels: annotation by people."""
