"""The built-in schemes, one file each, in one table."""

from annotation.schemes.base import QuestionDefinition, SchemeDefinition

SCHEMES: dict[str, SchemeDefinition] = {}

__all__ = ["SCHEMES", "QuestionDefinition", "SchemeDefinition"]
