"""Backup and restore of the whole database as one file.

The file is a ZIP archive of two members: `database.dump`, a dump in PostgreSQL's custom format, and
`manifest.json` with its SHA-256 hash, the migrations that were applied and the number of rows of each table,
all of one moment.
"""
