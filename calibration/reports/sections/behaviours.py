"""Sections about behaviours: CoCoEval's table 7, prevalence, behaviours outside the scheme, and evidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from annotation.text.display import percent
from calibration.ratings.coverage import ANOTHER, Marked
from calibration.reports.charts import Chart, Point
from calibration.reports.contents import CoverageLine, CoverageTable, EvidenceRow, EvidenceTable, Figure
from calibration.reports.figures import crowd, figures, worded
from calibration.reports.sections.base import (
    CsvLine,
    PageParams,
    Section,
    Switch,
    View,
    headed,
    select_question,
)
from calibration.reports.snapshot import PrevalenceRow, Snapshot, TagRow, TagTable
from calibration.reports.tables import Row, Table, with_note
from calibration.reports.wording import Crowd, counted, crowd_of, join_names
from calibration.statistics import Result
from calibration.statistics.cocoeval import FIGURES as TAG_FIGURES
from calibration.statistics.cocoeval import POLICIES
from calibration.statistics.evidence import ALL
from calibration.statistics.evidence import FIGURES as EVIDENCE_FIGURES
from calibration.statistics.prevalence import FIGURES as PREVALENCE_FIGURES

# Tags, judge against people: CoCoEval's table 7, and its chart of marked turns.

DEFAULT = next(iter(POLICIES))
STATISTIC = {"kappa": "cohen_kappa"}
"""Which statistic of the table words a figure of table 7, where the name is another."""


SHARES = frozenset({"precision", "recall"})


@dataclass(frozen=True)
class Percent(Figure):
    """A share that is shown in percent."""

    percent: ClassVar[bool] = True


@dataclass(frozen=True)
class MarkedTurns(Figure):
    """A number of turns."""

    digits: ClassVar[int] = 1
    end_digits: ClassVar[int] = 1


def tag_views(result: Snapshot, params: PageParams | None = None) -> list[View]:
    """Return table 7 of each judge, in the order of the study: of the policy asked for, in files of each.

    With `percent` asked for, precision and recall are shown in percent, as the paper prints them.
    """
    people = crowd(figures(result))
    policy = None if params is None else _policy(params)
    percent = params is not None and "percent" in params
    tag_tables = [table for table in result.tags if policy in (None, table.policy)]
    switches = () if policy is None else _switches(policy, percent)
    return [View(_tag_table(t, people, percent), _tag_remarks(t, people), switches) for t in tag_tables]


def _policy(params: PageParams) -> str:
    policy = params.get("policy")
    return policy if policy in POLICIES else DEFAULT


def _switches(policy: str, percent: bool) -> tuple[Switch, ...]:
    """Return each policy in the present form of shares, and the other form in the present policy."""
    form = {"percent": ""} if percent else {}
    other = {} if percent else {"percent": ""}
    policies = [Switch(name, {"policy": name, **form}, name == policy) for name in POLICIES]
    words = "as shares" if percent else "in percent"
    return (*policies, Switch(words, {"policy": policy, **other}))


def _tag_remarks(table: TagTable, people: Crowd) -> tuple[str, ...]:
    if table.reason:
        return (f"{table.reason[:1].upper()}{table.reason[1:]}.",)
    dropped = (
        f"{counted(table.n_dropped, 'turn')} that only some of them answered " if table.n_dropped else ""
    )
    out = f"; {dropped}{'is' if table.n_dropped == 1 else 'are'} left out" if dropped else ""
    not_asked = f"{table.judge} did not answer {join_names(table.unanswered)}." if table.unanswered else ""
    alone = "" if len(table.people) > 1 else f"With one {people.one} nobody can be compared with each other."
    sentences = (
        f"{counted(table.n_items, 'turn')} that {table.judge} and {people.counted(len(table.people))} "
        f"answered{out}. Policy {table.policy}: {POLICIES[table.policy]}.",
        alone,
        not_asked,
        f"Each figure is the mean over {people.many}, each the reference; the last row joins all behaviours "
        "end to end.",
    )
    return tuple(filter(None, sentences))


def _tag_table(table: TagTable, people: Crowd, percent: bool) -> Table:
    several = len(table.people) > 1
    heads = [(name, worded(STATISTIC.get(name, name)).heading) for name in TAG_FIGURES]
    columns = [
        ("detected_by_people", f"Marked by {people.many}"),
        ("detected_by_judge", "Marked by judge"),
        *heads,
        *((f"people_{name}", f"{heading}, {people.many}") for name, heading in heads if several),
    ]
    notes: list[str] = []
    rows = [
        Row(
            row.title,
            "",
            row.detected_by_judge.n_items,
            row.detected_by_judge.n_clusters,
            [with_note(cell, notes) for cell in _cells(row, several, percent)],
            first=True,
            pooled=row is table.rows[-1],
        )
        for row in table.rows
    ]
    title = f"Tags: {table.judge} against {people.many}, {table.scheme_title} (policy {table.policy})"
    return Table(title, columns, rows, notes, first="Behaviour")


def _cells(row: TagRow, several: bool, percent: bool) -> Sequence[Figure]:
    shares = [*row.judge, *(row.people if several else ())]
    if percent:
        shares = [Percent(**vars(cell)) if cell.name in SHARES and cell.ok else cell for cell in shares]
    marked = [MarkedTurns(**vars(cell)) for cell in (row.detected_by_people, row.detected_by_judge)]
    return [*marked, *shares]


def marked(result: Snapshot) -> list[Chart]:
    """Return, per judge, the marked turns by behaviour: people beside judge. No policy changes them."""
    people = crowd(figures(result))
    charts = []
    for number, table in enumerate(t for t in result.tags if t.policy == DEFAULT):
        points = [
            Point(
                row.title,
                series,
                entry.value,
                entry.low,
                entry.high,
                entry.n_items,
                entry.n_clusters,
                entry.reason if entry.value is None else "",
            )
            for row in table.rows[:-1]
            for series, entry in ((people.many, row.detected_by_people), (table.judge, row.detected_by_judge))
        ]
        if points:
            title = f"Turns marked by {table.judge} and by {people.many}"
            axis = f"Marked turns of {table.n_items:,} ({people.many}: their mean), intervals over dialogues"
            charts.append(Chart(f"marked-{number + 1}", title, axis, tuple(points), bars=True))
    return charts


def tag_lines(result: Snapshot) -> Iterator[CsvLine]:
    """Yield the cells of table 7, named after what they are and their policy."""
    for table in result.tags:
        for row in table.rows:
            ref = f"{table.scheme}/{row.key}"
            cells = [("", row.detected_by_people), ("", row.detected_by_judge)]
            cells += [("judge_", cell) for cell in row.judge] + [("people_", cell) for cell in row.people]
            for side, cell in cells:
                yield CsvLine(ref, row.title, f"table7_{table.policy}_{side}{cell.name}", cell)


TABLE_SEVEN = Section("tags", tag_views, tag_lines, marked)


# How often a behaviour occurs: by the judge on all items, by people on some, and corrected.


def prevalence_views(result: Snapshot, params: PageParams | None = None) -> list[View]:
    """Return the table of all questions where a judge answered more items than people did."""
    if not result.prevalence:
        return []
    people = crowd(figures(result))
    notes: list[str] = []
    rows: list[Row] = []
    for row in result.prevalence:
        first = not rows or rows[-1].question != row.title
        cells = [with_note(entry, notes) for entry in row.figures]
        items = row.n_labelled + row.n_unlabelled
        clusters = row.figures[0].n_clusters
        rows.append(Row(row.title, row.judge, items, clusters, cells, first=first))
    heads = ("Judge says", f"{people.many.capitalize()} say", "Sensitivity", "Specificity")
    columns = list(zip(PREVALENCE_FIGURES, (*heads, "Prediction-powered", "Rogan-Gladen"), strict=True))
    return [
        View(
            Table("How often it occurs", columns, rows, notes),
            _prevalence_remarks(result.prevalence, people),
        )
    ]


def _prevalence_remarks(rows: tuple[PrevalenceRow, ...], people: Crowd) -> tuple[str, ...]:
    fewest = min(rows, key=lambda row: row.n_labelled)
    divided = max(row.n_divided for row in rows)
    sentences = (
        f"Shares of items, corrected for the judge's errors on those that {people.many} answered too "
        f"({fewest.n_labelled:,} at least).",
        f"A bad judge does not bias the prediction-powered share if {people.many} answered a random sample; "
        "Rogan-Gladen holds if the judge errs on the rest as it does there.",
        f"{counted(divided, 'cluster')} hold both kinds of items, and count as if they were two."
        if divided
        else "",
    )
    return tuple(filter(None, sentences))


def prevalence_lines(result: Snapshot) -> Iterator[CsvLine]:
    """Yield every figure, named `prevalence_...`."""
    for row in result.prevalence:
        for entry in row.figures:
            yield CsvLine(row.ref, row.title, entry.name, entry)


PREVALENCE = Section("prevalence", prevalence_views, prevalence_lines)


# Behaviours outside the scheme's list: how many turns show one, who says so, in what words.

MOST_NOTES = 20
MOST_ROWS = 12
"""Raters whom the page shows at once: those who marked most."""
NOTE = f"{ANOTHER}_note"
WILSON = "Wilson’s interval takes turns for independent; those of one dialogue are alike, so it is too short."


@dataclass(frozen=True)
class Share(Figure):
    """A share that may be small."""

    digits: ClassVar[int] = 4
    end_digits: ClassVar[int] = 4


@dataclass(frozen=True)
class Below:
    """What stands under the table: the raters who are folded, some notes, and how many more there are."""

    folded: Table | None
    notes: Sequence[Marked]
    n_more: int


def coverage_views(result: Snapshot, params: PageParams | None = None) -> list[View]:
    """Return a table per scheme: who marked how many turns; the notes stand under it."""
    return [_view(table, in_file=params is None) for table in result.coverage]


def _view(table: CoverageTable, *, in_file: bool) -> View:
    title = f"Coverage: {table.title}, {table.scheme_title}"
    why: list[str] = []
    coverage_lines = sorted(table.rows, key=lambda row: (row.kind != "human", -row.marked))
    rows = [
        Row(
            row.name,
            f"{_kind(row)}, {counted(row.marked, 'turn')}",
            row.share.n_items,
            row.share.n_clusters,
            [with_note(_share_figure(row.share, [row.name]), why)],
            first=True,
        )
        for row in coverage_lines
    ]
    n_more = max(0, len(table.notes) - MOST_NOTES)
    remarks = tuple(_note_text(note) for note in table.notes[:MOST_NOTES]) if in_file else ()
    visible = Table(title, [(ANOTHER, "Share of turns")], rows, why, first="Rater", remarks=remarks)
    folded = None
    if not in_file and len(rows) > MOST_ROWS:
        visible, folded = replace(visible, rows=rows[:MOST_ROWS]), replace(visible, rows=rows[MOST_ROWS:])
    below = Below(folded, table.notes[:MOST_NOTES], n_more) if folded or table.notes else None
    template = "calibration/_coverage.html" if below else ""
    return View(visible, (*_findings(table), WILSON), template=template, data=below)


def _note_text(note: Marked) -> str:
    return f"{note.item}, {note.rater}: {f'“{note.note}”' if note.note else 'no note'}"


def _kind(row: CoverageLine) -> str:
    kind = {"human": "person"}.get(row.kind, row.kind)
    return "simulated" if row.simulated else kind if row.identified else "anonymous slot"


def _findings(table: CoverageTable) -> tuple[str, ...]:
    """Sentences about the behaviours that people found, then those that judges found."""
    people = crowd_of(table.rows)
    by_people = (
        [] if table.share is None else [_sentence(_annotators(people, table), table.marked, table.share)]
    )
    judges = [row for row in table.rows if row.kind != "human"]
    return (*by_people, *(_sentence((row.name, row.name), row.marked, row.share) for row in judges))


def _annotators(people: Crowd, table: CoverageTable) -> tuple[str, str]:
    singular = people.one if people.many != "people" else "annotator"
    return f"no {singular}", f"one {singular} or more"


def _sentence(subjects: tuple[str, str], marked: int, share: Result) -> str:
    """Return `No annotator found one in 1,080 turns (at most 0.35%, Wilson).`, or in how many."""
    nobody, somebody = subjects
    turns = counted(share.n_items, "turn")
    if not share.ok:
        return f"{somebody}: {share.reason}."
    if not marked:
        text = f"{nobody} found {'one' if nobody.startswith('no ') else 'none'} in {turns}"
        text += f" (at most {percent(share.high, 2)}, Wilson)."
    else:
        ends = f"{percent(share.low, 2)} to {percent(share.high, 2)}"
        text = f"{somebody} found another behaviour in {marked:,} of {turns} "
        text += f"({percent(share.value, 2)}; {ends}, Wilson)."
    return text[:1].upper() + text[1:] if nobody.startswith("no ") else text


def _share_figure(share: Result, raters: Sequence[str]) -> Share:
    return Share(**vars(Figure.of(share, raters=raters, question="")))


def coverage_lines(result: Snapshot) -> Iterator[CsvLine]:
    """Yield the share of people together and of each rater, then every note.

    A note's line is a marked turn: its title is the item, its reason the note.
    """
    for table in result.coverage:
        people = [row.name for row in table.rows if row.kind == "human"]
        if table.share is not None:
            figure = Figure.of(table.share, raters=people, question=table.title)
            yield CsvLine(table.ref, table.title, f"{ANOTHER}_by_anybody", figure)
        for row in table.rows:
            figure = Figure.of(row.share, raters=[row.name], question=table.title)
            yield CsvLine(table.ref, table.title, ANOTHER, figure)
        for note in table.notes:
            marked_turn = Result(NOTE, 1.0, n_items=1, n_clusters=1, n_raters=1, reason=note.note)
            figure = Figure.of(marked_turn, raters=[note.rater], question=table.title)
            yield CsvLine(table.ref, note.item, NOTE, figure)


COVERAGE = Section("coverage", coverage_views, coverage_lines)


# How far raters who gave the same answer point at the same turns and words.

KEY = "evidence"


def evidence_views(result: Snapshot, params: PageParams | None = None) -> list[View]:
    """Return a table a question: people with each other, and every other rater with them."""
    people = crowd(figures(result))
    selected, switches = select_question(headed(result, result.evidence), KEY, params)
    return [
        View(_table(title, table, people), tuple(_evidence_remarks(table)), switches)
        for title, table in selected
    ]


def _table(title: str, table: EvidenceTable, people: Crowd) -> Table:
    names = [name for name in EVIDENCE_FIGURES if table.asks in EVIDENCE_FIGURES[name].applies]
    notes: list[str] = []
    pointing_rows = table.rows if table.n_pointed else ()
    rows = [
        _row(title, row, names, notes, people, first=not place) for place, row in enumerate(pointing_rows)
    ]
    heads = [(name, EVIDENCE_FIGURES[name].heading) for name in names]
    return Table(f"What answers point at: {title}", heads, rows, notes)


def _row(
    title: str, row: EvidenceRow, names: list[str], notes: list[str], people: Crowd, *, first: bool
) -> Row:
    of = {figure.name: figure for figure in row.figures}
    cells = [with_note(of.get(name), notes) for name in names]
    from_ = of["evidence_f1"]
    return Row(title, _compared(row, people), from_.n_items, from_.n_clusters, cells, first=first)


def _compared(row: EvidenceRow, people: Crowd) -> str:
    if row.name:
        return f"{row.name} with {people.many}"
    if row.kind == ALL:
        return f"{join_names(row.raters)} with each other"
    return f"{people.many.capitalize()} with each other"


def _evidence_remarks(table: EvidenceTable) -> Iterator[str]:
    yield f"{table.n_pointed:,} of {counted(table.n_answers, 'answer')} that may point at something do."
    if not table.n_pointed:
        return
    yield (
        "Compared are raters who gave the same answer about an item and both point somewhere; every item "
        "counts once."
    )
    if not table.rows:
        yield "One rater answered, so there is nothing to compare."
        return
    yield (
        "F1 is twice what two raters share divided by what the two point at in all, IoU the share of what "
        "either points at that both do. α compares sets of turns by the MASI distance, beyond what pointing "
        "at the same places by chance gives"
        + (": places counted back from the rated turn." if table.item_kind == "turn" else ".")
    )


def evidence_lines(result: Snapshot) -> Iterator[CsvLine]:
    """Yield every figure, named `evidence_...`."""
    for table in result.evidence:
        for row in table.rows:
            for figure in row.figures:
                yield CsvLine(table.ref, table.title, figure.name, figure)


EVIDENCE = Section(KEY, evidence_views, evidence_lines)
