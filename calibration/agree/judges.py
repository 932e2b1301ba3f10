"""Judges of a ratings file: compared with each other and the answer key, as panels, and above baselines."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from annotation.text import display
from calibration.agree.ratings_file import Part, RatingsFile
from calibration.agree.report import Additions, Block, Section, counted, number, title_of
from calibration.errors import DefinitionError
from calibration.ratings.definitions import PanelDefinition
from calibration.ratings.definitions import parse_panels as parse
from calibration.statistics import Analysis, Result
from calibration.statistics.analysis import Entry
from calibration.statistics.baselines import BASELINE, BesidePeople, Row, baselines, rater_row
from calibration.statistics.core.ratings import Ratings, Samples, default_samples
from calibration.statistics.core.resampling import Plan
from calibration.statistics.judges_compared import (
    ACCURACY,
    OF_PEOPLE,
    Compared,
    Comparisons,
    contenders_of,
    judges_compared,
)
from calibration.statistics.keys import DIFFERENCE, KeyRow, KeyTable, keys_of
from calibration.statistics.level_scores import Unit, aggregate
from calibration.statistics.panels import PANEL, PanelAnswers, panel_of
from calibration.statistics.table import STATISTICS

# `agree --compare` and `--key`: judges compared with each other, and all raters with an answer key.

KEY_WORDS = {
    "accuracy": "Accuracy",
    "balanced_accuracy": "Balanced accuracy",
    "kappa": "Cohen's kappa",
    "mcc": "Matthews correlation",
    DIFFERENCE: "Accuracy less that of the best baseline",
}
MOST_VALUES = 10


@dataclass(frozen=True)
class Readings:
    """A question's ratings by the first of repeated answers and by their mean, and the number of answers."""

    first: Ratings
    mean: Ratings | None
    calls: Mapping[str, int]
    samples: Samples | None

    def over(self, unit: Unit) -> Readings:
        """Return the ratings averaged over continuations or systems."""
        mean = aggregate(self.mean, unit) if self.mean is not None else None
        return replace(self, first=aggregate(self.first, unit), mean=mean)

    def beside(self, ratings: Ratings) -> Readings:
        """Return the readings with the panels of `ratings`: a panel answers once under every policy."""
        for column in ratings.of_kind(PANEL):
            panel_column = ratings.raters[column], ratings.values[:, column], PANEL, ratings.on_scale[column]
            mean = self.mean.with_column(*panel_column) if self.mean is not None else None
            first = self.first if self.first is ratings else self.first.with_column(*panel_column)
            self = replace(self, first=first, mean=mean)
        return self

    def keyed(self, name: str | None) -> Readings:
        """Return the readings with one rater as the answer key."""
        mean = with_key(self.mean, name) if self.mean is not None else None
        return replace(self, first=with_key(self.first, name), mean=mean)


def with_key(ratings: Ratings, name: str | None) -> Ratings:
    """Return the ratings with one rater's kind changed to key."""
    kinds = zip(ratings.raters, ratings.kinds, strict=True)
    return replace(ratings, kinds=tuple("key" if rater == name else kind for rater, kind in kinds))


def readings(file: RatingsFile, part: Part, ratings: Ratings, how: dict[str, Any]) -> Readings:
    """Return a part's ratings by each policy for repeated answers; `how` has the arguments of `ratings`.

    A part without repeated answers is read once: all policies give the same ratings.
    """
    if not part.collector.repeated:
        return Readings(ratings, None, {}, how["samples"])
    first = file.ratings(part, **(how | {"samples": "first"}), keep=True)
    ordered = default_samples(ratings.level) == "mean"
    mean = file.ratings(part, **(how | {"samples": "mean"}), keep=True) if ordered else None
    return Readings(first, mean, part.collector.answers, how["samples"])


class Beside:
    """Additions to a report by `--compare` and keys, question by question: JSON, CSV entries, sections."""

    def __init__(self, plan: Plan, options: Mapping[str, Any]) -> None:
        """Store the options of the command. Raises ValueError for incompatible options."""
        self.plan, self.options = plan, options
        self.compare, self.key = bool(options["compare"]), options["key"]
        self.additions = Additions(lists={"compared": []} if self.compare else {})
        self.key_seen = False
        if self.key and (options["against"] or options["aggregate"]):
            raise ValueError(
                "--key does not go with --against or --aggregate: it compares everybody, by item"
            )
        if self.compare and options["against"]:
            raise ValueError("--compare does not go with --against: it compares with people, or with a key")

    def add(self, question: str, title: str, of: Readings, marked: dict[str, Any]) -> None:
        """Compare a question's judges if requested, and all raters with its keys if it has any."""
        of, out = of.keyed(self.key), self.additions
        self.key_seen |= self.key in of.first.raters
        if of.first.of_kind("key") and not self.options["aggregate"] and not self.options["against"]:
            tables = keys_of(of.first, plan=self.plan)
            rows = out.lists.setdefault("against_key", [])
            rows += [row | marked for row in key_json(question, tables)]
            out.entries += [entry.as_dict() | marked for entry in key_entries(question, tables)]
            out.sections += [_key_section(title, table, of.first) for table in tables]
        if self.compare:
            unit = self.options["aggregate"]
            comparisons = compared(of.over(unit) if unit else of, self.plan)
            out.lists["compared"] += [row | marked for row in compared_json(question, comparisons)]
            out.entries += [entry.as_dict() | marked for entry in compared_entries(question, comparisons)]
            if comparisons.pairs:
                out.sections.append(compared_section(title, comparisons, of.first))

    def check(self) -> None:
        """Raise ValueError if a requested comparison is impossible with the file's raters."""
        if self.key and not self.key_seen:
            raise ValueError(f"--key: no rater {self.key!r}")
        if self.compare and not self.additions.lists["compared"]:
            raise ValueError(
                "--compare needs two judges or metrics, or one that answered several times, beside people or "
                "a key: the column kind must say judge or metric of them, and human or key of the others"
            )


def compared(of: Readings, plan: Plan) -> Comparisons:
    """Return the comparisons of all pairs of a question's judges and metrics."""
    people = of.first if of.mean is None or of.samples == "first" else of.mean
    return judges_compared(people, contenders_of(of.first, of.mean, of.calls), plan=plan)


def compared_json(question: str, comparisons: Comparisons) -> Iterator[dict[str, Any]]:
    """Yield one row per pair and statistic."""
    for row in comparisons.pairs:
        yield {
            "raters": [contender.rater for contender in row.contenders],
            "samples": [contender.samples or None for contender in row.contenders],
            "question": question,
            "statistic": row.statistic,
            "reference": row.reference,
            "a": row.first.value,
            "b": row.second.value,
            "difference": row.difference.value,
            "low": row.difference.low,
            "high": row.difference.high,
            "p": row.p.value,
            "p_holm": row.p_holm.value,
            "n_items": row.difference.n_items,
            "n_clusters": row.difference.n_clusters,
            "n_dropped": row.n_dropped,
            "status": row.difference.status,
            "reason": row.difference.reason,
            "flags": list(row.difference.flags),
            "intervals": {"a": [row.first.low, row.first.high], "b": [row.second.low, row.second.high]},
            "method": row.p.method,
        }


def key_json(question: str, tables: Sequence[KeyTable]) -> Iterator[dict[str, Any]]:
    """Yield, for each key, one row per rater, then the baselines."""
    for table in tables:
        if table.reason:
            yield {"question": question, "key": table.key, "reason": table.reason}
        for row in (*table.rows, *table.baselines):
            by_name = {result.name: result for result in _results(row)}
            yield {
                "question": question,
                "key": table.key,
                "rater": row.rater,
                "kind": row.kind,
                "n_items": row.n,
                "n_missing": row.missing,
                **{name: result.value for name, result in by_name.items()},
                "intervals": {name: [result.low, result.high] for name, result in by_name.items()},
                "reasons": {name: result.reason for name, result in by_name.items() if not result.ok},
                "baseline": row.best or None,
                "baseline_accuracy": row.best_accuracy,
                "values": list(table.values),
                "confusion": [list(counts) for counts in row.matrix],
            }


def _results(row: KeyRow) -> tuple[Result, ...]:
    return (*row.figures, row.difference) if row.difference is not None else row.figures


def compared_entries(question: str, comparisons: Comparisons) -> Iterator[Entry]:
    """Yield the figures of pairs for the CSV, under separate names."""
    for row in comparisons.pairs:
        names = tuple(contender.name for contender in row.contenders)
        figures = {
            "first": (row.first, (row.reference, names[0])),
            "second": (row.second, (row.reference, names[1])),
            "difference": (row.difference, names),
            "p": (row.p, names),
            "p_holm": (row.p_holm, names),
        }
        for name, (result, raters) in figures.items():
            yield Entry(replace(result, name=f"compared_{name}_{row.statistic}"), raters, question)


def key_entries(question: str, tables: Sequence[KeyTable]) -> Iterator[Entry]:
    """Yield the figures against keys for the CSV, under separate names."""
    for table in tables:
        for row in (*table.rows, *table.baselines):
            for result in _results(row):
                yield Entry(replace(result, name=f"key_{result.name}"), (table.key, row.rater), question)


def compared_section(title: str, comparisons: Comparisons, ratings: Ratings) -> Section:
    """Return the pairs as a section of the report: one block per statistic, one row per pair."""
    families: dict[tuple[str, str], list[Compared]] = {}
    for row in comparisons.pairs:
        families.setdefault((row.statistic, row.reference), []).append(row)
    blocks = tuple(_pairs_block(*family, rows, title) for family, rows in families.items())
    every = tuple(entry for block in blocks for entry in block.entries)
    facts = [
        "Only items that both of a pair answered count. Agreement is the mean agreement with each person, a "
        "correlation is with the people’s mean. Difference: first less second, on the same resamples. p: "
        "permutation test that exchanges the answers of whole clusters, with Holm’s correction over all "
        "pairs of the question and statistic.",
        "No significant difference does not prove that two judges are equally good: read the interval.",
    ]
    if comparisons.left_out:
        facts.append(f"{comparisons.left_out:,} pairs of metrics are not compared, as there are many.")
    head = ", ".join(filter(None, [title, "judges compared"]))
    return Section(head, ratings, Analysis(panel=every), tuple(facts), (), blocks, ())


def _pairs_block(statistic: str, reference: str, rows: Sequence[Compared], title: str) -> Block:
    words = "Accuracy" if statistic == ACCURACY else title_of(statistic)
    against = "people" if reference == OF_PEOPLE else reference
    entries = tuple(
        Entry(replace(row.difference, name=_comparison_title(row)), _less(row), title) for row in rows
    )
    return Block(f"{words} with {against}, first less second", entries)


def _less(row: Compared) -> tuple[str, ...]:
    first, other = row.contenders
    return (f"{first.name} less {other.name}",)


def _comparison_title(row: Compared) -> str:
    """Return a pair's two values and p-values as text, shown in place of a statistic's name."""
    dropped = f", {counted(row.n_dropped, 'item')} dropped" if row.n_dropped else ""
    if not row.difference.ok:
        return f"no comparison{dropped}"
    values = f"{number(row.first.value)} less {number(row.second.value)}"
    return f"{values}; p {_p(row.p)}, corrected {_p(row.p_holm)}{dropped}"


def _p(result: Result) -> str:
    return display.p_value(result.value) if result.value is not None else display.MISSING


def _key_section(title: str, table: KeyTable, ratings: Ratings) -> Section:
    head = ", ".join(filter(None, [title, f"against the key {table.key}"]))
    if table.reason:
        reason = f"{table.reason[:1].upper()}{table.reason[1:]}."
        return Section(head, ratings, Analysis(), (), (reason,), (), ())
    blocks = [_key_block(row, table, title) for row in table.rows]
    baselines = [
        Entry(_with_key_name(r), (row.rater,), title) for row in table.baselines for r in row.figures
    ]
    blocks.append(Block("Baselines", tuple(baselines)))
    every = tuple(entry for block in blocks for entry in block.entries)
    facts = (
        "Figures are over items that both the key and the rater answered. Of several answers to an item, the "
        "first counts. Baseline “majority” gives the key’s most frequent value on the same items, so it is "
        "slightly optimistic; “random” is the expected accuracy of values drawn evenly.",
    )
    return Section(head, ratings, Analysis(panel=every), facts, (), tuple(blocks), ())


def _key_block(row: KeyRow, table: KeyTable, title: str) -> Block:
    entries = tuple(Entry(_with_key_name(result), (row.rater,), title) for result in _results(row))
    notes = [f"{counted(row.n, 'item')}; {row.missing:,} that the key answers are missing."]
    if row.best:
        notes.append(f"Best baseline on these: {row.best}, accuracy {number(row.best_accuracy)}.")
    if row.matrix and (len(table.values) <= MOST_VALUES):
        notes.append(f"Answers by value of the key: {_matrix(row, table.values)}.")
    return Block(f"{row.rater} ({row.kind})" if row.kind else row.rater, entries, note=" ".join(notes))


def _with_key_name(result: Result) -> Result:
    return replace(result, name=KEY_WORDS[result.name])


def _matrix(row: KeyRow, values: Sequence[str]) -> str:
    rows = []
    for value, counts in zip(values, row.matrix, strict=True):
        met = ", ".join(f"{n:,} {other}" for other, n in zip(values, counts, strict=True) if n)
        rows.append(f"{value}: {met or 'none'}")
    return "; ".join(rows)


# `agree --panel`, `--baselines`, `--dev`: panels of judges, and baselines that answer without reading.

JUDGE, PEOPLE = "judge", "human"
FLOOR_NOTE = (
    "A judge is useful only above the baselines, which answer without reading: one value for every item, or "
    "a random value as frequent as among people (the expected figure). They are learned on {}. Agreement and "
    "error are over all pairs with a person's rating, correlations with the people's mean."
)


@dataclass(frozen=True)
class JudgeOptions:
    """Parsed options: panels, whether to show baselines, and dev ratings by question (None: not given)."""

    panels: tuple[PanelDefinition, ...]
    baselines: bool
    dev: Mapping[str, Ratings] | None


def add_arguments(parser: ArgumentParser) -> None:
    """Add the options to the parser."""
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


def panels_of(options: Mapping[str, Any]) -> tuple[PanelDefinition, ...]:
    """Return the panels that the options name. Raises ValueError with a one-line message."""
    definitions = []
    for text in options["panel"]:
        rule, _, members = text.partition("=")
        names = [name.strip() for name in members.split(",") if name.strip()]
        definitions.append({"rule": rule, "members": names, "least": options["least"]})
    if options["dev"] and not (
        options["baselines"] or any(definition["rule"] == "weighted" for definition in definitions)
    ):
        raise ValueError("--dev goes with --panel weighted or --baselines: from it these are learned")
    try:
        return parse(definitions)
    except DefinitionError as error:
        raise ValueError(f"--panel: {error}") from None


def with_panels(ratings: Ratings, question: str, judge_options: JudgeOptions) -> tuple[Ratings, list[str]]:
    """Return the ratings with a column per panel, and a note on each; ValueError for an unknown member."""
    notes = []
    extended = ratings
    for panel in judge_options.panels:
        if unknown := [name for name in panel.members if name not in ratings.raters]:
            raise ValueError(f"--panel: no rater {unknown[0]!r}; there are {', '.join(ratings.raters)}")
        members = panel.members or tuple(ratings.raters[j] for j in ratings.of_kind(JUDGE))
        learn = (judge_options.dev or {}).get(question)
        answers = panel_of(ratings, members, panel.rule, least=panel.least, learn=learn)
        notes.append(_describe_panel(panel, answers))
        if answers.n_answered:
            extended = _with(extended, panel.name, answers)
    return extended, notes


def at_levels(
    ratings: Ratings, question: str, judge_options: JudgeOptions, missed: dict[str, str]
) -> Ratings:
    """Return one question's ratings with panels of its judges; judges of turns and of wholes stay separate.

    `missed` has, by panel, the reason if it has no answers to any question so far, '' if it has some.
    """
    for panel in judge_options.panels:
        members = set(panel.members or (ratings.raters[j] for j in ratings.of_kind(JUDGE)))
        if not members & set(ratings.raters):
            missed.setdefault(panel.name, f"{panel.name}: no judge answered a question")
            continue
        before, panel_options = len(ratings.raters), replace(judge_options, panels=(panel,))
        ratings, notes = with_panels(ratings, question, panel_options)
        if len(ratings.raters) > before or missed.get(panel.name) != "":
            missed[panel.name] = "" if len(ratings.raters) > before else notes[0]
    return ratings


def _with(ratings: Ratings, name: str, answers: PanelAnswers) -> Ratings:
    answered = answers.values[~np.isnan(answers.values)]
    on_scale = ratings.scale is None or bool(np.isin(answered, ratings.scale).all())
    return ratings.with_column(name, answers.values, kind=PANEL, on_scale=on_scale)


def _describe_panel(panel: PanelDefinition, answers: PanelAnswers) -> str:
    if answers.reason:
        return f"{panel.name}: {answers.reason}."
    weights = ", ".join(f"{m.name} {m.weight:.3f}" for m in answers.members if m.weight is not None)
    return (
        f"{panel.name}: {answers.n_answered:,} items answered, {answers.n_ties:,} ties and "
        f"{answers.n_short:,} with fewer than {answers.least} members left without an answer."
        + (f" Weights learned on dev: {weights}." if weights else "")
    )


def floor(ratings: Ratings, question: str, judge_options: JudgeOptions, plan: Plan) -> list[Block]:
    """Return a block of judges and panels above the baselines; empty if no person or no judge answered."""
    columns = [*ratings.of_kind(JUDGE), *ratings.of_kind(PANEL)]
    if not judge_options.baselines or not columns or not ratings.of_kind(PEOPLE):
        return []
    beside = BesidePeople(ratings, tuple(STATISTICS), plan)
    rows = [rater_row(beside, column) for column in columns]
    learn = None if judge_options.dev is None else judge_options.dev.get(question)
    rows += baselines(beside, learn=learn)
    note = FLOOR_NOTE.format("the file of --dev" if learn is not None else "all other clusters")
    note += "".join(f" {row.name}: {row.reason}." for row in rows if row.reason)
    return [Block("Above baselines", tuple(_entries(rows)), note=note, each=True)]


def _entries(rows: Sequence[Row]) -> list[Entry]:
    """Return the figures ordered by statistic, so that judges and baselines are listed together."""
    names = dict.fromkeys(name for row in rows for name in row.figures)
    entries = []
    for name in names:
        for row in rows:
            if name in row.figures:
                prefix = "baseline" if row.kind == BASELINE else "floor"
                rater = f"{row.name}: {row.told}" if row.told else row.name
                entries.append(Entry(replace(row.figures[name], name=f"{prefix}_{name}"), (rater,)))
    return entries
