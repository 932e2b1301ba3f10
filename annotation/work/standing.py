"""The answers of a submitted task that stand, as its annotator sees them."""

from __future__ import annotations

from annotation.models import Assignment
from annotation.scheme_versions.asked import questionnaire_of
from annotation.schemes.comparisons import as_shown


def standing_answers(assignment: Assignment) -> dict[str, dict[str, float | str]]:
    """Return the live answers that an assignment gave: item (its public number) to question key to value."""
    live = assignment.labels.filter(superseded_at__isnull=True, missing="").values_list(
        "item__public", "question__key", "number", "text"
    )
    plan = questionnaire_of(assignment.campaign.scheme_version_id).by_key if assignment.shown else {}
    answers: dict[str, dict[str, float | str]] = {}
    for item, key, number, text in live:
        value = (text or "") if number is None else number
        if key in plan:
            value = as_shown(value, assignment.shown, plan[key].level, plan[key].values)
        answers.setdefault(str(item), {})[key] = value
    return answers
