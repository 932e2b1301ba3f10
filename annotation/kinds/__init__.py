"""The kinds of items, one file each, in one table."""
