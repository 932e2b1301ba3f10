"""Corpora whose continuations are marked with planted behaviours, and the same counts by pandas."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from django.core.management import call_command

from annotation.models import Continuation, Corpus, Item, Rater
from annotation.work.labels import Answer, record
from calibration.comparisons.count_inputs import read
from calibration.comparisons.counts import Counts, compute
from tests import factories

KEYS = ("misunderstanding", "repetition", "interruption", "off_topic", "another_behaviour")
TURNS = 6
VANILLA = {"model": "m", "prompting": "vanilla", "turns_per_call": 1}
TAXONOMY = {"model": "m", "prompting": "taxonomy", "turns_per_call": 1}
SLOW = {"model": "m", "prompting": "taxonomy", "turns_per_call": 30}
SYSTEMS: tuple[tuple[str, str, Mapping[str, Any]], ...] = (
    ("human", "human", {}),
    ("v1", "model", VANILLA),
    ("t30", "model", SLOW),
    ("t1", "model", TAXONOMY),
)


class Made:
    """A corpus of dialogues from two sources, each continued by people and a model in three conditions."""

    def __init__(self, dialogues: int = 6, turns: Callable[[int], int] = lambda number: TURNS) -> None:
        self.corpus: Corpus = factories.corpus("coco")
        self.questions = {q.key: q for q in factories.scheme_version("cocoeval_behaviours").questions.all()}
        for number in range(dialogues):
            source = "ab"[number % 2]
            dialogue = factories.dialogue(self.corpus, f"d{number}", turns=2, metadata={"source": source})
            for key, system, condition in SYSTEMS:
                lines = [{"text": f"line {at}"} for at in range(turns(number))]
                made = factories.continuation(dialogue, key, system=system, turns=lines)
                Continuation.objects.filter(pk=made.pk).update(condition=condition)

    def rater(self, name: str, kind: str = "judge", **fields: Any) -> Rater:
        return Rater.objects.get_or_create(corpus=self.corpus, kind=kind, name=name, defaults=fields)[0]

    def items(self, **where: Any) -> list[Item]:
        found = Item.objects.filter(corpus=self.corpus, kind="turn", **where).exclude(
            continuation__key="self"
        )
        return list(found.select_related("continuation__dialogue", "turn").order_by("pk"))

    def mark(
        self,
        name: str,
        marks: Callable[[Item, str], float | None],
        *,
        kind: str = "judge",
        items: Sequence[Item] | None = None,
        sample: int = 0,
        keys: Sequence[str] = KEYS,
        spec: Mapping[str, Any] | None = None,
        **how: Any,
    ) -> Rater:
        """Record a rater's marks on every item, or on some."""
        rater = self.rater(name, kind, spec=dict(spec or {}))
        answers = []
        for item in self.items() if items is None else items:
            for key in keys:
                value = marks(item, key)
                answers.append(
                    Answer(
                        item, self.questions[key], value, "" if value is not None else "unreadable", sample
                    )
                )
        record(rater=rater, answers=answers, **({"occasion": "main"} | how))
        return rater

    def counts(self, **given: Any) -> Counts:
        return compute(query=read({"resamples": 100} | given, self.corpus, None), by=None)


def planted(item: Item, key: str) -> float:
    """Return a mark that varies between conditions, dialogues and turns."""
    seed = [ord(c) for c in f"{item.continuation.dialogue.key}{item.continuation.key}{key}"]
    rate = {"human": 0.3, "v1": 0.2, "t1": 0.6, "t30": 0.4}[item.continuation.key]
    return float(np.random.default_rng([*seed, item.turn.position]).random() < rate)


def frame(built: Made, marks: Callable[[Item, str], float] = planted) -> pd.DataFrame:
    """Count the same marks with pandas: one line per continuation."""
    rows = [
        {
            "cont": item.continuation.key,
            "dialogue": item.continuation.dialogue.key,
            "source": item.continuation.dialogue.metadata["source"],
        }
        | {key: marks(item, key) for key in KEYS}
        for item in built.items()
    ]
    turns = pd.DataFrame(rows)
    tags = list(KEYS[:4])
    turns["any"] = turns[tags].max(axis=1)
    turns["group:Inconsistent"] = turns[["repetition", "misunderstanding"]].sum(axis=1)
    turns["group:Uncollaborative"] = turns[["off_topic", "interruption"]].sum(axis=1)
    return turns.groupby(["cont", "dialogue", "source"]).sum().reset_index()


def cells(row: Any) -> dict[str, Any]:
    return {cell.column.key: cell for cell in row.cells}


def contract(found: dict[str, Any]) -> None:
    """Check the fields on which other programs rely."""
    assert {"strata", "rows"} <= found.keys()
    for row in found["rows"]:
        assert {
            "by",
            "human",
            "n_continuations",
            "n_clusters",
            "n_missing",
            "cells",
            "distance",
        } <= row.keys()
        for cell in row["cells"].values():
            assert {"value", "low", "high", "lowest", "highest", "corrected", "difference"} <= cell.keys()
            if cell["corrected"] is not None:
                assert {"value", "low", "high", "method"} <= cell["corrected"].keys()
            if cell["difference"] is not None:
                assert {"value", "low", "high", "p_holm"} <= cell["difference"].keys()
        if row["distance"] is not None:
            assert row["distance"].keys() == {"tv", "js", "amount"}


def said(*arguments: str) -> str:
    out = io.StringIO()
    call_command("counts", *arguments, stdout=out)
    return out.getvalue()
