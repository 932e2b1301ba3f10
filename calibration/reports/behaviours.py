"""Sections about behaviours: CoCoEval's table 7, prevalence, behaviours outside the scheme, and evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from annotation.text.display import percent
from calibration.ratings.coverage import ANOTHER, Coverage, CoverageLine, CoverageTable, Marked
from calibration.ratings.definitions import Definition
from calibration.ratings.evidence import Evidence
from calibration.ratings.ratings import SubjectData
from calibration.reports.charts import Chart, Point
from calibration.reports.figures import crowd, figures, worded
from calibration.reports.results import (
    EvidenceRow,
    EvidenceTable,
    Figure,
    PrevalenceRow,
    TagRow,
    TagSet,
    TagTable,
    recorded,
)
from calibration.reports.snapshot import Snapshot
from calibration.reports.tables import (
    CsvLine,
    PageParams,
    Percent,
    Row,
    Section,
    Switch,
    Table,
    View,
    as_printed,
    headed,
    question_key,
    select_question,
    table_key,
    tabulate,
)
from calibration.reports.wording import Crowd, counted, crowd_of, join_names
from calibration.statistics import Ratings, Result, analyse, cocoeval
from calibration.statistics.cocoeval import FIGURES as TAG_FIGURES
from calibration.statistics.cocoeval import POLICIES
from calibration.statistics.core.ratings import RatingError
from calibration.statistics.corrected_shares import FIGURES as PREVALENCE_FIGURES
from calibration.statistics.corrected_shares import corrected_shares
from calibration.statistics.evidence import ALL, Overlap, overlaps
from calibration.statistics.evidence import FIGURES as EVIDENCE_FIGURES
from calibration.statistics.prevalence import wilson
from calibration.statistics.sets import ALPHA_MASI, set_ratings
from calibration.studies.parts import tag_sets

# Tags, judge against people: CoCoEval's table 7, and its chart of marked turns.

DEFAULT = next(iter(POLICIES))
STATISTIC = {"kappa": "cohen_kappa"}
"""Statistic that supplies the wording of a figure of table 7 with a different name."""


SHARES = frozenset({"precision", "recall"})
OVERALL = "Overall"


@dataclass(frozen=True)
class MarkedTurns(Figure):
    """A number of turns."""

    digits: ClassVar[int] = 1
    end_digits: ClassVar[int] = 1


def tags(subjects: Sequence[SubjectData], definition: Definition) -> tuple[TagTable, ...]:
    """Compare every judge with people on each scheme's tags, by both policies (CoCoEval, table 7).

    Tags that cannot be read as ratings are left out; their question gives the reason.
    """
    return tuple(table for members in tag_sets(subjects) for table in _of_scheme(members, definition))


def _of_scheme(members: Sequence[SubjectData], definition: Definition) -> list[TagTable]:
    ratings, titles = {}, {cocoeval.OVERALL: OVERALL}
    for data in members:
        question = data.subject.question
        try:
            ratings[question.key] = data.ratings(definition.samples)
        except RatingError:
            continue
        titles[question.key] = question.title
    own = members[0].subject.question
    tag_tables = cocoeval.tables_of(ratings, plan=definition.plan)
    return [stored_tags(table, titles, own.scheme, own.scheme_title) for table in tag_tables]


def stored_tags(
    table: cocoeval.TagTable, titles: Mapping[str, str], scheme: str = "", scheme_title: str = ""
) -> TagTable:
    """Return a judge's table as a report stores it; `titles` are those of all behaviours, by key."""
    unanswered = (title for key, title in titles.items() if key not in (*table.behaviours, cocoeval.OVERALL))
    return recorded(
        TagTable,
        table,
        scheme=scheme,
        scheme_title=scheme_title,
        unanswered=tuple(unanswered),
        rows=tuple(_tag_row(row, table, titles[row.behaviour]) for row in table.rows),
    )


def _tag_row(row: cocoeval.Row, table: cocoeval.TagTable, title: str) -> TagRow:
    everyone = (table.judge, *table.people)

    def figure(result: Result, raters: Sequence[str]) -> Figure:
        return Figure.of(result, raters=raters, question=title)

    return TagRow(
        row.behaviour,
        title,
        figure(row.detected_by_people, table.people),
        figure(row.detected_by_judge, (table.judge,)),
        tuple(figure(result, everyone) for result in row.judge.values()),
        tuple(figure(result, table.people) for result in row.people.values()),
    )


def tag_views(result: Snapshot, params: PageParams | None = None) -> list[View]:
    """Return table 7 of each judge, in the order of the study: of the selected policy, in files of each.

    With the parameter `percent`, precision and recall are shown in percent, as the paper prints them.
    """
    people = crowd(figures(result))
    policy = None if params is None else _policy(params)
    percent = params is not None and "percent" in params
    tag_tables = [table for table in result.tags if policy in (None, table.policy)]
    switches = () if policy is None else _switches(policy, percent)
    return [View(_tag_table(t, people, percent), _tag_remarks(t, people), switches) for t in tag_tables]


def tag_tables_in_percent(result: Snapshot) -> list[Table]:
    """Return table 7 of each judge and policy with precision and recall in percent."""
    people = crowd(figures(result))
    return [
        replace(_tag_table(table, people, percent=True), remarks=_tag_remarks(table, people))
        for table in result.tags
    ]


def table_seven(table: TagTable, people: Crowd, *, percent: bool, among_people: bool) -> Table:
    """Return table 7 of a judge in the columns of CoCoEval, with people among themselves if asked for."""
    own = _tag_table(table, people, percent, among_people=among_people)
    names = [worded(STATISTIC.get(name, name)).heading for name in TAG_FIGURES]
    several = among_people and len(table.people) > 1
    groups = [
        ("Marked turns", [people.many.capitalize(), "Judge"]),
        (f"Judge with {people.many}", names),
        *([(f"{people.many.capitalize()} with each other", names)] if several else []),
    ]
    headings = [heading for _, members in groups for heading in members]
    scheme = f", {table.scheme_title}" if table.scheme_title else ""
    form = " (in percent)" if percent else ""
    return replace(
        own,
        key=table_key("cocoeval_7", question_key(table.scheme), table.judge),
        title=f"CoCoEval table 7: {table.judge} against {people.many}{scheme}",
        columns=[(name, heading) for (name, _), heading in zip(own.columns, headings, strict=True)],
        over=[(text, len(members)) for text, members in groups],
        remarks=_tag_remarks(table, people),
        caption=f"Agreement of {table.judge} with {people.counted(len(table.people))} on "
        f"{counted(len(table.rows) - 1, 'behaviour')} in {counted(table.n_items, 'turn')}. Marked turns show "
        f"the behaviour; of {people.many} the mean. Precision and recall{form}, MCC and Cohen’s κ are of the "
        f"judge against each {people.one}, then their mean. The last row joins the behaviours end to end. "
        f"Policy {table.policy}.",
    )


def _policy(params: PageParams) -> str:
    policy = params.get("policy")
    return policy if policy in POLICIES else DEFAULT


def _switches(policy: str, percent: bool) -> tuple[Switch, ...]:
    """Return a switch for each policy in the current form of shares, and for the other form."""
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
    alone = (
        ""
        if len(table.people) > 1
        else f"Only one {people.one} answered: for agreement among people, at least two are needed."
    )
    sentences = (
        f"Figures are over {counted(table.n_items, 'turn')} that {table.judge} and "
        f"{people.counted(len(table.people))} answered{out}. Policy “{table.policy}”: "
        f"{POLICIES[table.policy]}.",
        alone,
        not_asked,
        f"Each figure is the mean over {people.many}, with each of them as the reference in turn. The last "
        "row pools all behaviours.",
    )
    return tuple(filter(None, sentences))


def _tag_table(table: TagTable, people: Crowd, percent: bool, *, among_people: bool = True) -> Table:
    several = among_people and len(table.people) > 1
    heads = [(name, worded(STATISTIC.get(name, name)).heading) for name in TAG_FIGURES]
    columns = [
        ("detected_by_people", f"Marked by {people.many}"),
        ("detected_by_judge", "Marked by judge"),
        *heads,
        *((f"people_{name}", f"{heading}, {people.many}") for name, heading in heads if several),
    ]
    rows = [
        Row(
            row.title,
            "",
            row.detected_by_judge.n_items,
            row.detected_by_judge.n_clusters,
            _cells(row, several, percent),
            first=True,
            pooled=row is table.rows[-1],
        )
        for row in table.rows
    ]
    title = f"Tags: {table.judge} against {people.many}, {table.scheme_title} (policy {table.policy})"
    form = "percent" if percent else ""
    key = table_key("tags", question_key(table.scheme), table.judge, table.policy, form)
    return tabulate(key, title, columns, rows, first="Behaviour")


def _cells(row: TagRow, several: bool, percent: bool) -> list[Figure | None]:
    shares = [*row.judge, *(row.people if several else ())]
    if percent:
        shares = [as_printed(cell, Percent) if cell.name in SHARES and cell.ok else cell for cell in shares]
    marked = [as_printed(cell, MarkedTurns) for cell in (row.detected_by_people, row.detected_by_judge)]
    return [*marked, *shares]


def marked(result: Snapshot) -> list[Chart]:
    """Return, per judge, a chart of marked turns by behaviour, people beside judge; no policy changes it."""
    people = crowd(figures(result))
    charts = []
    judges = Counter(table.judge for table in result.tags if table.policy == DEFAULT)
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
            scheme = f": {table.scheme_title}" if judges[table.judge] > 1 else ""
            title = f"Turns marked by {table.judge} and by {people.many}{scheme}"
            axis = f"Marked turns of {table.n_items:,} ({people.many}: their mean), intervals over dialogues"
            charts.append(Chart(f"marked-{number + 1}", title, axis, tuple(points), bars=True))
    return charts


def tag_lines(result: Snapshot) -> Iterator[CsvLine]:
    """Yield the cells of table 7, named by figure and policy."""
    for table in result.tags:
        for row in table.rows:
            ref = f"{table.scheme}/{row.key}"
            cells = [("", row.detected_by_people), ("", row.detected_by_judge)]
            cells += [("judge_", cell) for cell in row.judge] + [("people_", cell) for cell in row.people]
            for side, cell in cells:
                yield CsvLine(ref, row.title, f"table7_{table.policy}_{side}{cell.name}", cell)


TABLE_SEVEN = Section("tags", "paper-tables", tag_views, tag_lines, marked, page_tables=tag_tables_in_percent)


# Prevalence of a behaviour: by the judge on all items, by people on some, and corrected.


def prevalence(subjects: Sequence[SubjectData], definition: Definition) -> tuple[PrevalenceRow, ...]:
    """Correct the shares of each binary question for judges that answered items which people did not.

    Questions that cannot be read as ratings are left out; their question gives the reason.
    """
    rows: list[PrevalenceRow] = []
    for data in subjects:
        question = data.subject.question
        if question.level != "binary":
            continue
        try:
            ratings = data.ratings(definition.samples)
        except RatingError:
            continue
        for share in corrected_shares(ratings, definition.plan):
            raters = (share.judge, *share.people)
            figures = tuple(
                Figure.of(result, raters=raters, question=question.title) for result in share.figures.values()
            )
            about = {"ref": question.ref, "title": question.title, "item_kind": question.item_kind}
            rows.append(recorded(PrevalenceRow, share, figures=figures, **about))
    return tuple(rows)


def prevalence_views(result: Snapshot, params: PageParams | None = None) -> list[View]:
    """Return the table of all questions for which a judge answered more items than people did."""
    if not result.prevalence:
        return []
    people = crowd(figures(result))
    rows: list[Row] = []
    for row in result.prevalence:
        first = not rows or rows[-1].question != row.title
        items = row.n_labelled + row.n_unlabelled
        clusters = row.figures[0].n_clusters
        rows.append(Row(row.title, row.judge, items, clusters, list(row.figures), first=first))
    heads = ("Judge says", f"{people.many.capitalize()} say", "Sensitivity", "Specificity")
    columns = list(zip(PREVALENCE_FIGURES, (*heads, "Prediction-powered", "Rogan-Gladen"), strict=True))
    remarks = _prevalence_remarks(result.prevalence, people)
    return [View(tabulate("prevalence", "How often it occurs", columns, rows), remarks)]


def _prevalence_remarks(rows: tuple[PrevalenceRow, ...], people: Crowd) -> tuple[str, ...]:
    fewest = min(rows, key=lambda row: row.n_labelled)
    divided = max(row.n_divided for row in rows)
    hold = "has" if divided == 1 else "have"
    sentences = (
        "Shares of items with the behaviour, corrected for the judge’s errors on the items that "
        f"{people.many} answered, too (at least {fewest.n_labelled:,}).",
        f"The prediction-powered share is unbiased even with a bad judge, if {people.many} answered a random "
        "sample. Rogan-Gladen is unbiased if the judge makes the same errors on the other items.",
        f"{counted(divided, 'cluster')} {hold} items of both kinds and count twice." if divided else "",
    )
    return tuple(filter(None, sentences))


def prevalence_lines(result: Snapshot) -> Iterator[CsvLine]:
    """Yield every figure, named `prevalence_...`."""
    for row in result.prevalence:
        for entry in row.figures:
            yield CsvLine(row.ref, row.title, entry.name, entry)


PREVALENCE = Section("prevalence", "paper-tables", prevalence_views, prevalence_lines)


# Sets of tags: agreement on all that raters choose in a group at once.

SET_REMARK = (
    "The answer to a group is the set of tags that a rater chose. α: agreement on these sets beyond chance, "
    "by the MASI distance. Two sets that overlap, or of which one holds the other, are partly equal; a set "
    "with a missing answer is left out."
)


def sets_of_tags(subjects: Sequence[SubjectData], definition: Definition) -> tuple[TagSet, ...]:
    """Compute agreement on the sets of every group of tags, where the study asks for it.

    Tags that cannot be read as ratings are left out; their question gives the reason.
    """
    if ALPHA_MASI.key not in definition.statistics:
        return ()
    groups: dict[tuple[str, str], dict[str, tuple[SubjectData, Ratings]]] = {}
    for data in (data for members in tag_sets(subjects) for data in members):
        question = data.subject.question
        try:
            ratings = data.ratings(definition.samples)
        except RatingError:
            continue
        groups.setdefault((question.scheme, question.group), {})[question.key] = (data, ratings)
    return tuple(_tag_set(members, definition) for members in groups.values() if len(members) > 1)


def _tag_set(members: Mapping[str, tuple[SubjectData, Ratings]], definition: Definition) -> TagSet:
    questions = [data.subject.question for data, _ in members.values()]
    first = questions[0]
    ratings = set_ratings({key: ratings for key, (_, ratings) in members.items()})
    panel = analyse(ratings, question=first.group, statistics=[ALPHA_MASI.key], plan=definition.plan).panel
    return TagSet(
        scheme=first.scheme,
        group=first.group,
        item_kind=first.item_kind,
        titles=tuple(question.title for question in questions),
        figures=tuple(
            Figure.of(entry.result, raters=entry.raters, question=entry.question) for entry in panel
        ),
    )


def set_views(result: Snapshot, params: PageParams | None = None) -> list[View]:
    """Return one table with the groups of tags, if there are any."""
    if not result.sets:
        return []
    kinds = {rater.name: rater.kind for question in result.questions for rater in question.raters}
    people = crowd(figures(result))
    schemes = {tag_set.scheme for tag_set in result.sets}
    rows = [
        Row(
            tag_set.group if len(schemes) == 1 else f"{tag_set.group} ({tag_set.scheme})",
            _compared_sets([kinds.get(name, "") for name in figure.raters], people),
            figure.n_items,
            figure.n_clusters,
            [figure],
            first=number == 0,
        )
        for tag_set in result.sets
        for number, figure in enumerate(tag_set.figures)
    ]
    columns = [(ALPHA_MASI.key, ALPHA_MASI.words.heading)]
    table = tabulate("sets", "Agreement on sets of tags", columns, rows, first="Group")
    return [View(table, (SET_REMARK,))]


def _compared_sets(kinds: Sequence[str], people: Crowd) -> str:
    """Return the raters of a figure by their number: `3 people`, `3 people and 2 judges`."""
    counts = Counter(kinds)
    units = {"human": people.units, "judge": ("judge", "judges"), "key": ("answer key", "answer keys")}
    parts = [counted(counts[kind], *words) for kind, words in units.items() if counts[kind]]
    if rest := counts.total() - sum(counts[kind] for kind in units):
        parts.append(counted(rest, "rater"))
    return join_names(parts)


def set_lines(result: Snapshot) -> Iterator[CsvLine]:
    """Yield the figures of each group."""
    for tag_set in result.sets:
        for figure in tag_set.figures:
            yield CsvLine(tag_set.ref, tag_set.group, figure.name, figure)


SETS = Section("sets", "humans-agree", set_views, set_lines)


# Behaviours outside the scheme's list: number of turns with one, raters, and notes.

MOST_NOTES = 20
MOST_ROWS = 12
"""Number of raters that the page shows at once: those who marked most."""
NOTE = f"{ANOTHER}_note"
WILSON = (
    "Wilson’s intervals assume that turns are independent. Turns of one dialogue are alike, so these "
    "intervals are too narrow."
)


@dataclass(frozen=True)
class Share(Figure):
    """A share that may be small."""

    digits: ClassVar[int] = 4
    end_digits: ClassVar[int] = 4


@dataclass(frozen=True)
class Below:
    """Content under the table: some notes, and the number of further notes."""

    notes: Sequence[Marked]
    n_more: int


def coverage_of(coverage: Sequence[Coverage], definition: Definition) -> tuple[CoverageTable, ...]:
    """Count the turns with another behaviour for every question `another_behaviour`."""
    return tuple(_coverage_table(read, definition.plan.level) for read in coverage)


def _coverage_table(read: Coverage, level: float) -> CoverageTable:
    def share(marked: int, n: int, raters: int) -> Result:
        return replace(wilson(marked, n, level), name=ANOTHER, n_raters=raters)

    people = sum(rater.kind == "human" for rater in read.raters)
    return recorded(
        CoverageTable,
        read,
        marked=read.found,
        share=share(read.found, read.turns, people) if people else None,
        rows=tuple(
            recorded(CoverageLine, rater, share=share(rater.marked, rater.n, 1)) for rater in read.raters
        ),
    )


def coverage_views(result: Snapshot, params: PageParams | None = None) -> list[View]:
    """Return one table per scheme with the turns that each rater marked; the notes stand under it."""
    return [_view(table, in_file=params is None) for table in result.coverage]


def _view(table: CoverageTable, *, in_file: bool) -> View:
    title = f"Coverage: {table.title}, {table.scheme_title}"
    coverage_lines = sorted(table.rows, key=lambda row: (row.kind != "human", -row.marked))
    rows = [
        Row(
            row.name,
            f"{_kind(row)}, {counted(row.marked, 'turn')}",
            row.share.n_items,
            row.share.n_clusters,
            [_share_figure(row.share, [row.name])],
            first=True,
        )
        for row in coverage_lines
    ]
    n_more = max(0, len(table.notes) - MOST_NOTES)
    remarks = tuple(_note_text(note) for note in table.notes[:MOST_NOTES]) if in_file else ()
    key = table_key("coverage", question_key(table.ref))
    visible = tabulate(key, title, [(ANOTHER, "Share of turns")], rows, first="Rater", remarks=remarks)
    folded: tuple[Table, ...] = ()
    if not in_file and len(rows) > MOST_ROWS:
        more = f"{len(rows) - MOST_ROWS} more raters"
        folded = (replace(visible, key="", title=more, rows=visible.rows[MOST_ROWS:]),)
        visible = replace(visible, rows=visible.rows[:MOST_ROWS])
    below = Below(table.notes[:MOST_NOTES], n_more) if table.notes else None
    template = "calibration/_coverage.html" if below else ""
    return View(visible, (*_findings(table), WILSON), template=template, data=below, folded=folded)


def _note_text(note: Marked) -> str:
    return f"{note.item}, {note.rater}: {f'“{note.note}”' if note.note else 'no note'}"


def _kind(row: CoverageLine) -> str:
    kind = {"human": "person"}.get(row.kind, row.kind)
    return "simulated" if row.simulated else kind if row.identified else "anonymous slot"


def _findings(table: CoverageTable) -> tuple[str, ...]:
    """Return sentences about the behaviours that people found, then those that judges found."""
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
    """Return `No annotator marked another behaviour in 1,080 turns (at most 0.35%)`, or the number marked."""
    nobody, somebody = subjects
    turns = counted(share.n_items, "turn")
    if not share.ok:
        return f"{somebody}: {share.reason}."
    if not marked:
        marked_none = "marked another behaviour" if nobody.startswith("no ") else "marked no other behaviour"
        text = f"{nobody} {marked_none} in {turns} (at most {percent(share.high, 2)}, Wilson)."
    else:
        ends = f"{percent(share.low, 2)} to {percent(share.high, 2)}"
        text = f"{somebody} marked another behaviour in {marked:,} of {turns} "
        text += f"({percent(share.value, 2)}; {ends}, Wilson)."
    return text[:1].upper() + text[1:] if nobody.startswith("no ") else text


def _share_figure(share: Result, raters: Sequence[str]) -> Share:
    return as_printed(Figure.of(share, raters=raters, question=""), Share)


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


COVERAGE = Section("coverage", "rater-by-rater", coverage_views, coverage_lines)


# Agreement on evidence: how far raters with the same answer point at the same turns and words.

KEY = "evidence"


def evidence_tables(read: Sequence[Evidence], definition: Definition) -> tuple[EvidenceTable, ...]:
    """Compare the evidence of answers, for each question whose answers may point at turns or words."""
    return tuple(_evidence(evidence, definition) for evidence in read if evidence.pointings)


def _evidence(read: Evidence, definition: Definition) -> EvidenceTable:
    question = read.question

    def row(overlap: Overlap) -> EvidenceRow:
        figures = (Figure.of(f, raters=overlap.raters, question=question.title) for f in overlap.figures)
        return recorded(EvidenceRow, overlap, figures=tuple(figures))

    return recorded(
        EvidenceTable,
        question,
        asks=read.asks,
        n_answers=len(read.pointings),
        n_pointed=sum(bool(pointing.stretches) for pointing in read.pointings),
        rows=tuple(row(overlap) for overlap in overlaps(read.pointings, read.asks, definition.plan)),
    )


def evidence_views(result: Snapshot, params: PageParams | None = None) -> list[View]:
    """Return one table per question: people with each other, and every other rater with them."""
    people = crowd(figures(result))
    selected, switches = select_question(headed(result, result.evidence), KEY, params)
    return [
        View(_evidence_table(title, table, people), tuple(_evidence_remarks(table)), switches)
        for title, table in selected
    ]


def _evidence_table(title: str, table: EvidenceTable, people: Crowd) -> Table:
    names = [name for name in EVIDENCE_FIGURES if table.asks in EVIDENCE_FIGURES[name].applies]
    rows = []
    for place, row in enumerate(table.rows if table.n_pointed else ()):
        of = {figure.name: figure for figure in row.figures}
        cells, f1 = [of.get(name) for name in names], of["evidence_f1"]
        rows.append(Row(title, _compared(row, people), f1.n_items, f1.n_clusters, cells, first=not place))
    heads = [(name, EVIDENCE_FIGURES[name].heading) for name in names]
    key = table_key(KEY, question_key(table.ref))
    return tabulate(key, f"What answers point at: {title}", heads, rows)


def _compared(row: EvidenceRow, people: Crowd) -> str:
    if row.name:
        return f"{row.name} with {people.many}"
    if row.kind == ALL:
        return f"{join_names(row.raters)} with each other"
    return f"{people.many.capitalize()} with each other"


def _evidence_remarks(table: EvidenceTable) -> Iterator[str]:
    yield f"{table.n_pointed:,} of {counted(table.n_answers, 'answer')} point at turns or words."
    if not table.n_pointed:
        return
    yield (
        "Raters are compared on items where they gave the same answer and both point somewhere; every item "
        "counts once."
    )
    if not table.rows:
        yield "Only one rater answered: let a second rater answer to compare what they point at."
        return
    yield (
        "F1: twice what two raters share, divided by all that the two point at. IoU: what both point at, "
        "divided by what either points at. α: agreement on sets of turns beyond chance, by the MASI distance"
        + (", with places counted back from the rated turn." if table.item_kind == "turn" else ".")
    )


def evidence_lines(result: Snapshot) -> Iterator[CsvLine]:
    """Yield every figure, named `evidence_...`."""
    for table in result.evidence:
        for row in table.rows:
            for figure in row.figures:
                yield CsvLine(table.ref, table.title, figure.name, figure)


EVIDENCE = Section(KEY, "judge-agrees", evidence_views, evidence_lines)
