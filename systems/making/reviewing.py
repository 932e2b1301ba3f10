"""What people found when they reviewed a benchmark: shares of the scheme `benchmark_review`."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from annotation.models import Corpus, Label, Occasion
from annotation.records import HUMAN
from annotation.schemes.benchmark_review import SCHEME
from systems.benchmarks.measuring import wilson

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
