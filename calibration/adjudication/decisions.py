"""Decisions on cases: claim and hold a case, decide it or pass it on; import and export of decisions."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import connection, transaction
from django.utils import timezone

from annotation.corpora import splits
from annotation.models import Label, Occasion
from annotation.text.table_cells import guarded, unguarded
from annotation.work import labels as raters
from annotation.work import labels as recording
from annotation.work.checking import cleaned
from annotation.work.labels import called
from calibration.adjudication import rounds
from calibration.adjudication.cases import locked_clusters
from calibration.adjudication.rounds import RELATED, cases, may_decide, state_of
from calibration.errors import AdjudicationRefused, CalibrationError, CaseLost, NotYours, OtherDraft
from calibration.models import AdjudicationCase, AdjudicationDecision, AdjudicationRound, ForAdjudication
from config import request_json
from config.models import Event

# Leases on cases: claim, renew and return.
#
# The requests of one adjudicator are serialised by an advisory lock; cases are claimed with SKIP LOCKED, so
# that different people never wait for each other. The tables' constraints hold whatever this code does.

State = AdjudicationDecision.State
LOCK = 0x61646A75
"""First key of the advisory lock per adjudicator ("adju" in ASCII); the account's number is the second."""
LOST = "This case went to somebody else meanwhile. Your draft is kept, but cannot be submitted any more."
OWN = "You rated this item yourself, so somebody else decides on it."
WRITTEN = "You wrote what this case is about, so somebody else decides on it."

RATED_BY_ME = """EXISTS (SELECT 1 FROM annotation_label l JOIN annotation_rater r ON r.id = l.rater_id
  WHERE l.item_id = c.item_id AND r.user_id = %(user)s AND l.occasion <> 'adjudication')"""

WRITTEN_BY_ME = """EXISTS (SELECT 1 FROM annotation_continuationauthor w
  WHERE w.user_id = %(user)s AND w.continuation_id IN (
    SELECT i.continuation_id FROM annotation_item i WHERE i.id = c.item_id
    UNION ALL SELECT m.continuation_id FROM annotation_itemmember m WHERE m.item_id = c.item_id))"""

# Cases of the adjudicator's last item come first: its conversation has been read already.
CLAIM = f"""
WITH free AS (
  SELECT c.id FROM calibration_adjudicationcase c
   WHERE c.round_id = %(round)s AND c.taken < c.places AND (%(own)s OR NOT {RATED_BY_ME})
     AND NOT {WRITTEN_BY_ME}
     AND (%(case)s::bigint IS NULL OR c.id = %(case)s::bigint)
     AND coalesce((SELECT d.state FROM calibration_adjudicationdecision d
                    WHERE d.case_id = c.id AND d.adjudicator_id = %(user)s), 'expired') = ANY(%(back)s)
   ORDER BY c.item_id IS DISTINCT FROM (
     SELECT o.item_id FROM calibration_adjudicationdecision d
       JOIN calibration_adjudicationcase o ON o.id = d.case_id
      WHERE d.round_id = %(round)s AND d.adjudicator_id = %(user)s AND d.state = 'decided'
      ORDER BY d.decided_at DESC LIMIT 1), c.position
   LIMIT 1 FOR UPDATE OF c SKIP LOCKED)
INSERT INTO calibration_adjudicationdecision
       (case_id, round_id, adjudicator_id, state, lease_expires, claimed_at, draft, revision, written_by,
        note)
SELECT free.id, %(round)s, %(user)s, 'held', now() + make_interval(mins => %(minutes)s), now(), '{{}}', 0,
       '', '' FROM free
ON CONFLICT (case_id, adjudicator_id) DO UPDATE SET state = 'held', lease_expires = excluded.lease_expires,
       claimed_at = excluded.claimed_at, note = ''
RETURNING id
"""  # noqa: S608  (a condition of ours)

RETURN_EXPIRED = """
WITH late AS (
  SELECT d.id FROM calibration_adjudicationdecision d
   WHERE d.round_id = %s AND d.state = 'held' AND d.lease_expires < now() FOR UPDATE SKIP LOCKED)
UPDATE calibration_adjudicationdecision d SET state = 'expired' FROM late WHERE d.id = late.id
"""

RENEW = """
UPDATE calibration_adjudicationdecision SET lease_expires = now() + make_interval(mins => %s)
 WHERE round_id = %s AND adjudicator_id = %s AND state = 'held' RETURNING id
"""


@transaction.atomic
def next_case(*, by: User, adjudication_round: AdjudicationRound) -> AdjudicationDecision | None:
    """Return the case that an adjudicator holds, else claim a new one; None if no case is left for them.

    Raises NotYours for users who may not adjudicate, AdjudicationRefused if the round is closed.
    """
    one_at_a_time(by)
    must_be_open(by, adjudication_round)
    number = _run(RENEW, (adjudication_round.lease_minutes, adjudication_round.pk, by.pk)) or _claim(
        by, adjudication_round
    )
    if number is None and return_expired(adjudication_round):
        number = _claim(by, adjudication_round)
    return None if number is None else in_hand(by, number)


def hold(by: User, adjudication_round: AdjudicationRound, case: AdjudicationCase) -> int:
    """Return an adjudicator's decision on a given case, claiming the case if they have none.

    Any other case that they hold is released first. Raises CaseLost if the case belongs to somebody else.
    """
    rows = AdjudicationDecision.objects.filter(adjudicator=by)
    existing = rows.filter(case=case).values_list("pk", "state").first()
    if existing is not None and existing[1] in (State.HELD, State.DECIDED):
        return int(existing[0])
    rows.filter(round=adjudication_round, state=State.HELD).exclude(case=case).update(state=State.EXPIRED)
    number = _claim(by, adjudication_round, case.pk)
    if number is None:
        raise CaseLost(
            "somebody else decides on this case, or you wrote or rated the item, or passed the case on"
        )
    return number


def take_again(by: User, decision: AdjudicationDecision) -> None:
    """Claim a case again after its lease ran out. Raises CaseLost if no place is left."""
    adjudication_round = decision.round
    claims = AdjudicationDecision.objects.filter(round=adjudication_round, adjudicator=by, state=State.HELD)
    claims.exclude(pk=decision.pk).update(state=State.EXPIRED)
    if _claim(by, adjudication_round, decision.case_id) is None:
        raise CaseLost(LOST)


def return_expired(adjudication_round: AdjudicationRound) -> int:
    """Release the cases whose lease ran out; return how many."""
    with connection.cursor() as cursor:
        cursor.execute(RETURN_EXPIRED, [adjudication_round.pk])
        return int(cursor.rowcount)


def one_at_a_time(by: User) -> None:
    """Serialise one adjudicator's requests until the transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [LOCK, by.pk % 2**31])


def must_be_open(by: User, adjudication_round: AdjudicationRound) -> None:
    """Raise NotYours for users who may not adjudicate, AdjudicationRefused if the round is closed."""
    if not may_decide(by, adjudication_round):
        raise NotYours("You are no adjudicator of this round.")
    if adjudication_round.state != AdjudicationRound.State.OPEN:
        raise AdjudicationRefused(f"The round {adjudication_round.name} is closed: nothing is decided now.")


def must_not_be_own(by: User, decision: AdjudicationDecision) -> None:
    """Refuse a case about what the adjudicator wrote, or rated where the round excludes own items.

    Raises AdjudicationRefused.
    """
    case, values = (
        "SELECT 1 FROM calibration_adjudicationcase c WHERE c.id = %(case)s AND ",
        {
            "case": decision.case_id,
            "user": by.pk,
        },
    )
    if _run(case + WRITTEN_BY_ME, values) is not None:
        raise AdjudicationRefused(WRITTEN)
    if not decision.round.own_items and _run(case + RATED_BY_ME, values) is not None:
        raise AdjudicationRefused(OWN)


def in_hand(by: User, pk: int) -> AdjudicationDecision:
    """Return an adjudicator's own hold on a case, with its related rows. Raises NotYours."""
    related = (
        "round__corpus",
        "round__campaign__corpus",
        "round__scheme_version__scheme",
        "case__item__turn",
        "case__item__continuation__dialogue__corpus",
        "case__item__continuation__system",
        "case__question__version__scheme",
        "label",
    )
    rows = AdjudicationDecision.objects.select_related(*related)
    mine = rows.filter(pk=pk, adjudicator=by).first()
    if mine is None:
        raise NotYours("This case is not in your hands.")
    return mine


def _claim(by: User, adjudication_round: AdjudicationRound, case: int | None = None) -> int | None:
    back = [State.EXPIRED, State.WITHDRAWN]
    values = {
        "round": adjudication_round.pk,
        "user": by.pk,
        "own": adjudication_round.own_items,
        "minutes": adjudication_round.lease_minutes,
        "case": case,
        "back": [str(state) for state in back],
    }
    return _run(CLAIM, values)


def _run(statement: str, values: Any) -> int | None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        row = cursor.fetchone()
    return int(row[0]) if row else None


# Actions on a case: save a draft, decide, pass on, withdraw a decision.
#
# A decision is a label of its own with the occasion `adjudication`. A later decision supersedes it; a
# withdrawn decision stays readable but no longer counts.

CANNOT_BE_DECIDED = "cannot be decided"
"""Reason of a label without a value: the adjudicator cannot decide."""
LONGEST_REASON = 2_000
LONGEST_DRAFT = 20_000
TYPICAL = (
    "The answer of the majority holds.",
    "The other answer holds: the majority overlooked something.",
    "This is how the guidelines read.",
    "The guidelines leave it open; this is the closer reading.",
    "A slip: the scale was read the wrong way round.",
)
"""Suggested reasons; any other text is allowed."""


@transaction.atomic
def save_draft(*, by: User, decision: int, draft: Mapping[str, Any]) -> int:
    """Save a draft and return the saved version.

    `draft` holds `version` (a positive integer that grows), `client` (the writer's id), `based_on` (the
    version that the client has seen), `answer`, `cannot` and `reason`. Raises NotYours, AdjudicationRefused,
    and OtherDraft if another client saved a draft that this client has not seen.
    """
    version, client, seen = draft.get("version"), draft.get("client", ""), draft.get("based_on")
    if not isinstance(version, int) or isinstance(version, bool) or not 0 < version < 2**53:
        raise AdjudicationRefused("A draft needs a version: an integer of 1 or more.")
    if not isinstance(client, str) or len(client) > 64:
        raise AdjudicationRefused("A client’s name is a text of at most 64 characters.")
    one_at_a_time(by)
    mine = in_hand(by, decision)
    new_draft = {name: cleaned(draft.get(name)) for name in ("answer", "cannot", "reason")}
    if len(repr(new_draft)) > LONGEST_DRAFT:
        raise AdjudicationRefused("This draft is too long to be kept. Shorten the reason.")
    if mine.written_by not in ("", client) and mine.revision not in (0, seen) and mine.draft != new_draft:
        raise OtherDraft(
            "Another tab or device kept another draft of this case.", {**mine.draft, "version": mine.revision}
        )
    if version <= mine.revision:
        return mine.revision
    mine.draft, mine.revision, mine.written_by = new_draft, version, client
    if mine.state == State.HELD:
        mine.lease_expires = timezone.now() + timedelta(minutes=mine.round.lease_minutes)
    mine.save(update_fields=["draft", "revision", "written_by", "lease_expires"])
    return version


@transaction.atomic
def decide(
    *, by: User, decision: int, answer: Any = None, cannot: bool = False, reason: str
) -> AdjudicationDecision:
    """Decide a case in hand, or decide it anew: the earlier label is superseded.

    `answer` is a value of the question's scale; with `cannot` there is none. A reason is always required.
    Raises NotYours, CaseLost, or AdjudicationRefused with a one-line message.
    """
    one_at_a_time(by)
    mine = in_hand(by, decision)
    must_be_open(by, mine.round)
    must_not_be_own(by, mine)
    value = _checked(mine, answer, cannot=cannot)
    reason = _reason(reason)
    AdjudicationCase.objects.select_for_update().get(pk=mine.case_id)
    mine.refresh_from_db(fields=["state"])
    if mine.state == State.PASSED:
        raise CaseLost("You passed this case on. Your draft is kept, but cannot be submitted any more.")
    if mine.state in (State.EXPIRED, State.WITHDRAWN):
        take_again(by, mine)
    label = _label(by, mine, value, CANNOT_BE_DECIDED if cannot else "", reason)
    mine.state, mine.label, mine.decided_at, mine.draft = State.DECIDED, label, timezone.now(), {}
    mine.note, mine.written_by, mine.revision = "", "", mine.revision + 1
    mine.save(update_fields=["state", "label", "decided_at", "draft", "note", "written_by", "revision"])
    settle(mine.case_id)
    return mine


@transaction.atomic
def pass_on(*, by: User, decision: int, reason: str) -> None:
    """Pass a case on, with a reason: somebody else gets it, and it does not come back.

    Raises NotYours, or AdjudicationRefused without a reason or if the case is decided.
    """
    one_at_a_time(by)
    mine = in_hand(by, decision)
    if mine.state == State.DECIDED:
        raise AdjudicationRefused("You have already decided this case. Withdraw the decision or replace it.")
    mine.state, mine.note = State.PASSED, _reason(reason)
    mine.save(update_fields=["state", "note"])


@transaction.atomic
def withdraw(*, by: User | None, decision: AdjudicationDecision, reason: str) -> AdjudicationDecision:
    """Withdraw a decision: its label stays readable but no longer counts, and the case waits again.

    Raises AdjudicationRefused without a reason, or if there is no decision.
    """
    reason = _reason(reason)
    AdjudicationCase.objects.select_for_update().get(pk=decision.case_id)
    related = ("round", "label", "case__item", "case__question", "adjudicator")
    current = (
        AdjudicationDecision.objects.select_for_update(of=("self",))
        .select_related(*related)
        .get(pk=decision.pk)
    )
    if current.state != State.DECIDED or current.label is None:
        raise AdjudicationRefused("There is no decision here that could be withdrawn.")
    Label.objects.filter(pk=current.label.pk, superseded_at=None).update(superseded_at=timezone.now())
    same = AdjudicationDecision.objects.filter(label=current.label, state=State.DECIDED)
    same.update(state=State.WITHDRAWN, note=reason)
    Event.objects.create(
        by=by,
        verb="adjudication: withdraw a decision",
        subject=current.round.name,
        detail={"case": current.case_id, "adjudicator": current.adjudicator.get_username(), "reason": reason},
    )
    current.refresh_from_db()
    return current


def settle(case: int) -> None:
    """Record when all adjudicators of a case agreed; its mark for adjudication is then settled, too."""
    case_row = AdjudicationCase.objects.get(pk=case)
    labels = Label.objects.filter(
        pk__in=case_row.decisions.filter(state=State.DECIDED).values("label"), superseded_at=None
    )
    answers = {(label.number, label.text, bool(label.missing)) for label in labels}
    agreed = case_row.decided == case_row.places and len(answers) == 1
    settled = (case_row.settled_at or timezone.now()) if agreed else None
    AdjudicationCase.objects.filter(pk=case).update(settled_at=settled)
    if agreed:
        waiting = ForAdjudication.objects.filter(
            item=case_row.item_id, question=case_row.question_id, withdrawn_at=None, settled_at=None
        )
        waiting.update(settled_at=settled)


def _label(by: User, mine: AdjudicationDecision, value: Any, missing: str, reason: str) -> Label:
    """Record a decision; a label that it replaces is replaced in the campaign's other rounds, too."""
    rater, case = raters.rater_of_person(user=by), mine.case
    before = Label.objects.filter(
        rater=rater,
        item=case.item_id,
        question=case.question_id,
        occasion=Occasion.ADJUDICATION,
        campaign=mine.round.campaign_id,
        superseded_at=None,
    ).first()
    labels = recording.record(
        rater=rater,
        answers=[recording.Answer(case.item_id, case.question_id, value, missing, explanation=reason)],
        occasion=Occasion.ADJUDICATION,
        campaign=mine.round.campaign,
    )
    if not labels:
        assert before is not None  # recording returns nothing if the current label is the same
        return before
    if before is not None:
        others = AdjudicationDecision.objects.filter(label=before, state=State.DECIDED).exclude(pk=mine.pk)
        cases = list(others.values_list("case", flat=True))
        others.update(label=labels[0])
        for other in cases:
            settle(other)
    return labels[0]


def _checked(mine: AdjudicationDecision, answer: Any, *, cannot: bool) -> float | str | None:
    question = mine.case.question
    if isinstance(answer, str):
        answer = answer.strip()
    has_answer = answer is not None and answer != ""
    if cannot:
        if has_answer:
            raise AdjudicationRefused("Either there is an answer, or it cannot be decided: not both.")
        return None
    if not has_answer:
        raise AdjudicationRefused(f"“{question.wording}” has no answer yet.")
    if isinstance(answer, int | float) and not isinstance(answer, bool):
        answer = float(answer)
    if isinstance(answer, bool) or not question.accepts(answer):
        shortened = str(answer)[:40]
        choose = ", ".join(str(value) for value in question.values)
        raise AdjudicationRefused(
            f"“{question.wording}” does not take {shortened}{f': choose one of {choose}' if choose else ''}."
        )
    return str(cleaned(answer)) if isinstance(answer, str) else answer


def _reason(reason: str) -> str:
    reason = str(cleaned(reason)).strip()
    if not reason:
        raise AdjudicationRefused("Say why, in a few words: the reason stays with the decision.")
    if len(reason) > LONGEST_REASON:
        raise AdjudicationRefused(f"Give the reason in at most {LONGEST_REASON:,} characters.")
    return reason


# Rounds as files: export of the queue and of decisions, import of decisions made elsewhere.

FORMS = {"csv": "text/csv; charset=utf-8", "jsonl": "application/x-ndjson"}
TABLES = ("queue", "decisions")
LARGEST_FILE = 20 * 2**20
CANNOT = ("1", "true", "yes", CANNOT_BE_DECIDED)


def write_table(adjudication_round: AdjudicationRound, table: str, form: str) -> Iterator[str]:
    """Yield the queue or the decisions of a round as lines of CSV (texts guarded) or JSONL."""
    rows = queue(adjudication_round) if table == "queue" else decisions(adjudication_round)
    if form == "jsonl":
        return (json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in rows)
    return _csv(rows, QUEUE_COLUMNS if table == "queue" else DECISION_COLUMNS)


QUEUE_COLUMNS = ("case", "item", "question", "picked", "state", "draw", "answers")
DECISION_COLUMNS = (
    "item", "question", "value", "missing", "reason", "adjudicator", "decided_at", "state",
    "withdrawn_because", "picked", "case", "label", "round",
)  # fmt: skip


def queue(adjudication_round: AdjudicationRound) -> Iterator[dict[str, Any]]:
    """Yield the cases of a round in order, with the answers under the raters' names in the round."""
    locked = locked_clusters(adjudication_round.corpus)
    for case in cases(adjudication_round).select_related(*RELATED, "draw").iterator(chunk_size=500):
        if splits.of_item(case.item) in locked:
            answers: list[dict[str, Any]] = []
        else:
            answers = [answer.as_dict() for answer in rounds.said_about(adjudication_round, case)]
        yield {
            "case": case.pk,
            "item": rounds.key_of(case),
            "question": case.question.key,
            "picked": case.picked,
            "state": state_of(case),
            "draw": case.draw.number,
            "answers": answers,
        }


def decisions(adjudication_round: AdjudicationRound) -> Iterator[dict[str, Any]]:
    """Yield the decisions of a round, withdrawn ones included, in the order of their cases.

    Decisions on an unopened test part are left out.
    """
    related = (*(f"case__{name}" for name in RELATED), "label", "adjudicator")
    rows = adjudication_round.decisions.filter(state__in=["decided", "withdrawn"], label__isnull=False)
    rows = rows.exclude(splits.within(locked_clusters(adjudication_round.corpus), "case__item__"))
    for decision in rows.select_related(*related).order_by("case__position", "decided_at").iterator(500):
        label = decision.label
        assert label is not None  # guaranteed by the filter
        yield {
            "item": rounds.key_of(decision.case),
            "question": decision.case.question.key,
            "value": label.value,
            "missing": label.missing,
            "reason": label.explanation,
            "adjudicator": called(decision.adjudicator_id, adjudication_round.corpus_id),
            "decided_at": decision.decided_at.isoformat() if decision.decided_at else "",
            "state": decision.state,
            "withdrawn_because": decision.note if decision.state == decision.State.WITHDRAWN else "",
            "picked": decision.case.picked,
            "case": decision.case_id,
            "label": label.pk,
            "round": adjudication_round.name,
        }


def _csv(rows: Iterable[Mapping[str, Any]], columns: tuple[str, ...]) -> Iterator[str]:
    line = io.StringIO()
    writer = csv.writer(line, lineterminator="\n")
    for cells in (columns, *([_cell(row[name]) for name in columns] for row in rows)):
        writer.writerow(cells)
        yield line.getvalue()
        line.seek(0)
        line.truncate()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False)
    return f"{value:.15g}" if isinstance(value, float) else guarded(str(value))


@transaction.atomic
def import_decisions(*, by: User, adjudication_round: AdjudicationRound, content: bytes, name: str) -> int:
    """Record decisions made elsewhere as `by`'s own; return how many are new. All or nothing.

    `name` ends in .csv or .jsonl. A line names `item` and `question` of a case and has a `value`, or
    `missing` if it cannot be decided, and always a `reason`. A line equal to the current decision changes
    nothing. Raises AdjudicationRefused with the number of the first invalid line.
    """
    one_at_a_time(by)
    must_be_open(by, adjudication_round)
    if len(content) > LARGEST_FILE:
        raise AdjudicationRefused(f"The file is larger than {LARGEST_FILE >> 20} MiB: import it in parts.")
    by_key = {(rounds.key_of(case), case.question.key): case for case in cases(adjudication_round)}
    before = _current_labels(adjudication_round, by)
    for number, row in _lines(content, name):
        try:
            _import_line(by, adjudication_round, by_key, row)
        except CalibrationError as error:
            raise AdjudicationRefused(f"Line {number}: {error}") from error
    new = len(_current_labels(adjudication_round, by) - before)
    detail = {"file": name[:200], "decisions": new}
    Event.objects.create(
        by=by, verb="adjudication: import decisions", subject=adjudication_round.name, detail=detail
    )
    return new


def _current_labels(adjudication_round: AdjudicationRound, by: User) -> set[int]:
    rows = adjudication_round.decisions.filter(adjudicator=by, state=AdjudicationDecision.State.DECIDED)
    return {label for label in rows.values_list("label", flat=True) if label is not None}


def _import_line(
    by: User,
    adjudication_round: AdjudicationRound,
    by_key: Mapping[tuple[str, str], AdjudicationCase],
    row: Mapping[str, Any],
) -> None:
    item, question = str(row.get("item") or ""), str(row.get("question") or "")
    case = by_key.get((item, question))
    if case is None:
        raise AdjudicationRefused(f"the round has no case on question {question!r} of item {item!r}")
    missing = str(row.get("missing") or "").strip().lower()
    if missing not in ("", "0", "false", "no", *CANNOT):
        raise AdjudicationRefused(f"missing says “{CANNOT_BE_DECIDED}”, or nothing, not {missing!r}")
    value = row.get("value")
    if isinstance(value, str) and case.question.level not in ("nominal", "text"):
        value = number_of(value)
    decision = hold(by, adjudication_round, case)
    decide(
        by=by,
        decision=decision,
        answer=value,
        cannot=missing in CANNOT,
        reason=str(row.get("reason") or ""),
    )


def number_of(text: str) -> float | str:
    """Return the text as a number if it is one, else unchanged (numeric questions refuse text)."""
    try:
        return float(text)
    except ValueError:
        return text


def _lines(content: bytes, name: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield each line with its number in the file, starting at 1."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise AdjudicationRefused(f"Line {line}: the file is not UTF-8.") from error
    if name.lower().endswith(".jsonl"):
        yield from _jsonl(text)
    elif name.lower().endswith(".csv"):
        yield from _read_csv(text)
    else:
        raise AdjudicationRefused("Give a file that ends in .csv or .jsonl.")


def _jsonl(text: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            row = request_json.parse(line.encode())
        except request_json.BadJSON as error:
            raise AdjudicationRefused(f"Line {number}: this is not a JSON object.") from error
        if not isinstance(row, dict):
            raise AdjudicationRefused(f"Line {number}: this is not a JSON object.")
        yield number, row


def _read_csv(text: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        if lacking := [
            name for name in ("item", "question", "reason") if name not in (reader.fieldnames or ())
        ]:
            raise AdjudicationRefused(f"Line 1: there is no column {lacking[0]!r}.")
        for row in reader:
            yield (
                reader.line_num,
                {key: unguarded(cell) for key, cell in row.items() if key and isinstance(cell, str)},
            )
    except csv.Error as error:
        raise AdjudicationRefused(f"Line {reader.line_num}: {error}.") from error
