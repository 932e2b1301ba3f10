"""Schemes of collecting: the review of personas, and the release check."""

from annotation.schemes.definitions import SchemeDefinition

SCHEMES: dict[str, SchemeDefinition] = {}
