"""Battles as Chatbot Arena publishes them, and the judgments of MT-Bench.

{"question_id", "model_a", "model_b", "winner", "judge", "conversation_a", "conversation_b", "turn",
"language"}. Both conversations begin with the same question. Where a judgment is about a turn before the last
one, as the first ones of MT-Bench are, it compares the replies of that turn; otherwise the whole
conversations. `model_a` was shown first. A judge that is a list is one; whether another `judge` is a person
or a language model is said by `kind`, or with the import. A CSV has the same columns, or `prompt`,
`response_a` and `response_b` in place of the conversations. Fields and columns of other names are passed
over, and named with the import.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from annotation.formats.compared import (
    ASSISTANT,
    QUESTIONS,
    USER,
    Comparison,
    Response,
    response,
    turns_of,
    winner,
)
from annotation.formats.fields import NAME_LIMIT, Fields, decode
from annotation.formats.jsonl import QUESTION_LIMIT
from annotation.formats.problems import ImportProblem
from annotation.records import LabelRecord, SaidKind, Turn

UNNAMED = "unnamed"
NAMES = {
    "id": "question_id",
    "system_a": "model_a",
    "system_b": "model_b",
    "rater": "judge",
    "context": "prompt",
    "instruction": "prompt",
    "preference": "winner",
}
"""What a CSV may call a column, by its name here."""
TEXTS = ("prompt", "response_a", "response_b")
ONE_HOT = {"winner_model_a": "model_a", "winner_model_b": "model_b", "winner_tie": "tie"}
FIELDS = frozenset(
    [
        *("question_id", "id", "model_a", "model_b", "conversation_a", "conversation_b", "winner", "judge"),
        *("turn", "kind", "question", "sample", "explanation", "cluster", "language"),
    ]
)
"""The fields that are read,"""
COLUMNS = FIELDS | NAMES.keys() | ONE_HOT.keys() | set(TEXTS)
"""and the columns of a CSV."""


def of_object(raw: Mapping[str, Any]) -> Comparison:
    """Return the comparison that a battle or a judgment is."""
    fields = Fields(dict(raw), "", frozenset(raw))
    sides = [turns_of(fields, f"conversation_{side}") for side in "ab"]
    context, *_ = before = [_until_reply(side) for side in sides]
    if before[0] != before[1]:
        raise fields.problem("conversation_b", "begins otherwise than conversation_a")
    systems = [fields.id(f"model_{side}", limit=NAME_LIMIT) for side in "ab"]
    turn = fields.count("turn", None)
    alone = all(len(side) == len(context) + 1 for side in sides)
    responses = tuple(
        _response(fields, name, system, turns, (len(context), turn, alone))
        for name, system, turns in zip("ab", systems, sides, strict=True)
    )
    label = _label(fields, systems)
    return Comparison(
        dialogue=_id(fields),
        context=context,
        responses=responses,
        label=label,
        cluster=fields.id("cluster", ""),
        language=fields.id("language", "", limit=40),
        unsaid=label.rater if label and not label.kind else "",
    )


def of_row(row: Mapping[str, str]) -> Comparison:
    """Return the comparison that a row of a CSV is."""
    named = {NAMES.get(name, name): value for name, value in row.items()}
    texts = {name: named.pop(name, "") for name in TEXTS}
    told: dict[str, Any] = {name: value for name, value in named.items() if value.strip()}
    for name in ("turn", "sample"):
        if text := str(told.get(name, "")).strip():
            told[name] = int(text[:10]) if text.isascii() and text.isdigit() else text
    hot = [word for name, word in ONE_HOT.items() if str(told.pop(name, "")).strip() == "1"]
    if hot:
        told["winner"] = hot[0]
    prompt, *responses = _exchanges(texts)
    for side, replies in zip("ab", responses, strict=True):
        name = f"conversation_{side}"
        if name in told:
            told[name] = decode(told[name].encode())
            continue
        told[name] = [
            {"role": role, "content": text}
            for pair in zip(prompt, replies, strict=True)
            for role, text in zip((USER, ASSISTANT), pair, strict=True)
        ]
    return of_object(told)


def _exchanges(texts: Mapping[str, str]) -> list[list[str]]:
    """Return what the prompt and both responses say, a text for each exchange.

    A cell is a text as it stands. Only where all three are JSON lists of equally many texts do they hold one
    text for each exchange, as the files of lmsys have it.
    """
    lists = [_list(value) for value in texts.values()]
    if all(lists) and len({len(one) for one in lists}) == 1:
        return lists
    return [[value] for value in texts.values()]


def _list(value: str) -> list[str]:
    """Return the texts of a JSON list, null as an empty one; [] for anything else."""
    if not value.lstrip().startswith("["):
        return []
    try:
        found = decode(value.encode())
    except ImportProblem:
        return []
    if not isinstance(found, list) or not all(one is None or isinstance(one, str) for one in found):
        return []
    return [one or "" for one in found]


def _until_reply(turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    """Return what comes before the first reply."""
    first = next((n for n, turn in enumerate(turns) if turn.speaker == ASSISTANT), len(turns))
    return turns[:first]


def _response(
    fields: Fields, side: str, system: str, turns: tuple[Turn, ...], where: tuple[int, int | None, bool]
) -> Response:
    at, turn, alone = where
    rest = turns[at:]
    replies = [number for number, one in enumerate(rest) if one.speaker == ASSISTANT]
    if not replies:
        raise fields.problem(f"conversation_{side}", "has no reply")
    if turn is not None and turn > len(replies):
        raise fields.problem("turn", f"is {turn}, but conversation_{side} has {len(replies)} replies")
    meant = replies[turn - 1] if turn and turn < len(replies) else None
    return response(system, system, rest, at, meant, alone)


def _id(fields: Fields) -> str:
    value = fields.raw.get("question_id", fields.raw.get("id"))
    if type(value) is int:
        return str(value)
    return fields.id("question_id" if fields.has("question_id") else "id")


def _label(fields: Fields, systems: list[str]) -> LabelRecord | None:
    if not fields.has("winner"):
        return None
    name, kind = _judge(fields)
    said = str(fields.raw["winner"])
    return LabelRecord(
        rater=name,
        kind=kind,
        continuation="",
        turn=None,
        question=fields.id("question", QUESTIONS[2], limit=QUESTION_LIMIT),
        value=winner(fields.raw["winner"], systems),
        sample=cast(int, fields.count("sample")),
        explanation=fields.text("explanation", said if "inconsistent" in said else ""),
        shown=(0, 1),
    )


def _judge(fields: Fields) -> tuple[str, SaidKind]:
    """Return who judged, and of which kind they are; empty where that is not said."""
    value = fields.raw.get("judge")
    if isinstance(value, list):
        return " ".join(fields.texts("judge"))[:NAME_LIMIT] or UNNAMED, "judge"
    return fields.id("judge", UNNAMED, limit=NAME_LIMIT), fields.rater_kind()
