"""What a run over a large corpus covers, told from some of its dialogues or tasks."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass

from django.db import connection
from django.db.models import Max

from annotation.corpora import reading as browsing
from annotation.models import Continuation, Task
from judges.rating.plans import WHOLE, RaterPlan
from judges.rating.selection import Selection, continuations, items

AT_ONCE = 20_000
"""A run over a corpus of at most this many items is looked at as a whole."""
LOOKED_AT = 200
"""Dialogues, or tasks of a campaign, that are looked at to tell what a run over a larger one covers."""
_FROM = """
SELECT DISTINCT d.id FROM unnest(%s::bigint[]) AS wanted (id), LATERAL (
  SELECT id FROM annotation_dialogue WHERE corpus_id = %s AND id >= wanted.id ORDER BY id LIMIT 1) AS d
"""
_ENDS = """
SELECT (SELECT id FROM annotation_dialogue WHERE corpus_id = %(corpus)s ORDER BY id LIMIT 1),
       (SELECT id FROM annotation_dialogue WHERE corpus_id = %(corpus)s ORDER BY id DESC LIMIT 1)
"""


@dataclass(frozen=True, slots=True)
class Covered:
    """What a run covers: about how many targets and dialogues, and some of the targets."""

    targets: int
    dialogues: int
    some: tuple[tuple[int, int | None], ...]


def is_large(selection: Selection) -> bool:
    """Whether a selection is told from a part of it. A sample that a draft would draw is told as it is."""
    drawn = selection.campaign and (selection.campaign.sample_dialogues or selection.campaign.sample_apart)
    if drawn and selection.campaign and not selection.campaign.tasks.exists():
        return False
    return browsing.counts([selection.corpus])[selection.corpus.pk]["items"] > AT_ONCE


def covered(plan: RaterPlan, selection: Selection) -> Covered:
    """Tell what a run over a large corpus covers. The same selection is told from the same part of it."""
    rng = random.Random(selection.digest())
    if selection.campaign is not None and selection.campaign.tasks.exists():
        return _of_tasks(plan, selection, rng)
    first, last = _ends(selection.corpus.pk)
    wanted = [rng.randint(first, last) for _ in range(LOOKED_AT)]
    with connection.cursor() as cursor:
        cursor.execute(_FROM, [wanted, selection.corpus.pk])
        dialogues = [pk for (pk,) in cursor.fetchall()]
    parts = list(Continuation.objects.filter(dialogue__in=dialogues).values_list("pk", flat=True))
    some = _targets(plan, selection, parts)
    share = browsing.counts([selection.corpus])[selection.corpus.pk]["dialogues"] / len(dialogues)
    return Covered(round(len(some) * share), round(_dialogues(some) * share), tuple(some))


def _ends(corpus: int) -> tuple[int, int]:
    with connection.cursor() as cursor:
        cursor.execute(_ENDS, {"corpus": corpus})
        first, last = cursor.fetchone()
    return first, last


def _of_tasks(plan: RaterPlan, selection: Selection, rng: random.Random) -> Covered:
    """Tell it from some tasks: each stands for its continuation, shared with the other tasks of it."""
    tasks = Task.objects.filter(campaign=selection.campaign)
    n = (tasks.aggregate(last=Max("position"))["last"] or 0) + 1
    places = rng.sample(range(n), min(n, LOOKED_AT))
    drawn = list(tasks.filter(position__in=places).values_list("continuation", flat=True))
    beside = Counter(tasks.filter(continuation__in=drawn).values_list("continuation", flat=True))
    some = _targets(plan, selection, drawn)
    each = Counter(continuation for continuation, _ in some)
    share = n / max(len(drawn), 1)
    targets = sum(each[part] / beside[part] for part in drawn) * share
    parts = sum((part in each) / beside[part] for part in drawn) * share
    whole = browsing.counts([selection.corpus])[selection.corpus.pk]["dialogues"]
    return Covered(round(targets), min(round(parts), whole), tuple(some))


def _targets(plan: RaterPlan, selection: Selection, parts: list[int]) -> list[tuple[int, int | None]]:
    """Return the targets of a run among some continuations."""
    if plan.covers != WHOLE:
        turns = items(selection, plan.covers).filter(continuation__in=parts)
        return list(turns.order_by("continuation_id", "pk").values_list("continuation_id", "pk"))
    chosen = continuations(selection).filter(pk__in=parts, items__kind__in=plan.item_kinds)
    return [(pk, None) for pk in chosen.distinct().order_by("pk").values_list("pk", flat=True)]


def _dialogues(targets: list[tuple[int, int | None]]) -> int:
    parts = {continuation for continuation, _ in targets}
    return Continuation.objects.filter(pk__in=parts).values("dialogue").distinct().count()
