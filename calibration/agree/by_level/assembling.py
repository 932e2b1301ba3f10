"""From ratings of questions and the places of items to what a table by level reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from calibration.agree.by_level.options import Asked
from calibration.agree.by_level.places import Place, Places
from calibration.statistics import Ratings
from calibration.statistics.analysis import MEAN_OF_PEOPLE
from calibration.statistics.by_level.scored import Frame, Kind, Scored, Scores, Units
from calibration.statistics.core.types import Floats, Ints

PEOPLE = "human"
LABELS = {"turn": "turn labels", "dialogue": "dialogue labels"}


@dataclass(frozen=True)
class Source:
    """What a row's scores are: a rater, or people's mean, and the question answered."""

    rater: str
    question: str


@dataclass(frozen=True)
class Assembled:
    """What a table reads, and where its reference and rows come from. ``said`` tells what was left out."""

    scored: Scored
    reference: Source
    rows: tuple[Source, ...]
    said: tuple[str, ...]


def assembled(questions: Mapping[str, Ratings], places: Places, asked: Asked) -> Assembled:
    """Return what is compared: people's mean (or the rater named) on one question, and every other rater.

    ValueError where the reference's question is not named or not there, where nobody answered it, for
    questions about turns and dialogues both, and where nothing is left to compare with.
    """
    name = _reference_question(questions, asked)
    said = [
        f"{question or 'The values'}: left out, as categories have no mean."
        for question, ratings in questions.items()
        if ratings.level == "nominal" and question != name
    ]
    numeric = {q: r for q, r in questions.items() if r.level != "nominal" or q == name}
    for question, ratings in numeric.items():
        if ratings.problem or ratings.level == "nominal":
            raise ValueError(f"{question or 'the values'}: {ratings.problem or 'categories have no mean'}")
    kinds = {question: _kind(question, ratings, places) for question, ratings in numeric.items()}
    layout = _Layout.of(numeric, kinds, places)
    reference = _reference(numeric[name], asked)
    first = layout.scores(numeric[name], kinds[name], reference, LABELS[kinds[name]])
    sides = [(Source(reference, name), first)]
    for question, ratings in numeric.items():
        for rater in _raters(ratings, question == name, reference):
            sides.append((Source(rater, question), layout.scores(ratings, kinds[question], rater, "")))
    if len(sides) < 2:
        raise ValueError(
            f"nothing to compare with {reference} on {name or 'the question'}: "
            "no judge, metric or other question (a column kind tells judges and metrics from people)"
        )
    rows = _named([source for source, _ in sides[1:]], [side for _, side in sides[1:]], kinds, name, places)
    scored = Scored(layout.units, sides[0][1], rows, layout.turns, layout.dialogues)
    return Assembled(scored, sides[0][0], tuple(source for source, _ in sides[1:]), tuple(said))


def _reference_question(questions: Mapping[str, Ratings], asked: Asked) -> str:
    named = ", ".join(questions)
    if asked.reference_question:
        if asked.reference_question not in questions:
            raise ValueError(f"--reference-question: no {asked.reference_question!r}; there are {named}")
        return asked.reference_question
    if len(questions) > 1:
        raise ValueError(f"--reference-question is needed: the file has the questions {named}")
    return next(iter(questions))


def _reference(ratings: Ratings, asked: Asked) -> str:
    if asked.against is not None:
        if asked.against not in ratings.raters:
            raise ValueError(f"--against: no rater {asked.against!r}; there are {', '.join(ratings.raters)}")
        return asked.against
    if not ratings.of_kind(PEOPLE):
        raise ValueError(
            "no people to compare with: the column kind must say human of those who answered the reference's "
            "question, or --against names a rater"
        )
    return MEAN_OF_PEOPLE


def _raters(ratings: Ratings, is_reference: bool, reference: str) -> list[str]:
    """Return the raters of a question that have rows: people as one, and everybody else.

    Where one rater is the reference, the people who answered its question have a row each.
    """
    people = {ratings.raters[column] for column in ratings.of_kind(PEOPLE)}
    others = [rater for rater in ratings.raters if rater not in people and rater != reference]
    if not is_reference:
        return ([MEAN_OF_PEOPLE] if people else []) + others
    if reference == MEAN_OF_PEOPLE:
        return others
    return [rater for rater in ratings.raters if rater != reference]


def _kind(question: str, ratings: Ratings, places: Places) -> Kind:
    whole = {places.of[item].turn is None for item in ratings.items}
    if len(whole) > 1:
        raise ValueError(
            f"{question or 'the question'} is about turns and whole dialogues both: name them apart in the "
            "column question"
        )
    return "dialogue" if whole == {True} else "turn"


@dataclass(frozen=True)
class _Layout:
    """The units and frames of all items, and where each item stands in its frame."""

    units: Units
    turns: Frame | None
    dialogues: Frame | None
    at: dict[str, int]

    @staticmethod
    def of(questions: Mapping[str, Ratings], kinds: Mapping[str, Kind], places: Places) -> _Layout:
        by_kind: dict[Kind, dict[str, Place]] = {"turn": {}, "dialogue": {}}
        for question, ratings in questions.items():
            by_kind[kinds[question]].update((item, places.of[item]) for item in ratings.items)
        every = [place for items in by_kind.values() for place in items.values()]
        unit_of: dict[tuple[str, str], int] = {}
        first: list[Place] = []
        for place in every:
            if unit_of.setdefault((place.dialogue, place.continuation), len(first)) == len(first):
                first.append(place)
        dialogues, dialogue_names = _coded([place.dialogue for place in first])
        systems, system_names = _coded([place.system for place in first])
        clusters, _ = _coded([place.cluster for place in first])
        units = Units(dialogues, clusters, systems, dialogue_names, system_names)
        frames = {
            kind: Frame(
                kind,
                np.array([unit_of[p.dialogue, p.continuation] for p in items.values()], np.int64),
                np.array([p.turn or 0 for p in items.values()], np.int64),
            )
            for kind, items in by_kind.items()
            if items
        }
        at = {item: place for items in by_kind.values() for place, item in enumerate(items)}
        return _Layout(units, frames.get("turn"), frames.get("dialogue"), at)

    def scores(self, ratings: Ratings, kind: Kind, rater: str, labels: str) -> Scores:
        """Return a rater's scores, or people's mean, on the frame of this kind."""
        frame = self.turns if kind == "turn" else self.dialogues
        assert frame is not None
        columns = ratings.of_kind(PEOPLE) if rater == MEAN_OF_PEOPLE else (ratings.column(rater),)
        values: Floats = np.full((len(frame), len(columns)), np.nan)
        values[[self.at[item] for item in ratings.items]] = ratings.values[:, list(columns)]
        if rater == MEAN_OF_PEOPLE:
            return Scores.of_people(f"people ({labels})" if labels else "people", kind, values)
        return Scores(rater, kind, values[:, 0], ratings.kinds[columns[0]])


def _coded(names: list[str]) -> tuple[Ints, tuple[str, ...]]:
    codes: dict[str, int] = {}
    found = np.array([codes.setdefault(name, len(codes)) for name in names], np.int64)
    return found, tuple(codes)


def _named(
    sources: list[Source],
    rows: list[Scores],
    kinds: Mapping[str, Kind],
    reference: str,
    places: Places,
) -> tuple[Scores, ...]:
    """Name rows so that no two are alike: people by what they labelled, and by the question where needed."""
    names = []
    for source in sources:
        kind = kinds[source.question]
        if source.rater != MEAN_OF_PEOPLE:
            names.append(source.rater)
        elif kind != kinds[reference]:
            names.append(f"people ({LABELS[kind]})")
        else:
            names.append("people")
    shown = [
        f"{name}, {source.question}" if names.count(name) > 1 or name == "people" else name
        for name, source in zip(names, sources, strict=True)
    ]
    return tuple(
        replace(row, name=name, group=places.group(source.rater))
        for row, name, source in zip(rows, shown, sources, strict=True)
    )
