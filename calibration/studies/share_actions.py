"""Read-only links to reports: create, revoke, open.

Whoever has a link sees one report, without an account, until it expires or is revoked. Its secret is random,
shown at creation, and stored only as a hash.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from typing import Any, NamedTuple

import numpy as np
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Prefetch, QuerySet
from django.utils import timezone

from annotation.corpora import dialogue_view
from annotation.models import Item
from annotation.people.accounts import hash_of
from annotation.people.participants import count_try
from calibration.errors import CalibrationError, OlderFormat, ShareRefused
from calibration.models import MOST_SHARED_DAYS, Report, ReportShare, ReportShareView, Study
from calibration.reports.figures import QuestionFigures, figures, label
from calibration.reports.snapshot import READ, snapshot_of
from calibration.reports.tables import PEOPLE
from calibration.reports.view import looks
from calibration.statistics import RatingError
from calibration.studies import study_actions as studies
from calibration.studies.disagreements import (
    ItemAnswers,
    comparison,
    distances,
    items_with_answers,
    lines_of,
    read_question,
)
from config.models import Event

USUAL_DAYS = 30
NO_USE = "This link does not work: it has expired, was revoked, or its address is incomplete."
OUTDATED = "This report can no longer be shown. Ask the person who sent you the link for a new one."
VIEWS_AN_HOUR = 120
"""Most requests for shared reports from one network address in an hour."""
TOO_MANY = "Too many reports were opened from your network. Try again in an hour."
DOOR = "shared report"


class IssuedShare(NamedTuple):
    """A newly created link; `token` is its secret, shown only once."""

    share: ReportShare
    token: str


@transaction.atomic
def create(
    *, by: User | None, report: Report, days: int = USUAL_DAYS, allows_transcripts: bool = False
) -> IssuedShare:
    """Create a read-only link to a report; transcripts are those of its leading disagreements.

    Raises ShareRefused for days outside 1 to 365 and for a report in an older format, StudyError for
    transcripts of a part that may not be shown now.
    """
    if not 1 <= days <= MOST_SHARED_DAYS:
        raise ShareRefused(f"A link works for 1 to {MOST_SHARED_DAYS} days.", "days")
    try:
        snapshot_of(report)
    except OlderFormat:
        raise ShareRefused("This report is in an older format: recompute it, then share it.") from None
    token = secrets.token_urlsafe(32)
    share = ReportShare.objects.create(
        report=report,
        token_hash=hash_of(token),
        allows_transcripts=allows_transcripts,
        transcripts=[asdict(part) for part in leading_disagreements(report)] if allows_transcripts else [],
        created_by=by,
        expires_at=timezone.now() + timedelta(days=days),
    )
    detail: dict[str, Any] = {"days": days, "transcripts": allows_transcripts, "part": report.part}
    if report.part == "test":
        detail["looks_at_test"] = [look.pk for look in looks(report)]
    _log(by, "share report", share, **detail)
    return IssuedShare(share, token)


@transaction.atomic
def revoke(*, by: User | None, share: ReportShare) -> None:
    """Revoke a link: from now on it opens nothing."""
    rows = ReportShare.objects.filter(pk=share.pk, revoked_at=None)
    if rows.update(revoked_at=timezone.now(), revoked_by=by):
        _log(by, "revoke shared report", share)


def _log(by: User | None, verb: str, share: ReportShare, **detail: Any) -> None:
    study = share.report.study
    subject = f"study {study.pk}: {study.name}"[:300]
    detail = {"report": share.report_id, "share": share.pk} | detail
    Event.objects.create(by=by, verb=verb, subject=subject, detail=detail)


LATEST_VIEWS = 20


def shares_of(study: Study) -> QuerySet[ReportShare]:
    """Return the links to a study's reports, newest first, with `n_views` and their `latest_views`."""
    latest = Prefetch("views", ReportShareView.objects.order_by("-id")[:LATEST_VIEWS], "latest_views")
    rows = ReportShare.objects.filter(report__study=study).annotate(n_views=Count("views"))
    return rows.select_related("report", "created_by", "revoked_by").prefetch_related(latest).order_by("-id")


def open_share(token: str, address: str) -> ReportShare:
    """Return the link of a secret, with its report, and log the view.

    Raises ShareRefused for an unknown, expired or revoked link, TooManyTries after many requests from one
    network address.
    """
    count_try(door=DOOR, address=address, most=VIEWS_AN_HOUR, refusal=TOO_MANY)
    rows = ReportShare.objects.filter(revoked_at=None, expires_at__gt=timezone.now())
    share = rows.filter(token_hash=hash_of(token)).select_related("report__study__corpus").first()
    if share is None:
        raise ShareRefused(NO_USE)
    try:
        snapshot_of(share.report)
    except OlderFormat:
        raise ShareRefused(OUTDATED) from None
    if not share.allows_transcripts:
        _remove_notes(share.report)
    ReportShareView.objects.create(share=share)
    return share


# Transcripts: the leading disagreements of each judge with people.

LEADING = 5
"""Most disagreements of one judge on one question."""
MOST_ITEMS = 100
"""Most disagreements of one link."""
LONGEST_REASON = 1000


@dataclass(frozen=True, slots=True)
class Voice:
    """A rater's name with the written reason, '' without one."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class SharedAnswer:
    """An answer and the raters who gave it."""

    value: str
    raters: tuple[Voice, ...]


@dataclass(frozen=True, slots=True)
class SharedItem:
    """The id of an item, its tag in a pooled set, and the answers."""

    item: int
    tag: str
    answers: tuple[SharedAnswer, ...]


@dataclass(frozen=True, slots=True)
class Disagreements:
    """The items of a question on which a judge is farthest from people; `differ` counts all that differ."""

    question: str
    judge: str
    differ: int
    items: tuple[SharedItem, ...]


@dataclass(frozen=True, slots=True)
class ShownItem:
    """An item with its turns and the stored answers."""

    item: Item
    tag: str
    answers: list[dict[str, Any]]
    lines: list[dialogue_view.Line]


@dataclass(frozen=True, slots=True)
class ShownDisagreements:
    """The disagreements of a judge on a question, as shown."""

    question: str
    judge: str
    differ: int
    items: list[ShownItem]


def leading_disagreements(report: Report) -> list[Disagreements]:
    """Return the items on which each judge is farthest from people, by question.

    Answers are the current ones of the raters in the report. Raises StudyError for a part that may not be
    shown now.
    """
    studies.check_part(report.study, report.part)
    selected: list[Disagreements] = []
    room = MOST_ITEMS
    for title, question in label(figures(snapshot_of(report))):
        if question.data.pooled or room <= 0:
            continue
        for part in _of_question(report, title, question, room):
            room -= len(part.items)
            selected.append(part)
    return selected


def _of_question(report: Report, title: str, question: QuestionFigures, room: int) -> Iterator[Disagreements]:
    names = {rater.name for rater in question.data.raters}
    judges = [rater.name for rater in question.data.raters if rater.kind == "judge"]
    if not judges:
        return
    try:
        read = read_question(report.study, report.part, question.data.ref)
    except (CalibrationError, RatingError):
        return  # the question was removed from the study, or answers left its scale
    raters = read.ratings.raters
    for judge in judges:
        if judge not in raters or room <= 0:
            continue
        compared = comparison(read.ratings, judge, PEOPLE)
        pairs = [pair for pair in compared.pairs if {raters[column] for column in pair} <= names]
        compared = replace(compared, pairs=tuple(pairs))
        apart = distances(compared)
        rows = np.flatnonzero(apart > 0)
        order = rows[np.lexsort((np.array(read.items)[rows], -apart[rows]))].tolist()[: min(LEADING, room)]
        items = items_with_answers(read, compared, order, [float(apart[row]) for row in order])
        room -= len(items)
        if items:
            yield Disagreements(title, judge, len(rows), tuple(_shared_item(item) for item in items))


def _shared_item(item: ItemAnswers) -> SharedItem:
    answers = tuple(
        SharedAnswer(
            answer.value,
            tuple(Voice(voice.name, voice.reason[:LONGEST_REASON]) for voice in answer.raters),
        )
        for answer in item.answers
    )
    return SharedItem(item.item.pk, item.tag, answers)


def shown_disagreements(share: ReportShare) -> list[ShownDisagreements]:
    """Return a link's disagreements with their turns; items deleted since are left out."""
    ids = {entry["item"] for part in share.transcripts for entry in part["items"]}
    related = ("continuation__dialogue__corpus", "continuation__system", "turn")
    items = Item.objects.select_related(*related).in_bulk(ids)
    lines = lines_of(list(items.values()))
    visible = []
    for part in share.transcripts:
        rows = [
            ShownItem(items[entry["item"]], entry["tag"], entry["answers"], lines[entry["item"]])
            for entry in part["items"]
            if entry["item"] in items
        ]
        if rows:
            visible.append(ShownDisagreements(part["question"], part["judge"], part["differ"], rows))
    return visible


def _remove_notes(report: Report) -> None:
    """Remove the raters' notes about items from a loaded report; its row stays as it is.

    They are a snapshot's only texts about single items. Raises OlderFormat as `snapshot_of` does.
    """
    snapshot = snapshot_of(report)
    coverage = tuple(replace(table, notes=()) for table in snapshot.coverage)
    vars(report)[READ] = replace(snapshot, coverage=coverage)
