"""What continuations add to the core's tables."""

from annotation.schemes import SCHEMES
from suites.continuation import schemes


def add_entries() -> None:
    """Add the schemes; called once, before any models are loaded."""
    SCHEMES[schemes.SCHEME.key] = schemes.SCHEME
