"""An annotator's answers beside the key: what training shows after each task, and a test once it is over."""

from __future__ import annotations

from math import inf
from typing import Any, NamedTuple

from annotation.checks.scoring import Key, is_right
from annotation.models import Assignment, Attempt, Item, KeyAnswer, KeyTask, turn_numbers
from annotation.scheme_versions.asked import Asked, questionnaire_of


class Row(NamedTuple):
    """One answer beside the key. `place` says which turn, or the whole, of a task about several, else ''.

    `given` is '' where nothing was answered; `right` lists what counts as right.
    """

    place: str
    question: str
    given: str
    right: str
    is_right: bool

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return self._asdict()


def feedback_of(assignment: Assignment) -> tuple[tuple[Row, ...], str]:
    """Return the answers of a submission beside its key, as first submitted, and the key's explanation."""
    key = KeyTask.objects.get(task=assignment.task_id)
    first = assignment.labels.filter(supersedes=None, missing="")
    given = {
        (item, question): text if number is None else number
        for item, question, number, text in first.values_list("item_id", "question_id", "number", "text")
    }
    plan = questionnaire_of(assignment.campaign.scheme_version_id)
    asked = {question.id: question for question in plan.questions}
    order = {question.id: place for place, question in enumerate(plan.questions)}
    answers = list(KeyAnswer.objects.filter(key=key).select_related("item__turn"))
    turn_numbers.number(row.item.turn for row in answers)
    answers.sort(key=lambda row: (row.item.turn.position if row.item.turn else inf, order[row.question_id]))
    several = len({row.item_id for row in answers}) > 1
    rows = (
        _row(row, asked[row.question_id], given.get((row.item_id, row.question_id)), several)
        for row in answers
    )
    return tuple(rows), key.explanation


def wrong_in(attempt: Attempt) -> tuple[Row, ...]:
    """Return the answers of a try at the test that were wrong, task by task in their order."""
    mine = Assignment.objects.filter(
        campaign=attempt.campaign_id,
        user=attempt.user_id,
        occasion=attempt.occasion,
        round=attempt.number,
        state=Assignment.State.SUBMITTED,
    )
    wrong: list[Row] = []
    for number, assignment in enumerate(mine.order_by("id"), start=1):
        rows, _ = feedback_of(assignment)
        about = f"Task {number}"
        wrong += [
            row._replace(place=f"{about}, {row.place}" if row.place else about)
            for row in rows
            if not row.is_right
        ]
    return tuple(wrong)


def _row(row: KeyAnswer, question: Asked, value: float | str | None, several: bool) -> Row:
    key = Key(tuple(row.values), row.tolerance)
    return Row(
        place=_place(row.item) if several else "",
        question=question.wording,
        given="" if value is None else worded(question, value),
        right=right_in_words(question, key),
        is_right=is_right(value, key),
    )


def _place(item: Item) -> str:
    number = getattr(item.turn, "number", None) if item.turn else None
    return f"Turn {number}" if number else "The whole dialogue"


def right_in_words(question: Asked, key: Key) -> str:
    """Return what counts as right, as people read it: `4, or 1 more or less`."""
    words = " or ".join(worded(question, value) for value in key.values)
    return f"{words}, or up to {key.tolerance:g} more or less" if key.tolerance else words


def worded(question: Asked, value: float | str) -> str:
    """Return a value as people read it, with its anchor where it has one; a tag is yes or no."""
    if question.is_tag:
        return "yes" if value else "no"
    text = value if isinstance(value, str) else f"{value:g}"
    anchor = question.anchors.get(text, "")
    return f"{text} ({anchor})" if anchor and anchor != text else text
