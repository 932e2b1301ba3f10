"""A dialogue of four turns with continuations that share contexts, and metrics' labels on them."""

from __future__ import annotations

import json

from annotation import scheme_store
from annotation.models import Continuation, Dialogue, Item, Rater
from annotation.work.labels import Answer, record
from judges.metrics import METRICS
from judges.runs.metric_calls import scheme_of
from tests import factories


def static(dialogue: Dialogue, key: str, at: tuple[int, ...] = (2,), *, system: str = "") -> Continuation:
    """Create a continuation that answers some points of the history."""
    turns = [{"text": f"{key} after {point}", "at": point} for point in at]
    return factories.continuation(dialogue, key, system=system or key, turns=turns, mode="static")


def rollout(dialogue: Dialogue, key: str, *, system: str = "", turns: int = 3) -> Continuation:
    """Create a continuation of the whole history."""
    lines = [{"text": f"{key} {number}"} for number in range(turns)]
    return factories.continuation(dialogue, key, system=system or key, turns=lines)


def rater(metric: str, variant: str = "paper") -> Rater:
    """Return a metric's rater."""
    name = f"{metric}@{variant}"
    return Rater.objects.get_or_create(kind="metric", name=name, defaults={"spec": {"metric": metric}})[0]


def score(
    by: Rater, made: Continuation, value: float | str | None, *, turn: int = 0, **details: object
) -> None:
    """Label a turn of a continuation (or the whole, for a metric of conversations) with a metric's value."""
    declared = METRICS[by.spec["metric"]]
    question = scheme_store.store(definition=scheme_of(declared)).questions.get()
    place = {"turn__position": turn} if declared.kind == "turn" else {"turn": None}
    item = Item.objects.get(continuation=made, kind=declared.kind, **place)
    reason = "" if value is not None else "there is no context"
    told = json.dumps(details) if details else ""
    record(
        rater=by, answers=[Answer(item, question, value, missing=reason, explanation=told)], occasion="main"
    )
