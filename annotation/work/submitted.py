"""An annotator's own submissions: listed, searched, and told as they may be shown to them.

A search finds what was on the screen and nothing else. Turns that come after what was rated, and names that
were hidden, must not be found either: a hit would tell of them. So what the database offers is looked
through on the screen as it was shown.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from annotation.errors import RevisionClosed
from annotation.models import Bookmark, Campaign, Label, Turn, TurnNote
from annotation.models.work import Assignment
from annotation.work import screens
from annotation.work.leases import Seat
from annotation.work.screens import Screen
from config.files import row_id

# Whether a submission may still be revised: the campaign says for how long, and whether at all.

NEVER = "In this campaign a submission stands as it is: it cannot be revised."


def refusal(seat: Seat, submitted_at: datetime | None) -> str:
    """Return why a submission made then can be revised no longer, '' where it can."""
    if seat.state != Campaign.State.OPEN:
        return f"The campaign is {seat.state}: what you submitted stands and can be read."
    if seat.over:
        return f"{seat.limits.sentence} What you submitted stands and can be read."
    return too_late(seat.revise_hours, submitted_at)


def too_late(hours: int | None, submitted_at: datetime | None) -> str:
    """Return why a task is no longer revised `hours` after its submit (None: no bound, 0: never), else ''."""
    if hours is None or submitted_at is None:
        return ""
    if hours == 0:
        return NEVER
    if timezone.now() - submitted_at < timedelta(hours=hours):
        return ""
    plural = "" if hours == 1 else "s"
    return f"A submission may be revised for {hours:,} hour{plural} here; that time has passed for this one."


def must_be_allowed(seat: Seat, assignment: int) -> None:
    """Raise RevisionClosed where the campaign lets a submission be revised no longer, or never."""
    if seat.revise_hours is None:
        return
    at = Assignment.objects.values_list("submitted_at", flat=True).get(pk=assignment)
    if why := too_late(seat.revise_hours, at):
        raise RevisionClosed(why)


MOST_FOUND = 200
"""Submissions that a search by text lists, latest first."""
MOST_LOOKED_THROUGH = 1_000
EXCERPT = 160
SHORT = 40
"""A list of answers names a question by its wording up to so many characters, else by its key."""
MOST_ANSWERS = 6
State = Assignment.State
BOXES = ("flagged", "bookmarked", "commented")
ASKED = ("text", "answer", "campaign", "since", "until", *BOXES)
"""The fields of a search, as a form or an address gives them."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is searched for; what is empty is not asked about.

    `text` is looked for in the dialogue as shown, in own comments and in answers in words; `answer` is a
    value (4, or a word of it) or a part of the name of a tag that was set.
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
    """One submission as its annotator reads it. `closed` says why it cannot be revised, '' where it can."""

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

    def as_json(self) -> dict[str, Any]:
        """Return it for programs."""
        return {name: getattr(self, name) for name in self.__slots__}


def wanted(asked: dict[str, str]) -> Wanted:
    """Return what is searched for, from the fields of a form; a date that is none is not asked about."""
    return Wanted(
        text=asked["text"][:200],
        answer=asked["answer"][:200],
        campaign=row_id(asked["campaign"]),
        since=_date(asked["since"]),
        until=_date(asked["until"]),
        **{name: bool(asked[name]) for name in BOXES},
    )


def _date(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def own(user: User, wanted: Wanted) -> QuerySet[Assignment] | list[Assignment]:
    """Return a person's submissions that fit, latest first; with a text to look for, at most MOST_FOUND."""
    rows = _fitting(user, wanted).select_related("campaign").order_by("-submitted_at", "-id")
    if not wanted.text:
        return rows
    found = []
    for row in rows.filter(_may_hold(wanted.text))[:MOST_LOOKED_THROUGH]:
        if _holds(row, wanted.text):
            found.append(row)
        if len(found) == MOST_FOUND:
            break
    return found


def told(rows: Iterable[Assignment]) -> list[Submission]:
    """Return submissions as their annotator reads them, with what was rated, answers and notes."""
    listed = list(rows)
    pks = [row.pk for row in listed]
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
        for row in listed
    ]


def _fitting(user: User, wanted: Wanted) -> QuerySet[Assignment]:
    rows = Assignment.objects.filter(user=user, state__in=[State.SUBMITTED, State.RETURNED])
    rows = rows.filter(campaign__archived_at=None, submitted_at__isnull=False)
    here = OuterRef("pk")
    notes = TurnNote.objects.filter(assignment=here, superseded_at=None)
    if wanted.campaign is not None:
        rows = rows.filter(campaign=wanted.campaign)
    if wanted.since is not None:
        rows = rows.filter(submitted_at__date__gte=wanted.since)
    if wanted.until is not None:
        rows = rows.filter(submitted_at__date__lte=wanted.until)
    if wanted.flagged:
        rows = rows.filter(Q(flagged=True) | Exists(notes.filter(flagged=True)))
    if wanted.bookmarked:
        rows = rows.filter(Exists(Bookmark.objects.filter(assignment=here)))
    if wanted.commented:
        rows = rows.filter(~Q(comment="") | Exists(notes.exclude(comment="")))
    if wanted.answer:
        rows = rows.filter(Exists(_with_answer(wanted.answer).filter(assignment=here)))
    return rows


def _with_answer(answer: str) -> QuerySet[Label]:
    named = Q(question__wording__icontains=answer) | Q(question__key__icontains=answer)
    fits = Q(text__icontains=answer) | Q(question__level="binary", number=1) & named
    with suppress(ValueError):
        fits |= Q(number=float(answer))
    return Label.objects.filter(fits, superseded_at=None)


def _may_hold(text: str) -> Q:
    """Whether a submission may hold a text: in its dialogue, hidden or not, or in what was written."""
    here = OuterRef("pk")
    said = Turn.objects.filter(continuation__dialogue=OuterRef("task__continuation__dialogue"))
    notes = TurnNote.objects.filter(assignment=here, superseded_at=None, comment__icontains=text)
    labels = Label.objects.filter(assignment=here, superseded_at=None, text__icontains=text)
    words = max(text.split(), key=len, default="")
    return (
        Q(comment__icontains=text)
        | Q(Exists(notes))
        | Q(Exists(labels))
        | Q(Exists(said.filter(text__icontains=words)))
    )


def _holds(row: Assignment, text: str) -> bool:
    folded = _folded(text)
    if folded in _folded(row.comment):
        return True
    notes = TurnNote.objects.filter(assignment=row, superseded_at=None).values_list("comment", flat=True)
    texts = Label.objects.filter(assignment=row, superseded_at=None).exclude(text=None)
    written = [*notes, *texts.values_list("text", flat=True)]
    if any(folded in _folded(one or "") for one in written):
        return True
    shown = screens.load(row.task_id)
    return any(folded in _folded(line.text) for line in shown.lines)


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _excerpt(screen: Screen) -> str:
    """Return how what was rated begins, as it was shown."""
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
    """Return the answers of assignments in words, tags that were not set left out, and how many there are."""
    live = Label.objects.filter(assignment__in=pks, superseded_at=None, missing="")
    rows = live.order_by("id").values_list(
        "assignment_id",
        "question__key",
        "question__wording",
        "question__level",
        "question__group",
        "number",
        "text",
    )
    told: dict[int, list[str]] = {}
    counts: dict[int, int] = {}
    for pk, key, wording, level, group, number, text in rows:
        counts[pk] = counts.get(pk, 0) + 1
        name = wording if len(wording) <= SHORT else key.replace("_", " ")
        is_tag = level == "binary" and bool(group)
        if is_tag and number == 1:
            told.setdefault(pk, []).append(name)
        elif not is_tag:
            value = text if number is None else f"{number:g}"
            told.setdefault(pk, []).append(f"{name}: {value}")
    return told, counts


def _grouped(rows: Iterable[tuple[Any, ...]]) -> dict[int, list[tuple[Any, ...]]]:
    found: dict[int, list[tuple[Any, ...]]] = {}
    for pk, *rest in rows:
        found.setdefault(pk, []).append(tuple(rest))
    return found
