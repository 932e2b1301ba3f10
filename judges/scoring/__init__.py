"""Metrics of a file, without a database: what `manage.py score` needs."""
