"""Profiles of large corpora: a worker computes and keeps all that their page reads from the labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, QuerySet

from annotation.models import Continuation, Corpus, Label
from calibration.kept import Kept, is_small, kept_or_job, stamp_of
from calibration.profiles.cells import Cell
from calibration.profiles.distribution import distribution
from calibration.profiles.points import POINTS, SAME, Part, Parts
from calibration.profiles.summary import Column, Figures, Panel, columns_of, figures_of, panels_of
from calibration.reading.calls import calls_of
from calibration.reading.scope import of_corpus
from jobs.errors import JobRefused
from jobs.kinds import JobKind, Progress
from jobs.models import Job
from judges.runs.estimates import Doubt, doubtful_values, fitted_on_themselves

KIND = "profile"
EXAMPLES = 30


@dataclass(frozen=True)
class Profile:
    """What a corpus's profile shows. `kept` says when it was computed; None for one of the labels of now.

    `doubts` and `learned` are by rater, `examples` some continuations with values.
    """

    panels: list[Panel]
    doubts: dict[int, Doubt]
    learned: dict[int, int]
    examples: QuerySet[Continuation]
    kept: Kept | None = None

    @property
    def computed_at(self) -> datetime | None:
        """When it was computed, where that was before."""
        return self.kept.at if self.kept else None

    @property
    def labels_since(self) -> bool:
        """Whether labels have come since."""
        return bool(self.kept and self.kept.labels_since)

    @property
    def calls_since(self) -> bool:
        """Whether calls of judges or metrics have ended since."""
        return bool(self.kept and self.kept.calls_since)


def profile_or_job(
    *, corpus: Corpus, by: User | None, points: str = SAME, again: bool = False
) -> Profile | Job:
    """Return a corpus's profile at the same or at all points: of a large one as it was last computed, or the
    job that computes it."""
    if is_small(of_corpus(corpus)):
        return _read(corpus, points)
    kept = _kept_or_job(corpus, by, again)
    if isinstance(kept, Job):
        return kept
    found = kept.result
    figures = Figures(
        {
            (rater, (system, given)): replace(Cell(*rest), given=given)
            for rater, system, given, *rest in found["cells"]
        },
        {(rater, (system, given)): dict(why) for rater, system, given, why in found["reasons"]},
        tuple(found["fakes"]),
        _parts_read(found["parts"]),
    )
    doubts = {rater: Doubt(*doubt) for rater, *doubt in found["doubts"]}
    learned = {int(rater): n for rater, n in found["learned"].items()}
    examples = Continuation.objects.filter(pk__in=found["examples"]).order_by("pk")
    return Profile(panels_of(figures, points), doubts, learned, examples, kept)


def spread_of(*, corpus: Corpus, column: Column, by: User | None, points: str = SAME) -> list[dict[str, Any]]:
    """Return how a metric's values are spread: as the page that is shown has it, where that is kept."""
    if not is_small(of_corpus(corpus)):
        kept = _kept_or_job(corpus, by, again=False)
        if isinstance(kept, Kept) and (found := kept.result["spread"].get(str(column.id))) is not None:
            spread: list[dict[str, Any]] = found[points]
            return spread
    return distribution(corpus, column, points)


def _kept_or_job(corpus: Corpus, by: User | None, again: bool) -> Kept | Job:
    subject = f"profile of corpus {corpus.pk}: {corpus.name}"[:300]
    return kept_or_job(
        kind=KIND,
        subject=subject,
        stamp=stamp_of(of_corpus(corpus)),
        params={"corpus": corpus.pk},
        by=by,
        again=again,
    )


def _read(corpus: Corpus, points: str) -> Profile:
    panels = panels_of(figures_of(corpus), points)
    columns = {column.id for panel in panels for column in panel.columns}
    calls = calls_of(of_corpus(corpus), columns)
    doubts, learned = doubtful_values(calls), fitted_on_themselves(calls)
    return Profile(panels, doubts, learned, _examples(corpus))


def _examples(corpus: Corpus) -> QuerySet[Continuation]:
    scored = Label.objects.filter(
        item__continuation=OuterRef("pk"), item__training=False, rater__kind="metric"
    )
    return Continuation.objects.filter(Exists(scored), dialogue__corpus=corpus).order_by("pk")[:EXAMPLES]


def run(job: Job, progress: Progress) -> Mapping[str, Any]:
    """Read the figures of a corpus's profile; the result is all that its page shows, as plain lists."""
    corpus = Corpus.objects.filter(pk=job.params["corpus"]).first()
    if corpus is None:
        raise JobRefused("the corpus was deleted")
    stamp, figures = stamp_of(of_corpus(corpus)), figures_of(corpus)
    columns = columns_of({rater for rater, _ in figures.cells})
    calls = calls_of(of_corpus(corpus), {column.id for column in columns})
    spread = {}
    for number, column in enumerate(columns, 1):
        spread[str(column.id)] = {points: distribution(corpus, column, points) for points in POINTS}
        progress(number, len(columns))
    return {
        "stamp": stamp,
        "cells": [
            [rater, system, given, cell.n, cell.missing, cell.mean, cell.spread, cell.low, cell.high]
            for (rater, (system, given)), cell in figures.cells.items()
        ],
        "reasons": [
            [rater, system, given, list(why.items())]
            for (rater, (system, given)), why in figures.reasons.items()
        ],
        "fakes": list(figures.fakes),
        "parts": [
            [rater, *source, {**asdict(part), "rows": sorted(part.rows)}]
            for rater, sources in figures.parts.items()
            for source, parts in sources.items()
            for part in parts
        ],
        "doubts": [
            [rater, doubt.calls, doubt.flagged, doubt.example]
            for rater, doubt in doubtful_values(calls).items()
        ],
        "learned": fitted_on_themselves(calls),
        "examples": [continuation.pk for continuation in _examples(corpus)],
        "spread": spread,
    }


def _parts_read(written: Iterable[Any]) -> Parts:
    found: Parts = {}
    for rater, system, half, part in written:
        parts = found.setdefault(rater, {}).setdefault((system, half), [])
        parts.append(Part(**{**part, "rows": frozenset(part["rows"])}))
    return found


JOB = JobKind(KIND, "Metric scores", run)
