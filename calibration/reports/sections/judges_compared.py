"""Judges compared: every pair of judges, metrics and readings of one against the same reference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from calibration.reports.contents import ComparedJudges, ComparedPair, Figure
from calibration.reports.figures import crowd, figures, worded
from calibration.reports.sections.base import (
    Asked,
    Line,
    PValue,
    Section,
    Switch,
    View,
    chosen,
    count,
    headed,
)
from calibration.reports.snapshot import Snapshot
from calibration.reports.tables import Row, Table, noted
from calibration.reports.wording import Crowd, counted
from calibration.statistics.judges_compared import ACCURACY, OF_PEOPLE

KEY = "compared"
FEW = 5
"""Contenders up to which the page shows every pair; of more, each with the best, the rest folded."""
LIKELY = 0.05
COLUMNS = [
    ("first", "First"),
    ("second", "Second"),
    ("difference", "Difference"),
    ("p", "p"),
    ("p_holm", "p, Holm"),
    ("n_dropped", "Dropped"),
]
Family = tuple[str, str]
"""A statistic and its reference: what p-values are corrected over."""


def views(result: Snapshot, asked: Asked | None = None) -> list[View]:
    """Return a table a question, one row a pair and statistic; on the page that of the question asked for."""
    who = crowd(figures(result))
    shown, switches = chosen(headed(result, result.compared), KEY, asked)
    is_page = asked is not None
    return [_view(title, question, who, switches, is_page=is_page) for title, question in shown]


def _view(
    title: str, question: ComparedJudges, who: Crowd, switches: tuple[Switch, ...], *, is_page: bool
) -> View:
    names = list(dict.fromkeys(name for pair in question.pairs for name in pair.names))
    pairs = list(question.pairs)
    rest: list[ComparedPair] = []
    if is_page and len(names) > FEW:
        pairs, rest = _with_best(question)
    folded = _table(f"The other pairs on {title}", rest) if rest else None
    return View(
        _table(f"Judges compared: {title}", pairs),
        tuple(_what(question, who, is_cut=bool(rest))),
        switches,
        "calibration/_other_pairs.html" if folded else "",
        folded,
    )


def families(question: ComparedJudges) -> dict[Family, list[ComparedPair]]:
    """Return the pairs by statistic and reference."""
    found: dict[Family, list[ComparedPair]] = {}
    for pair in question.pairs:
        found.setdefault((pair.statistic, pair.reference), []).append(pair)
    return found


def _with_best(question: ComparedJudges) -> tuple[list[ComparedPair], list[ComparedPair]]:
    """Return, of each statistic, the pairs with the contender of the highest value, and all others."""
    shown, rest = [], []
    for pairs in families(question).values():
        best = _best(pairs)
        shown += [pair for pair in pairs if best in pair.names]
        rest += [pair for pair in pairs if best not in pair.names]
    return shown, rest


def _best(pairs: Sequence[ComparedPair]) -> str:
    """Return who has the highest value: on average over its pairs, which may rest on other items."""
    values: dict[str, list[float]] = {}
    for pair in pairs:
        for name, figure in zip(pair.names, (pair.first, pair.second), strict=True):
            if figure.ok:
                values.setdefault(name, []).append(figure.point)
    return max(values, key=lambda name: sum(values[name]) / len(values[name]), default="")


def heading(family: Family) -> str:
    """Return how a statistic is headed, with the key that it is measured against."""
    statistic, reference = family
    words = "Accuracy" if statistic == ACCURACY else worded(statistic).heading
    return words if reference == OF_PEOPLE else f"{words}, {reference}"


def _table(title: str, pairs: Sequence[ComparedPair]) -> Table:
    notes: list[str] = []
    seen: set[Family] = set()
    rows = []
    for pair in pairs:
        family = pair.statistic, pair.reference
        cells = [noted(cell, notes) for cell in _cells(pair)]
        who = f"{pair.names[0]} less {pair.names[1]}"
        of = pair.difference
        first = family not in seen
        rows.append(Row(heading(family), who, of.n_items, of.n_clusters, cells, first=first))
        seen.add(family)
    return Table(title, COLUMNS, rows, notes, first="Statistic")


def _cells(pair: ComparedPair) -> list[Figure]:
    tests = [PValue(**vars(test)) if test.ok else test for test in (pair.p, pair.p_holm)]
    dropped = count("n_dropped", pair.n_dropped, pair.difference)
    return [pair.first, pair.second, pair.difference, *tests, dropped]


def _what(question: ComparedJudges, who: Crowd, *, is_cut: bool) -> Iterator[str]:
    """Yield what the tests found, what each column is, and what is not shown."""
    tests = [_found(family, pairs) for family, pairs in families(question).items()]
    if any(tests):
        told = "; ".join(filter(None, tests))
        yield (
            "Pairs that differ at 0.05 after Holm’s correction over all pairs of this question and "
            f"statistic: {told}."
        )
    yield (
        f"First and second: agreement with {who.many} is the mean of the agreement with each of them, "
        f"ρ and r are with the {who.own} mean, all on items that both answered; dropped are those that one "
        "of them did not. Difference: first less second, on the same resamples. p: the answers of both "
        "change places in whole dialogues, in 2,000 ways, or in all where there are fewer."
    )
    yield "A difference that is not shown is no proof that both are equally good: read its interval."
    if any("dropped_raters" in pair.difference.flags for pair in question.pairs):
        yield (
            f"{who.many[:1].upper()}{who.many[1:]} with whom a value of either is undefined are left out of "
            "the mean of both, so a judge’s value may differ from pair to pair."
        )
    if is_cut:
        yield "Of more than five the page shows each with the highest; the corrected p is over all pairs."
    if question.left_out:
        yield (
            f"{counted(question.left_out, 'pair')} of metrics left out: a study that names its raters "
            "compares up to twelve with each other."
        )


def _found(family: Family, pairs: Sequence[ComparedPair]) -> str:
    """Return `κ 5 of 15`: how many of the pairs that could be tested differ."""
    tested = [pair for pair in pairs if pair.p_holm.ok]
    differ = sum(pair.p_holm.point <= LIKELY for pair in tested)
    return f"{heading(family)} {differ} of {len(tested)}" if tested else ""


def lines(result: Snapshot) -> Iterator[Line]:
    """Yield both values of each pair, the difference and the p-values."""
    for question in result.compared:
        for pair in question.pairs:
            figures_of = {
                "first": pair.first,
                "second": pair.second,
                "difference": pair.difference,
                "p": pair.p,
                "p_holm": pair.p_holm,
            }
            for name, figure in figures_of.items():
                yield question.ref, question.title, f"compared_{name}_{pair.statistic}", figure


SECTION = Section(KEY, views, lines)
