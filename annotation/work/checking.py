"""Validation of submitted answers against the questions asked."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from annotation.errors import AnswerRefused
from annotation.records import Passage
from annotation.scheme_store import Questionnaire, ScreenQuestion
from annotation.schemes import definitions
from annotation.schemes.definitions import describe_bounds
from config import commands, request_json

# JSON from a browser or a program, cleaned for storage.


def parse(body: bytes) -> dict[str, Any]:
    """Parse a JSON object; raise AnswerRefused where the body is not an object or exceeds a limit."""
    try:
        value = request_json.parse(body or b"{}")
    except request_json.BadJSON as error:
        raise AnswerRefused(str(error)) from error
    if not isinstance(value, dict):
        raise AnswerRefused("The request must be a JSON object.")
    return value


def cleaned(value: Any) -> Any:
    """Remove what PostgreSQL cannot store: NUL characters and lone surrogates."""
    if isinstance(value, str):
        return request_json.storable(value)
    if isinstance(value, dict):
        return {cleaned(key): cleaned(part) for key, part in value.items()}
    if isinstance(value, list):
        return [cleaned(part) for part in value]
    return value


# Gates and names of a person in a campaign with rules on who rates what.

PASSES = """
SELECT ARRAY(SELECT g.id FROM annotation_gate g
              WHERE g.campaign_id = %(campaign)s AND concord_passes(g.id, %(user)s::bigint)),
       ARRAY(SELECT u.folded::text FROM annotation_username u WHERE u.user_id = %(user)s
             UNION ALL SELECT n.folded::text FROM annotation_writingname n WHERE n.user_id = %(user)s)
"""


def passes_of(campaign: int, user: int) -> dict[str, Any]:
    """Return the `gates` of a campaign that a person passes, and the folded `names` they write under."""
    with commands.cursor() as cursor:
        cursor.execute(PASSES, {"campaign": campaign, "user": user})
        gates, names = cursor.fetchone()
    return {"gates": gates, "names": names}


# Item numbers within a task, as annotators and their programs use them.
#
# They belong to the assignment: the same item gets another number each time it is assigned, so nothing in a
# repeat's page, address or draft reveals which task it repeats.

SIZE = 6
"""Bytes of a number: small enough for JavaScript to hold exactly."""


def item_number(public: int, assignment: int) -> int:
    """Return an item's number in an assignment, from the item's own secret random number."""
    digest = hashlib.blake2b(f"{assignment}:{public}".encode(), digest_size=SIZE).digest()
    return int.from_bytes(digest)


Answers = Mapping[str, Mapping[str, Any]]
"""Item (its number in the task) to question key to value; None or an empty text means no answer."""


class CheckedAnswer(NamedTuple):
    """One checked answer, with its evidence (`annotation.work.task_answers`)."""

    item: int
    question: int
    value: float | str
    evidence: tuple[Passage, ...] = ()


def changed_texts(answers: Any, start_texts: Mapping[str, str]) -> Any:
    """Return answers without texts that still are as they began; unreadable answers stay, to be refused."""
    if not isinstance(answers, Mapping):
        return answers

    def is_unchanged(key: str, value: Any) -> bool:
        begun = start_texts.get(key)
        return isinstance(value, str) and begun is not None and value.split() == begun.split()

    return {
        item: {key: value for key, value in own.items() if not is_unchanged(key, value)}
        if isinstance(own, Mapping)
        else own
        for item, own in answers.items()
    }


def check(
    *, plan: Questionnaire, items: Sequence[int] | Mapping[int, int], answers: Answers
) -> list[CheckedAnswer]:
    """Check answers to every question asked about every item; untouched tags are negatives.

    `items` are ids, or ids by number: then answers may name an item by either.

    In a task that asks about turns and then about the whole, the last item is the whole. Answers to questions
    that were not asked (their condition is not met) are left out. Raises AnswerRefused, naming the place, for
    an unknown item or question, a value off the scale, or a required question without an answer.
    """
    if not isinstance(answers, Mapping):
        raise AnswerRefused("Answers must be an object of items, each with its questions.")
    names = items if isinstance(items, Mapping) else {item: item for item in items}
    unknown = set(answers) - {str(name) for pair in names.items() for name in pair}
    if unknown:
        raise AnswerRefused(f"Item {min(unknown)} is not part of this task.")
    checked: list[CheckedAnswer] = []
    for number, (name, item) in enumerate(names.items()):
        item_answers = answers.get(str(name)) or answers.get(str(item)) or {}
        place = place_of(plan, number, len(names))
        checked.extend(_check_item(plan, item, item_answers, place, asked_at(plan, number, len(names))))
    return checked


def asked_at(plan: Questionnaire, number: int, items: int) -> Sequence[ScreenQuestion]:
    """Return the questions about a task's item, number `number` (from 0) of `items`; the whole is last."""
    if not plan.is_mixed:
        return plan.questions
    return plan.asked_about(plan.item_kinds[number == items - 1])


def place_of(plan: Questionnaire, number: int, items: int) -> str:
    """Return the prefix that names a task's item in an error, '' where the task has only one."""
    turns = items - plan.is_mixed
    if plan.is_mixed and number == turns:
        return "The whole dialogue: "
    if items > 1 and not plan.is_multiple:
        return f"Response {definitions.LETTERS[number]}: "
    return f"Turn {number + 1} of {turns}: " if items > 1 else ""


def in_own_order(plan: Questionnaire, answers: Any, order: Sequence[int] | None) -> Any:
    """Convert answers from the order in which members were shown to the members' own order.

    Unreadable answers stay unchanged, for `check` to refuse. Raises AnswerRefused for a ranking that does not
    have each of the shown members once.
    """
    if order is None or not isinstance(answers, Mapping):
        return answers
    return {
        item: {key: _own(plan.by_key.get(key), value, order) for key, value in item_answers.items()}
        if isinstance(item_answers, Mapping)
        else item_answers
        for item, item_answers in answers.items()
    }


def _own(question: ScreenQuestion | None, value: Any, order: Sequence[int]) -> Any:
    if question is None or value in (None, ""):
        return value
    if question.level == definitions.RANKING and not (
        isinstance(value, str) and definitions.is_ranking(value, len(order))
    ):
        rule = f"put each of the {len(order)} into one order, best first, such as 1>0=2"
        raise AnswerRefused(f"“{question.wording}” does not take {_shorten(value)}: {rule}.")
    return definitions.in_own_order(value, order, question.level, question.values)


def _check_item(
    plan: Questionnaire,
    item: int,
    answers: Mapping[str, Any],
    place: str,
    questions: Sequence[ScreenQuestion],
) -> list[CheckedAnswer]:
    if not isinstance(answers, Mapping):
        raise AnswerRefused(f"{place}answers to an item must be an object of questions.")
    unknown = set(answers) - plan.by_key.keys()
    if unknown:
        raise AnswerRefused(f"{place}there is no question “{min(unknown)}” in this campaign.")
    if other := set(answers) - {question.key for question in questions}:
        about = (
            "the whole dialogue" if plan.by_key[min(other)].item_kind != plan.item_kind else "single turns"
        )
        raise AnswerRefused(f"{place}“{min(other)}” is asked about {about}: answer it there.")
    checked = []
    values: dict[str, float | str] = {}
    for question in questions:
        if question.is_shown(values):
            value = _value(question, answers.get(question.key), place)
            if value is not None:
                values[question.key] = value
                checked.append(CheckedAnswer(item, question.id, value))
    return checked


def _value(question: ScreenQuestion, value: Any, place: str) -> float | str | None:
    if isinstance(value, str):
        value = value.strip()
    if value is None or value == "":
        if question.is_tag:
            return 0
        if question.required:
            raise AnswerRefused(f"{place}“{question.wording}” has no answer yet.")
        return None
    if not question.accepts(value):
        raise AnswerRefused(f"{place}“{question.wording}” does not take {_shorten(value)}{_scale(question)}.")
    return float(value) if not isinstance(value, str) else value


def _shorten(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 40 else f"{text[:40]}…"


def _scale(question: ScreenQuestion) -> str:
    if question.values:
        return f": choose one of {', '.join(str(value) for value in question.values)}"
    if question.level in ("nominal", "text", definitions.RANKING):
        return ""
    return f": write {describe_bounds(question)}"
