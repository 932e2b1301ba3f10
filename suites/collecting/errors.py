"""Errors of this suite; each message is one line for the user.

AnnotationError
  PersonasRefused   an inventory, a draw or a change of a persona that is not possible, with the invalid field
"""

from __future__ import annotations

from annotation.errors import AnnotationError


class PersonasRefused(AnnotationError):
    """An inventory, a draw of personas or a change of a persona is not possible."""

    def __init__(self, reason: str, *, field: str = "") -> None:
        super().__init__(reason)
        self.field = field
