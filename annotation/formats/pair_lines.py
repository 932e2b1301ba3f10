"""Concord's own form of comparisons: {"id", "context", "responses", "winner" or "ranking", "rater"}, one a
line.

`context` is what was said before: a text, or turns of {"speaker", "text"}. Each response has its `system` and
a `text`, or several `turns`. `winner` is first, tie, second, both_bad or the system that is better; `ranking`
lists the systems (or the numbers of the responses, from 0) best first, equal ones in a list of their own. A
line without either brings its responses alone.
"""

from __future__ import annotations

from typing import Any, cast

from annotation.formats.compared import (
    ASSISTANT,
    QUESTIONS,
    RANKED,
    Comparison,
    Response,
    response,
    turns_of,
    winner,
)
from annotation.formats.fields import NAME_LIMIT, Fields, kind_of
from annotation.formats.jsonl import MEMBERS, QUESTION_LIMIT, order
from annotation.formats.problems import ImportProblem
from annotation.records import LabelRecord, Turn
from annotation.schemes.comparisons import written

LINE = frozenset(
    [
        *("id", "context", "responses", "winner", "ranking", "rater", "kind", "identified", "question"),
        *("scheme", "sample", "order", "explanation", "cluster", "language", "missing"),
    ]
)
RESPONSE = frozenset({"id", "system", "text", "turns"})


def of_object(raw: dict[str, Any]) -> Comparison:
    """Return the comparison that an object in Concord's own form is."""
    fields = Fields(raw, "", LINE)
    context = turns_of(fields, "context")
    responses = tuple(_response(part, path, len(context)) for path, part in fields.items("responses"))
    if not MEMBERS[0] <= len(responses) <= MEMBERS[1]:
        raise fields.problem(
            "responses", f"has {len(responses)}: from {MEMBERS[0]} to {MEMBERS[1]} are compared"
        )
    if len({one.turn is None for one in responses}) > 1:
        raise fields.problem("responses", "some are one text and some are several turns")
    return Comparison(
        dialogue=fields.id("id"),
        context=context,
        responses=responses,
        label=_label(fields, [one.continuation.system for one in responses]),
        cluster=fields.id("cluster", ""),
        language=fields.id("language", "", limit=40),
    )


def _response(raw: Any, path: str, at: int) -> Response:
    fields = Fields(raw, path, RESPONSE)
    system = fields.id("system", limit=NAME_LIMIT)
    if fields.has("text") == fields.has("turns"):
        raise fields.problem("text", "write either a text or turns")
    turns = (Turn(ASSISTANT, fields.text("text")),) if fields.has("text") else turns_of(fields, "turns")
    if not turns:
        raise fields.problem("turns", "has no turns")
    return response(fields.id("id", system), system, turns, at)


def _label(fields: Fields, systems: list[str]) -> LabelRecord | None:
    given = [name for name in ("winner", "ranking", "missing") if fields.has(name)]
    if not given:
        return None
    if len(given) > 1:
        raise fields.problem(given[1], f"and {given[0]} say two things: leave one of them out")
    if (given == ["ranking"]) != (len(systems) > 2) and given != ["missing"]:
        raise fields.problem(given[0], "two responses have a winner, more than two a ranking")
    value = None
    if given == ["winner"]:
        value = winner(fields.raw["winner"], systems)
    elif given == ["ranking"]:
        value = _ranking(fields, systems)
    return LabelRecord(
        rater=fields.id("rater", limit=NAME_LIMIT),
        kind=fields.rater_kind(),
        continuation="",
        turn=None,
        question=fields.id("question", QUESTIONS.get(len(systems), RANKED), limit=QUESTION_LIMIT),
        value=value,
        missing=fields.text("missing", ""),
        sample=cast(int, fields.count("sample")),
        identified=fields.flag("identified", True),
        explanation=fields.text("explanation", ""),
        scheme=fields.text("scheme", ""),
        shown=order(fields, len(systems)),
    )


def _ranking(fields: Fields, systems: list[str]) -> str:
    """Return a ranking by numbers from lists of systems or numbers, best first."""
    found: list[list[int]] = []
    for path, part in fields.items("ranking"):
        found.append([_number(one, systems, path) for one in (part if isinstance(part, list) else [part])])
    if sorted(number for group in found for number in group) != list(range(len(systems))):
        raise fields.problem("ranking", "must have each of the responses once")
    return written(found)


def _number(value: Any, systems: list[str], path: str) -> int:
    if type(value) is int:
        return value
    if isinstance(value, str) and systems.count(value) == 1:
        return systems.index(value)
    shown = repr(value)[:40] if isinstance(value, str) else kind_of(value)
    raise ImportProblem(
        f"{shown} is neither the number of a response nor the system of one alone", field=path
    )
