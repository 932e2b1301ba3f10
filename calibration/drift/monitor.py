"""Monitoring of a judge's main labels over time: one observation per cluster, in order of time."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from django.db.models.functions import Coalesce

from annotation.models import Corpus, Question, Rater
from annotation.models.labels import live_labels
from annotation.text.display import moment, number
from calibration.errors import DriftRefused
from calibration.reports.charts import Chart, Point
from calibration.statistics.monitoring import ALPHA, LEAST_BASELINE, MOST_POINTS, Monitoring, monitored

BASELINE = 100
"""Default number of clusters of the baseline."""
MOST_BASELINE = 10_000
CLUSTER = Coalesce("item__cluster", "item__continuation__dialogue__cluster")


@dataclass(frozen=True)
class Monitor:
    """A judge's answers to a question over time: the figures, and the time of each cluster's first answer."""

    rater: Rater
    question: Question
    times: tuple[datetime, ...]
    figures: Monitoring

    @property
    def sentence(self) -> str:
        """Say whether the rate has changed since the baseline, with figures and the false alarm rate."""
        figures = self.figures
        if figures.reason:
            return f"Not monitored yet: {figures.reason}."
        baseline = (
            f"the baseline of {figures.n_baseline:,} clusters, {number(figures.baseline, 2)} "
            f"(between {number(figures.low, 2)} and {number(figures.high, 2)})"
        )
        chance = f"A false alarm, ever, has a chance of {figures.alpha:.0%} at most."
        if figures.alarm is None:
            return f"No change in {figures.n_later:,} clusters since {baseline}. {chance}"
        way = "above" if figures.direction == "up" else "below"
        at = moment(self.times[figures.n_baseline + figures.alarm - 1])
        return (
            f"Alarm: the rate is {way} {baseline}, since {at}, after {figures.alarm:,} further clusters. "
            f"{chance}"
        )

    @property
    def next_step(self) -> str:
        """Say what to do next."""
        if self.figures.alarm is None:
            return ""
        return (
            "The judge or the dialogues have changed. Ask the judge again on an anchor set: if it is stable "
            "there, the dialogues have changed."
        )

    def as_json(self) -> dict[str, Any]:
        """Return plain data, with at most `MOST_POINTS` points of the series."""
        figures = self.figures
        return {
            "judge": self.rater.name,
            "question": self.question.key,
            "clusters": len(self.times),
            "alpha": figures.alpha,
            "n_baseline": figures.n_baseline,
            "baseline": figures.baseline,
            "low": figures.low,
            "high": figures.high,
            "n_later": figures.n_later,
            "threshold": figures.threshold,
            "alarm": figures.alarm,
            "direction": figures.direction,
            "reason": figures.reason,
            "sentence": self.sentence,
            "next_step": self.next_step,
            "series": self.series(),
        }

    def series(self) -> list[dict[str, Any]]:
        """Return evidence, running rate and confidence sequence after later clusters, the last included."""
        figures = self.figures
        if figures.evidence is None or figures.sequence is None or not figures.n_later:
            return []
        sequence = figures.sequence
        picked = np.unique(np.linspace(0, figures.n_later - 1, MOST_POINTS).round().astype(int))
        return [
            {
                "n": int(i) + 1,
                "at": self.times[figures.n_baseline + i],
                "evidence": float(figures.evidence[i]),
                "rate": float(sequence.mean[i]),
                "low": float(sequence.low[i]),
                "high": float(sequence.high[i]),
            }
            for i in picked.tolist()
        ]


def questions_of(corpus: Corpus, rater: Rater) -> list[Question]:
    """Return the questions with a scale that a judge answered in a corpus."""
    answered = live_labels().filter(item__corpus=corpus, rater=rater).order_by().values("question")
    rows = Question.objects.filter(pk__in=answered).select_related("version__scheme")
    return [question for question in rows.order_by("version", "position") if ends_of(question) is not None]


def ends_of(question: Question) -> tuple[float, float] | None:
    """Return the ends of a question's scale that become 0 and 1; None where it has none."""
    if question.level == "binary":
        return 0.0, 1.0
    values = [value for value in question.values if isinstance(value, int | float)]
    if question.level not in ("ordinal", "interval", "ratio") or len(values) < 2:
        return None
    return float(min(values)), float(max(values))


def monitor(
    *,
    corpus: Corpus,
    rater: Rater,
    question: Question,
    n_baseline: int = BASELINE,
    alpha: float = ALPHA,
) -> Monitor:
    """Monitor a judge's answers to a question since its first ``n_baseline`` clusters.

    An observation is the mean of a cluster's answers on the scale from 0 to 1 (binary: the share of
    positives), at the time of its first answer. Training dialogues are left out. Raises DriftRefused.
    """
    if not LEAST_BASELINE <= n_baseline <= MOST_BASELINE:
        raise DriftRefused(f"A baseline has {LEAST_BASELINE} to {MOST_BASELINE:,} clusters.")
    if not 0 < alpha <= 0.5:
        raise DriftRefused("The false alarm rate lies above 0 and is at most 0.5.")
    ends = ends_of(question)
    if ends is None:
        raise DriftRefused(f"{question.title} has no scale with ends, so its answers have no rate.")
    labels = live_labels().filter(item__corpus=corpus, item__training=False, rater=rater, question=question)
    rows = labels.filter(missing="", number__isnull=False).annotate(of_cluster=CLUSTER)
    answers: dict[str, list[float]] = defaultdict(list)
    times: dict[str, datetime] = {}
    positive = 1.0 if question.positive is None else question.positive
    for cluster, value, at in rows.order_by("created_at", "pk").values_list(
        "of_cluster", "number", "created_at"
    ):
        assert value is not None  # only labels with a number
        is_binary = question.level == "binary"
        scaled = float(value == positive) if is_binary else (value - ends[0]) / (ends[1] - ends[0])
        answers[cluster].append(scaled)
        times.setdefault(cluster, at)
    observations = np.array([sum(own) / len(own) for own in answers.values()])
    figures = monitored(observations, n_baseline, alpha)
    return Monitor(rater, question, tuple(times.values()), figures)


def charts(state: Monitor) -> list[Chart]:
    """Return the charts of a monitor: evidence with the alarm line, and the rate beside the baseline."""
    series, figures = state.series(), state.figures
    if len(series) < 2 or figures.low is None or figures.high is None:
        return []
    series = [series[i] for i in sorted({round(k * (len(series) - 1) / 59) for k in range(60)})]
    name = state.question.title

    def point(
        row: dict[str, Any], label: str, value: float, ends: tuple[float | None, float | None]
    ) -> Point:
        return Point(name, label, value, *ends, row["n"], row["n"], "", x=float(row["n"]))

    none = (None, None)
    evidence = [point(row, "Evidence", float(np.log10(max(row["evidence"], 1e-3))), none) for row in series]
    rates = [point(row, "Rate since the baseline", row["rate"], (row["low"], row["high"])) for row in series]
    for label, value in (("Baseline, lower end", figures.low), ("Baseline, upper end", figures.high)):
        rates += [point(row, label, value, none) for row in (series[0], series[-1])]
    x_axis = "Clusters since the baseline"
    return [
        Chart(
            "evidence",
            "Evidence of a change",
            "Evidence, as a power of 10",
            tuple(evidence),
            x_axis=x_axis,
            steps=True,
            target=float(np.log10(figures.threshold)),
            caption=f"The alarm is raised at the dashed line, an evidence of {figures.threshold:,.0f}.",
        ),
        Chart(
            "rate",
            "Rate since the baseline",
            "Rate from 0 to 1",
            tuple(rates),
            x_axis=x_axis,
            steps=True,
            top=1.0,
            caption=f"The interval holds at all times at once, with a chance of {1 - figures.alpha:.0%}.",
        ),
    ]
