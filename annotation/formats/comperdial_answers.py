"""ComperDial's evaluation files: who gave which score to what, and which aspects made it low.

A file is a list of records; each says which dialogue, system and, at turn level, response it is about. A
score is a number (with its annotator, or of an unidentified one), a list with one number for each of several
unidentified annotators, or an object of scores by annotator. An aspect is marked with `n`: beside the score
in the record, in the same arrangement, or within an annotator's own object.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from annotation.formats.decoding import is_number, kind_of
from annotation.formats.fields import NAME_LIMIT, Fields
from annotation.formats.problems import ImportProblem
from annotation.schemes.comperdial_dialogue import LOW
from annotation.schemes.comperdial_turn import ASPECTS

NAMES = {
    "dialogue": ("dialogue_id", "dialog_id", "dialogue", "id"),
    "system": ("system", "system_id", "model", "model_id", "agent", "agent_id"),
    "turn": ("turn", "turn_id", "turn_index"),
    "response": ("response", "text"),
    "annotator": ("annotator", "annotator_id"),
    "score": ("score", "scores", "overall"),
}
"""What a file may call a field, by its name here; `columns` say what else it is called."""
MARKED = ("n", "N", 1, True)
UNMARKED = ("", "-", 0, False, None)


@dataclass(frozen=True, slots=True)
class Answer:
    """One annotator's score and, of those that were asked for, which aspects were marked."""

    rater: str
    identified: bool
    score: float
    marks: Mapping[str, bool]
    field: str

    def asked(self) -> Iterator[tuple[str, bool]]:
        """Yield the marks that answer a question: all where the score is low, else those that are set."""
        for aspect, marked in self.marks.items():
            if marked or self.score <= LOW:
                yield aspect, marked


def name_of(fields: Fields, key: str, columns: Mapping[str, str]) -> str:
    """Return what a record calls a field, empty where it has none of that kind."""
    if key in columns:
        return columns[key] if fields.has(columns[key]) else ""
    return next((name for name in NAMES[key] if fields.has(name)), "")


def known(fields: Fields, key: str, columns: Mapping[str, str]) -> str:
    """Return what a field of a record is called; refuse a record without it."""
    name = name_of(fields, key, columns)
    if not name:
        told = columns.get(key) or " or ".join(NAMES[key])
        raise fields.problem(
            key, f"is missing: there is no {told}; say which field it is with columns {key}=NAME"
        )
    return name


def identity(fields: Fields, name: str, limit: int) -> str:
    """Return an id that is a text or a whole number."""
    value = fields.raw[name]
    return str(value) if type(value) is int else fields.id(name, limit=limit).strip()


def answers(fields: Fields, columns: Mapping[str, str]) -> list[Answer]:
    """Return the answers of a record; raise ImportProblem where it cannot be told whose or which they are."""
    name = known(fields, "score", columns)
    value, path = fields.raw[name], fields.at(name)
    beside = {aspect: fields.raw[aspect] for aspect in ASPECTS if aspect in fields.raw}
    if isinstance(value, dict):
        return [
            _by(rater, one, f"{path}.{rater}", _part(beside, rater, path)) for rater, one in value.items()
        ]
    if isinstance(value, list):
        return [
            _answer(f"slot {n + 1}", False, one, f"{path}[{n}]", _part(beside, n, path))
            for n, one in enumerate(value)
            if one is not None
        ]
    annotator = name_of(fields, "annotator", columns)
    rater = identity(fields, annotator, NAME_LIMIT) if annotator else "slot 1"
    return [_answer(rater, bool(annotator), value, path, beside)]


def _by(rater: str, value: Any, path: str, beside: Mapping[str, Any]) -> Answer:
    """Return a named annotator's answer: a score, or an object of a score and marks."""
    if not 0 < len(rater) <= NAME_LIMIT:
        raise ImportProblem(f"an annotator's name has 1 to {NAME_LIMIT} characters", field=path[:120])
    if not isinstance(value, dict):
        return _answer(rater, True, value, path, beside)
    own = Fields(value, path, frozenset({*NAMES["score"], *ASPECTS}))
    score = known(own, "score", {})
    marks = {aspect: own.raw[aspect] for aspect in ASPECTS if aspect in own.raw}
    return _answer(rater, True, own.raw[score], own.at(score), marks or beside)


def _part(beside: Mapping[str, Any], key: str | int, path: str) -> dict[str, Any]:
    """Return one annotator's marks of those that stand beside the scores of several."""
    found: dict[str, Any] = {}
    for aspect, marks in beside.items():
        if isinstance(marks, dict) and isinstance(key, str):
            found[aspect] = marks.get(key)
        elif isinstance(marks, list) and isinstance(key, int) and key < len(marks):
            found[aspect] = marks[key]
        else:
            raise ImportProblem(f"is not arranged as the scores in {path} are", field=aspect)
    return found


def _answer(rater: str, identified: bool, value: Any, path: str, marks: Mapping[str, Any]) -> Answer:
    if not is_number(value):
        raise ImportProblem(f"must be a score from 1 to 5, not {kind_of(value)}", field=path)
    told = {aspect: _mark(mark, f"{path}, {aspect}") for aspect, mark in marks.items()}
    return Answer(rater, identified, float(value), told, path)


def _mark(value: Any, path: str) -> bool:
    text = value.strip() if isinstance(value, str) else value
    if isinstance(text, str | int | None) and text in (*MARKED, *UNMARKED):
        return text in MARKED
    raise ImportProblem("must be n where the aspect is marked, and empty where it is not", field=path)
