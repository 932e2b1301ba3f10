"""Annotator actions on a task: save a draft, submit, skip, reopen an earlier task.

Each action is one transaction. A submit is idempotent: a repeated request records its labels once.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef

from annotation.errors import (
    AlreadySubmitted,
    AnswerRefused,
    DraftConflict,
    LeaseLost,
    NotTaskHolder,
    SubmittedDifferently,
)
from annotation.hooks import START_TEXTS
from annotation.models import Assignment, Campaign, GuidelinesRead, Item, Label, Rater
from annotation.scheme_store import Questionnaire, questionnaire_of
from annotation.schemes.definitions import JOIN, NOBODY, people_answer
from annotation.work import check_tasks, labels, own_work
from annotation.work import leases as assigning
from annotation.work.checking import (
    Answers,
    CheckedAnswer,
    changed_texts,
    check,
    cleaned,
    in_own_order,
    item_number,
)
from annotation.work.leases import Hold, Seat
from annotation.work.screens import load
from annotation.work.task_answers import Evidence, current_labels, hold_of, same_answers, with_evidence
from config import commands

# SQL on annotators' hot path: one round trip per statement, with the locks it takes.

# A task about turns and the whole lists the whole last; a side-by-side task lists each response, in the order
# drawn for the annotator.
WORK = """
SELECT a.id, a.campaign_id, a.task_id, a.state, a.occasion, a.revision, a.written_by,
       CASE WHEN t.item_id IS NOT NULL THEN ARRAY(
         SELECT ARRAY[i.public, i.id] FROM annotation_item i
          WHERE i.id = t.item_id AND i.kind = ANY(%(kinds)s::text[])
         UNION ALL (SELECT ARRAY[i.public, i.id] FROM annotation_itemmember m
           JOIN annotation_item i ON i.turn_id = m.turn_id AND i.kind = ANY(%(kinds)s::text[])
          WHERE m.item_id = t.item_id ORDER BY array_position(a.shown, m.number))) ELSE ARRAY(
         SELECT ARRAY[i.public, i.id] FROM annotation_item i LEFT JOIN annotation_turn u ON u.id = i.turn_id
          WHERE i.continuation_id = t.continuation_id AND i.kind = ANY(%(kinds)s::text[])
            AND concord_is_asked(k.speakers, d.participants, u.speaker)
            AND (k.review IS NULL OR t.position < 0 OR EXISTS (
              SELECT 1 FROM annotation_sampleditem y WHERE y.campaign_id = k.id AND y.item_id = i.id))
          ORDER BY u.position NULLS LAST) END,
       (SELECT r.id FROM annotation_rater r WHERE r.user_id = a.user_id), a.slot_id IS NULL, a.round, a.shown
  FROM annotation_assignment a JOIN annotation_task t ON t.id = a.task_id
  JOIN annotation_campaign k ON k.id = a.campaign_id
  JOIN annotation_continuation c ON c.id = t.continuation_id
  JOIN annotation_dialogue d ON d.id = c.dialogue_id
 WHERE a.id = %(assignment)s AND a.user_id = %(user)s AND a.campaign_id = %(campaign)s FOR UPDATE OF a
"""

# Training and test tasks (`counts` is 0) do not count as done. The attention a client reports for a task
# never decreases: drafts may arrive late, or twice.
FINISH = """
WITH finished AS (
  UPDATE annotation_assignment a SET state = 'submitted', submitted_at = now(), draft = '{}',
         revision = revision + 1, written_by = '', comment = %(comment)s, flagged = %(flagged)s,
         attention = CASE WHEN %(attention)s::bigint = 0 THEN a.attention ELSE a.attention ||
         jsonb_build_object(%(client)s::text, greatest(
           %(attention)s::bigint, (a.attention->>%(client)s::text)::bigint)) END
   WHERE id = %(assignment)s RETURNING least(%(ceiling)s, coalesce(
     (SELECT sum(value::bigint) / 1000.0 FROM jsonb_each_text(a.attention)),
     extract(epoch FROM now() - leased_at))) AS seconds)
UPDATE annotation_campaignmember m
   SET done = m.done + %(counts)s, done_on = (now() AT TIME ZONE 'UTC')::date,
       done_today = %(counts)s
         + CASE WHEN m.done_on = (now() AT TIME ZONE 'UTC')::date THEN m.done_today ELSE 0 END,
       pace = coalesce(0.8 * m.pace + 0.2 * finished.seconds, finished.seconds)
  FROM finished WHERE m.id = %(member)s RETURNING m.done, m.pace, m.done_today
"""

DRAFT = """
UPDATE annotation_assignment a
   SET attention = CASE WHEN %(attention)s::bigint = 0 THEN a.attention ELSE a.attention ||
         jsonb_build_object(%(client)s::text, greatest(
           %(attention)s::bigint, (a.attention->>%(client)s::text)::bigint)) END,
       draft = %(draft)s::jsonb, draft_saved_at = now(), revision = %(version)s, written_by = %(client)s,
       lease_expires = CASE WHEN a.state = 'leased' THEN now() + make_interval(mins => c.lease_minutes)
                            ELSE a.lease_expires END
  FROM annotation_campaign c
 WHERE a.id = %(assignment)s AND a.user_id = %(user)s AND a.campaign_id = %(campaign)s
   AND c.id = a.campaign_id
   AND (a.state <> 'submitted' OR %(revising)s) AND a.state <> 'voided'
   AND a.revision < %(version)s
   AND (a.written_by = %(client)s OR a.revision = %(based_on)s::bigint OR a.revision = 0)
RETURNING a.state
"""


# Answers that name people: each must be a participant, and a set is always written in the same order.


def with_people(*, plan: Questionnaire, answers: Sequence[CheckedAnswer]) -> list[CheckedAnswer]:
    """Put each answer's set of people in order; one query where a question asks for such a set.

    Raises AnswerRefused for somebody who is not a participant of the dialogue.
    """
    asking = {question.id: question for question in plan.questions if question.names_people}
    if not asking:
        return list(answers)
    items = {answer.item for answer in answers if answer.question in asking}
    rows = Item.objects.filter(pk__in=items).values_list("pk", "continuation__dialogue__participants")
    known_ids = {pk: [person["id"] for person in people] for pk, people in rows}
    checked = []
    for answer in answers:
        if answer.question not in asking:
            checked.append(answer)
            continue
        ids = (
            []
            if answer.value == NOBODY
            else [person_id.strip() for person_id in str(answer.value).split(JOIN)]
        )
        for person_id in ids:
            if person_id not in known_ids[answer.item]:
                subject = f"“{asking[answer.question].wording}” names {person_id[:60]!r}"
                participants = ", ".join(known_ids[answer.item])
                raise AnswerRefused(f"{subject}, who takes no part: there are {participants}, or {NOBODY}.")
        checked.append(answer._replace(value=people_answer(ids)))
    return checked


COMMENT_LIMIT = 5_000
DRAFT_LIMIT = 1_000_000
MOST_VERSION = 2**53 - 1
"""The largest number that a page can hold exactly."""
WITHDRAWN = "withdrawn in a revision"
CLIENT_LIMIT = 64
CONFLICT = "Another tab or device saved other answers to this task. Choose which to keep."
DIFFERENT = (
    "Other answers to this task have already been submitted and are kept. To replace them, revise the task."
)
VOIDED = "A researcher voided your answers to this task: {}. It is no longer yours to answer."
TASK_IS_OVER = "This task was part of the training or the test, and is over. It stays as you answered it."
TAKEN_BACK = "A researcher took this task back: “{}”. Your draft is kept, but cannot be submitted any more."
LOST = "This task went to someone else meanwhile. Your draft is kept, but cannot be submitted any more."
PACE_CEILING_SECONDS = 900
MOST_ATTENTION_MS = 24 * 60 * 60 * 1000
"""Upper limit of the attention time a page can report for a task: one day."""


class Outcome(NamedTuple):
    """Outcome of a request (submitted, revised, already submitted, skipped), with the next task."""

    status: str
    seat: Seat
    next: Hold | None


class Work(NamedTuple):
    """An assignment with everything needed to submit it. `items` maps item numbers in it to ids, in order.

    `is_aside` is set where it holds no slot; `round` is the training round or test attempt it belongs to.
    `shown` lists the members of a comparison in the order shown to the annotator, None without members.
    """

    assignment: int
    campaign: int
    task: int
    state: str
    occasion: str
    revision: int
    written_by: str
    items: dict[int, int]
    rater: int | None
    is_aside: bool
    round: int
    shown: list[int] | None


@transaction.atomic
def save_draft(
    *,
    by: User,
    campaign: int,
    assignment: int,
    draft: dict[str, Any],
    revising: bool = False,
    client: str = "",
    based_on: int | None = None,
    attention: int = 0,
) -> int:
    """Save a draft and return the stored version; an older version never replaces a newer one.

    `draft` holds `version` (a positive integer that grows with every change), `answers`, `evidence`,
    `comment` and `flagged`. `client` names the tab or program that wrote it, `based_on` the version it last
    saw: another client's draft is replaced only by a client that has seen it. `attention` is the time in
    milliseconds that the client's page was in front of an active user on this task. A lost lease does not
    prevent saving. Raises NotTaskHolder, AlreadySubmitted, LeaseLost (voided), DraftConflict or
    AnswerRefused.
    """
    version = draft.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or not 0 < version <= MOST_VERSION:
        raise AnswerRefused("A draft needs a version: an integer of 1 or more.")
    draft = cleaned(draft)
    text = json.dumps(draft, ensure_ascii=False)
    if len(text) > DRAFT_LIMIT:
        raise AnswerRefused("This draft is too long to be kept. Shorten the texts.")
    values: dict[str, Any] = {
        "draft": text,
        "assignment": assignment,
        "user": by.pk,
        "campaign": campaign,
        "version": version,
        "revising": revising,
        "client": (client := _client(client)),
        "based_on": based_on,
        "attention": _attention(attention),
    }
    with commands.cursor() as cursor:
        cursor.execute(DRAFT, values)
        if cursor.fetchone():
            return version
    return _draft_not_kept(by, campaign, assignment, draft, revising, client)


def _draft_not_kept(
    by: User, campaign: int, assignment: int, draft: dict[str, Any], revising: bool, client: str
) -> int:
    """Return the stored version where nothing is lost by keeping it; raise the reason otherwise."""
    row = Assignment.objects.filter(pk=assignment, user=by, campaign_id=campaign).first()
    if row is None:
        raise NotTaskHolder("This task is not yours.")
    if row.state == Assignment.State.VOIDED:
        raise LeaseLost(VOIDED.format(row.withdrawn_reason))
    if row.state == Assignment.State.SUBMITTED and not revising:
        raise AlreadySubmitted("This task is submitted already. Open it again to change it.")
    stored_draft = hold_of(row).draft
    if row.written_by != client and not same_answers(draft, stored_draft):
        raise DraftConflict(CONFLICT, stored_draft)
    return row.revision


def _client(client: Any) -> str:
    if not isinstance(client, str) or len(client) > CLIENT_LIMIT:
        raise AnswerRefused(f"A client's name is a text of at most {CLIENT_LIMIT} characters.")
    return str(cleaned(client))


@transaction.atomic
def submit(
    *,
    by: User,
    campaign: int,
    assignment: int,
    answers: Answers,
    evidence: Evidence | None = None,
    comment: str = "",
    flagged: bool = False,
    revising: bool = False,
    client: str | None = None,
    based_on: int | None = None,
    attention: int = 0,
) -> Outcome:
    """Record a task's answers with their evidence and return the next task; all or nothing.

    A repeated submit changes nothing and returns `already submitted`. With `revising`, different answers
    supersede those of a submitted task. With `client`, another client's draft must have been seen
    (`based_on`). `attention` is the time in milliseconds that the client's page was in front of an active
    user on this task. Raises NotTaskHolder, CampaignNotOpen, ConsentNeeded, LimitReached, LeaseLost,
    SubmittedDifferently, RevisionClosed, DraftConflict or AnswerRefused.
    """
    seat = assigning.take_seat(campaign=campaign, user=by.pk)
    work = _work(seat, assignment)
    if work.state == Assignment.State.SUBMITTED and not revising:
        _must_be_the_same(work, _checked(seat, work, answers, evidence), comment, flagged)
        return Outcome("already submitted", seat, _next(seat))
    seat.must_be_open()
    seat.must_have_agreed()
    sent = {"answers": cleaned(answers), "evidence": evidence, "comment": comment, "flagged": flagged}
    _must_have_seen(work, sent, client, based_on)
    checked = _checked(seat, work, answers, evidence)
    if work.state == Assignment.State.SUBMITTED:
        if work.round:
            raise AlreadySubmitted(TASK_IS_OVER)
        own_work.must_be_allowed(seat, work.assignment)
        _revise(by, work, checked, comment, flagged)
        return Outcome("revised", seat, _next(seat))
    if work.state != Assignment.State.RETURNED:
        seat.must_have_room()
    if work.state not in (Assignment.State.LEASED, Assignment.State.RETURNED):
        _hold_again(seat, work)
    rater = (
        work.rater or labels.rater_of_person(user=by).pk
    )  # before `_finish`: webhooks send the rater's pseudonym
    seat = _finish(seat, work, comment, flagged, client or "", attention)
    labels.insert(
        rater=rater,
        answers=checked,
        occasion=work.occasion,
        campaign=work.campaign,
        assignment=work.assignment,
        sample=work.round,
        compared=questionnaire_of(seat.version).compares,
    )
    if seat.checked:
        is_first = work.state != Assignment.State.RETURNED
        done = check_tasks.Done(work.assignment, work.task, work.occasion, work.is_aside, is_first)
        check_tasks.submitted(seat=seat, done=done, answers=checked)
        return Outcome("submitted", seat, _next(seat))
    if seat.waits:
        return Outcome("submitted", seat, None)
    return Outcome("submitted", seat, assigning.after_submit(seat=seat))


@transaction.atomic
def complete(*, by: User, seat: Seat, hold: Hold) -> None:
    """Count a held task as submitted whose work is not answers but a text that the caller stores."""
    labels.rater_of_person(user=by)  # webhooks send their pseudonym
    values: dict[str, Any] = {"assignment": hold.assignment, "comment": "", "flagged": False}
    values |= {"client": "", "attention": 0, "member": seat.member, "ceiling": PACE_CEILING_SECONDS}
    with commands.cursor() as cursor:
        cursor.execute(FINISH, values | {"counts": 1})
    if seat.checked:
        done = check_tasks.Done(hold.assignment, hold.task, seat.occasion, False, True)
        check_tasks.submitted(seat=seat, done=done, answers=())


@transaction.atomic
def give_up(*, by: User, seat: Seat, assignment: int, reason: str) -> None:
    """Skip a task of a member for a reason: its slot is free for others, and they do not get it again.

    Raises AnswerRefused without a reason, CampaignNotOpen, or NotTaskHolder where they do not hold it.
    """
    reason = _comment(reason)
    if not reason:
        raise AnswerRefused("Say why you skip this task, in a few words.")
    seat.must_be_open()
    mine = Assignment.objects.filter(pk=assignment, user=by, campaign=seat.campaign)
    mine = mine.filter(state__in=[Assignment.State.LEASED, Assignment.State.EXPIRED])
    if not mine.update(state=Assignment.State.SKIPPED, skip_reason=reason):
        raise NotTaskHolder("You do not hold this task.")
    if seat.checked:
        check_tasks.skipped(seat=seat)


@transaction.atomic
def skip(*, by: User, campaign: int, assignment: int, reason: str) -> Outcome:
    """Skip a task for a reason: its slot is freed for others, and this person does not get it again.

    Raises AnswerRefused without a reason, AlreadySubmitted, NotTaskHolder or CampaignNotOpen.
    """
    reason = _comment(reason)
    if not reason:
        raise AnswerRefused("Say why you skip this task, in a few words.")
    seat = assigning.take_seat(campaign=campaign, user=by.pk)
    work = _work(seat, assignment)
    if work.state == Assignment.State.SUBMITTED:
        raise AlreadySubmitted("This task is submitted already. Open it again to change it.")
    seat.must_be_open()
    Assignment.objects.filter(pk=assignment).update(state=Assignment.State.SKIPPED, skip_reason=reason)
    if seat.checked:
        check_tasks.skipped(seat=seat)
    return Outcome("skipped", seat, _next(seat))


@transaction.atomic
def start(*, by: User, campaign: int) -> tuple[Seat, Hold | None]:
    """Return the member's seat and current task, claiming a task where they hold none.

    A campaign that is not open hands out no new task but still shows a held one; where consent or reading
    comes first (`seat.waits`), no task is shown before it. Raises NotTaskHolder.
    """
    seat = assigning.take_seat(campaign=campaign, user=by.pk)
    hold = _next(seat)
    if hold is not None and seat.read is None and seat.guidelines is not None:
        GuidelinesRead.objects.get_or_create(guidelines_id=seat.guidelines, user=by)
    return seat, hold


@transaction.atomic
def reopen(*, by: User, campaign: int, before: int | None = None) -> tuple[Seat, Hold]:
    """Reopen this person's last submitted task, or the one submitted before another, for revision.

    Its draft is the unfinished revision where there is one, else the current answers. Raises NotTaskHolder
    where there is no such task, CampaignNotOpen, ConsentNeeded or RevisionClosed.
    """
    seat = assigning.take_seat(campaign=campaign, user=by.pk)
    seat.must_be_open()
    seat.must_have_agreed()
    mine = Assignment.objects.filter(campaign_id=campaign, user=by, state=Assignment.State.SUBMITTED, round=0)
    if seat.form == Campaign.Form.WRITE:
        mine = mine.filter(slot=None)  # what was written is sent for good
    at = mine.filter(pk=before or 0).values_list("submitted_at", flat=True).first()
    if at is not None:
        mine = mine.filter(submitted_at__lt=at)
    last = mine.order_by("-submitted_at", "-id").first()
    if last is None:
        raise NotTaskHolder("There is no earlier task of yours to go back to.")
    own_work.must_be_allowed(seat, last.pk)
    return seat, hold_of(last)


def _next(seat: Seat) -> Hold | None:
    if seat.waits:
        return None
    if seat.state == "open":
        return check_tasks.next_task(seat=seat) if seat.checked else assigning.next_task(seat=seat)
    mine = Assignment.objects.filter(
        campaign_id=seat.campaign, user_id=seat.user, state=Assignment.State.LEASED
    )
    if seat.form != Campaign.Form.RATING:
        mine = mine.filter(Exists(Item.objects.filter(continuation=OuterRef("task__continuation"))))
    last = mine.first()
    return hold_of(last) if last else None


def _work(seat: Seat, assignment: int) -> Work:
    parameters = {"assignment": assignment, "user": seat.user, "campaign": seat.campaign}
    with commands.cursor() as cursor:
        cursor.execute(WORK, parameters | {"kinds": list(questionnaire_of(seat.version).item_kinds)})
        row = cursor.fetchone()
    if row is None:
        raise NotTaskHolder("This task is not yours.")
    work = Work(*row)
    pairs: Any = work.items
    if not pairs:
        raise NotTaskHolder("This task has nothing to answer yet.")
    return work._replace(items={item_number(public, assignment): item for public, item in pairs})


def _checked(seat: Seat, work: Work, answers: Answers, evidence: Evidence | None) -> list[CheckedAnswer]:
    """Check answers and evidence; answers about a comparison are converted to its own member order."""
    plan = questionnaire_of(seat.version)
    order = work.shown if plan.compares else None
    answers = cleaned(answers)
    if plan.key in START_TEXTS:
        screen = load(work.task, plan.is_tagged, work.assignment, plan.item_kinds)
        answers = changed_texts(answers, START_TEXTS[plan.key](screen))
    checked = check(plan=plan, items=work.items, answers=in_own_order(plan, answers, order))
    checked = with_people(plan=plan, answers=checked)
    return with_evidence(plan=plan, items=work.items, answers=checked, evidence=evidence, task=work.task)


def _must_be_the_same(work: Work, answers: Sequence[CheckedAnswer], comment: str, flagged: bool) -> None:
    """Require a repeated submit to match the current answers: different ones must not be lost silently."""
    assignment = Assignment.objects.get(pk=work.assignment)
    same = {answer[:2]: answer[2:] for answer in answers} == current_labels(assignment)
    if not (same and assignment.comment == _comment(comment) and assignment.flagged == flagged):
        assignment.draft = {}  # show the current answers, not a revision begun meanwhile
        raise SubmittedDifferently(DIFFERENT, hold_of(assignment).draft)


def _must_have_seen(work: Work, sent: Mapping[str, Any], client: str | None, based_on: int | None) -> None:
    """Refuse to overwrite another client's draft that this client never saw, unless both are equal."""
    if client is None or _client(client) == work.written_by or work.revision in (0, based_on):
        return
    stored_draft = hold_of(Assignment.objects.get(pk=work.assignment)).draft
    if not same_answers(sent, stored_draft):
        raise DraftConflict(CONFLICT, stored_draft)


def _hold_again(seat: Seat, work: Work) -> None:
    """Renew an expired lease: nothing is lost while a slot is free. A skipped task stays given up."""
    if work.state in (Assignment.State.VOIDED, Assignment.State.TAKEN):
        why = Assignment.objects.values_list("withdrawn_reason", flat=True).get(pk=work.assignment)
        raise LeaseLost((VOIDED if work.state == Assignment.State.VOIDED else TAKEN_BACK).format(why))
    if work.state == Assignment.State.SKIPPED:
        raise LeaseLost("You skipped this task. Your draft is kept, but it can no longer be submitted.")
    if work.is_aside:
        if not check_tasks.hold_again(seat=seat, assignment=work.assignment):
            raise LeaseLost(LOST)
        return
    try:
        with transaction.atomic():
            again = assigning.take_again(seat=seat, assignment=work.assignment)
    except IntegrityError as error:
        raise LeaseLost(LOST) from error
    if again is None:
        raise LeaseLost(LOST)


def _finish(seat: Seat, work: Work, comment: str, flagged: bool, client: str, attention: int) -> Seat:
    values: dict[str, Any] = {
        "assignment": work.assignment,
        "comment": _comment(comment),
        "flagged": flagged,
        "client": _client(client),
        "attention": _attention(attention),
        "member": seat.member,
        "ceiling": PACE_CEILING_SECONDS,
        "counts": 0 if work.round else 1,
    }
    with commands.cursor() as cursor:
        cursor.execute(FINISH, values)
        done, pace, today = cursor.fetchone()
    others = seat.leased - (work.state == Assignment.State.LEASED)
    return seat._replace(done=done, pace=pace, today=today, leased=others)


def _attention(attention: int) -> int:
    return min(attention, MOST_ATTENTION_MS) if attention > 0 else 0


def _comment(comment: str) -> str:
    return str(cleaned(comment)).strip()[:COMMENT_LIMIT]


def _revise(by: User, work: Work, answers: Sequence[CheckedAnswer], comment: str, flagged: bool) -> None:
    """Supersede changed answers; answers to questions no longer shown become missing, with that reason."""
    rater = Rater.objects.get(user=by)
    assignment = Assignment.objects.get(pk=work.assignment)
    answered = {(answer.item, answer.question) for answer in answers}
    live = Label.objects.filter(assignment=assignment, superseded_at__isnull=True).values_list(
        "item_id", "question_id"
    )
    labels.record(
        rater=rater,
        answers=[
            *(
                labels.Answer(answer.item, answer.question, answer.value, evidence=answer.evidence)
                for answer in answers
            ),
            *(labels.Answer(*place, None, missing=WITHDRAWN) for place in live if place not in answered),
        ],
        occasion=work.occasion,
        campaign=assignment.campaign,
        assignment=assignment,
        compared=questionnaire_of(assignment.campaign.scheme_version_id).compares,
    )
    assignment.comment = _comment(comment)
    assignment.flagged = flagged
    assignment.draft = {}
    assignment.revision += 1
    assignment.written_by = ""
    assignment.save(update_fields=["comment", "flagged", "draft", "revision", "written_by"])
