"""Behaviour counts and scores by system and condition: from a query to the table, at once or in a worker."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import Any

import numpy as np
from django.contrib.auth.models import User

from annotation.campaigns import sampling
from annotation.models import Campaign, Corpus, Item, Rater, TestLook
from annotation.schemes.cocoeval import BEHAVIOUR_COUNTS as COUNTS
from annotation.schemes.cocoeval import GROUPS
from calibration.comparisons import count_inputs
from calibration.comparisons.count_inputs import (
    JUDGE,
    PEOPLE,
    SYSTEM,
    By,
    CountsQuery,
    Selection,
    Units,
    failed_continuations,
    read,
    units,
)
from calibration.errors import CountsRefused
from calibration.figure_cache import CachedFigures, cached_or_job, is_small, stamp_of
from calibration.ratings import designs
from calibration.ratings.scope import QuestionInfo, census
from calibration.reports.kinds import Dated, ReportPart, adapter, fix_part, log_look, part_of, rater_rows
from calibration.reports.wording import counted as count_text
from calibration.reports.wording import crowd_of, join_names
from calibration.statistics.core.ratings import Floats
from calibration.statistics.corrected_systems import (
    ASSUMPTIONS,
    CorrectedSystems,
    JudgedItems,
    corrected_systems,
)
from calibration.statistics.counts import (
    ANY,
    GROUP,
    Cell,
    MixedLengths,
    Row,
    Table,
    columns_of,
    counts_of,
    rated_of,
    table,
)
from calibration.statistics.judge_errors import Rated
from calibration.statistics.strata import Column, Counted
from jobs.errors import JobRefused
from jobs.fake_models import MARK
from jobs.kinds import JobKind, Progress
from jobs.models import Job

NOT_RANDOM = "by your choice, the items that people rated are not a random sample"


@dataclass(frozen=True)
class QuestionSystems:
    """The corrected systems of one question, by its key; `system` numbers are codes of the table's rows."""

    key: str
    result: CorrectedSystems


@dataclass(frozen=True)
class RatedSample:
    """How the items that people rated were drawn; the reasons are those of `JudgedItems`.

    `probabilities` are by item id, empty where all items were equally likely; `campaigns` drew them.
    """

    probabilities: dict[int, float]
    campaigns: tuple[Campaign, ...] = ()
    not_random: str = ""
    other_errors: str = ""

    @property
    def is_simple(self) -> bool:
        """Whether all items were equally likely."""
        return not self.probabilities and not self.not_random


def rated_sample(query: CountsQuery, selection: Selection) -> RatedSample:
    """Return how the items that people rated were drawn, from the campaigns of their answers."""
    answers = scope_answers(query, selection)
    campaigns = list(Campaign.objects.filter(pk__in=[pk for pk in answers if pk is not None]).order_by("pk"))
    apart = [campaign.name for campaign in campaigns if campaign.sample_apart is not None]
    if apart:
        reason = (
            f"in {join_names(apart)} people rated items because the judge and people differ there; rate a "
            "random sample, or a review queue with probabilities"
        )
        return RatedSample({}, (), reason, reason)
    inclusions = [sampling.inclusion(campaign) or {} for campaign in campaigns]
    probabilities = {item: probability for rows in inclusions for item, (probability, _) in rows.items()}
    if probabilities and len(answers) > 1:
        are_drawn = None not in answers and all(inclusions)
        joint = designs.union(campaigns) if are_drawn else None
        if joint is None or not probabilities.keys() <= answered_items(query, selection):
            reason = (
                "people's answers come from several samples, some of them drawn with probabilities of their "
                "own that do not combine; choose one campaign"
            )
            return RatedSample({}, (), reason, reason)
        probabilities = {item: joint[item] for item in probabilities}
    if probabilities and designs.left_out(campaigns, ()) is None:
        return RatedSample({}, (), designs.UNREADABLE.rstrip("."), designs.UNREADABLE.rstrip("."))
    not_random = NOT_RANDOM if query.correction == "rogan_gladen" else ""
    return RatedSample(probabilities, tuple(campaigns), not_random)


def scope_answers(query: CountsQuery, selection: Selection) -> set[int | None]:
    """Return the campaigns that people's answers come from; None stands for imported answers."""
    counts = query.scope.counts().filter(
        question__in=[question.id for question in selection.questions],
        rater__in=[rater.id for rater in selection.people],
    )
    return set(counts.values_list("campaign", flat=True).distinct())


def answered_items(query: CountsQuery, selection: Selection) -> set[int]:
    """Return the ids of the items that people answered, or gave a reason for not answering."""
    answers = query.scope.labels().filter(
        question__in=[question.id for question in selection.questions],
        rater__in=[rater.id for rater in selection.people],
    )
    return set(answers.order_by().values_list("item", flat=True).distinct())


def systems_of(
    query: CountsQuery,
    selection: Selection,
    units: Units,
    mine: Sequence[Sequence[Floats]],
    theirs: Sequence[Floats],
    sample: RatedSample,
) -> tuple[QuestionSystems, ...]:
    """Return the corrected systems of each question that people answered on some of the judge's items.

    `mine` and `theirs` are the voices of the judge and of people, items x questions. Empty for other raters.
    """
    if selection.kind != JUDGE or not mine or not theirs:
        return ()
    of_item = units.turn_of if selection.is_turns else np.arange(len(units.ids))
    judge = mine[0][0] if len(mine[0]) == 1 else _system_mean(mine[0])
    _, clusters = np.unique(np.array(units.clusters, dtype=str), return_inverse=True)
    ids = _ids(units, selection) if sample.probabilities else []
    weights = np.array([1 / sample.probabilities.get(pk, np.nan) for pk in ids]) if ids else None
    unreached = designs.left_out(sample.campaigns, ids) or set()
    could_be_drawn = np.array([pk not in unreached for pk in ids] or [True] * len(of_item))
    results = []
    for at, question in enumerate(selection.questions):
        answered = ~np.isnan(judge[:, at]) & could_be_drawn
        people = np.column_stack([voice[:, at] for voice in theirs])[answered]
        if np.isnan(people).all():
            continue
        categories = (0.0, 1.0) if selection.is_turns else tuple(float(v) for v in question.values)
        items = JudgedItems(
            judge[answered, at],
            people,
            units.rows[of_item][answered],
            clusters.ravel()[of_item][answered],
            categories or None,
            None if weights is None else weights[answered],
            sample.not_random,
            sample.other_errors,
        )
        results.append(QuestionSystems(question.key, corrected_systems(items, query.plan)))
    return tuple(results)


def _system_mean(voices: Sequence[Floats]) -> Floats:
    stacked = np.stack(voices)
    n = (~np.isnan(stacked)).sum(axis=0)
    return np.asarray(np.nansum(stacked, axis=0) / np.where(n > 0, n, np.nan))


def _ids(units: Units, selection: Selection) -> list[int]:
    """Return the id of each item, 0 for one that was never made."""
    if selection.is_turns:
        return [int(pk) for pk in units.turn_items]
    wholes = Item.objects.filter(kind="dialogue", continuation__in=list(units.ids))
    by_continuation = dict(wholes.values_list("continuation", "pk"))
    return [by_continuation.get(pk, 0) for pk in units.ids]


# From a query to its table of counts.

MOST_ROWS = 200


NOT_GIVEN = "not given"


def value_text(value: Any) -> str:
    """Format a condition's value for display."""
    if value is None:
        return NOT_GIVEN
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


@dataclass(frozen=True)
class CountsRow:
    """A row of the table with its values of the query's keys, None for a missing value.

    ``fake_model`` says whether the row contains a continuation by a fake model.
    """

    figures: Row
    by: Mapping[str, Any]
    fake_model: bool

    @property
    def name(self) -> str:
        """Name such as `vanilla, turns_per_call 5`, or `people`; numbers get their key, fakes a mark."""
        parts = [
            f"{key} {value_text(value)}"
            if key != SYSTEM and (value is None or isinstance(value, bool | int | float))
            else value_text(value)
            for key, value in self.by.items()
        ]
        name = PEOPLE if self.figures.human else ", ".join(parts)
        return f"{name} {MARK}" if self.fake_model else name

    @property
    def cells(self) -> dict[str, Cell]:
        """Cells by the key of their column."""
        return {cell.column.key: cell for cell in self.figures.cells}


@dataclass(frozen=True)
class Counts(Dated):
    """A table of counts with its query and its inputs.

    ``by`` gives each row's values of the query's keys, by the row's code. ``people`` names the people who
    rated a sample, ``n_rated`` is the number of the judge's continuations that they rated; both are empty
    without a correction. ``fakes`` are the codes of the rows with a continuation by a fake model; ``cached``
    is None for figures computed just now. ``rated_only`` is a sentence where people's counts are of the rated
    items only, because these were drawn with unequal probabilities.
    """

    query: CountsQuery
    selection: Selection
    table: Table
    by: tuple[By, ...]
    titles: dict[str, str]
    part: ReportPart
    people: str
    n_rated: int
    fakes: frozenset[int] = frozenset()
    systems: tuple[QuestionSystems, ...] = ()
    cached: CachedFigures | None = None
    rated_only: str = ""

    @property
    def is_turns(self) -> bool:
        """Whether turns were counted, instead of answers about whole continuations."""
        return self.selection.is_turns

    @property
    def columns(self) -> list[Column]:
        """Columns, in order."""
        return [cell.column for cell in self.table.rows[0].cells] if self.table.rows else []

    @property
    def headings(self) -> list[str]:
        """Headings of the columns."""
        return [self.titles[column.key] for column in self.columns]

    @cached_property
    def rows(self) -> tuple[CountsRow, ...]:
        """Rows, people's first."""
        return tuple(
            CountsRow(row, dict(zip(self.query.by, self.by[row.code], strict=True)), row.code in self.fakes)
            for row in self.table.rows
        )


@dataclass(frozen=True)
class Ground:
    """A resolved query: its part of the corpus, its raters and its questions."""

    query: CountsQuery
    selection: Selection
    part: ReportPart
    clusters: frozenset[str] | None


@dataclass(frozen=True)
class Figures:
    """Figures computed from the labels of a resolved query; names as in `Counts`. Can be stored as JSON."""

    __pydantic_config__ = {"ser_json_inf_nan": "strings"}

    table: Table
    by: tuple[By, ...]
    people: str
    n_rated: int
    fakes: frozenset[int]
    systems: tuple[QuestionSystems, ...] = ()


def compute(*, query: CountsQuery, by: User | None) -> Counts:
    """Return the table of a query. Fixes the corpus's split, as every look at labels does.

    Raises CountsRefused, in one line, if there is no table, and for a test part that was not opened.
    """
    ground = ground_of(query=query, by=by)
    return counts_of_figures(ground, figures_of(ground))


def ground_of(*, query: CountsQuery, by: User | None) -> Ground:
    """Resolve a query with few reads. Raises CountsRefused as `compute` does."""
    part = part_of(query, CountsRefused)
    clusters = fix_part(part, by)
    selection = count_inputs.choose(query, census(query.scope))
    part.check_opened(rater_rows(selection.raters), CountsRefused)
    return Ground(query, selection, part, clusters)


def figures_of(ground: Ground) -> Figures:
    """Read the labels and compute the figures. Raises CountsRefused."""
    query, selection = ground.query, ground.selection
    inputs = _read(query, selection, ground.clusters)
    units_read, rated = inputs.units, inputs.rated
    if not len(inputs.counted):
        part = ground.part.name
        raise CountsRefused(f"{selection.title} has counts or scores of no continuation of the {part} part")
    if len(units_read.by) > MOST_ROWS:
        keys = join_names(query.by)
        raise CountsRefused(
            f"rows by {keys} are {len(units_read.by):,}, more than {MOST_ROWS}: choose other keys"
        )
    try:
        result = table(
            inputs.counted,
            units_read.rows,
            human=units_read.human,
            rated=rated,
            per_turns=query.per_turns,
            plan=query.plan,
            correction=query.correction,
            refusal=inputs.refusal,
        )
    except MixedLengths as error:
        raise CountsRefused(str(error)) from error
    n_rated = 0 if rated is None else int((~np.isnan(rated.values)).any(axis=1).sum())
    return Figures(result, units_read.by, inputs.people, n_rated, units_read.fakes, inputs.systems)


def counts_of_figures(ground: Ground, figures: Figures, cached: CachedFigures | None = None) -> Counts:
    """Build the table with its facts. `cached` says when its figures were computed."""
    query, selection = ground.query, ground.selection
    is_of_people = selection.kind == Rater.Kind.HUMAN
    return Counts(
        query,
        selection,
        figures.table,
        figures.by,
        _titles(selection),
        ground.part,
        figures.people,
        figures.n_rated,
        figures.fakes,
        figures.systems,
        cached,
        designs.rated_only(query.scope, [q.id for q in selection.questions]) if is_of_people else "",
    )


def open_test(*, query: CountsQuery, by: User | None, purpose: str) -> TestLook:
    """Log a look at test, with the user and the purpose, after which its counts can be computed.

    Raises CountsRefused without a purpose, or if the corpus has no split.
    """
    try:
        raters = count_inputs.choose(query, census(query.scope)).raters
    except CountsRefused:
        raters = ()  # refused later, when the counts are computed
    return log_look(
        query=query, raters=lambda: list(rater_rows(raters)), by=by, purpose=purpose, refusal=CountsRefused
    )


@dataclass(frozen=True, slots=True)
class _Inputs:
    """Counts by continuation, and people's ratings of them; `people` is the word for the raters.

    `refusal` is why a count of continuations cannot be corrected, or empty.
    """

    counted: Counted
    units: Units
    rated: Rated | None
    people: str
    systems: tuple[QuestionSystems, ...] = ()
    refusal: str = ""


def _read(query: CountsQuery, selection: Selection, clusters: frozenset[str] | None) -> _Inputs:
    """Read the labels that a query counts."""
    questions = selection.questions
    read: Any = count_inputs.marks if selection.is_turns else count_inputs.scores
    own = read(query.scope, questions, selection.raters)
    lost = failed_continuations(
        query, [rater.id for rater in selection.raters], [question.id for question in questions]
    )
    units_read = units(query, sorted(own.continuations | lost), clusters)
    mine = _voices(own.of(units_read, len(questions)), query, selection)
    theirs: list[Floats] = []
    if selection.people and query.correction != "none":
        their_answers = read(query.scope, questions, selection.people, frozenset(units_read.ids))
        heard = count_inputs.rater_voices(
            their_answers.of(units_read, len(questions)), "", selection.is_turns
        )
        theirs = [voice for voices in heard.values() for voice in voices]
    counted, rated = (
        _by_turn(units_read, selection, mine, theirs)
        if selection.is_turns
        else _by_continuation(units_read, selection, mine, theirs)
    )
    if rated is None:
        return _Inputs(counted, units_read, None, "")
    sample = rated_sample(query, selection)
    systems = systems_of(query, selection, units_read, mine, theirs, sample)
    return _Inputs(counted, units_read, rated, crowd_of(selection.people).many, systems, _refusal(sample))


def _refusal(sample: RatedSample) -> str:
    """Return why counts of continuations cannot be corrected by a sample of items, or nothing."""
    if sample.probabilities:
        return (
            "people rated items drawn with unequal probabilities, which counts of whole continuations cannot "
            "weight; the table of corrected systems does"
        )
    return sample.other_errors


def _voices(
    voices: dict[count_inputs.Voice, Floats], query: CountsQuery, selection: Selection
) -> list[list[Floats]]:
    return list(count_inputs.rater_voices(voices, query.samples, selection.is_turns).values())


def _by_turn(
    units_read: Units, selection: Selection, mine: list[list[Floats]], theirs: list[Floats]
) -> tuple[Counted, Rated | None]:
    columns = _columns(selection)
    flat = [voice for voices in mine for voice in voices]
    n = len(units_read.ids)
    silent = [np.full((len(units_read.turn_of), len(selection.questions)), np.nan)]
    values, lowest, highest = counts_of(flat or silent, units_read.turn_of, n, columns)
    counted = _counted(units_read, columns, values, lowest, highest)
    rated = rated_of(flat, theirs, units_read.turn_of, n, columns) if theirs and flat else None
    return counted, rated


def _by_continuation(
    units_read: Units, selection: Selection, mine: list[list[Floats]], theirs: list[Floats]
) -> tuple[Counted, Rated | None]:
    """Return scores of whole continuations, or counts given without turns; and people's mean ratings."""
    columns = _columns(selection)
    shape = (len(units_read.ids), len(selection.questions))
    values = _mean([_mean(voices, shape) for voices in mine], shape)
    ends = [_ends(question, units_read) for question in selection.questions]
    low, high = (np.column_stack([pair[side] for pair in ends]) for side in (0, 1))
    is_known = ~np.isnan(values)
    counted = _counted(
        units_read,
        columns,
        *(
            _summed(a, columns)
            for a in (values, np.where(is_known, values, low), np.where(is_known, values, high))
        ),
    )
    if not theirs:
        return counted, None
    truth = _summed(_mean(theirs, shape), columns)
    nothing = np.zeros(truth.shape)
    both = ~np.isnan(counted.values)
    return counted, Rated(np.where(both, truth, np.nan), nothing, nothing, nothing, nothing)


def _counted(
    units_read: Units, columns: tuple[Column, ...], values: Floats, lowest: Floats, highest: Floats
) -> Counted:
    texts = (
        np.array(texts_of_unit, dtype=str)
        for texts_of_unit in (units_read.dialogues, units_read.clusters, units_read.strata)
    )
    dialogues, clusters, strata = texts
    return Counted(
        columns, dialogues, clusters, strata, units_read.turns.astype(np.float64), values, lowest, highest
    )


def _group(question: QuestionInfo) -> str:
    """Return the group that a question is counted in: its own, or that of the behaviour it counts."""
    is_count = question.scheme.partition("@")[0] == COUNTS.key
    return question.group or (GROUPS.get(question.key, "") if is_count else "")


def _columns(selection: Selection) -> tuple[Column, ...]:
    questions = selection.questions
    groups = {question.key: _group(question) for question in questions}
    if selection.is_turns:
        return columns_of(groups, count_inputs.ungrouped_keys(questions))
    if all(question.level == "ratio" and _group(question) for question in questions):
        all_columns = columns_of(groups, count_inputs.ungrouped_keys(questions))
        return tuple(column for column in all_columns if column.kind != "any")
    return tuple(Column(question.key, "score") for question in questions)


def _ends(question: QuestionInfo, units_read: Units) -> tuple[Floats, Floats]:
    """Return the least and greatest possible answer for each continuation; infinite on open scales."""
    n = len(units_read.ids)
    if question.level == "ratio":
        most = units_read.turns.astype(np.float64) if _group(question) else np.full(n, np.inf)
        return np.zeros(n), np.full(n, float(max(question.values))) if question.values else most
    if not question.values:
        return np.full(n, -np.inf), np.full(n, np.inf)
    return np.full(n, float(min(question.values))), np.full(n, float(max(question.values)))


def _mean(several: list[Floats], shape: tuple[int, int]) -> Floats:
    """Return the mean over the known values, NaN where there is none."""
    total, n_known = np.zeros(shape), np.zeros(shape)
    for values in several:
        total += np.where(np.isnan(values), 0.0, values)
        n_known += ~np.isnan(values)
    return np.asarray(total / np.where(n_known > 0, n_known, np.nan))


def _summed(values: Floats, columns: tuple[Column, ...]) -> Floats:
    """Return the values with the columns that are sums of others filled in."""
    parts = [values[:, list(column.addends) or [at]].sum(axis=1) for at, column in enumerate(columns)]
    return np.column_stack(parts)


def _titles(selection: Selection) -> dict[str, str]:
    """Return column headings by key."""
    often = Counter(question.title for question in selection.questions)
    titles = {
        question.key: question.title if often[question.title] == 1 else f"{question.title} ({question.key})"
        for question in selection.questions
    }
    for question in selection.questions:
        if _group(question):
            titles[f"{GROUP}{_group(question)}"] = f"{_group(question)}, sum"
    return titles | {ANY: "Any of these"}


def facts(counts: Counts) -> list[str]:
    """Return sentences on the inputs of a table, and on missing values and their reasons."""
    query, result = counts.query, counts.table
    unit = "Turns per continuation" if counts.is_turns else "Mean over continuations"
    if query.per_turns and any(column.is_count for column in counts.columns):
        unit = f"Counts per {query.per_turns} turns"
    selection = counts.selection
    rater_name = (
        f"{selection.title}{' (simulated)' if selection.simulated and not selection.together else ''}"
    )
    lines = [
        f"{unit}, as {rater_name} {'mark' if selection.together else 'marks'} them."
        if counts.is_turns
        else f"{unit}, scored by {rater_name}."
    ]
    if counts.rated_only:
        lines.append(counts.rated_only)
    if query.strata:
        lines.append(
            f"Each cell is the mean over {count_text(result.n_strata, 'stratum', 'strata')} "
            f"of {query.strata}."
        )
    if excluded := query.left_out():
        lines.append(excluded["sentence"])
    if selection.left_out:
        names = join_names([question.title for question in selection.left_out], 10)
        lines.append(f"Left out, in sums too, because the rater never answered it: {names}.")
    if result.no_differences:
        lines.append(f"No differences and no distances: {result.no_differences}.")
    elif result.no_distance and counts.is_turns:
        lines.append(f"No distances: {result.no_distance}.")
    if counts.n_rated:
        if counts.systems:
            lines.append(ASSUMPTIONS)
        lines.append(
            f"Corrected by what {counts.people} said of {count_text(counts.n_rated, 'continuation')}; the "
            "prediction-powered figures hold if these were drawn at random."
        )
    return lines


# Counts of large corpora: computed by a worker and cached by query, raters and questions.

KIND = "counts"


def counts_or_job(*, query: CountsQuery, by: User | None, again: bool = False) -> Counts | Job:
    """Return a query's table, for many labels as last computed, or the job that computes it or failed.

    Raises CountsRefused as `compute` does.
    """
    ground = ground_of(query=query, by=by)
    if is_small(query.scope):
        return counts_of_figures(ground, figures_of(ground))
    cached = cached_or_job(
        kind=KIND,
        subject=_subject(ground),
        stamp=stamp_of(query.scope),
        params=_params(query),
        by=by,
        again=again,
    )
    if isinstance(cached, Job):
        return cached
    counted = set(cached.result["raters"])  # people may have joined since
    raters = (
        tuple(rater for rater in ground.selection.raters if rater.id in counted) or ground.selection.raters
    )
    ground = replace(ground, selection=replace(ground.selection, raters=raters))
    return counts_of_figures(ground, adapter(Figures).validate_json(cached.result["figures"]), cached)


def _subject(ground: Ground) -> str:
    """Return the subject of a job: a digest of the query, its rater and its questions.

    People together count as one name, so their table stays cached while more of them join.
    """
    query, selection = ground.query, ground.selection
    identity = [
        _params(query),
        PEOPLE if selection.together else selection.raters[0].id,
        [question.id for question in selection.questions],
        ground.part.split.pk if ground.part.split else None,
        ground.part.name,
    ]
    key = sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:16]
    rater = PEOPLE if selection.together else selection.name
    return f"counts of corpus {query.corpus.pk}, {key}: {rater}"[:300]


def _params(query: CountsQuery) -> dict[str, Any]:
    query_params = {
        "rater": query.rater,
        "questions": ",".join(query.questions),
        "by": ",".join(query.by),
        "strata": query.strata,
        "per_turns": query.per_turns,
        "samples": query.samples,
        "correction": query.correction,
        "part": query.part,
        "resamples": query.plan.resamples,
        "seed": query.plan.seed,
        "exclude": query.exclude,
    }
    campaign = query.campaign.pk if query.campaign else None
    return {"corpus": query.corpus.pk, "campaign": campaign, "given": query_params}


def run(job: Job, progress: Progress) -> Mapping[str, Any]:
    """Compute the figures that a job requests."""
    corpus = Corpus.objects.filter(pk=job.params["corpus"]).first()
    number = job.params["campaign"]
    campaign = Campaign.objects.select_related("corpus").filter(pk=number).first() if number else None
    if corpus is None or (number and campaign is None):
        raise JobRefused("what it counts was deleted")
    try:
        query = read(job.params["given"], corpus, campaign)
        stamp = stamp_of(query.scope)
        ground = ground_of(query=query, by=job.created_by)
        figures = figures_of(ground)
    except CountsRefused as refused:
        raise JobRefused(str(refused)) from refused
    progress(1, 1)
    raters = [rater.id for rater in ground.selection.raters]
    return {"stamp": stamp, "raters": raters, "figures": adapter(Figures).dump_json(figures).decode()}


JOB = JobKind(KIND, "Behaviour counts", run)
