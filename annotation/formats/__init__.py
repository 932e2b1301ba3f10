"""The import formats, one file each, in one table."""
