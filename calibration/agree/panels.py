"""`agree --panel`, `--baselines`, `--dev`: raters made of judges, and answers without reading."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from calibration.agree.report import Block
from calibration.errors import DefinitionError
from calibration.reading.panels import PanelAsked, parse
from calibration.statistics import Entry, Plan, Ratings
from calibration.statistics.baselines import BASELINE, Row, baselines
from calibration.statistics.beside_people import BesidePeople
from calibration.statistics.panels import PANEL, PanelAnswers, panel_of
from calibration.statistics.table import STATISTICS

JUDGE, PEOPLE = "judge", "human"
FLOOR_NOTE = (
    "Baselines are nobody: one value throughout, or a value drawn as often as people give it (its "
    "expectation). They are learned on {}, never from the item's own answers. Agreement and error are over "
    "all pairs with a person's rating, correlations with the people's mean."
)


@dataclass(frozen=True)
class Asked:
    """What the options ask for: panels, whether baselines, and the ratings of dev by question where given."""

    panels: tuple[PanelAsked, ...]
    baselines: bool
    dev: Mapping[str, Ratings] | None


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--panel",
        action="append",
        default=[],
        metavar="RULE[=A,B,C]",
        help="also a rater made of judges (all of them unless named): mean, median, majority, or weighted by "
        "agreement with people on the ratings of --dev; repeatable",
    )
    parser.add_argument(
        "--least", type=int, default=0, help="how many members of a panel must answer (more than half)"
    )
    parser.add_argument(
        "--baselines",
        action="store_true",
        help="also each judge above what answers without reading are worth: majority, median or mean, random",
    )
    parser.add_argument(
        "--dev",
        type=Path,
        metavar="RATINGS",
        help="a ratings file of the dev part, from which weights and baselines are learned; without it "
        "baselines are learned from all other clusters",
    )


def panels_of(options: Mapping[str, Any]) -> tuple[PanelAsked, ...]:
    """Return the panels that the options name. Raises ValueError with one line."""
    told = []
    for text in options["panel"]:
        rule, _, members = text.partition("=")
        names = [name.strip() for name in members.split(",") if name.strip()]
        told.append({"rule": rule, "members": names, "least": options["least"]})
    if options["dev"] and not (options["baselines"] or any(one["rule"] == "weighted" for one in told)):
        raise ValueError("--dev goes with --panel weighted or --baselines: from it these are learned")
    try:
        return parse(told)
    except DefinitionError as error:
        raise ValueError(f"--panel: {error}") from None


def with_panels(ratings: Ratings, question: str, asked: Asked) -> tuple[Ratings, list[str]]:
    """Return the ratings with a column a panel, and what is said of each; ValueError for a stranger."""
    said = []
    found = ratings
    for panel in asked.panels:
        if unknown := [name for name in panel.members if name not in ratings.raters]:
            raise ValueError(f"--panel: no rater {unknown[0]!r}; there are {', '.join(ratings.raters)}")
        members = panel.members or tuple(ratings.raters[j] for j in ratings.of_kind(JUDGE))
        learn = (asked.dev or {}).get(question)
        answers = panel_of(ratings, members, panel.rule, least=panel.least, learn=learn)
        said.append(_told(panel, answers))
        if answers.n_answered:
            found = _with(found, panel.name, answers)
    return found, said


def at_levels(ratings: Ratings, question: str, asked: Asked, missed: dict[str, str]) -> Ratings:
    """Return one question's ratings with the panels of its judges; judges of turns and of wholes stand apart.

    `missed` holds, by panel, why it has no answer to any question so far; '' where it has one.
    """
    for panel in asked.panels:
        here = set(panel.members or (ratings.raters[j] for j in ratings.of_kind(JUDGE)))
        if not here & set(ratings.raters):
            missed.setdefault(panel.name, f"{panel.name}: no judge answered a question")
            continue
        before, one = len(ratings.raters), replace(asked, panels=(panel,))
        ratings, said = with_panels(ratings, question, one)
        if len(ratings.raters) > before or missed.get(panel.name) != "":
            missed[panel.name] = "" if len(ratings.raters) > before else said[0]
    return ratings


def _with(ratings: Ratings, name: str, answers: PanelAnswers) -> Ratings:
    given = answers.values[~np.isnan(answers.values)]
    on_scale = ratings.scale is None or bool(np.isin(given, ratings.scale).all())
    return ratings.with_column(name, answers.values, kind=PANEL, on_scale=on_scale)


def _told(panel: PanelAsked, answers: PanelAnswers) -> str:
    if answers.reason:
        return f"{panel.name}: {answers.reason}."
    weights = ", ".join(f"{m.name} {m.weight:.3f}" for m in answers.members if m.weight is not None)
    return (
        f"{panel.name}: {answers.n_answered:,} items answered, {answers.n_ties:,} ties and "
        f"{answers.n_short:,} with fewer than {answers.least} members left without an answer."
        + (f" Weights learned on dev: {weights}." if weights else "")
    )


def floor(ratings: Ratings, question: str, asked: Asked, plan: Plan) -> list[Block]:
    """Return judges and panels above the baselines; none where no person and no judge answered."""
    columns = [*ratings.of_kind(JUDGE), *ratings.of_kind(PANEL)]
    if not asked.baselines or not columns or not ratings.of_kind(PEOPLE):
        return []
    beside = BesidePeople(ratings, tuple(STATISTICS), plan)
    rows = [_judge(beside, ratings, column) for column in columns]
    learn = None if asked.dev is None else asked.dev.get(question)
    rows += baselines(beside, learn=learn)
    note = FLOOR_NOTE.format("the file of --dev" if learn is not None else "all other clusters")
    note += "".join(f" {row.name}: {row.reason}." for row in rows if row.reason)
    return [Block("Above baselines", tuple(_entries(rows)), note=note, each=True)]


def _judge(beside: BesidePeople, ratings: Ratings, column: int) -> Row:
    name, values, answered = ratings.raters[column], ratings.values[:, column], ratings.as_answered()
    figures = beside.on_scale(name, answered.values[:, column]) if answered.on_scale[column] else {}
    figures |= beside.correlated(name, values) if beside.correlations else {}
    if beside.is_ordered:
        figures["mean_absolute_error"] = beside.error(name, values)
    return Row(name, ratings.kinds[column], figures)


def _entries(rows: Sequence[Row]) -> list[Entry]:
    """Return the figures, one statistic after the other, so that judges and baselines stand together."""
    names = dict.fromkeys(name for row in rows for name in row.figures)
    found = []
    for name in names:
        for row in rows:
            if name in row.figures:
                prefix = "baseline" if row.kind == BASELINE else "floor"
                who = f"{row.name}: {row.told}" if row.told else row.name
                found.append(Entry(replace(row.figures[name], name=f"{prefix}_{name}"), (who,)))
    return found
