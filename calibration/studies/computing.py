"""From a study's inputs to the snapshot that its report keeps, nothing rounded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from calibration.comparisons import preference_tables as sheets_of_preferences
from calibration.comparisons.preference_tables import Cell, Sheet, voters_line
from calibration.ratings.coverage import ANOTHER, Coverage
from calibration.ratings.definitions import Definition
from calibration.ratings.evidence import Evidence
from calibration.ratings.ratings import SubjectData
from calibration.ratings.votes import Compared
from calibration.reports.contents import (
    CoverageLine,
    CoverageTable,
    EvidenceRow,
    EvidenceTable,
    Figure,
    PreferenceRow,
    PreferenceSheet,
    PreferenceTable,
)
from calibration.reports.snapshot import (
    FORMAT,
    Answerer,
    Link,
    PrevalenceRow,
    Question,
    Snapshot,
    SplitUsed,
    Totals,
)
from calibration.reports.wording import PEOPLE, Crowd, crowd_of
from calibration.statistics import Ratings, Record, analyse
from calibration.statistics.analysis import MEAN_OF_PEOPLE, Entry, f_intervals, mean_of
from calibration.statistics.core.engine import Result
from calibration.statistics.core.ratings import RatingError
from calibration.statistics.evidence import overlaps
from calibration.statistics.preferences import preferences
from calibration.statistics.prevalence import corrected_shares, wilson
from calibration.statistics.replacement import StandIn
from calibration.studies.inputs import Inputs
from calibration.studies.judges import Panels, against_keys, compared, floors
from calibration.studies.levels import level_tables
from calibration.studies.raters import bounds, raters_of, scores, tag_sets, tags

# What the votes of a study say of systems and of raters, as its report keeps it.

ITEMS, CLUSTERS = "Items", "Clusters"
BETWEEN = {"meetings": " against "}
"""What stands between the texts of a line, where it is no comma."""
COUNTED = (ITEMS, CLUSTERS, "Raters")
"""Columns that say what a line rests on: they stand with every line of a report anyway."""


def preference_tables(compared: Sequence[Compared], definition: Definition) -> tuple[PreferenceTable, ...]:
    """Return the tables of every question that compares responses."""
    return tuple(_preference_table(question, definition) for question in compared)


def _preference_table(compared: Compared, definition: Definition) -> PreferenceTable:
    question = compared.question
    try:
        figures = preferences(compared.votes, definition.preferences, definition.plan)
    except ValueError as error:
        return PreferenceTable(question.ref, question.title, question.item_kind, (), (), str(error))
    voters_lines = tuple(voters_line(voters) for voters in figures.voters)
    sheets = tuple(_sheet(sheet, question.title) for sheet in sheets_of_preferences.sheets(figures))
    return PreferenceTable(question.ref, question.title, question.item_kind, voters_lines, sheets)


def _sheet(sheet: Sheet, title: str) -> PreferenceSheet:
    """Return a table as reports draw it: what a line is about first, then numbers alone."""
    texts = [at for at, cell in enumerate(sheet.rows[0]) if isinstance(cell, str)]
    empty = {at for at in range(len(sheet.head)) if all(row[at] is None for row in sheet.rows)}
    without = empty | set(texts) | {at for at, head in enumerate(sheet.head) if head in COUNTED}
    columns = [at for at in range(len(sheet.head)) if at not in without]
    return PreferenceSheet(
        sheet.key,
        sheet.title,
        sheet.of,
        " and ".join(sheet.head[at].lower() if n else sheet.head[at] for n, at in enumerate(texts)),
        sheet.note,
        tuple((_name(sheet, at), sheet.head[at]) for at in columns),
        tuple(_row(sheet, row, texts, columns, title) for row in sheet.rows),
    )


def _name(sheet: Sheet, at: int) -> str:
    """Name of the figures of a column in files."""
    result = next((row[at] for row in sheet.rows if isinstance(row[at], Result)), None)
    name = result.name if isinstance(result, Result) else sheet.head[at].lower().replace(" ", "_")
    return f"preference_{name}"


def _row(
    sheet: Sheet, row: tuple[Cell, ...], texts: Sequence[int], columns: Sequence[int], title: str
) -> PreferenceRow:
    of = dict(zip(sheet.head, row, strict=True))
    about = BETWEEN.get(sheet.key, ", ").join(str(row[at]) for at in texts)
    cells = tuple(_figure(row[at], _name(sheet, at), about, sheet.of, title) for at in columns)
    from_ = next((cell for cell in row if isinstance(cell, Result)), None)
    n_items = _as_count(of.get(ITEMS)) if ITEMS in of else (from_.n_items if from_ else 0)
    n_clusters = _as_count(of.get(CLUSTERS)) if CLUSTERS in of else (from_.n_clusters if from_ else 0)
    return PreferenceRow(about, n_items, n_clusters, cells)


def _figure(cell: Cell, name: str, about: str, of: str, title: str) -> Figure | None:
    if isinstance(cell, Result):
        figure = Figure.of(cell, raters=tuple(filter(None, (of, about))), question=title)
        return Figure(**vars(figure) | {"name": name})
    if isinstance(cell, int):
        return Figure(name, float(cell), raters=tuple(filter(None, (of, about))), question=title)
    return None


def _as_count(cell: Cell) -> int:
    return cell if isinstance(cell, int) else 0


# How often behaviours occur by each judge, and corrected by what people said of a part of the items.


def prevalence(subjects: Sequence[SubjectData], definition: Definition) -> tuple[PrevalenceRow, ...]:
    """Return a row per binary question and judge that answered items which people did not.

    Questions that cannot be read as ratings are left out; their question says why.
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
            everyone = (share.judge, *share.people)
            figures = tuple(
                Figure.of(result, raters=everyone, question=question.title)
                for result in share.figures.values()
            )
            rows.append(
                PrevalenceRow(
                    question.ref,
                    question.title,
                    question.item_kind,
                    share.judge,
                    share.people,
                    figures,
                    share.n_labelled,
                    share.n_unlabelled,
                    share.n_divided,
                )
            )
    return tuple(rows)


# Coverage of a scheme's behaviours: shares of turns with another one, each with Wilson's interval.


def coverage_of(inputs: Inputs) -> tuple[CoverageTable, ...]:
    """Return the table of every question `another_behaviour` that a study's inputs hold."""
    return tuple(_coverage_table(read, inputs.definition.plan.level) for read in inputs.coverage)


def _coverage_table(read: Coverage, level: float) -> CoverageTable:
    rows = tuple(
        CoverageLine(
            rater.name,
            rater.kind,
            rater.identified,
            rater.simulated,
            rater.marked,
            _share(rater.marked, rater.n, level, 1),
        )
        for rater in read.raters
    )
    people = sum(rater.kind == "human" for rater in read.raters)
    share = _share(read.found, read.turns, level, people) if people else None
    return CoverageTable(read.ref, read.title, read.scheme_title, read.found, share, rows, read.notes)


def _share(marked: int, n: int, level: float, raters: int) -> Result:
    return replace(wilson(marked, n, level), name=ANOTHER, n_raters=raters)


# How far raters who gave the same answer point at the same turns and words, question by question.


def evidence_tables(read: tuple[Evidence, ...], definition: Definition) -> tuple[EvidenceTable, ...]:
    """Return a table for each question with answers that may point at something."""
    return tuple(_table(evidence, definition) for evidence in read if evidence.pointings)


def _table(read: Evidence, definition: Definition) -> EvidenceTable:
    question = read.question
    rows = tuple(
        EvidenceRow(
            overlap.name,
            overlap.kind,
            overlap.raters,
            tuple(
                Figure.of(result, raters=overlap.raters, question=question.title)
                for result in overlap.figures
            ),
        )
        for overlap in overlaps(read.pointings, read.asks, definition.plan)
    )
    pointed = sum(bool(pointing.stretches) for pointing in read.pointings)
    return EvidenceTable(
        question.ref, question.title, question.item_kind, read.asks, len(read.pointings), pointed, rows
    )


Progress = Callable[[int, int], None]
Bools = np.ndarray[Any, np.dtype[np.bool_]]
POOLED, ALL_TAGS = "all", "All tags, pooled"
HUMAN, METRIC = "human", "metric"


def result_of(inputs: Inputs, progress: Progress | None = None) -> Snapshot:
    """Compute a report; `progress` is told (questions done, questions in all) as it goes."""
    panels = Panels(inputs.definition, inputs.part, inputs.learning)
    subjects = [panels.among(data) for data in inputs.subjects]
    todo = [*subjects, *pooled(subjects)]
    questions = []
    for number, data in enumerate(todo, 1):
        questions.append(_question(data, inputs.definition, is_pooled=number > len(subjects)))
        if progress:
            progress(number, len(todo))
    campaign = inputs.scope.campaign
    return Snapshot(
        format=FORMAT,
        study=inputs.study.name,
        corpus=inputs.scope.corpus.name,
        campaign=campaign.name if campaign else None,
        occasions=tuple(inputs.scope.occasions),
        definition=inputs.definition,
        part=inputs.part,
        split=_split(inputs),
        counts=_counts([*inputs.subjects, *(inputs.levels.across if inputs.levels else ())]),
        calls=inputs.calls,
        answered=inputs.answered,
        uncompared=inputs.uncompared,
        questions=tuple(questions),
        tags=tags(subjects, inputs.definition),
        coverage=coverage_of(inputs),
        raters=raters_of(inputs, pooled(inputs.subjects)),
        levels=level_tables(inputs.levels, inputs.definition, subjects, panels, inputs.lengths),
        prevalence=prevalence(inputs.subjects, inputs.definition),
        compared=compared(todo, inputs.definition),
        keys=against_keys(todo, [*inputs.dev_keys, *pooled(inputs.dev_keys)], inputs.definition),
        scores=scores(inputs.subjects, inputs.learning, inputs.definition),
        panels=tuple(panels.summaries),
        bounds=bounds(todo, inputs.definition),
        left_out=tuple(omission.sentence for omission in inputs.scope.without),
        fake_systems=inputs.fake_systems,
        evidence=evidence_tables(inputs.evidence, inputs.definition),
        preferences=preference_tables(inputs.compared, inputs.definition),
        floors=floors(todo, [*inputs.learning, *pooled(inputs.learning)], inputs.lengths, inputs.definition),
    )


def _split(inputs: Inputs) -> SplitUsed | None:
    split = inputs.split
    return SplitUsed(split.name, split.seed, split.test_share) if split else None


def _counts(subjects: Sequence[SubjectData]) -> Totals:
    """Count what was read, each item, cluster and rater once."""
    records = [record for data in subjects for record in data.records]
    return Totals(
        labels=len(records),
        missing=sum(record.value is None for record in records),
        items=len({record.item for record in records}),
        clusters=len({record.cluster for record in records}),
        raters=len({info.id for data in subjects for info in data.raters}),
    )


def _question(data: SubjectData, definition: Definition, *, is_pooled: bool) -> Question:
    question = data.subject.question
    described = Question(
        ref=question.ref,
        key=question.key,
        title=question.title,
        wording=question.wording,
        scheme=question.scheme,
        scheme_title=question.scheme_title,
        item_kind=question.item_kind,
        level=question.level,
        values=question.values,
        group=question.group,
        pooled=is_pooled,
        links=tuple(
            Link(link.question.ref, link.map.as_dict())
            for link in (*data.subject.links, *data.subject.across)
        ),
        repeated=data.repeated,
    )
    try:
        ratings = data.ratings(definition.samples)
    except RatingError as error:
        return replace(described, problem=str(error))
    of_people: Bools = np.any(~np.isnan(ratings.values[:, list(ratings.of_kind(HUMAN))]), axis=1)
    raters = _answerers(data, ratings, of_people)
    described = replace(
        described,
        raters=raters,
        n_items=ratings.n_items,
        n_clusters=ratings.n_clusters,
        people_items=int(of_people.sum()),
    )
    return _compared(described, ratings, definition)


def _compared(described: Question, ratings: Ratings, definition: Definition) -> Question:
    """Compare people, judges and keys in every way that applies; metrics with the people alone.

    A metric that names the question's categories is compared like a judge.
    """
    metrics = [column for column in ratings.of_kind(METRIC) if not ratings.on_scale[column]]
    others = [column for column in range(len(ratings.raters)) if column not in metrics]
    title = described.title
    crowd = crowd_of(rater for rater in described.raters if rater.n)
    compared = analyse(
        ratings.take(others),
        question=title,
        statistics=definition.statistics,
        plan=definition.plan,
        epsilon=definition.epsilon,
    )
    pairs = compared.pairs + _with_metrics(ratings, metrics, title, definition)
    return replace(
        described,
        panel=_figures(compared.panel, crowd),
        pairs=_figures(pairs, crowd),
        replacement=_figures(compared.replacement, crowd),
        gaps=_figures(compared.gaps, crowd),
        pairs_left_out=compared.left_out,
        stand_ins=tuple(_called(verdict, crowd) for verdict in compared.stand_ins),
        f_intervals=_figures(f_intervals(ratings.take(others), compared.panel, definition.plan.level), crowd),
    )


def _called(verdict: StandIn, crowd: Crowd) -> StandIn:
    """Return a verdict with people called what they are."""
    return replace(
        verdict, reasons=tuple(reason.replace(PEOPLE.many, crowd.many) for reason in verdict.reasons)
    )


def _figures(entries: Iterable[Entry], crowd: Crowd) -> tuple[Figure, ...]:
    """Return entries as reports keep them, their reasons in the reader's words."""
    own = f"the {crowd.own} mean"
    return tuple(
        Figure.of(
            entry.result,
            raters=entry.raters,
            question=entry.question,
            reason=entry.result.reason.replace(MEAN_OF_PEOPLE, own),
        )
        for entry in entries
    )


def _with_metrics(
    ratings: Ratings, metrics: Sequence[int], title: str, definition: Definition
) -> tuple[Entry, ...]:
    """Compare each metric with the people's mean (or the only person), on the same resamples as all else.

    Pairs of metrics, and of a metric with each person, are left out: there may be hundreds.
    """
    people = ratings.of_kind(HUMAN)
    if not metrics or not people or ratings.level == "nominal":
        return ()
    if len(people) > 1:
        against = MEAN_OF_PEOPLE
        mean = mean_of(ratings.values[:, list(people)])
        compared = ratings.take(metrics).with_column(against, mean)
    else:
        against = ratings.raters[people[0]]
        compared = ratings.take([*people, *metrics])
    plan = definition.plan
    return analyse(
        compared, question=title, statistics=definition.statistics, against=against, plan=plan
    ).pairs


def _answerers(data: SubjectData, ratings: Ratings, of_people: Bools) -> tuple[Answerer, ...]:
    """Describe the raters: how many items each answered, left out, and what each said on average.

    `of_people` are the items that a person rated.
    """
    missing: dict[str, int] = {}
    samples: dict[str, set[int]] = {}
    for record in data.records:
        samples.setdefault(record.rater, set()).add(record.sample)
        if record.value is None:
            missing[record.rater] = missing.get(record.rater, 0) + 1
    return tuple(
        replace(
            _answerer(ratings, column, of_people),
            missing=missing.get(name, 0),
            samples=len(samples.get(name, {0})),
            simulated=_is_simulated(name, data),
        )
        for column, name in enumerate(ratings.raters)
    )


def _is_simulated(name: str, data: SubjectData) -> bool:
    """Whether nobody is behind a rater; repeated answers may be raters of their own, called `name#0`."""
    return any(
        info.simulated and name in (info.name, f"{info.name}#{name.rsplit('#')[-1]}") for info in data.raters
    )


def _answerer(ratings: Ratings, column: int, of_people: Bools) -> Answerer:
    values = ratings.values[:, column]
    answers = values[~np.isnan(values)]
    return Answerer(
        name=ratings.raters[column],
        kind=ratings.kinds[column],
        identified=ratings.identified[column],
        on_scale=ratings.as_answered().on_scale[column],
        n=int(answers.size),
        constant=answers.size > 1 and bool((answers == answers[0]).all()),
        mean=_mean(ratings, answers),
        missing=0,
        samples=1,
        simulated=False,
        n_of_people=int((of_people & ~np.isnan(values)).sum()),
    )


def _mean(ratings: Ratings, answers: np.ndarray[Any, Any]) -> float | None:
    """Mean of the values; for a binary question the share of the positive class; none for categories."""
    if not answers.size or ratings.level == "nominal":
        return None
    if ratings.level == "binary":
        return float((answers == ratings.positive).mean()) if ratings.positive is not None else None
    return float(answers.mean())


def pooled(subjects: Sequence[SubjectData]) -> list[SubjectData]:
    """Return, per scheme, all its grouped binary questions read as one: an item is then a turn's question.

    This is the overall agreement of a set of tags: rated items of all questions, one below the other, per
    rater. Questions that stand alone in their group, and raters on other scales, stay out.
    """
    return [_pool(members) for members in tag_sets(subjects)]


def _pool(members: Sequence[SubjectData]) -> SubjectData:
    first = members[0]
    question = replace(
        first.subject.question,
        key=POOLED,
        ref=f"{first.subject.question.scheme}/{POOLED}",
        wording=ALL_TAGS,
        group="",
    )
    records, unanswered = _renamed(members, "records"), _renamed(members, "unanswered")
    raters = {info.name: info for data in members for info in data.raters if info.name not in data.off_scale}
    subject = replace(first.subject, question=question, links=())
    return SubjectData(subject, records, tuple(raters.values()), frozenset(), 0, "", unanswered=unanswered)


def _renamed(members: Sequence[SubjectData], which: str) -> tuple[Record, ...]:
    """Return the answers of all questions, each item named with its question."""
    return tuple(
        replace(record, item=f"{record.item}/{data.subject.question.key}")
        for data in members
        for record in getattr(data, which)
        if record.rater not in data.off_scale and record.kind != METRIC
    )
