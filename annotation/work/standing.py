"""What stands of a task before its holder: its draft, or the answers that were submitted."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from annotation.models import Assignment
from annotation.records import Passage
from annotation.scheme_versions.store import questionnaire_of
from annotation.schemes import comparisons
from annotation.text import passages
from annotation.work.checking import item_number
from annotation.work.evidence import Evidence, as_shown
from annotation.work.leases import Hold


def held(assignment: Assignment) -> Hold:
    """Return an assignment as the task before its holder; a submitted one carries its standing answers."""
    draft = assignment.draft
    if assignment.state == Assignment.State.SUBMITTED and not draft.get("version"):
        draft = {
            "answers": standing_answers(assignment),
            "comment": assignment.comment,
            "flagged": assignment.flagged,
        }
        if evidence := standing_evidence(assignment):
            draft["evidence"] = evidence
    withdrawn = assignment.state in (Assignment.State.RETURNED, Assignment.State.TAKEN)
    note = assignment.withdrawn_reason if withdrawn else assignment.given_reason
    draft = {**draft, "version": assignment.revision}
    return Hold(assignment.pk, assignment.task_id, assignment.state, draft, note)


def standing_answers(assignment: Assignment) -> dict[str, dict[str, float | str]]:
    """Return the live answers that an assignment gave: item (its number in it) to question key to value."""
    live = assignment.labels.filter(superseded_at__isnull=True, missing="").values_list(
        "item__public", "question__key", "number", "text"
    )
    asked = questionnaire_of(assignment.campaign.scheme_version_id) if assignment.shown else None
    plan = asked.by_key if asked and asked.compares else {}
    answers: dict[str, dict[str, float | str]] = {}
    for item, key, number, text in live:
        value = (text or "") if number is None else number
        if key in plan:
            value = comparisons.as_shown(value, assignment.shown, plan[key].level, plan[key].values)
        answers.setdefault(str(item_number(item, assignment.pk)), {})[key] = value
    return answers


def standing_evidence(assignment: Assignment) -> Evidence:
    """Return what its live answers point at, by the lines of its screen; {} where they point at nothing."""
    live = assignment.labels.filter(superseded_at__isnull=True, evidence__isnull=False)
    kept = live.values_list("item__public", "question__key", "evidence")
    number = partial(item_number, assignment=assignment.pk)
    return as_shown(
        [(str(number(item)), key, passages.read(found)) for item, key, found in kept], assignment.task_id
    )


def standing_labels(
    assignment: Assignment,
) -> dict[tuple[int, int], tuple[float | str, tuple[Passage, ...]]]:
    """Return the live answers by (item id, question id), each with what it points at."""
    live = assignment.labels.filter(superseded_at__isnull=True, missing="")
    return {
        (item, question): ((text or "") if number is None else number, passages.read(evidence))
        for item, question, number, text, evidence in live.values_list(
            "item_id", "question_id", "number", "text", "evidence"
        )
    }


def says_the_same(mine: Mapping[str, Any], kept: Mapping[str, Any]) -> bool:
    """Whether two drafts hold the same answers, evidence, comment and flag."""

    def filled(given: Any) -> Any:
        if not isinstance(given, Mapping):
            return given or {}
        told = {
            item: filled(values) if isinstance(values, Mapping) else values for item, values in given.items()
        }
        return {item: values for item, values in told.items() if values or values == 0}

    def content(draft: Mapping[str, Any]) -> tuple[Any, ...]:
        texts = draft.get("comment") or "", bool(draft.get("flagged"))
        return filled(draft.get("answers")), filled(draft.get("evidence")), *texts

    return content(mine) == content(kept)
