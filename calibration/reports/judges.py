"""Judges in a report: compared with each other, against answer keys, above baselines, and as panels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from annotation.text.display import number
from calibration.ratings.definitions import Definition, PanelDefinition
from calibration.ratings.ratings import SubjectData
from calibration.ratings.scope import RaterInfo
from calibration.reports.charts import Chart, Point
from calibration.reports.figures import HUMAN, JUDGE, PANEL, crowd, figures, worded
from calibration.reports.results import (
    ComparedJudges,
    ComparedPair,
    Figure,
    Floor,
    FloorRow,
    KeyRow,
    KeyTable,
    PanelSummary,
    recorded,
)
from calibration.reports.snapshot import Snapshot
from calibration.reports.tables import (
    Count,
    CsvLine,
    PageParams,
    PValue,
    Row,
    Section,
    Switch,
    Table,
    View,
    as_printed,
    count,
    headed,
    question_key,
    select_question,
    table_key,
    tabulate,
)
from calibration.reports.wording import Crowd, counted, crowd_of
from calibration.statistics import Record, keys
from calibration.statistics.analysis import MEAN_OF_PEOPLE
from calibration.statistics.baselines import (
    BASELINE,
    CHANCE,
    CORRELATIONS,
    ERROR,
    SHARE,
    BesidePeople,
    baselines,
    rater_row,
)
from calibration.statistics.core.engine import Result
from calibration.statistics.core.ratings import CATEGORIES, RatingError, Ratings, Samples, default_samples
from calibration.statistics.judges_compared import (
    ACCURACY,
    KINDS,
    OF_PEOPLE,
    Compared,
    contenders_of,
    judges_compared,
)
from calibration.statistics.keys import DIFFERENCE, FIGURES, MAJORITY, OF_DEV
from calibration.statistics.panels import Member, PanelAnswers, panel_of

# Judges compared: every pair of judges, metrics and readings of one judge against the same reference.

KEY = "key"
COMPARED_KEY = "compared"
FEW = 5
"""Maximum number of contenders for which the page shows every pair; beyond it, each with the best, the
rest folded.
"""
LIKELY = 0.05
PAIR_FIGURES = ("first", "second", "difference", "p", "p_holm")
COMPARED_COLUMNS = [
    ("first", "First"),
    ("second", "Second"),
    ("difference", "Difference"),
    ("p", "p"),
    ("p_holm", "p, Holm"),
    ("n_dropped", "Dropped"),
]
Family = tuple[str, str]
"""A statistic and its reference; p-values are corrected within a family."""


def compared(subjects: Sequence[SubjectData], definition: Definition) -> tuple[ComparedJudges, ...]:
    """Compare all pairs of judges and metrics of each question that at least two of them answered.

    A rater who answered an item several times takes part twice: by the first answer, and on ordered scales by
    the mean, whatever the study's policy of repeated answers is for its other tables.
    """
    questions = (_compare(data, definition) for data in subjects if _has_contenders(data))
    return tuple(question for question in questions if question is not None)


def _has_contenders(data: SubjectData) -> bool:
    """Whether a question may have two contenders: two raters, or one who answered several times."""
    kinds = [info.kind for info in data.raters]
    contenders = {info.name for info in data.raters if info.kind in KINDS}
    return (HUMAN in kinds or KEY in kinds) and (
        len(contenders) > 1 or any(record.sample and record.rater in contenders for record in data.records)
    )


def _compare(data: SubjectData, definition: Definition) -> ComparedJudges | None:
    ordered = default_samples(data.subject.question.measured) == "mean"
    try:
        first, mean = data.ratings("first"), data.ratings("mean") if ordered else None
    except RatingError:
        return None
    samples: dict[str, set[int]] = {}
    for record in data.records:
        if record.value is not None:
            samples.setdefault(record.rater, set()).add(record.sample)
    calls = {name: len(numbers) for name, numbers in samples.items()}
    people = first if mean is None or definition.samples == "first" else mean
    comparison = judges_compared(
        people, contenders_of(first, mean, calls), statistics=definition.statistics, plan=definition.plan
    )
    if not comparison.pairs:
        return None
    question = data.subject.question
    people_words = crowd_of(info for info in data.raters if info.name in first.raters)
    pairs = tuple(_pair(row, question.title, people_words) for row in comparison.pairs)
    return ComparedJudges(question.ref, question.title, pairs, comparison.left_out)


def _pair(row: Compared, title: str, people: Crowd) -> ComparedPair:
    first, other = row.contenders
    both = (first.name, other.name)

    def figure(result: Result, names: Sequence[str] = both) -> Figure:
        reason = result.reason.replace(MEAN_OF_PEOPLE, f"the {people.own} mean")
        reason = reason.replace("by a person", f"by a {people.one}")
        return Figure.of(result, raters=names, question=title, reason=reason)

    return recorded(
        ComparedPair,
        row,
        raters=(first.rater, other.rater),
        samples=(first.samples, other.samples),
        names=both,
        first=figure(row.first, (row.reference, first.name)),
        second=figure(row.second, (row.reference, other.name)),
        difference=figure(row.difference),
        p=figure(row.p),
        p_holm=figure(row.p_holm),
    )


def compared_views(result: Snapshot, params: PageParams | None = None) -> list[View]:
    """Return one table per question, one row per pair and statistic; on the page only the selected one."""
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
    key = table_key(COMPARED_KEY, question_key(question.ref))
    others = f"The other pairs on {title}: {len(rest)}"
    return View(
        _compared_table(key, f"Judges compared: {title}", pairs),
        tuple(_compared_remarks(question, people, is_cut=bool(rest))),
        switches,
        folded=(_compared_table("", others, rest),) if rest else (),
    )


def families(question: ComparedJudges) -> dict[Family, list[ComparedPair]]:
    """Group the pairs by statistic and reference."""
    pairs_by_family: dict[Family, list[ComparedPair]] = {}
    for pair in question.pairs:
        pairs_by_family.setdefault((pair.statistic, pair.reference), []).append(pair)
    return pairs_by_family


def _with_best(question: ComparedJudges) -> tuple[list[ComparedPair], list[ComparedPair]]:
    """Return the pairs with each statistic's best contender, and all other pairs."""
    with_best, rest = [], []
    for pairs in families(question).values():
        best = _best(pairs)
        with_best += [pair for pair in pairs if best in pair.names]
        rest += [pair for pair in pairs if best not in pair.names]
    return with_best, rest


def _best(pairs: Sequence[ComparedPair]) -> str:
    """Return the contender with the highest mean over its pairs, which may rest on different items."""
    values: dict[str, list[float]] = {}
    for pair in pairs:
        for name, figure in zip(pair.names, (pair.first, pair.second), strict=True):
            if figure.ok:
                values.setdefault(name, []).append(figure.point)
    return max(values, key=lambda name: sum(values[name]) / len(values[name]), default="")


def family_heading(family: Family) -> str:
    """Return the heading of a statistic, with the key that it is measured against."""
    statistic, reference = family
    words = "Accuracy" if statistic == ACCURACY else worded(statistic).heading
    return words if reference == OF_PEOPLE else f"{words}, {reference}"


def _compared_table(key: str, title: str, pairs: Sequence[ComparedPair]) -> Table:
    seen: set[Family] = set()
    rows = []
    for pair in pairs:
        family, of = (pair.statistic, pair.reference), pair.difference
        pair_name = f"{pair.names[0]} less {pair.names[1]}"
        first = family not in seen
        rows.append(
            Row(family_heading(family), pair_name, of.n_items, of.n_clusters, _cells(pair), first=first)
        )
        seen.add(family)
    return tabulate(key, title, COMPARED_COLUMNS, rows, first="Statistic")


def _cells(pair: ComparedPair) -> list[Figure | None]:
    tests = [as_printed(test, PValue) if test.ok else test for test in (pair.p, pair.p_holm)]
    dropped = count("n_dropped", pair.n_dropped, pair.difference)
    return [pair.first, pair.second, pair.difference, *tests, dropped]


def _compared_remarks(question: ComparedJudges, people: Crowd, *, is_cut: bool) -> Iterator[str]:
    """Yield the test results, the meaning of the columns, and what the page leaves out."""
    tests = [_count_differing(family, pairs) for family, pairs in families(question).items()]
    if any(tests):
        differences = "; ".join(filter(None, tests))
        yield f"Pairs that differ at 0.05 after Holm’s correction: {differences}."
    yield (
        f"First and second: mean agreement with each {people.one}; ρ and r are with the {people.own} mean. "
        "Only items that both answered count; Dropped: items that only one of the two answered. "
        "Difference: first less second, on the same resamples. p: permutation test that exchanges the "
        "answers of whole dialogues, 2,000 times or in every way if there are fewer. Holm’s correction is "
        "over all pairs of this question and statistic."
    )
    yield "No significant difference does not prove that two judges are equally good: read the interval."
    if any("dropped_raters" in pair.difference.flags for pair in question.pairs):
        yield (
            f"If agreement with a {people.one} is undefined for one of the two judges, the {people.one} is "
            "left out of both means. So a judge’s value may differ from pair to pair."
        )
    if is_cut:
        yield "The table shows every pair with the highest judge; the other pairs are folded below."
    if question.left_out:
        yield (
            f"{counted(question.left_out, 'pair')} of metrics {'is' if question.left_out == 1 else 'are'} "
            "not compared. To compare up to twelve metrics with each other, name them in the study."
        )


def _count_differing(family: Family, pairs: Sequence[ComparedPair]) -> str:
    """Return `κ 5 of 15`: the number of testable pairs that differ."""
    tested = [pair for pair in pairs if pair.p_holm.ok]
    differ = sum(pair.p_holm.point <= LIKELY for pair in tested)
    return f"{family_heading(family)} {differ} of {len(tested)}" if tested else ""


def compared_lines(result: Snapshot) -> Iterator[CsvLine]:
    """Yield both values of each pair, the difference and the p-values."""
    for question in result.compared:
        for pair in question.pairs:
            for name in PAIR_FIGURES:
                figure_name = f"compared_{name}_{pair.statistic}"
                yield CsvLine(question.ref, question.title, figure_name, getattr(pair, name))


JUDGES_COMPARED = Section(COMPARED_KEY, "better", compared_views, compared_lines)


# Judges and panels above the baselines, and the composition of panels.

FLOOR_KEY = "floor"
DEV, OTHERS = "dev", "others"
Lengths = Mapping[str, tuple[int, int]]
"""Characters and words of items, by key."""
ORDER = (SHARE, *CHANCE, *CORRELATIONS, ERROR)
COUNTS = [("n_answered", "Answered"), ("n_ties", "Ties"), ("n_short", "Too few members")]


def floors(
    subjects: Sequence[SubjectData],
    learning: Iterable[SubjectData],
    lengths: Lengths,
    definition: Definition,
) -> tuple[Floor, ...]:
    """Place judges and panels above the baselines, for every question that people and a judge answered.

    Empty if the study leaves baselines out. `learning` are dev's answers where test is shown.
    """
    if not definition.baselines:
        return ()
    dev = {data.subject.question.ref: data for data in learning}
    all_floors = (_floor(data, dev, lengths, definition) for data in subjects)
    return tuple(floor for floor in all_floors if floor is not None)


def _floor(
    data: SubjectData, dev: Mapping[str, SubjectData], lengths: Lengths, definition: Definition
) -> Floor | None:
    kinds = {info.kind for info in data.raters}
    if not (HUMAN in kinds and kinds & {JUDGE, PANEL}):
        return None
    try:
        ratings = data.ratings(definition.samples)
        before = dev.get(data.subject.question.ref)
        learn = before.ratings(definition.samples) if before is not None else None
    except RatingError:
        return None  # the question itself gives the reason
    beside = BesidePeople(ratings, definition.statistics, definition.plan)
    if not beside.stack.rows.size:
        return None
    columns = [*ratings.of_kind(JUDGE), *ratings.of_kind(PANEL)]
    rows = [rater_row(beside, column, in_units=_in_units(data, ratings, column)) for column in columns]
    rows += baselines(beside, learn=learn, lengths=lengths)
    question, people = data.subject.question, crowd_of(data.raters)

    def figure(result: Result, name: str) -> Figure:
        reason = result.reason.replace(MEAN_OF_PEOPLE, f"the {people.own} mean")
        return Figure.of(result, raters=("people", name), question=question.title, reason=reason)

    floor_rows = tuple(
        recorded(FloorRow, row, figures=tuple(figure(result, row.name) for result in row.figures.values()))
        for row in rows
    )
    return Floor(question.ref, question.title, DEV if learn is not None else OTHERS, floor_rows)


def _in_units(data: SubjectData, ratings: Ratings, column: int) -> bool:
    """Whether a rater's values are in units of the scale: values on it, and means of such values."""
    name = ratings.raters[column]
    return ratings.kinds[column] == PANEL or data.off_scale.isdisjoint((name, name.rpartition("#")[0]))


def floor_heading(figure: str) -> str:
    """Heading of a figure."""
    return "Mean error" if figure == ERROR else worded(figure).heading


def floor_views(result: Snapshot, params: PageParams | None = None) -> list[View]:
    """Return one table per question, judges above baselines; then the composition of the panels."""
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
    columns = [(name, floor_heading(name)) for name in ORDER if name in names]
    rows = [_floor_row(row, [name for name, _ in columns]) for row in floor.rows]
    key = table_key(FLOOR_KEY, question_key(floor.ref))
    return tabulate(key, f"Judges above baselines: {title}", columns, rows, first="Rater")


def _floor_row(row: FloorRow, columns: Sequence[str]) -> Row:
    of = {figure.name: figure for figure in row.figures}
    with_value = [figure for figure in row.figures if figure.ok] or list(row.figures)
    n_items, n_clusters = (with_value[0].n_items, with_value[0].n_clusters) if with_value else (0, 0)
    name = f"{row.name}: {row.told}" if row.told else row.name
    cells = [of.get(key) for key in columns]
    return Row(name, row.kind, n_items, n_clusters, cells, first=True)


def _floor_remarks(floor: Floor, people: Crowd) -> Iterator[str]:
    learned = (
        "learned on the dev part alone"
        if floor.learned == DEV
        else f"learned, for each dialogue, from the answers of {people.many} to all other dialogues"
    )
    yield (
        "A judge is useful only above the baselines, which answer without reading: one value for every "
        f"item, a random value as frequent as among {people.many} (the expected figure, nothing is drawn), "
        f"the length of the item. They are {learned}."
    )
    yield (
        f"Agreement and error are over all pairs with a rating by a {people.one}, ρ and r are with the "
        f"{people.own} mean. A baseline with one value for every item has κ 0 and no MCC or correlation."
    )
    for row in floor.rows:
        if row.reason:
            yield f"{row.name}: {row.reason}."


def _panels(result: Snapshot) -> Table:
    titles = {question.ref: title for title, question in headed(result, result.panels)}
    rows = []
    for panel in result.panels:
        cells: list[Figure | None] = [count(name, getattr(panel, name)) for name, _ in COUNTS]
        composition = f"{panel.rule} of {', '.join(_member(m) for m in panel.members) or 'nobody'}"
        rows.append(
            Row(panel.name, f"{titles[panel.ref]}: {composition}", panel.n_answered, 0, cells, first=True)
        )
    return tabulate("panels", "Panels of judges", COUNTS, rows, first="Panel")


def _member(member: Member) -> str:
    if member.weight is None:
        return member.name
    why = "agreement unknown" if member.agreement is None else f"agreement {number(member.agreement)}"
    return f"{member.name} (weight {number(member.weight)}, {why} on {member.n_items:,})"


def _panel_remarks(panels: Sequence[PanelSummary]) -> Iterator[str]:
    least = sorted({panel.least for panel in panels})
    yield (
        f"A panel answers an item that at least {' or '.join(map(str, least))} of its members answered. A "
        "tie in a majority, or between weighted categories, gives no answer."
    )
    weighted = [panel for panel in panels if panel.basis]
    if weighted:
        yield (
            "A member’s weight is its agreement with people beyond chance, learned on the dev part alone; "
            "never below 0."
        )
    if any(panel.basis == DEV for panel in weighted):
        yield (
            "Weights were learned on the dev part, which this report shows: weighted panels look better here "
            "than on test."
        )
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
            yield CsvLine(panel.ref, panel.title, f"panel_{name}", replace(figure, raters=(panel.name,)))
        for member in panel.members:
            if member.weight is not None:
                raters = (panel.name, member.name)
                weight = Figure("panel_weight", member.weight, n_items=member.n_items, raters=raters)
                yield CsvLine(panel.ref, panel.title, "panel_weight", weight)


FLOORS = Section(FLOOR_KEY, "judge-agrees", floor_views, floor_lines)


# Panels of judges among a question's raters: their answers, and the outcome for every item.

NOBODY = 0
"""Id of a rater that is not in the database."""


class Panels:
    """Panels of a study on one part of its split; collects a summary of each."""

    def __init__(self, definition: Definition, part: str, learning: Iterable[SubjectData]) -> None:
        self.definition, self.part = definition, part
        self.dev = {data.subject.question.ref: data for data in learning}
        self.summaries: list[PanelSummary] = []

    def among(self, data: SubjectData) -> SubjectData:
        """Return a question's answers with those of the panels added, otherwise unchanged."""
        if not self.definition.panels:
            return data
        try:
            ratings = data.ratings(self._policy)
            learn = self._learn(data)
        except RatingError:
            return data  # the question itself gives the reason
        for panel in self.definition.panels:
            data = self._add_panel(data, panel, ratings, learn)
        return data

    @property
    def _policy(self) -> Samples | None:
        """One answer per member: the study's policy, or the default if samples are separate raters."""
        return None if self.definition.samples == "separate" else self.definition.samples

    def _learn(self, data: SubjectData) -> Ratings | None:
        """Return the ratings of dev from which weights are learned; None without a split."""
        if self.part == "dev":
            return data.ratings(self._policy)
        dev = self.dev.get(data.subject.question.ref)
        return dev.ratings(self._policy) if dev is not None and self.part == "test" else None

    def _add_panel(
        self, data: SubjectData, panel: PanelDefinition, ratings: Ratings, learn: Ratings | None
    ) -> SubjectData:
        judges = [info.name for info in data.raters if info.kind == JUDGE and info.name not in data.off_scale]
        members = [name for name in panel.members or judges if name in judges]
        answers = panel_of(ratings, members, panel.rule, least=_least(panel), learn=learn)
        entry = self._summary(data, panel, answers)
        if (
            entry not in self.summaries
        ):  # answers about the other kind of item may count for several questions
            self.summaries.append(entry)
        if not answers.n_answered:
            return data
        info = RaterInfo(NOBODY, panel.name, PANEL, identified=True)
        records = _panel_records(data.records, ratings, panel.name, answers, members)
        scale = ratings.scale
        off = scale is not None and not np.isin(answers.values[~np.isnan(answers.values)], scale).all()
        return replace(
            data,
            records=(*data.records, *records),
            raters=(*data.raters, info),
            off_scale=data.off_scale | ({panel.name} if off else set()),
        )

    def _summary(self, data: SubjectData, panel: PanelDefinition, answers: PanelAnswers) -> PanelSummary:
        question = data.subject.question
        return recorded(
            PanelSummary,
            answers,
            ref=question.ref,
            title=question.title,
            name=panel.name,
            rule=panel.rule,
            basis=self.part if panel.rule == "weighted" else "",
        )


def _least(panel: PanelDefinition) -> int:
    """Return the number of members who must answer: by default over half of those named, present or not."""
    return panel.least or (len(panel.members) // 2 + 1 if panel.members else 0)


def _panel_records(
    records: Sequence[Record], ratings: Ratings, name: str, answers: PanelAnswers, members: Sequence[str]
) -> list[Record]:
    """Return the panel's answer to every item that a member answered, without a value where it has none."""
    about: Mapping[str, Record] = {record.item: record for record in records if record.rater in members}
    panel_records = []
    for item, value in zip(ratings.items, answers.values.tolist(), strict=True):
        if item in about:
            answer = None if np.isnan(value) else ratings.label(value) if ratings.names else value
            panel_records.append(
                replace(about[item], rater=name, kind=PANEL, value=answer, sample=0, identified=True)
            )
    return panel_records


# Against the key: raters of a question beside its answer key, with baselines and confusion matrices.

MOST_SHOWN = 10
"""Maximum number of values of an ordered scale for a confusion matrix; categories always get one."""
KEYED = {"human": "person", "key": "answer key"}
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


def against_keys(
    subjects: Sequence[SubjectData], dev: Sequence[SubjectData], definition: Definition
) -> tuple[KeyTable, ...]:
    """Compare the raters of each question with its answer key, each rater by the first answer.

    `dev` holds the keys' answers in the dev part if the report is one of test.
    """
    learned = {data.subject.question.ref: data for data in dev}
    tables: list[KeyTable] = []
    for data in subjects:
        if any(info.kind == KEY for info in data.raters):
            tables += _against(data, learned.get(data.subject.question.ref), definition)
    return tuple(tables)


def _against(data: SubjectData, dev: SubjectData | None, definition: Definition) -> list[KeyTable]:
    policy: Samples = "separate" if definition.samples == "separate" else "first"
    try:
        ratings = data.ratings(policy)
        of_dev = dev.ratings("first") if dev is not None and dev.records else None
    except RatingError:
        return []
    question = data.subject.question

    def row_of(row: keys.KeyRow, key: str) -> KeyRow:
        def figure(result: Result) -> Figure:
            return Figure.of(result, raters=(key, row.rater), question=question.title)

        difference = figure(row.difference) if row.difference else None
        return recorded(KeyRow, row, figures=tuple(map(figure, row.figures)), difference=difference)

    return [
        recorded(
            KeyTable,
            table,
            ref=question.ref,
            title=question.title,
            level=question.level,
            rows=tuple(row_of(row, table.key) for row in table.rows),
            baselines=tuple(row_of(row, table.key) for row in table.baselines),
        )
        for table in keys.keys_of(ratings, dev=of_dev, plan=definition.plan)
    ]


def key_views(result: Snapshot, params: PageParams | None = None) -> list[View]:
    """Return one table per question and key, with the matrices; on the page only the selected question."""
    selected, switches = select_question(headed(result, result.keys), "against", params)
    key_tables: list[View] = []
    for title, table in selected:
        matrices = [row for row in table.rows if row.n] if _has_matrices(table) else []
        on_page = params is not None and bool(matrices)
        folded = tuple(_confusion(title, table, row) for row in matrices) if on_page else ()
        key_tables.append(View(_key_table(title, table), tuple(_key_remarks(table)), switches, folded=folded))
        if params is None and matrices:
            key_tables.append(View(_answers_by_key_value(title, table, matrices)))
    return key_tables


def _has_matrices(table: KeyTable) -> bool:
    return table.level in CATEGORIES or len(table.values) <= MOST_SHOWN


def _key_table(title: str, of: KeyTable) -> Table:
    rows = [_key_row(row) for row in (*of.rows, *of.baselines)]
    key = table_key(KEY, question_key(of.ref), of.key)
    return tabulate(key, f"Against the key: {title} ({of.key})", COLUMNS, rows, first="Rater")


def _key_row(row: KeyRow) -> Row:
    of = row.figures[0]
    missing = count("missing", row.missing) if row.kind != "baseline" else None
    cells = [missing, *row.figures, row.difference]
    return Row(row.rater, KEYED.get(row.kind, row.kind), row.n, of.n_clusters, cells, first=True)


def _confusion(title: str, table: KeyTable, row: KeyRow) -> Table:
    """Return the confusion matrix of key and rater, without values that neither gave."""
    used = [n for n, counts in enumerate(row.matrix) if sum(counts) or any(r[n] for r in row.matrix)]
    columns = [(table.values[n], table.values[n]) for n in used]
    rows = [_counts(table, row)[n] for n in used]
    rows = [replace(row_of_value, cells=[row_of_value.cells[n] for n in used]) for row_of_value in rows]
    heading = f"{title}: {table.key} (rows) and {row.rater} (columns)"
    key = table_key(KEY, question_key(table.ref), table.key, "answers", row.rater)
    return Table(key, heading, columns, rows, first=table.key)


def _answers_by_key_value(title: str, table: KeyTable, raters: Sequence[KeyRow]) -> Table:
    """Return all raters' confusion matrices in one table, for files: rows are the key's values."""
    columns = [(value, value) for value in table.values]
    rows = [
        replace(row, question=rater.rater, compared=f"{table.key}: {row.question}", first=number == 0)
        for rater in raters
        for number, row in enumerate(_counts(table, rater))
    ]
    heading = f"Answers by value of the key: {title} ({table.key})"
    key = table_key(KEY, question_key(table.ref), table.key, "answers")
    return Table(key, heading, columns, rows, first="Rater")


def _counts(table: KeyTable, row: KeyRow) -> list[Row]:
    """Return one row per value of the key, with the number of items that got each value from a rater."""
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
        f"Figures are over items that both {table.key} and the rater answered. Missing: items that only "
        f"{table.key} answered. Of several answers to an item, the first counts."
    )
    yield "Balanced accuracy: the share of right answers per value of the key, averaged over its values."
    yield (
        "Less best baseline: the rater’s accuracy, less that of the most accurate baseline on the same items "
        "and resamples."
    )
    yield (
        f"Baseline “{MAJORITY}” gives the key’s most frequent value on the same items, so it is slightly "
        "optimistic; “random” is the expected accuracy of values drawn evenly."
    )
    if any(row.rater.startswith(OF_DEV) for row in table.baselines):
        yield f"Baseline “{OF_DEV}” was learned on the dev part alone."


def accuracies(result: Snapshot) -> Sequence[Chart]:
    """Return the chart of each rater's and baseline's accuracy, on the first question with a key."""
    for title, table in headed(result, result.keys):
        points = [_point(row, "raters", row.figures[0]) for row in table.rows if row.n]
        points += [_point(row, BASELINES, row.figures[0]) for row in table.baselines if row.n]
        if points:
            axis = f"Accuracy against {table.key}, intervals over dialogues"
            return [Chart("against-key", f"Right answers on {title}", axis, tuple(points), top=1.0)]
    return ()


BASELINES = "baselines"
"""Series of the baselines in the chart."""


def _point(row: KeyRow, series: str, of: Figure) -> Point:
    return Point(
        row.rater,
        series,
        of.value,
        of.low,
        of.high,
        of.n_items,
        of.n_clusters,
        of.reason if not of.ok else "",
        role="baseline" if series == BASELINES else "",
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


def confusions(result: Snapshot) -> list[Table]:
    """Return the confusion matrix of each key and rater, which files have in one table a key."""
    return [
        _confusion(title, table, row)
        for title, table in headed(result, result.keys)
        if _has_matrices(table)
        for row in table.rows
        if row.n
    ]


AGAINST_KEY = Section(KEY, "judge-agrees", key_views, key_lines, accuracies, page_tables=confusions)
