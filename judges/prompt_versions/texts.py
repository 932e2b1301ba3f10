"""Texts of prompts in the database, stored once and found by the digest of their content."""

from __future__ import annotations

from judges.errors import JudgeError
from judges.models import PromptText
from judges.protocols import Wording


def store(*, wording: Wording) -> PromptText:
    """Return the stored text of a wording, storing it first where it is new."""
    found, _ = PromptText.objects.get_or_create(
        digest=wording.digest(),
        defaults={
            "system": wording.system,
            "user": wording.user,
            "form": wording.form,
            "examples": [dict(example) for example in wording.examples],
            "picking": dict(wording.picking),
        },
    )
    return found


def wording_of(text: PromptText) -> Wording:
    """Return a stored text as protocols read it."""
    return Wording(text.system, text.user, text.form, tuple(text.examples), text.picking)


def of_digest(digest: str) -> Wording:
    """Return the text of a digest; raise JudgeError where it is not stored here."""
    found = PromptText.objects.filter(digest=digest).first()
    if found is None:
        raise JudgeError(f"The text {digest[:12]} of this judge's prompt is not stored here.")
    return wording_of(found)
