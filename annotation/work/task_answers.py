"""Answers of a task: their evidence, and the draft or submitted answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypeGuard

from annotation.errors import AnswerRefused
from annotation.models import Assignment, Continuation
from annotation.records import SELF, Passage
from annotation.scheme_store import Questionnaire, ScreenQuestion, questionnaire_of
from annotation.schemes import definitions
from annotation.schemes.definitions import TURNS, takes_evidence
from annotation.text import references
from annotation.text.views import Blind, Traced, spoken, untouched
from annotation.work.checking import CheckedAnswer, item_number, place_of
from annotation.work.leases import Hold
from annotation.work.screens import turns_of
from annotation.work.transcripts import Row

# Evidence of answers: screen lines, as annotators and programs name them, and the turns behind them.
#
# A line is numbered from 1 over the whole screen; positions in its text count Unicode code points of the
# shown text. Labels keep positions in the stored text (`annotation.text.views`), so nothing here reveals
# which system spoke. A request without evidence reads nothing from the database.

Evidence = Mapping[str, Mapping[str, Sequence[Mapping[str, Any]]]]
"""Item (its number in the task) to question key to [{line, start, end}]; no start and end: whole line."""
FIELDS = frozenset(["line", "start", "end"])


class Places:
    """Lines of a task's screen, with their stored turns; `continuation` is the rated one's key."""

    def __init__(self, rows: Sequence[Row], hide: Blind, continuation: str) -> None:
        self.rows, self.hide, self.continuation = rows, hide, continuation

    def passage(self, entry: Any, question: ScreenQuestion, where: str) -> Passage:
        """Return the passage of one entry; raise AnswerRefused with its error and the place, `where`."""
        if not isinstance(entry, Mapping) or set(entry) - FIELDS:
            raise AnswerRefused(
                f"{where} evidence names a line, and start and end within it: {_shorten(entry)}."
            )
        number, start, end = entry.get("line"), entry.get("start"), entry.get("end")
        if not _is_integer(number) or not 1 <= number <= len(self.rows):
            raise AnswerRefused(
                f"{where} there is no line {_shorten(number)}: there are 1 to {len(self.rows)}."
            )
        row = self.rows[number - 1]
        continuation = SELF if row.own else self.continuation
        if start is None and end is None:
            return Passage(continuation, row.position)
        if question.evidence == TURNS:
            raise AnswerRefused(
                f"{where} it points at whole turns: leave start and end of line {number} out."
            )
        traced = self.traced(row)
        if not (_is_integer(start) and _is_integer(end) and 0 <= start < end <= len(traced.text)):
            raise AnswerRefused(
                f"{where} from {_shorten(start)} to {_shorten(end)} is no stretch of line {number}, "
                f"which has {len(traced.text)} characters."
            )
        return Passage(continuation, row.position, *traced.stored(start, end))

    def line_of(self, passage: Passage) -> dict[str, int] | None:
        """Return the line of a passage, as requests name it; None where it is on no line."""
        own = passage.continuation == SELF and self.continuation != SELF
        for number, row in enumerate(self.rows, start=1):
            if (row.own, row.position) != (own, passage.turn):
                continue
            if passage.start is None or passage.end is None:
                return {"line": number}
            if (place := self.traced(row).shown_span(passage.start, passage.end)) is not None:
                return {"line": number, "start": place[0], "end": place[1]}
        return None

    def traced(self, row: Row) -> Traced:
        """Return the shown text of a turn's line, traced to the stored one; a blank text is not shown."""
        traced = spoken(row.text, self.hide)
        return traced if traced.text.strip() else untouched("")


def places_of(task: int) -> Places:
    """Return the lines of a task's screen: three queries."""
    rows, hide, continuation = turns_of(task)
    return Places(rows, hide, Continuation.objects.values_list("key", flat=True).get(pk=continuation))


def with_evidence(
    *,
    plan: Questionnaire,
    items: Mapping[int, int],
    answers: list[CheckedAnswer],
    evidence: Evidence | None,
    task: int,
) -> list[CheckedAnswer]:
    """Add to checked answers the evidence of each; `items` are ids by number.

    Raises AnswerRefused, naming the place: for evidence that a question or an answer does not take, a line
    that is not on the screen, a range beyond its text, or where required evidence is missing. Evidence of a
    question that was not asked is left out, as its answer is.
    """
    entries = _by_place(plan, items, evidence)
    if not entries and not plan.takes_evidence:
        return answers
    places = places_of(task) if entries else None
    questions = {question.id: question for question in plan.questions}
    numbers = {item: number for number, item in enumerate(items.values())}
    pointing = []
    for answer in answers:
        question = questions[answer.question]
        where = f"{place_of(plan, numbers[answer.item], len(items))}“{question.wording}”:"
        pieces = entries.get((answer.item, question.key), ())
        if pieces and not takes_evidence(question, answer.value):
            raise AnswerRefused(f"{where} the answer {_shorten(answer.value)} points at nothing.")
        if len(pieces) > references.MOST:
            raise AnswerRefused(f"{where} at most {references.MOST} places, not {len(pieces)}.")
        if places and pieces:
            pointed = references.in_order(places.passage(piece, question, where) for piece in pieces)
            answer = answer._replace(evidence=pointed)
        elif question.evidence_required and takes_evidence(question, answer.value):
            raise AnswerRefused(f"{where} say which turns the answer refers to.")
        pointing.append(answer)
    return pointing


def as_shown(answers: Iterable[tuple[str, str, tuple[Passage, ...]]], task: int) -> Evidence:
    """Convert (item, question key, passages) to the form of requests, by lines of a task's screen."""
    answers = list(answers)
    places = places_of(task) if answers else None
    evidence: dict[str, dict[str, list[Mapping[str, Any]]]] = {}
    for item, key, pointed in answers:
        lines: list[Mapping[str, Any]] = [
            line for passage in pointed if places and (line := places.line_of(passage))
        ]
        if lines:
            evidence.setdefault(item, {})[key] = lines
    return evidence


def _by_place(
    plan: Questionnaire, items: Mapping[int, int], evidence: Any
) -> dict[tuple[int, str], Sequence[Any]]:
    """Return the entries by (item id, question key), without empty ones."""
    if not evidence:
        return {}
    if not isinstance(evidence, Mapping):
        raise AnswerRefused("Evidence must be an object of items, each with its questions.")
    ids_by_name = {str(name): item for pair in items.items() for name, item in ((pair[1], pair[1]), pair)}
    entries: dict[tuple[int, str], Sequence[Any]] = {}
    for name, questions in evidence.items():
        if name not in ids_by_name:
            raise AnswerRefused(f"Item {_shorten(name)} is not part of this task.")
        if not isinstance(questions, Mapping):
            raise AnswerRefused(f"Evidence for item {_shorten(name)} must be an object of questions.")
        for key, pieces in questions.items():
            if not pieces:
                continue
            question = plan.by_key.get(key)
            if question is None or not question.evidence:
                raise AnswerRefused(f"No question “{_shorten(key)}” of this campaign asks for evidence.")
            if not isinstance(pieces, list):
                raise AnswerRefused(f"Evidence for “{question.wording}” must be a list of lines.")
            entries[ids_by_name[name], key] = pieces
    return entries


def _is_integer(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _shorten(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 40 else f"{text[:40]}…"


# Current answers of a task for its holder: its draft, or the submitted answers.


def hold_of(assignment: Assignment) -> Hold:
    """Return an assignment as its holder's task; a submitted one carries its current answers."""
    draft = assignment.draft
    if assignment.state == Assignment.State.SUBMITTED and not draft.get("version"):
        draft = {
            "answers": current_answers(assignment),
            "comment": assignment.comment,
            "flagged": assignment.flagged,
        }
        if evidence := current_evidence(assignment):
            draft["evidence"] = evidence
    withdrawn = assignment.state in (Assignment.State.RETURNED, Assignment.State.TAKEN)
    note = assignment.withdrawn_reason if withdrawn else assignment.given_reason
    draft = {**draft, "version": assignment.revision}
    return Hold(assignment.pk, assignment.task_id, assignment.state, draft, note)


def current_answers(assignment: Assignment) -> dict[str, dict[str, float | str]]:
    """Return the live answers of an assignment: item (its number in it) to question key to value."""
    live = assignment.labels.filter(superseded_at__isnull=True, missing="").values_list(
        "item__public", "question__key", "number", "text"
    )
    questionnaire = questionnaire_of(assignment.campaign.scheme_version_id) if assignment.shown else None
    plan = questionnaire.by_key if questionnaire and questionnaire.compares else {}
    answers: dict[str, dict[str, float | str]] = {}
    for item, key, number, text in live:
        value = (text or "") if number is None else number
        if key in plan:
            value = definitions.as_shown(value, assignment.shown, plan[key].level, plan[key].values)
        answers.setdefault(str(item_number(item, assignment.pk)), {})[key] = value
    return answers


def current_evidence(assignment: Assignment) -> Evidence:
    """Return the evidence of its live answers, by the lines of its screen; {} where there is none."""
    live = assignment.labels.filter(superseded_at__isnull=True, evidence__isnull=False)
    rows = live.values_list("item__public", "question__key", "evidence")
    number = partial(item_number, assignment=assignment.pk)
    return as_shown(
        [(str(number(item)), key, references.read(stored)) for item, key, stored in rows], assignment.task_id
    )


def current_labels(
    assignment: Assignment,
) -> dict[tuple[int, int], tuple[float | str, tuple[Passage, ...]]]:
    """Return the live answers by (item id, question id), each with its evidence."""
    live = assignment.labels.filter(superseded_at__isnull=True, missing="")
    return {
        (item, question): ((text or "") if number is None else number, references.read(evidence))
        for item, question, number, text, evidence in live.values_list(
            "item_id", "question_id", "number", "text", "evidence"
        )
    }


def same_answers(mine: Mapping[str, Any], theirs: Mapping[str, Any]) -> bool:
    """Whether two drafts hold the same answers, evidence, comment and flag."""

    def filled(answers: Any) -> Any:
        if not isinstance(answers, Mapping):
            return answers or {}
        pruned = {
            item: filled(values) if isinstance(values, Mapping) else values
            for item, values in answers.items()
        }
        return {item: values for item, values in pruned.items() if values or values == 0}

    def content(draft: Mapping[str, Any]) -> tuple[Any, ...]:
        texts = draft.get("comment") or "", bool(draft.get("flagged"))
        return filled(draft.get("answers")), filled(draft.get("evidence")), *texts

    return content(mine) == content(theirs)
