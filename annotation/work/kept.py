"""What is kept of an annotator's answers: those that stand, and whether two drafts say the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotation.models import Assignment


def says_the_same(mine: Mapping[str, Any], kept: Mapping[str, Any]) -> bool:
    """Whether two drafts hold the same answers, comment and flag."""

    def content(draft: Mapping[str, Any]) -> tuple[Any, ...]:
        answers = draft.get("answers") or {}
        given = (
            {item: values for item, values in answers.items() if values}
            if isinstance(answers, Mapping)
            else answers
        )
        return given, draft.get("comment") or "", bool(draft.get("flagged"))

    return content(mine) == content(kept)


def standing_answers(assignment: Assignment) -> dict[str, dict[str, float | str]]:
    """Return the live answers that an assignment gave: item (its public number) to question key to value."""
    live = assignment.labels.filter(superseded_at__isnull=True, missing="").values_list(
        "item__public", "question__key", "number", "text"
    )
    answers: dict[str, dict[str, float | str]] = {}
    for item, key, number, text in live:
        answers.setdefault(str(item), {})[key] = (text or "") if number is None else number
    return answers
