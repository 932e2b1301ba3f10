"""Suites: each implements the full study of a paper on top of a core that does not depend on them."""
