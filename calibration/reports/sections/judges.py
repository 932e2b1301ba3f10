"""Sections about judges: compared with each other, above baselines, and against the answer key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from annotation.text.display import number
from calibration.reports.charts import Chart, Point
from calibration.reports.contents import (
    ComparedJudges,
    ComparedPair,
    Figure,
    Floor,
    FloorRow,
    KeyRow,
    KeyTable,
    PanelMember,
    PanelSummary,
)
from calibration.reports.figures import crowd, figures, worded
from calibration.reports.sections.base import (
    Count,
    CsvLine,
    PageParams,
    PValue,
    Section,
    Switch,
    View,
    count,
    headed,
    select_question,
)
from calibration.reports.snapshot import Snapshot
from calibration.reports.tables import Row, Table, with_note
from calibration.reports.wording import Crowd, counted
from calibration.statistics.baselines import BASELINE, CHANCE, CORRELATIONS, ERROR, SHARE
from calibration.statistics.core.ratings import CATEGORIES
from calibration.statistics.judges_compared import ACCURACY, OF_PEOPLE
from calibration.statistics.keys import DIFFERENCE, FIGURES, MAJORITY, OF_DEV

# Judges compared: every pair of judges, metrics and readings of one against the same reference.

COMPARED_KEY = "compared"
FEW = 5
"""Contenders up to which the page shows every pair; of more, each with the best, the rest folded."""
LIKELY = 0.05
COMPARED_COLUMNS = [
    ("first", "First"),
    ("second", "Second"),
    ("difference", "Difference"),
    ("p", "p"),
    ("p_holm", "p, Holm"),
    ("n_dropped", "Dropped"),
]
Family = tuple[str, str]
"""A statistic and its reference: what p-values are corrected over."""


def compared_views(result: Snapshot, params: PageParams | None = None) -> list[View]:
    """Return a table a question, one row a pair and statistic; on the page that of the question asked for."""
    people = crowd(figures(result))
    selected, switches = select_question(headed(result, result.compared), COMPARED_KEY, params)
    is_page = params is not None
    return [_view(title, question, people, switches, is_page=is_page) for title, question in selected]


def _view(
    title: str, question: ComparedJudges, people: Crowd, switches: tuple[Switch, ...], *, is_page: bool
) -> View:
    names = list(dict.fromkeys(name for pair in question.pairs for name in pair.names))
    pairs = list(question.pairs)
    rest: list[ComparedPair] = []
    if is_page and len(names) > FEW:
        pairs, rest = _with_best(question)
    folded = _compared_table(f"The other pairs on {title}", rest) if rest else None
    return View(
        _compared_table(f"Judges compared: {title}", pairs),
        tuple(_compared_remarks(question, people, is_cut=bool(rest))),
        switches,
        "calibration/_other_pairs.html" if folded else "",
        folded,
    )


def families(question: ComparedJudges) -> dict[Family, list[ComparedPair]]:
    """Return the pairs by statistic and reference."""
    pairs_by_family: dict[Family, list[ComparedPair]] = {}
    for pair in question.pairs:
        pairs_by_family.setdefault((pair.statistic, pair.reference), []).append(pair)
    return pairs_by_family


def _with_best(question: ComparedJudges) -> tuple[list[ComparedPair], list[ComparedPair]]:
    """Return, of each statistic, the pairs with the contender of the highest value, and all others."""
    with_best, rest = [], []
    for pairs in families(question).values():
        best = _best(pairs)
        with_best += [pair for pair in pairs if best in pair.names]
        rest += [pair for pair in pairs if best not in pair.names]
    return with_best, rest


def _best(pairs: Sequence[ComparedPair]) -> str:
    """Return the contender with the highest value: its mean over its pairs, which may rest on other items."""
    values: dict[str, list[float]] = {}
    for pair in pairs:
        for name, figure in zip(pair.names, (pair.first, pair.second), strict=True):
            if figure.ok:
                values.setdefault(name, []).append(figure.point)
    return max(values, key=lambda name: sum(values[name]) / len(values[name]), default="")


def family_heading(family: Family) -> str:
    """Heading of a statistic, with the key that it is measured against."""
    statistic, reference = family
    words = "Accuracy" if statistic == ACCURACY else worded(statistic).heading
    return words if reference == OF_PEOPLE else f"{words}, {reference}"


def _compared_table(title: str, pairs: Sequence[ComparedPair]) -> Table:
    notes: list[str] = []
    seen: set[Family] = set()
    rows = []
    for pair in pairs:
        family = pair.statistic, pair.reference
        cells = [with_note(cell, notes) for cell in _cells(pair)]
        pair_name = f"{pair.names[0]} less {pair.names[1]}"
        of = pair.difference
        first = family not in seen
        rows.append(Row(family_heading(family), pair_name, of.n_items, of.n_clusters, cells, first=first))
        seen.add(family)
    return Table(title, COMPARED_COLUMNS, rows, notes, first="Statistic")


def _cells(pair: ComparedPair) -> list[Figure]:
    tests = [PValue(**vars(test)) if test.ok else test for test in (pair.p, pair.p_holm)]
    dropped = count("n_dropped", pair.n_dropped, pair.difference)
    return [pair.first, pair.second, pair.difference, *tests, dropped]


def _compared_remarks(question: ComparedJudges, people: Crowd, *, is_cut: bool) -> Iterator[str]:
    """Yield the results of the tests, the meaning of the columns, and what is not shown."""
    tests = [_count_differing(family, pairs) for family, pairs in families(question).items()]
    if any(tests):
        differences = "; ".join(filter(None, tests))
        yield (
            "Pairs that differ at 0.05 after Holm’s correction over all pairs of this question and "
            f"statistic: {differences}."
        )
    yield (
        f"First and second: agreement with {people.many} is the mean of the agreement with each of them, "
        f"ρ and r are with the {people.own} mean, all on items that both answered; dropped are those that "
        "one of them did not. Difference: first less second, on the same resamples. p: the answers of both "
        "change places in whole dialogues, in 2,000 ways, or in all where there are fewer."
    )
    yield "A difference that is not shown is no proof that both are equally good: read its interval."
    if any("dropped_raters" in pair.difference.flags for pair in question.pairs):
        yield (
            f"{people.many[:1].upper()}{people.many[1:]} with whom a value of either is undefined are left "
            "out of the mean of both, so a judge’s value may differ from pair to pair."
        )
    if is_cut:
        yield "Of more than five the page shows each with the highest; the corrected p is over all pairs."
    if question.left_out:
        yield (
            f"{counted(question.left_out, 'pair')} of metrics left out: a study that names its raters "
            "compares up to twelve with each other."
        )


def _count_differing(family: Family, pairs: Sequence[ComparedPair]) -> str:
    """Return `κ 5 of 15`: how many of the pairs that could be tested differ."""
    tested = [pair for pair in pairs if pair.p_holm.ok]
    differ = sum(pair.p_holm.point <= LIKELY for pair in tested)
    return f"{family_heading(family)} {differ} of {len(tested)}" if tested else ""


def compared_lines(result: Snapshot) -> Iterator[CsvLine]:
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
                yield CsvLine(question.ref, question.title, f"compared_{name}_{pair.statistic}", figure)


JUDGES_COMPARED = Section(COMPARED_KEY, compared_views, compared_lines)


# Judges and panels above the baselines, and what panels are made of.

FLOOR_KEY = "floor"
DEV = "dev"
ORDER = (SHARE, *CHANCE, *CORRELATIONS, ERROR)
COUNTS = [("n_answered", "Answered"), ("n_ties", "Ties"), ("n_short", "Too few members")]


def floor_heading(figure: str) -> str:
    """Heading of a figure."""
    return "Mean error" if figure == ERROR else worded(figure).heading


def floor_views(result: Snapshot, params: PageParams | None = None) -> list[View]:
    """Return a table a question, judges above baselines; then what the panels are."""
    people = crowd(figures(result))
    selected, switches = select_question(headed(result, result.floors), FLOOR_KEY, params)
    floor_tables = [
        View(_floor_table(title, floor), tuple(_floor_remarks(floor, people)), switches)
        for title, floor in selected
    ]
    if result.panels:
        floor_tables.append(View(_panels(result), tuple(_panel_remarks(result.panels))))
    return floor_tables


def _floor_table(title: str, floor: Floor) -> Table:
    names = {figure.name for row in floor.rows for figure in row.figures}
    columns = [name for name in ORDER if name in names]
    notes: list[str] = []
    rows = [_floor_row(row, columns, notes) for row in floor.rows]
    heads = [(name, floor_heading(name)) for name in columns]
    return Table(f"Judges above baselines: {title}", heads, rows, notes, first="Rater")


def _floor_row(row: FloorRow, columns: Sequence[str], notes: list[str]) -> Row:
    of = {figure.name: figure for figure in row.figures}
    cells = [with_note(of.get(name), notes) for name in columns]
    with_value = [figure for figure in row.figures if figure.ok] or list(row.figures)
    n_items, n_clusters = (with_value[0].n_items, with_value[0].n_clusters) if with_value else (0, 0)
    name = f"{row.name}: {row.told}" if row.told else row.name
    return Row(name, row.kind, n_items, n_clusters, cells, first=True)


def _floor_remarks(floor: Floor, people: Crowd) -> Iterator[str]:
    learned = (
        "learned on the dev part alone"
        if floor.learned == DEV
        else f"learned, for each dialogue, from the {people.many} of all other dialogues"
    )
    yield (
        f"Baselines answer without reading, and are nobody: one value throughout, a value drawn as often as "
        f"{people.many} give it (its expectation, no draw), the length of what is rated. They are {learned}, "
        "never from the item’s own answers."
    )
    yield (
        f"Agreement and error: over all pairs with a {people.one}’s rating; ρ and r: with the {people.own} "
        "mean. One value throughout has κ 0, flagged, and neither MCC nor a correlation."
    )
    for row in floor.rows:
        if row.reason:
            yield f"{row.name}: {row.reason}."


def _panels(result: Snapshot) -> Table:
    titles = {question.ref: title for title, question in headed(result, result.panels)}
    notes: list[str] = []
    rows = []
    for panel in result.panels:
        cells: list[Figure | None] = [
            count("n_answered", panel.n_answered),
            count("n_ties", panel.n_ties),
            count("n_short", panel.n_short),
        ]
        composition = f"{panel.rule} of {', '.join(_member(m) for m in panel.members) or 'nobody'}"
        rows.append(
            Row(panel.name, f"{titles[panel.ref]}: {composition}", panel.n_answered, 0, cells, first=True)
        )
    return Table("Panels of judges", COUNTS, rows, notes, first="Panel")


def _member(member: PanelMember) -> str:
    if member.weight is None:
        return member.name
    why = "no agreement measured" if member.agreement is None else f"agreement {number(member.agreement)}"
    return f"{member.name} (weight {number(member.weight)}, {why} on {member.n_items:,})"


def _panel_remarks(panels: Sequence[PanelSummary]) -> Iterator[str]:
    least = sorted({panel.least for panel in panels})
    yield (
        f"A panel answers where {' or '.join(map(str, least))} of its members did; a member without an "
        "answer is left aside. Of a majority, and of weighted categories, a tie is no answer."
    )
    weighted = [panel for panel in panels if panel.basis]
    if weighted:
        yield (
            "Weights are each member’s agreement with people beyond chance, learned on dev alone, none "
            "below 0."
        )
    if any(panel.basis == DEV for panel in weighted):
        yield "This report shows dev, where the weights were learned: its figures flatter weighted panels."
    for panel in panels:
        if panel.reason:
            yield f"{panel.name} on {panel.title}: {panel.reason}."


def floor_lines(result: Snapshot) -> Iterator[CsvLine]:
    """Yield the figures of judges and baselines, then the counts and weights of panels."""
    for floor in result.floors:
        for row in floor.rows:
            prefix = "baseline" if row.kind == BASELINE else "floor"
            for figure in row.figures:
                yield CsvLine(floor.ref, floor.title, f"{prefix}_{figure.name}", figure)
    for panel in result.panels:
        for name, _ in COUNTS:
            figure = count(name, getattr(panel, name))
            yield CsvLine(panel.ref, panel.title, f"panel_{name}", _with_raters(figure, (panel.name,)))
        for member in panel.members:
            if member.weight is not None:
                weight = Figure("panel_weight", member.weight, n_items=member.n_items)
                yield CsvLine(
                    panel.ref, panel.title, "panel_weight", _with_raters(weight, (panel.name, member.name))
                )


def _with_raters(figure: Figure, raters: tuple[str, ...]) -> Figure:
    return replace(figure, raters=raters)


FLOORS = Section(FLOOR_KEY, floor_views, floor_lines)


# Against the key: raters of a question beside its answer key, with baselines and confusion matrices.

KEY = "key"
MOST_SHOWN = 10
"""Values of an ordered scale up to which answers are tabulated; of categories all are."""
KINDS = {"human": "person", "key": "answer key"}
HEADINGS = {
    "accuracy": "Accuracy",
    "balanced_accuracy": "Balanced accuracy",
    "kappa": worded("cohen_kappa").heading,
    "mcc": worded("mcc").heading,
}
COLUMNS = [
    ("missing", "Missing"),
    *((name, HEADINGS[name]) for name in FIGURES),
    (DIFFERENCE, "Less best baseline"),
]


def key_views(result: Snapshot, params: PageParams | None = None) -> list[View]:
    """Return a table a question and key, with the matrices; on the page that of the question asked for."""
    selected, switches = select_question(headed(result, result.keys), "against", params)
    key_tables: list[View] = []
    for title, table in selected:
        matrices = [row for row in table.rows if row.n] if _has_matrices(table) else []
        on_page = params is not None and bool(matrices)
        template = "calibration/_confusions.html" if on_page else ""
        data = [_confusion(title, table, row) for row in matrices] if on_page else None
        key_tables.append(View(_table(title, table), tuple(_key_remarks(table)), switches, template, data))
        if params is None and matrices:
            key_tables.append(View(_answers_by_key_value(title, table, matrices)))
    return key_tables


def _has_matrices(table: KeyTable) -> bool:
    return table.level in CATEGORIES or len(table.values) <= MOST_SHOWN


def _table(title: str, table: KeyTable) -> Table:
    notes: list[str] = []
    rows = [_row(row, notes) for row in (*table.rows, *table.baselines)]
    return Table(f"Against the key: {title} ({table.key})", COLUMNS, rows, notes, first="Rater")


def _row(row: KeyRow, notes: list[str]) -> Row:
    of = row.figures[0]
    missing = count("missing", row.missing) if row.kind != "baseline" else None
    cells = [with_note(cell, notes) for cell in (missing, *row.figures, row.difference)]
    return Row(row.rater, KINDS.get(row.kind, row.kind), row.n, of.n_clusters, cells, first=True)


def _confusion(title: str, table: KeyTable, row: KeyRow) -> Table:
    """Confusion matrix of key and rater, without the values that neither gave."""
    used = [n for n, counts in enumerate(row.matrix) if sum(counts) or any(r[n] for r in row.matrix)]
    columns = [(table.values[n], table.values[n]) for n in used]
    rows = [_counts(table, row)[n] for n in used]
    rows = [replace(row_of_value, cells=[row_of_value.cells[n] for n in used]) for row_of_value in rows]
    heading = f"{title}: {table.key} (rows) and {row.rater} (columns)"
    return Table(heading, columns, rows, first=table.key)


def _answers_by_key_value(title: str, table: KeyTable, raters: Sequence[KeyRow]) -> Table:
    """Return the same of all raters in one table, for files: a rater's rows are the key's values."""
    columns = [(value, value) for value in table.values]
    rows = [
        replace(row, question=rater.rater, compared=f"{table.key}: {row.question}", first=number == 0)
        for rater in raters
        for number, row in enumerate(_counts(table, rater))
    ]
    heading = f"Answers by value of the key: {title} ({table.key})"
    return Table(heading, columns, rows, first="Rater")


def _counts(table: KeyTable, row: KeyRow) -> list[Row]:
    """Return a row a value of the key, with the number of items that got each value from a rater."""
    clusters = row.figures[0].n_clusters
    rows = []
    for value, counts in zip(table.values, row.matrix, strict=True):
        met = zip(table.values, counts, strict=True)
        cells: list[Figure | None] = [Count(other, float(n)) for other, n in met]
        rows.append(Row(value, "", sum(counts), clusters, cells, first=True))
    return rows


def _key_remarks(table: KeyTable) -> Iterator[str]:
    if table.reason:
        yield f"{table.reason[:1].upper()}{table.reason[1:]}."
        return
    yield (
        f"Items that {table.key} and the rater both answered; missing are those that only the key answers. "
        "Who answered an item several times is read by the first answer."
    )
    yield "Balanced accuracy: the mean, over the values of the key, of the share answered rightly."
    yield (
        "Less best baseline: the rater’s accuracy less that of the baseline that is right most often on the "
        "same items, on the same resamples."
    )
    yield (
        f"The {MAJORITY} value is chosen on the items it is scored on, and is therefore slightly optimistic; "
        "random is what answers drawn evenly from all values reach on average."
    )
    if any(row.rater.startswith(OF_DEV) for row in table.baselines):
        yield f"The {OF_DEV} was learned on the dev part alone."


def accuracies(result: Snapshot) -> Sequence[Chart]:
    """Return, of the first question with a key, how often each rater and baseline is right."""
    for title, table in headed(result, result.keys):
        rows = [*table.rows, *table.baselines]
        points = [_point(row, row.figures[0]) for row in rows if row.n]
        if points:
            axis = f"Accuracy against {table.key}, intervals over dialogues"
            return [Chart("against-key", f"Right answers on {title}", axis, tuple(points))]
    return ()


def _point(row: KeyRow, of: Figure) -> Point:
    return Point(
        row.rater,
        "accuracy",
        of.value,
        of.low,
        of.high,
        of.n_items,
        of.n_clusters,
        of.reason if not of.ok else "",
    )


def key_lines(result: Snapshot) -> Iterator[CsvLine]:
    """Yield the figures of raters and baselines, and the counts of each matrix."""
    for table in result.keys:
        for row in (*table.rows, *table.baselines):
            for figure in (*row.figures, *([row.difference] if row.difference else [])):
                yield CsvLine(table.ref, table.title, f"key_{figure.name}", figure)
            for value, counts in zip(table.values, row.matrix, strict=False):
                for other, n in zip(table.values, counts, strict=True):
                    raters = (f"{table.key}: {value}", f"{row.rater}: {other}")
                    yield CsvLine(
                        table.ref,
                        table.title,
                        "key_confusion",
                        Count("key_confusion", float(n), raters=raters),
                    )


AGAINST_KEY = Section(KEY, key_views, key_lines, accuracies)
