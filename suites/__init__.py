"""Suites: the whole study of a paper each, on top of a core that does not know them."""
