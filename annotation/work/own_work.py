"""An annotator's own work: progress, pace, and submissions."""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from annotation.errors import RevisionClosed
from annotation.models import Bookmark, Campaign, Label, Task, Turn, TurnNote
from annotation.models.work import Assignment
from annotation.work import screens
from annotation.work.check_tasks import stage_progress, with_hidden
from annotation.work.checking import passes_of
from annotation.work.leases import PASSED, Hold, Seat
from annotation.work.screens import Screen
from config import commands
from config.files import row_id

# Progress of an annotator, and the work left for them.

FRESH_SECONDS = 15.0
MOST_COUNTED = 1_000


class Progress(NamedTuple):
    """`left` counts the current task; None means more than MOST_COUNTED. `minutes` is None until known.

    In a campaign with checks, hidden tasks count like all others; during training and the test, only their
    tasks are counted.
    """

    done: int
    left: int | None
    minutes: int | None


class _Count(NamedTuple):
    at: float
    done: int
    tasks: int


FREE_TASKS = """
SELECT count(*) FROM (
  SELECT DISTINCT s.position FROM annotation_slot s
   WHERE s.campaign_id = %(campaign)s AND NOT s.taken AND s.position < %(upto)s
     AND s.task_id <> ALL(%(own)s::bigint[])
     AND coalesce((SELECT a.state FROM annotation_assignment a WHERE a.task_id = s.task_id
                    AND a.user_id = %(user)s AND a.occasion = %(occasion)s), 'expired') = 'expired'
   ORDER BY s.position LIMIT %(most)s) AS free
"""

LEFT_RULED = FREE_TASKS.replace("AND NOT s.taken", f"AND NOT s.taken AND {PASSED}")

BUSY = (
    "SELECT 1 FROM annotation_assignment WHERE campaign_id = %s AND state IN ('leased', 'returned')"
    " AND slot_id IS NOT NULL LIMIT 1"
)

ROOM = """(m.done < coalesce(c.most_tasks, 2147483647)
   AND (m.done_today < coalesce(c.most_tasks_a_day, 2147483647)
        OR m.done_on IS DISTINCT FROM (now() AT TIME ZONE 'UTC')::date))"""

WITH_WORK = f"""
SELECT m.campaign_id FROM annotation_campaignmember m JOIN annotation_campaign c ON c.id = m.campaign_id
 WHERE m.user_id = %(user)s AND c.state = 'open' AND coalesce(c.deadline > now(), true) AND (
   EXISTS (SELECT 1 FROM annotation_assignment a WHERE a.campaign_id = c.id AND a.user_id = m.user_id
            AND (a.state = 'returned' OR a.state = 'leased' AND {ROOM}))
   OR {ROOM} AND EXISTS (SELECT 1 FROM annotation_slot s WHERE s.campaign_id = c.id AND NOT s.taken
     AND s.position < coalesce(c.batch_size::bigint * c.batches_open, 2147483647)
     AND s.task_id <> ALL((SELECT concord_own_tasks(c.id, m.user_id))::bigint[])
     AND coalesce((SELECT a.state FROM annotation_assignment a WHERE a.task_id = s.task_id
                    AND a.user_id = m.user_id AND a.occasion = c.occasion), 'expired') = 'expired'
     AND (s.gate_id IS NULL OR concord_passes(s.gate_id, m.user_id)
          AND NOT concord_wrote(s.task_id, m.user_id))))
"""  # noqa: S608  (a condition of ours)

_counts: dict[tuple[int, int], _Count] = {}


def progress(*, seat: Seat, hold: Hold | None) -> Progress:
    """Return a member's progress. The tasks left are recounted every few seconds, not at every request.

    They are never more than the member may submit.
    """
    if seat.checked and (stage := stage_progress(seat)) is not None:
        return Progress(*stage, None)
    remaining = _tasks_ahead(seat, hold) + _in_hand(seat, hold)
    if (most := seat.limits.remaining) is not None:
        remaining = min(remaining, max(most, _in_hand(seat, hold)))
    if seat.over:
        remaining = 0
    if remaining > MOST_COUNTED:
        return Progress(seat.done, None, None)
    minutes = None if seat.pace is None else round(remaining * seat.pace / 60)
    return Progress(seat.done, remaining, minutes)


def with_work(*, user: int) -> set[int]:
    """Return the open campaigns in which the user holds a task or one is free for them."""
    with commands.cursor() as cursor:
        cursor.execute(WITH_WORK, {"user": user})
        return {campaign for (campaign,) in cursor.fetchall()}


def has_later(*, seat: Seat) -> bool:
    """Whether the campaign has tasks in batches that are not open yet."""
    return Task.objects.filter(campaign=seat.campaign, position__gte=seat.upto).exists()


def others_are_busy(*, seat: Seat) -> bool:
    """Whether tasks held by others may come back when their leases expire."""
    with commands.cursor() as cursor:
        cursor.execute(BUSY, (seat.campaign,))
        return cursor.fetchone() is not None


def _in_hand(seat: Seat, hold: Hold | None) -> int:
    """Count the tasks without a free slot: returned, held or given ones; not one being revised."""
    state = "" if hold is None else hold.state
    others = max(0, seat.returned - (state == "returned")) + max(0, seat.leased - (state == "leased"))
    return others + (state in ("returned", "leased"))


def _tasks_ahead(seat: Seat, hold: Hold | None) -> int:
    now = time.monotonic()
    if hold is None:  # never cached: the next task is among the free ones now, and will be the current one
        _counts.pop((seat.campaign, seat.user), None)
        return _counted(seat, has_task=False)
    count = _counts.get((seat.campaign, seat.user))
    if count is None or now - count.at > FRESH_SECONDS or seat.done < count.done:
        count = _Count(now, seat.done, _counted(seat, has_task=hold.state == "leased"))
        if len(_counts) > 10_000:
            _counts.clear()
        _counts[seat.campaign, seat.user] = count
    return max(0, count.tasks - (seat.done - count.done))


def _counted(seat: Seat, *, has_task: bool) -> int:
    tasks = _count(seat)
    return with_hidden(seat, tasks, has_task=has_task, most=MOST_COUNTED + 1) if seat.checked else tasks


def _count(seat: Seat) -> int:
    values: dict[str, Any] = {
        "campaign": seat.campaign,
        "user": seat.user,
        "occasion": seat.occasion,
        "most": MOST_COUNTED + 1,
        "upto": seat.upto,
        "own": seat.own_tasks,
    }
    with commands.cursor() as cursor:
        if seat.ruled:
            cursor.execute(LEFT_RULED, values | passes_of(seat.campaign, seat.user))
        else:
            cursor.execute(FREE_TASKS, values)
        return int(cursor.fetchone()[0])


# A person's progress and pace in each of their campaigns: only for their own page.

DAYS = 14
"""Days in the chart of a person's pace, today included."""

TASKS_LEFT = """
SELECT m.campaign_id, (SELECT count(*) FROM (
  SELECT DISTINCT s.position FROM annotation_slot s
   WHERE s.campaign_id = c.id AND NOT s.taken
     AND s.position < coalesce(c.batch_size::bigint * c.batches_open, 2147483647)
     AND s.task_id <> ALL((SELECT concord_own_tasks(c.id, m.user_id))::bigint[])
     AND coalesce((SELECT a.state FROM annotation_assignment a WHERE a.task_id = s.task_id
                    AND a.user_id = m.user_id AND a.occasion = c.occasion), 'expired') = 'expired'
   ORDER BY s.position LIMIT %(most)s) AS free) + (
  SELECT count(*) FROM annotation_assignment a WHERE a.campaign_id = c.id AND a.user_id = m.user_id
     AND a.state IN ('leased', 'returned')), m.done, c.most_tasks
  FROM annotation_campaignmember m JOIN annotation_campaign c ON c.id = m.campaign_id
 WHERE m.user_id = %(user)s AND c.state = 'open' AND coalesce(c.deadline > now(), true)
"""
MEDIANS = """
SELECT campaign_id, percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds), count(*) FROM (
  SELECT a.campaign_id, (SELECT sum(told.value::bigint) / 1000.0 FROM jsonb_each_text(a.attention) AS told)
    AS seconds FROM annotation_assignment a WHERE a.user_id = %(user)s AND a.state = 'submitted') AS own
 WHERE seconds IS NOT NULL GROUP BY campaign_id
"""
BY_DAY = """
SELECT campaign_id, (submitted_at AT TIME ZONE 'UTC')::date AS day, count(*)
  FROM annotation_assignment
 WHERE user_id = %(user)s AND state = 'submitted' AND submitted_at >= %(since)s GROUP BY 1, 2
"""


@dataclass(frozen=True, slots=True)
class Day:
    """Current tasks submitted on a day (UTC); `share` of the busiest day's number (0 to 100)."""

    date: date
    tasks: int
    share: int


@dataclass(frozen=True, slots=True)
class Pace:
    """Median seconds of attention per task, over the `n` tasks with reported attention, and the last days.

    `seconds` is None where no page reported any. `days` is empty where nothing was submitted in them.
    """

    seconds: float | None
    n: int
    days: tuple[Day, ...]


def tasks_left(*, user: int) -> dict[int, int | None]:
    """Count the tasks left for a person in each open campaign; None: more than MOST_COUNTED."""
    with commands.cursor() as cursor:
        cursor.execute(TASKS_LEFT, {"user": user, "most": MOST_COUNTED + 1})
        rows = cursor.fetchall()
    counts: dict[int, int | None] = {}
    for campaign, tasks, done, most in rows:
        bound = tasks if most is None else min(tasks, max(0, most - done))
        counts[campaign] = None if bound > MOST_COUNTED else bound
    return counts


def paces(*, user: int) -> dict[int, Pace]:
    """Return a person's pace in each campaign in which they have submissions."""
    today = timezone.now().astimezone(UTC).date()
    first = today - timedelta(days=DAYS - 1)
    with commands.cursor() as cursor:
        cursor.execute(MEDIANS, {"user": user})
        medians = {campaign: (float(median), n) for campaign, median, n in cursor.fetchall()}
        cursor.execute(BY_DAY, {"user": user, "since": first})
        counts: dict[int, dict[date, int]] = {}
        for campaign, day, tasks in cursor.fetchall():
            counts.setdefault(campaign, {})[day] = tasks
    by_campaign = {}
    for campaign in medians.keys() | counts.keys():
        seconds, n = medians.get(campaign, (None, 0))
        by_campaign[campaign] = Pace(seconds, n, _days(counts.get(campaign, {}), first))
    return by_campaign


def _days(counts: dict[date, int], first: date) -> tuple[Day, ...]:
    if not counts:
        return ()
    most = max(counts.values())
    days = [first + timedelta(days=number) for number in range(DAYS)]
    return tuple(Day(day, counts.get(day, 0), round(100 * counts.get(day, 0) / most)) for day in days)


# An annotator's own submissions: listed, searched, and described as they may see them.
#
# A search matches only what was on the screen. Turns after the rated ones, and hidden names, must not match
# either: a hit would reveal them. So database matches are verified against the screen as it was shown.

# Whether a submission may still be revised: the campaign sets for how long, and whether at all.

NEVER = "Submissions in this campaign cannot be revised."


def refusal(seat: Seat, submitted_at: datetime | None) -> str:
    """Explain why a submission made then can no longer be revised, '' where it can."""
    if seat.state != Campaign.State.OPEN:
        return f"The campaign is {seat.state}: your submissions are kept and can be read."
    if seat.over:
        return f"{seat.limits.sentence} What you submitted stands and can be read."
    return too_late(seat.revise_hours, submitted_at)


def too_late(hours: int | None, submitted_at: datetime | None) -> str:
    """Explain why revision ends `hours` after the submit (None: no limit, 0: never allowed), else ''."""
    if hours is None or submitted_at is None:
        return ""
    if hours == 0:
        return NEVER
    if timezone.now() - submitted_at < timedelta(hours=hours):
        return ""
    plural = "" if hours == 1 else "s"
    return f"A submission may be revised for {hours:,} hour{plural} here; that time has passed for this one."


def must_be_allowed(seat: Seat, assignment: int) -> None:
    """Raise RevisionClosed where the campaign no longer allows revising a submission, or never did."""
    if seat.revise_hours is None:
        return
    at = Assignment.objects.values_list("submitted_at", flat=True).get(pk=assignment)
    if why := too_late(seat.revise_hours, at):
        raise RevisionClosed(why)


MOST_FOUND = 200
"""Maximum number of submissions in a search by text, latest first."""
MOST_LOOKED_THROUGH = 1_000
EXCERPT = 160
MOST_ANSWERS = 6
State = Assignment.State
BOXES = ("flagged", "bookmarked", "commented")
SEARCH_FIELDS = ("text", "answer", "campaign", "since", "until", *BOXES)
"""Fields of a search, in a form or a query string."""


@dataclass(frozen=True, slots=True)
class SubmissionQuery:
    """Search criteria; empty ones are ignored.

    `text` is searched in the dialogue as shown, in own comments and in the wording of answers; `answer` is a
    value (4, or a word of it) or part of the name of a tag that was set.
    """

    text: str = ""
    answer: str = ""
    campaign: int | None = None
    since: date | None = None
    until: date | None = None
    flagged: bool = False
    bookmarked: bool = False
    commented: bool = False


@dataclass(frozen=True, slots=True)
class Submission:
    """A submission as its annotator sees it. `closed` is why it cannot be revised, '' where it can."""

    assignment: int
    campaign: int
    name: str
    state: str
    submitted_at: datetime
    excerpt: str
    comment: str
    flagged: bool
    closed: str
    reason: str
    answers: list[str] = field(default_factory=list)
    n_answers: int = 0
    notes: list[str] = field(default_factory=list)
    bookmarks: int = 0


def submission_query(form: dict[str, str]) -> SubmissionQuery:
    """Build the search criteria from form fields; an invalid date is ignored."""
    return SubmissionQuery(
        text=form["text"][:200],
        answer=form["answer"][:200],
        campaign=row_id(form["campaign"]),
        since=_date(form["since"]),
        until=_date(form["until"]),
        **{name: bool(form[name]) for name in BOXES},
    )


def _date(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def own_submissions(user: User, query: SubmissionQuery) -> QuerySet[Assignment] | list[Assignment]:
    """Return a person's matching submissions, latest first; at most MOST_FOUND with a text to search for."""
    rows = _fitting(user, query).select_related("campaign").order_by("-submitted_at", "-id")
    if not query.text:
        return rows
    matches = []
    for row in rows.filter(_may_hold(query.text))[:MOST_LOOKED_THROUGH]:
        if _holds(row, query.text):
            matches.append(row)
        if len(matches) == MOST_FOUND:
            break
    return matches


def describe_submissions(rows: Iterable[Assignment]) -> list[Submission]:
    """Describe submissions for their annotator, with the rated text, answers and notes."""
    assignments = list(rows)
    pks = [row.pk for row in assignments]
    answers, counts = _answers(pks)
    notes = _grouped(
        TurnNote.objects.filter(assignment__in=pks, superseded_at=None)
        .order_by("id")
        .values_list("assignment_id", "comment", "flagged")
    )
    bookmarks = _grouped(Bookmark.objects.filter(assignment__in=pks).values_list("assignment_id", "id"))
    return [
        Submission(
            assignment=row.pk,
            campaign=row.campaign_id,
            name=row.campaign.name,
            state=row.state,
            submitted_at=row.submitted_at,  # type: ignore[arg-type]  # a submission has its time
            excerpt=_excerpt(screens.load(row.task_id, assignment=row.pk)),
            comment=row.comment,
            flagged=row.flagged or any(flagged for _, flagged in notes.get(row.pk, [])),
            closed=_closed(row),
            reason=row.withdrawn_reason,
            answers=answers.get(row.pk, [])[:MOST_ANSWERS],
            n_answers=counts.get(row.pk, 0),
            notes=[comment for comment, _ in notes.get(row.pk, []) if comment],
            bookmarks=len(bookmarks.get(row.pk, [])),
        )
        for row in assignments
    ]


def _fitting(user: User, query: SubmissionQuery) -> QuerySet[Assignment]:
    rows = Assignment.objects.filter(user=user, state__in=[State.SUBMITTED, State.RETURNED])
    rows = rows.filter(campaign__archived_at=None, submitted_at__isnull=False)
    rows = rows.exclude(campaign__form=Campaign.Form.WRITE, slot__isnull=False)  # these have no answers
    submission = OuterRef("pk")
    notes = TurnNote.objects.filter(assignment=submission, superseded_at=None)
    if query.campaign is not None:
        rows = rows.filter(campaign=query.campaign)
    if query.since is not None:
        rows = rows.filter(submitted_at__date__gte=query.since)
    if query.until is not None:
        rows = rows.filter(submitted_at__date__lte=query.until)
    if query.flagged:
        rows = rows.filter(Q(flagged=True) | Exists(notes.filter(flagged=True)))
    if query.bookmarked:
        rows = rows.filter(Exists(Bookmark.objects.filter(assignment=submission)))
    if query.commented:
        rows = rows.filter(~Q(comment="") | Exists(notes.exclude(comment="")))
    if query.answer:
        rows = rows.filter(Exists(_with_answer(query.answer).filter(assignment=submission)))
    return rows


def _with_answer(answer: str) -> QuerySet[Label]:
    names_tag = Q(question__wording__icontains=answer) | Q(question__short_name__icontains=answer)
    fits = Q(text__icontains=answer) | Q(question__level="binary", number=1) & names_tag
    with suppress(ValueError):
        fits |= Q(number=float(answer))
    return Label.objects.filter(fits, superseded_at=None)


def _may_hold(text: str) -> Q:
    """Match submissions that may contain a text: in the dialogue, hidden or not, or in notes and answers."""
    submission = OuterRef("pk")
    turns = Turn.objects.filter(continuation__dialogue=OuterRef("task__continuation__dialogue"))
    notes = TurnNote.objects.filter(assignment=submission, superseded_at=None, comment__icontains=text)
    labels = Label.objects.filter(assignment=submission, superseded_at=None, text__icontains=text)
    words = max(text.split(), key=len, default="")
    return (
        Q(comment__icontains=text)
        | Q(Exists(notes))
        | Q(Exists(labels))
        | Q(Exists(turns.filter(text__icontains=words)))
    )


def _holds(row: Assignment, text: str) -> bool:
    folded = _folded(text)
    if folded in _folded(row.comment):
        return True
    notes = TurnNote.objects.filter(assignment=row, superseded_at=None).values_list("comment", flat=True)
    texts = Label.objects.filter(assignment=row, superseded_at=None).exclude(text=None)
    own_texts = [*notes, *texts.values_list("text", flat=True)]
    if any(folded in _folded(own_text or "") for own_text in own_texts):
        return True
    screen = screens.load(row.task_id)
    return any(folded in _folded(line.text) for line in screen.lines)


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _excerpt(screen: Screen) -> str:
    """Return the beginning of the rated text, as it was shown."""
    rated = next((line for line in screen.lines if line.place in ("item", "rated")), None)
    text = screen.card.line if screen.card else ""
    if rated is not None:
        text = f"{rated.who}: {' '.join(rated.text.split())}"
    return text if len(text) <= EXCERPT else f"{text[: EXCERPT - 1]}…"


def _closed(row: Assignment) -> str:
    if row.state != State.SUBMITTED:
        return ""
    if row.campaign.state != "open":
        return f"The campaign is {row.campaign.state}."
    return too_late(row.campaign.revise_hours, row.submitted_at)


def _answers(pks: list[int]) -> tuple[dict[int, list[str]], dict[int, int]]:
    """Return the answers of assignments in words, without unset tags, and their number."""
    live = Label.objects.filter(assignment__in=pks, superseded_at=None, missing="")
    rows = live.order_by("id").values_list(
        "assignment_id",
        "question__short_name",
        "question__wording",
        "question__level",
        "question__group",
        "number",
        "text",
    )
    answers: dict[int, list[str]] = {}
    counts: dict[int, int] = {}
    for pk, short_name, wording, level, group, number, text in rows:
        counts[pk] = counts.get(pk, 0) + 1
        name = short_name or wording
        is_tag = level == "binary" and bool(group)
        if is_tag and number == 1:
            answers.setdefault(pk, []).append(name)
        elif not is_tag:
            value = text if number is None else f"{number:g}"
            answers.setdefault(pk, []).append(f"{name}: {value}")
    return answers, counts


def _grouped(rows: Iterable[tuple[Any, ...]]) -> dict[int, list[tuple[Any, ...]]]:
    groups: dict[int, list[tuple[Any, ...]]] = {}
    for pk, *rest in rows:
        groups.setdefault(pk, []).append(tuple(rest))
    return groups
