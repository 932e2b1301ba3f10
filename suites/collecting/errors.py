"""Errors of this suite; each message is one line for the user.

AnnotationError
  PersonasRefused   an inventory, a draw, a persona or a corpus that is not possible, with the invalid field
  WorkError
    ChatRefused     a conversation that is over, is not the person's turn, or cannot begin
    MessageRefused  a text that cannot be sent
    WritingRefused  a response that was sent already, or that is not the next one
"""

from __future__ import annotations

from annotation.errors import AnnotationError, WorkError


class PersonasRefused(AnnotationError):
    """An inventory, a draw of personas or a change of a persona is not possible."""

    def __init__(self, reason: str, *, field: str = "") -> None:
        super().__init__(reason)
        self.field = field


class ChatRefused(WorkError):
    """A conversation that is over, is not the person's turn, or cannot begin."""

    code = "chat_refused"
    status = 409


class MessageRefused(WorkError):
    """A text that cannot be sent: empty, or too long."""

    code = "message_refused"
    field = "text"


class WritingRefused(WorkError):
    """A response that was sent already, or that is not the next one."""

    code = "writing_refused"
    status = 409
