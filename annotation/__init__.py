"""Corpora, schemes, campaigns, tasks and labels: the people's side of Concord."""
