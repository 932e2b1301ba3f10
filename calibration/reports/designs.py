"""How the items that people answered were drawn: the strata of review campaigns, and the weighting."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from calibration.ratings.designs import COMBINATIONS
from calibration.reports.figures import QuestionFigures, figures
from calibration.reports.snapshot import Snapshot
from calibration.reports.tables import (
    Bare,
    Count,
    CsvLine,
    PageParams,
    Row,
    Section,
    View,
    table_key,
    tabulate,
)
from calibration.reports.wording import join_names

KEY = "drawn"
COLUMNS = [("items", "Items"), ("sampled", "Drawn"), ("answered", "Answered"), ("probability", "Probability")]
NOT_WEIGHTED = (
    "Intraclass correlations, ranking accuracy, the test for standing in, p-values of pairs of judges, "
    "bounds over unanswered items, thresholds and maps of scores, levels and the figures of single raters "
    "have no weighted form and are left out where probabilities differ."
)


def _designed(result: Snapshot) -> list[QuestionFigures]:
    return [question for question in figures(result) if question.data.design and not question.data.pooled]


def caveats(result: Snapshot) -> Iterator[str]:
    """Yield a sentence per design: how its figures are weighted, or why they are not."""
    sentences: dict[str, list[str]] = {}
    for question in _designed(result):
        sentences.setdefault(_sentence(question.data.design or {}), []).append(question.data.title)
    for sentence, titles in sentences.items():
        yield f"{sentence} This concerns {join_names(titles)}."


def _sentence(design: dict[str, Any]) -> str:
    if design["problem"]:
        return str(design["problem"])
    answered, n_drawn = (sum(row[name] for row in design["strata"]) for name in ("answered", "sampled"))
    pending = ""
    if answered < n_drawn:
        pending = f" {n_drawn - answered:,} of the {n_drawn:,} drawn items have no answer of people yet."
    combination = COMBINATIONS[design["combination"]]
    combination = f" {combination}" if combination else ""
    return (
        f"People’s items were drawn from {design['population']:,} with known probabilities: figures with "
        f"people are weighted by 1 / probability and are estimates for all of them."
        f"{combination}{pending}"
    )


def views(result: Snapshot, params: PageParams | None = None) -> list[View]:
    """Return the strata that people's items were drawn from: a table for all questions of one design."""
    titles: dict[str, list[str]] = {}
    by_key: dict[str, list[dict[str, Any]]] = {}
    for question in _designed(result):
        strata = (question.data.design or {})["strata"]
        if strata:
            titles.setdefault(repr(strata), []).append(question.data.title)
            by_key[repr(strata)] = strata
    tables = []
    for number, (key, strata) in enumerate(by_key.items(), 1):
        of = f": {join_names(titles[key])}" if len(by_key) > 1 else ""
        rows = [_row(row, several=len({r["campaign"] for r in strata}) > 1) for row in strata]
        name = table_key(KEY, str(number) if number > 1 else "")
        tables.append(View(tabulate(name, f"Items drawn for people{of}", COLUMNS, rows, first="Stratum")))
    return [View(view.table, (NOT_WEIGHTED,) if at == 0 else ()) for at, view in enumerate(tables)]


def _row(row: dict[str, Any], *, several: bool) -> Row:
    name = f"{row['campaign']}: {row['stratum']}" if several else row["stratum"]
    cells = [Count(key, float(row[key]), n_items=row["items"]) for key in ("items", "sampled", "answered")]
    return Row(
        name, "", row["answered"], 0, [*cells, Bare("probability", row["probability"], n_items=row["items"])]
    )


def lines(result: Snapshot) -> Iterator[CsvLine]:
    """Yield the strata's numbers, named `drawn_...`, with the stratum in place of raters."""
    for question in _designed(result):
        for row in (question.data.design or {})["strata"]:
            for key, _ in COLUMNS:
                figure = Bare(f"{KEY}_{key}", float(row[key]), n_items=row["items"], raters=(row["stratum"],))
                yield CsvLine(question.data.ref, question.data.title, figure.name, figure)


DESIGN = Section(KEY, "method", views, lines)
