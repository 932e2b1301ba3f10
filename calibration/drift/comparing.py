"""Comparison of a recheck with the judge's first run: a job once its run has ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from django.db import transaction
from django.utils import timezone

from annotation.models import Item, Label, Occasion, Question, Rater
from annotation.schemes.definitions import UNSCALED
from annotation.text.display import number
from calibration.drift.anchor_actions import first_calls
from calibration.models import GoldLabel, Recheck
from calibration.ratings.definitions import ScaleMap
from calibration.ratings.ratings import Place, counterpart, placed
from calibration.ratings.scope import QuestionInfo, question_info, scope_of
from calibration.reports.figures import worded
from calibration.reports.wording import signed
from calibration.statistics.core.engine import Result
from calibration.statistics.core.ratings import Collector, Ratings, Record, Value
from calibration.statistics.core.resampling import Plan
from calibration.statistics.rechecks import (
    CANNOT_SAY,
    MOVED,
    STABLE,
    Recomparison,
    RunPair,
    compare_runs,
    has_moved,
)
from config.models import Event
from jobs.calls.served_models import served_change, served_models
from jobs.errors import JobRefused
from jobs.kinds import JobKind, Progress
from jobs.models import Job
from jobs.models.run import MOST_SAMPLES
from jobs.webhook_events import JUDGE_MOVED, tell

PLAN = Plan()
NOBODY, GOLD = "", "gold"
Answer = tuple[int, int, Value]
"""Item, sample and value."""


def run(job: Job, progress: Progress) -> dict[str, Any]:
    """Compare the recheck of a run and store the result; the later of two comparisons counts."""
    recheck = (
        Recheck.objects.select_related("anchors__corpus", "anchors__gold", "anchors__campaign", "rater")
        .filter(run=job.params["run"])
        .first()
    )
    if recheck is None:
        raise JobRefused("the recheck was deleted")
    return {"recheck": recheck.pk, "state": compare(recheck, progress)}


JOB = JobKind("drift", "Comparison of a judge asked again", run)


def compare(recheck: Recheck, progress: Progress | None = None) -> str:
    """Compare a recheck with the first run, store and return its state; a moved judge is a webhook event."""
    questions, pairs = run_pairs(recheck)
    if progress is not None:
        progress(0, 1)
    rows = compare_runs(pairs, recheck.anchors.margin, PLAN)
    states = {row.state for row in rows}
    state = MOVED if MOVED in states else STABLE if states == {STABLE} else CANNOT_SAY
    by_question = [
        _as_json(question, row, recheck.anchors.margin) for question, row in zip(questions, rows, strict=True)
    ]
    result = {
        "margin": recheck.anchors.margin,
        "level": PLAN.level,
        "method": PLAN.method,
        "questions": by_question,
        "failed": recheck.run.calls.filter(state="failed").count(),
        "calls": recheck.run.calls.count(),
    }
    repeated = first_calls(recheck.anchors).filter(rater=recheck.rater, finished_at__lte=recheck.created_at)
    served = {"first": served_models(repeated), "later": served_models(recheck.run.calls.all())}
    result["served"] = {side: [entry.as_json() for entry in served[side]] for side in served}
    result["served_change"] = served_change(served["first"], served["later"])
    result["sentence"] = sentence(state, by_question, recheck.anchors.margin)
    result["next_step"] = next_step(state, rows)
    with transaction.atomic():
        recheck = Recheck.objects.select_for_update(of=("self",)).select_related("anchors").get(pk=recheck.pk)
        before, recheck.state, recheck.result = recheck.state, state, result
        recheck.compared_at = timezone.now()
        recheck.save(update_fields=["state", "result", "compared_at"])
        subject = f"recheck {recheck.number} of rater {recheck.rater_id}"
        Event.objects.create(by=recheck.created_by, verb="compare recheck", subject=subject, detail={})
        if state == MOVED != before:
            data = {
                "anchors": recheck.anchors_id,
                "recheck": recheck.pk,
                "rater": recheck.rater_id,
                "corpus": recheck.anchors.corpus_id,
                "questions": len(rows),
                "moved": sum(row.state == MOVED for row in rows),
                "served_change": result["served_change"],
            }
            tell(JUDGE_MOVED, recheck.anchors.campaign_id, data)
    return state


# Answers of both runs and of the reference, as arrays.


def run_pairs(recheck: Recheck) -> tuple[list[QuestionInfo], list[RunPair]]:
    """Return the questions that both runs answered about the anchors, with their answers."""
    ids = list(recheck.anchors.items.order_by("item").values_list("item", flat=True))
    where = placed(Item.objects.filter(pk__in=ids), None)
    start = recheck.number * MOST_SAMPLES
    labels = Label.objects.filter(rater=recheck.rater, item__in=ids, superseded_at=None, campaign=None)
    later = labels.filter(occasion=Occasion.REPEAT, sample__gte=start, sample__lt=start + MOST_SAMPLES)
    first = labels.filter(occasion=Occasion.MAIN, sample__lt=MOST_SAMPLES)
    answered = Question.objects.filter(pk__in=later.values("question")).select_related("version__scheme")
    questions, pairs = [], []
    for question in answered.order_by("version", "position"):
        if question.level in UNSCALED or question.level == "text":
            continue
        info = question_info(question)
        runs = [
            _answers(rows.filter(question=question), offset) for rows, offset in ((first, 0), (later, start))
        ]
        pairs.append(_pair(info, where, runs, _reference(recheck, info, ids)))
        questions.append(info)
    return questions, pairs


def _answers(labels: Any, offset: int) -> list[Answer]:
    rows = labels.filter(missing="").values_list("item_id", "sample", "number", "text")
    return [(item, sample - offset, value if text is None else text) for item, sample, value, text in rows]


def _reference(recheck: Recheck, info: QuestionInfo, ids: Sequence[int]) -> list[tuple[str, str, int, Value]]:
    """Return the reference's answers to a question as (rater, kind, item, value)."""
    anchors = recheck.anchors
    if anchors.gold is not None:
        rows = GoldLabel.objects.filter(gold=anchors.gold, item__in=ids, reason="")
        same = _same_questions(info, rows)
        gold_rows = rows.filter(question__in=same).values_list("item_id", "number", "text")
        return [(GOLD, "key", item, value if text is None else text) for item, value, text in gold_rows]
    scope = scope_of(anchors.corpus, anchors.campaign)
    labels = scope.labels().filter(item__in=ids, missing="", sample=0)
    labels = labels.filter(rater__kind__in=[Rater.Kind.HUMAN, Rater.Kind.KEY])
    same = _same_questions(info, labels)
    fields = ("rater_id", "rater__kind", "item_id", "number", "text")
    answers: dict[tuple[int, int], tuple[str, str, int, Value]] = {}
    for rater, kind, item, value, text in (
        labels.filter(question__in=same).order_by("pk").values_list(*fields)
    ):
        answers.setdefault((rater, item), (f"rater {rater}", kind, item, value if text is None else text))
    return list(answers.values())


def _same_questions(info: QuestionInfo, labels: Any) -> list[int]:
    """Return the questions among labels that ask the same on the same scale, such as another version's."""
    rows = Question.objects.filter(pk__in=labels.order_by().values("question")).select_related(
        "version__scheme"
    )
    scheme = info.scheme.partition("@")[0]
    same = []
    for question in rows:
        other = question.version.scheme.key
        alike = (other, question.key) == (scheme, info.key) and list(question.values) == info.values
        linked = counterpart(other, question.key, scheme, info.key) == ScaleMap("identity")
        if question.pk == info.id or alike or linked:
            same.append(question.pk)
    return same


def _pair(
    info: QuestionInfo,
    where: Mapping[int, Place],
    runs: Sequence[Sequence[Answer]],
    reference: Sequence[tuple[str, str, int, Value]],
) -> RunPair:
    samples = 1 + max((sample for answers in runs for _, sample, _ in answers), default=0)
    collector = Collector()
    for place in where.values():  # gives every item a row, answered or not
        collector.add(_record(place, NOBODY, "human", None))
    for rater, kind, item, value in reference:
        collector.add(_record(where[item], rater, kind, value))
    for side, answers in zip(("first", "later"), runs, strict=True):
        for item, sample, value in answers:
            collector.add(_record(where[item], f"{side} {sample}", "judge", value))
    ratings = collector.ratings(
        level=info.measured,
        values=info.values or None,
        positive=1 if info.positive is None else info.positive,
        samples="first",
    )
    others = [j for j, kind in enumerate(ratings.kinds) if kind != "judge" and ratings.raters[j] != NOBODY]
    blocks = [_block(ratings, side, samples) for side in ("first", "later")]
    return RunPair(blocks[0], blocks[1], ratings.take(others))


def _block(ratings: Ratings, side: str, samples: int) -> Any:
    block = np.full((ratings.n_items, samples), np.nan)
    for sample in range(samples):
        if (name := f"{side} {sample}") in ratings.raters:
            block[:, sample] = ratings.values[:, ratings.column(name)]
    return block


def _record(place: Place, rater: str, kind: str, value: Value) -> Record:
    return Record(item=place.key, rater=rater, value=value, cluster=place.cluster, kind=kind)


# The result in plain data and in words.


def _as_json(question: QuestionInfo, row: Recomparison, margin: float) -> dict[str, Any]:
    first, later = row.agreement
    return {
        "question": question.ref,
        "title": question.title,
        "state": row.state,
        "changed": row.changed.as_dict(),
        "wobble": row.wobble.as_dict(),
        "kappa": row.kappa.as_dict(),
        "shift": row.shift.as_json(),
        "excess": row.excess.as_json(),
        "statistic": row.statistic,
        "first_agreement": first.as_dict(),
        "later_agreement": later.as_dict(),
        "agreement_change": row.agreement_change.as_json(),
        "sentence": question_sentence(question.title, row, margin),
    }


def question_sentence(title: str, row: Recomparison, margin: float) -> str:
    """Say in one sentence what became of the answers to a question."""
    if not row.changed.ok or row.changed.value is None:
        return f"{title}: {row.changed.reason}."
    n = f"{row.changed.n_items:,} answers in {row.changed.n_clusters:,} dialogues"
    changed = f"{row.changed.value:.0%} of {n} changed{_interval(row.changed, percent=True)}"
    if row.state == MOVED:
        parts = [part for part in _moves(row) if part]
        return f"{title}: moved: {'; '.join(parts)}; {changed}."
    if row.state == STABLE:
        change = row.agreement_change.result
        alone = "" if change.ok else f" The agreement with the reference has no value: {change.reason}."
        inside = f"every interval is inside the margin of {number(margin, 2)}"
        return f"{title}: stable: {changed}, and {inside}.{alone}"
    return (
        f"{title}: cannot say: {changed}, and not every interval lies inside the margin of "
        f"{number(margin, 2)}."
    )


def _moves(row: Recomparison) -> list[str]:
    alpha = 1 - PLAN.level
    shift, change, excess = (test.result for test in (row.shift, row.agreement_change, row.excess))
    parts = []
    if has_moved(row.shift, alpha) and shift.value is not None:
        way = "higher" if shift.value > 0 else "lower"
        parts.append(f"answers are {abs(shift.value):.0%} of the scale {way}{_interval(shift, percent=True)}")
    if has_moved(row.agreement_change, alpha) and change.value is not None:
        way = "rose" if change.value > 0 else "fell"
        name = worded(row.statistic).name
        parts.append(
            f"agreement with the reference ({name}) {way} by {abs(change.value):.2f}{_interval(change)}"
        )
    if has_moved(row.excess, alpha) and excess.value is not None:
        parts.append(
            f"answers differ between the runs more often than within one{_interval(excess, percent=True)}"
        )
    return parts


def _interval(result: Result, *, percent: bool = False) -> str:
    if result.low is None or result.high is None:
        return f" ({result.reason or 'no interval'})"
    ends = (result.low, result.high)
    low, high = (f"{end:.0%}" if percent else signed(end) for end in ends)
    return f" ({PLAN.level:.0%} interval {low} to {high})"


def sentence(state: str, questions: Sequence[Mapping[str, Any]], margin: float) -> str:
    """Say in one sentence whether the judge has moved."""
    counts = Counter(question["state"] for question in questions)
    n = len(questions)
    if not questions:
        return "The judge answered none of the questions again, so nothing can be compared."
    if state == MOVED:
        titles = [str(question["title"]) for question in questions if question["state"] == MOVED]
        return f"The judge has moved on {counts[MOVED]} of {n} questions: {', '.join(titles)}."
    if state == STABLE:
        return f"The judge is stable on all {n} questions, within a margin of {number(margin, 2)}."
    return (
        f"It cannot be said yet: stable on {counts[STABLE]} of {n} questions; on the others no change is "
        f"clear, and not every interval lies inside the margin of {number(margin, 2)}."
    )


def next_step(state: str, rows: Sequence[Recomparison]) -> str:
    """Say what to do next."""
    if state == MOVED:
        return (
            "Do not pool its new answers with the old ones. Compare the judge with people again, as it "
            "answers now, or pin a model version that the provider keeps."
        )
    if state == STABLE:
        return "Nothing to do: ask again when the provider announces a change, or on a schedule."
    if rows and all(row.wobble.status == "insufficient" for row in rows):
        return (
            "Run the judge on the anchors with two samples, which shows how much it changes by itself, then "
            "ask again; more dialogues narrow the intervals."
        )
    return "Take more dialogues into an anchor set: intervals narrow with the number of dialogues."
