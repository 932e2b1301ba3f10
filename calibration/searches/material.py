"""What a search works on: a bench's targets, each with its part and people's answers, taken down once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np

from annotation.models import Item
from annotation.text.references import item_key
from calibration.errors import WorkbenchRefused
from calibration.models import Search
from calibration.statistics.core.data import Ratings
from calibration.workbench.sheets import Sheet, sheets
from judges.models import Bench, BenchTarget
from judges.prompts.search import Asked, Target, TooFew, Value, folds


def take_down(bench: Bench, seed: int) -> dict[str, Any]:
    """Return, as plain JSON, the questions and targets of a bench that people answered, each in its part.

    An answer key stands in where no people answered. Raises WorkbenchRefused where too few clusters have
    answers.
    """
    found = sheets(bench, [])
    names = {pk: name for name, pk in bench.questions.items()}
    answers: dict[int, list[list[Any]]] = defaultdict(list)
    for sheet in found:
        for item, values in _answers(sheet):
            answers[item].append([names[sheet.question.id], item, values])
    targets = [row for row in _targets(bench, answers) if row["people"]]
    try:
        parts = folds((row["cluster"] for row in targets), seed)
    except TooFew as error:
        raise WorkbenchRefused(f"{str(error)[0].upper()}{str(error)[1:]}.") from None
    return {
        "questions": {names[sheet.question.id]: _scale(sheet) for sheet in found},
        "targets": [row | {"part": parts.part_of(row["cluster"])} for row in targets],
    }


def questions_of(search: Search) -> dict[str, Asked]:
    """Return the questions of a search as scores read them."""
    return {name: Asked(**one) for name, one in search.material["questions"].items()}


def targets_of(search: Search, part: str) -> list[Target]:
    """Return the targets of a part, in the bench's order."""
    return [_target(row) for row in search.material["targets"] if row["part"] == part]


def ids_of(search: Search) -> dict[str, int]:
    """Return the id of each target's row in the bench, by the target's key."""
    return {row["key"]: row["target"] for row in search.material["targets"]}


def items_of(search: Search, part: str) -> list[int]:
    """Return the ids of the items with answers in a part."""
    return [item for row in search.material["targets"] if row["part"] == part for _, item, _ in row["people"]]


def _target(row: Mapping[str, Any]) -> Target:
    people = {(name, item): tuple(values) for name, item, values in row["people"]}
    return Target(row["key"], row["cluster"], people)


def _scale(sheet: Sheet) -> dict[str, Any]:
    level, scale = sheet.question.level, sheet.ratings.scale
    ends = {"low": scale[0], "high": scale[-1]} if scale and level not in ("binary", "nominal") else {}
    return {"level": level, **ends}


def _answers(sheet: Sheet) -> list[tuple[int, list[Value]]]:
    """Return what people (else keys) answered to a question, by item."""
    ratings = sheet.ratings
    columns = list(ratings.of_kind("human") or ratings.of_kind("key"))
    return [
        (item, [_value(ratings, value) for value in row[np.isfinite(row)]])
        for item, row in zip(sheet.items, ratings.values[:, columns], strict=True)
        if np.isfinite(row).any()
    ]


def _value(ratings: Ratings, value: float) -> Value:
    return ratings.names[int(value)] if ratings.names else float(value)


def _targets(bench: Bench, answers: Mapping[int, list[list[Any]]]) -> list[dict[str, Any]]:
    rows = BenchTarget.objects.filter(bench=bench).select_related(
        "continuation__dialogue", "item__turn", "item__continuation"
    )
    whole = [row.continuation_id for row in rows if row.item_id is None]
    inside: dict[int, list[int]] = defaultdict(list)
    owned = Item.objects.filter(continuation__in=whole).order_by("pk")
    for pk, continuation in owned.values_list("pk", "continuation"):
        inside[continuation].append(pk)
    return [
        {
            "target": row.pk,
            "key": _key(row),
            "cluster": row.continuation.dialogue.cluster,
            "people": [
                answer
                for item in ([row.item_id] if row.item_id else inside[row.continuation_id])
                for answer in answers.get(item, ())
            ],
        }
        for row in rows.order_by("position")
    ]


def _key(row: BenchTarget) -> str:
    turn = row.item.turn.position if row.item and row.item.turn else None
    return item_key(row.continuation.dialogue.key, row.continuation.key, turn)
