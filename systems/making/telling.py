"""A benchmark in words and figures, for pages, commands and programs alike."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from django.db.models import Count, Q

from annotation.models import Corpus, Label, Occasion
from annotation.records import HUMAN
from annotation.schemes.benchmark_review import SCHEME
from jobs import fake_models
from systems.benchmarks.measuring import wilson
from systems.making.orders import CLEANING, CUT, METADATA, SUMMARY, Order
from systems.models import Benchmark, Production

# What people found when they reviewed a benchmark: shares of the scheme `benchmark_review`.

QUESTIONS = tuple(question for question in SCHEME.questions if question.values)


def shares(corpus: Corpus) -> list[dict[str, Any]]:
    """Return for each question the share of yes over the instances that were reviewed, with n and interval.

    An instance that several people reviewed counts by the mean of their answers. Imported and main answers
    about people's continuations count. `share`, `low` and `high` are None where nobody answered.
    """
    rows = Label.objects.filter(
        item__corpus=corpus,
        item__continuation__key=HUMAN,
        question__version__scheme__key=SCHEME.key,
        question__key__in=[question.key for question in QUESTIONS],
        rater__kind="human",
        occasion__in=[Occasion.MAIN, Occasion.IMPORTED],
        superseded_at=None,
        number__isnull=False,
    ).values_list("question__key", "item", "number", "item__continuation__dialogue__metadata")
    found: dict[str, dict[int, list[float]]] = {question.key: {} for question in QUESTIONS}
    sources: dict[int, str] = {}
    for key, item, number, metadata in rows:
        found[key].setdefault(item, []).append(float(number or 0.0))
        sources[item] = str(metadata.get("source", ""))
    return [_share(question.key, question.wording, found[question.key], sources) for question in QUESTIONS]


def _share(
    key: str, wording: str, answers: dict[int, list[float]], sources: dict[int, str]
) -> dict[str, Any]:
    by_item = {item: fmean(numbers) for item, numbers in answers.items()}
    parts = sorted({sources[item] for item in by_item})
    return {
        "question": key,
        "wording": wording,
        **_of(list(by_item.values())),
        "answers": sum(map(len, answers.values())),
        "by_source": [
            {"source": part, **_of([value for item, value in by_item.items() if sources[item] == part])}
            for part in parts
        ],
    }


def _of(values: Sequence[float]) -> dict[str, Any]:
    if not values:
        return {"share": None, "low": None, "high": None, "n": 0}
    low, high = wilson(sum(values), len(values))
    return {"share": fmean(values), "low": low, "high": high, "n": len(values)}


TITLES = {
    CLEANING: "Cleaning",
    METADATA: "Metadata",
    CUT: "Cut",
    SUMMARY: "Summaries",
    "writing": "Writing the corpus",
}


def steps_of(benchmark: Benchmark) -> list[dict[str, Any]]:
    """Return each step that asks a model, in order: its runs, and how many productions are done, and failed.

    A production that another benchmark shares counts where it was asked."""
    order = Order.of(benchmark.order)
    steps = [
        *([CLEANING] if order.clean else []),
        *(one for one in (METADATA, SUMMARY) if one in order.steps),
    ]
    links = list(benchmark.links.select_related("run").order_by("id"))
    found = []
    for step in steps:
        runs = {link.run_id: link.run for link in links if link.step == step}
        counted = Production.objects.filter(run__in=runs).aggregate(
            productions=Count("pk"),
            done=Count("pk", filter=Q(status=Production.Status.DONE)),
            failed=Count("pk", filter=Q(status=Production.Status.FAILED)),
        )
        told = [{"run": run.pk, "state": run.state, "name": run.name} for run in runs.values()]
        found.append({"step": step, "title": TITLES[step], "runs": told, **counted})
    return found


def is_fake(benchmark: Benchmark) -> bool:
    """Whether a fake model wrote what was written for it."""
    return benchmark.endpoint is not None and fake_models.is_fake(benchmark.endpoint.answering_model)


def as_json(benchmark: Benchmark) -> dict[str, Any]:
    """Return all that is known of a benchmark as plain data."""
    return {
        "id": benchmark.pk,
        "benchmark": benchmark.name,
        "state": benchmark.state,
        "step": benchmark.step,
        "error": benchmark.error,
        "corpus": benchmark.corpus.name if benchmark.corpus else None,
        "made_from": benchmark.made_from,
        "endpoint": benchmark.endpoint.name if benchmark.endpoint else None,
        "order": benchmark.order,
        "leave_out_failed": benchmark.leave_out_failed,
        "steps": steps_of(benchmark),
        "figures": benchmark.figures,
        "fake_model": is_fake(benchmark),
        "sha256": benchmark.sha256,
        "review": shares(benchmark.corpus) if benchmark.corpus else [],
        "checked_for_offensive_content": (
            None
            if benchmark.checked_at is None
            else {"by": benchmark.checked_by_name, "at": benchmark.checked_at.isoformat()}
        ),
        "created_by": benchmark.created_by.get_username() if benchmark.created_by else None,
        "created_at": benchmark.created_at.isoformat(),
        "finished_at": benchmark.finished_at.isoformat() if benchmark.finished_at else None,
    }
