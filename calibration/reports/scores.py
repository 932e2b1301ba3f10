"""Scores in people's terms: thresholds, probabilities with reliability diagrams, maps to people's scale."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

from annotation.text.display import number
from calibration.ratings.definitions import Definition
from calibration.ratings.ratings import SubjectData
from calibration.reports.charts import Chart, Point
from calibration.reports.figures import JUDGE, crowd, figures, label, worded
from calibration.reports.results import (
    Figure,
    ScoreBin,
    ScoreMap,
    ScoreMarks,
    ScoreProbabilities,
    Scores,
    recorded,
)
from calibration.reports.snapshot import Snapshot
from calibration.reports.tables import CsvLine, PageParams, Row, Section, Switch, Table, View, tabulate
from calibration.reports.wording import counted
from calibration.statistics.core.engine import Result
from calibration.statistics.core.ratings import RatingError, Ratings
from calibration.statistics.score_calibration import FOLDS
from calibration.statistics.scores import (
    ERRORS,
    MAPS,
    MARKS,
    RULES,
    Mapped,
    Marks,
    Probabilities,
    of_scores,
)

RULE = "rule"
MOST_CHARTS = 6
FEW = " Some figures rest on fewer than 30 items with the rarer answer, so their intervals may be too narrow."
HEADINGS = {
    "balanced_accuracy": "Balanced acc.",
    "mae": "MAE",
    "rmse": "RMSE",
    "mean_error": "Mean error",
}
METHODS = {"isotonic": "isotonic", "platt": "Platt"}
OF_PROBABILITIES = {
    "expected_calibration_error": "ECE",
    "brier": "Brier",
    "reliability": "Reliability",
    "resolution": "Resolution",
    "uncertainty": "Uncertainty",
    "within": "Within bins",
}
T = TypeVar("T")
Scored = TypeVar("Scored", ScoreMarks, ScoreProbabilities, ScoreMap)


def scores(
    subjects: Sequence[SubjectData], learning: Sequence[SubjectData], definition: Definition
) -> Scores | None:
    """Return thresholds, probabilities and maps of scores; None if no question has people and scores.

    `learning` are dev's answers where test is shown: then nothing is learned on the part shown. If they are
    empty, figures are cross-fitted by cluster. Questions that cannot be read as ratings are left out; the
    question itself gives the reason.
    """
    dev = {data.subject.question.ref: data for data in learning}
    records = [
        record
        for data in subjects
        if data.off_scale
        for record in _scores_of(data, dev.get(data.subject.question.ref), definition)
    ]
    if not records:
        return None
    marks = tuple(record for record in records if isinstance(record, ScoreMarks))
    probabilities = tuple(record for record in records if isinstance(record, ScoreProbabilities))
    return Scores(
        bool(dev),
        FOLDS,
        marks,
        probabilities,
        tuple(record for record in records if isinstance(record, ScoreMap)),
    )


def _scores_of(
    data: SubjectData, dev: SubjectData | None, definition: Definition
) -> Iterator[ScoreMarks | ScoreProbabilities | ScoreMap]:
    """Yield the results of a question's scores; nothing is learned from unreadable ratings of dev."""
    question, ratings = data.subject.question, _ratings(data, definition)
    if ratings is None:
        return
    learning = (_ratings(dev, definition) or ratings.take([])) if dev is not None else None
    ends = {name: ends for name in ratings.raters if (ends := _ends(name, data.ends)) is not None}
    kinds = dict(zip(ratings.raters, ratings.kinds, strict=True))

    def figures_of(results: Sequence[Result], rater: str) -> tuple[Figure, ...]:
        return tuple(Figure.of(result, raters=(rater,), question=question.title) for result in results)

    def record(record_type: type[T], of: Mapped | Marks | Probabilities, **values: Any) -> T:
        about = {"ref": question.ref, "title": question.title, "kind": kinds.get(of.rater, "")}
        return recorded(record_type, of, figures=figures_of(of.results, of.rater), **about, **values)

    computed = of_scores(ratings, learning, ends=ends, plan=definition.plan)
    for marks in computed.marks:
        threshold = marks.threshold
        yield record(
            ScoreMarks,
            marks,
            threshold=threshold.value if threshold else None,
            rising=threshold.rising if threshold else True,
        )
    for probabilities in computed.probabilities:
        bins = (
            recorded(ScoreBin, bin_, observed=figures_of((bin_.observed,), probabilities.rater)[0])
            for bin_ in (probabilities.calibration.curve if probabilities.calibration else ())
        )
        yield record(ScoreProbabilities, probabilities, bins=tuple(bins))
    for mapped in computed.mapped:
        yield record(ScoreMap, mapped)


def _ends(name: str, ends: Mapping[str, tuple[float, float]]) -> tuple[float, float] | None:
    """Return the ends of a rater's scale; repeated answers may be separate raters, called `name#0`."""
    return ends.get(name) or ends.get(name.rpartition("#")[0])


def _ratings(data: SubjectData, definition: Definition) -> Ratings | None:
    try:
        return data.ratings(definition.samples)
    except RatingError:
        return None


def views(result: Snapshot, params: PageParams | None = None) -> list[View]:
    """Return the tables with rows; thresholds by the selected rule, in files by each rule."""
    scores = result.scores
    if scores is None:
        return []
    out = []
    selected = _rule(params)
    for rule in RULES:
        members = [marks for marks in scores.marks if marks.rule == rule]
        if members and selected in (None, rule):
            switches = () if selected is None else _switches(selected)
            out.append(View(_thresholds(members, rule), _of_marks(scores, members, result), switches))
    if scores.probabilities:
        out.append(View(_probabilities(scores.probabilities), _of_probabilities(scores)))
    if scores.maps:
        out.append(View(_maps(scores.maps), _of_maps(scores, result)))
    return out


def _rule(params: PageParams | None) -> str | None:
    if params is None:
        return None
    rule = params.get(RULE)
    return rule if rule in RULES else next(iter(RULES))


def _switches(selected: str) -> tuple[Switch, ...]:
    return tuple(Switch(rule.name, {RULE: key}, key == selected) for key, rule in RULES.items())


def _thresholds(members: Sequence[ScoreMarks], rule: str) -> Table:
    columns = [(key, HEADINGS.get(key) or worded(key).heading) for key in MARKS]
    row_names = [_mark(marks) for marks in members]
    return _table(f"thresholds-{rule}", f"Thresholds by {RULES[rule].name}", columns, members, row_names)


def _mark(marks: ScoreMarks) -> str:
    """Return `gpt-4 ≥ 3.5 (3 to 3.5 over folds)`."""
    if marks.threshold is None:
        return marks.rater
    sign = "≥" if marks.rising else "≤"
    span = ""
    if marks.least is not None and marks.most is not None and marks.least < marks.most:
        span = f" ({_short(marks.least)} to {_short(marks.most)} over folds)"
    return f"{marks.rater} {sign} {_short(marks.threshold)}{span}"


def _short(value: float) -> str:
    return f"{value:.4g}".replace("-", "−")


def _probabilities(members: Sequence[ScoreProbabilities]) -> Table:
    row_names = [f"{member.rater}, {METHODS[member.method]}" for member in members]
    columns = list(OF_PROBABILITIES.items())
    return _table("probabilities", "Scores as probabilities", columns, members, row_names)


def _maps(members: Sequence[ScoreMap]) -> Table:
    row_names = [f"{member.rater}, {MAPS[member.map]}" for member in members]
    columns = [(name, HEADINGS[name]) for name in ERRORS]
    return _table("scale_maps", "Scores on people’s scale", columns, members, row_names)


def _table(
    key: str,
    title: str,
    columns: list[tuple[str, str]],
    members: Sequence[Scored],
    row_names: Sequence[str],
) -> Table:
    rows: list[Row] = []
    for member, text in zip(members, row_names, strict=True):
        cells: list[Figure] = _figures(member, [name for name, _ in columns])
        first = not rows or rows[-1].question != member.title
        rows.append(Row(member.title, text, cells[0].n_items, cells[0].n_clusters, [*cells], first=first))
    return tabulate(key, title, columns, rows)


def _kept_apart(scores: Scores) -> str:
    if scores.held_out:
        return "Learned on the dev part of this study and shown on test."
    return (
        f"Cross-fitted over {scores.folds} folds of dialogues: each fold is scored with what the other folds "
        "teach, so no dialogue is scored with what was learned from it."
    )


def _of_marks(scores: Scores, members: Sequence[ScoreMarks], result: Snapshot) -> tuple[str, ...]:
    people = crowd(figures(result)).many
    ties = max(marks.n_ties for marks in members)
    ties_note = f" Items without a majority are left out (up to {counted(ties, 'item')})." if ties else ""
    threshold_note = (
        "Use the threshold in the table from now on"
        if scores.held_out
        else "The threshold in the table is learned on all dialogues: use it on other dialogues"
    )
    return (
        f"The reference is the majority of {people}.{ties_note}",
        f"{_kept_apart(scores)} {threshold_note}.",
        "Among equally good thresholds, the table shows the one that marks most nearly as many items as "
        f"{people} do, then the lowest.{FEW if _few(members) else ''}",
    )


def _few(members: Sequence[ScoreMarks]) -> bool:
    return any("few_events" in figure.flags for member in members for figure in member.figures)


def _of_probabilities(scores: Scores) -> tuple[str, ...]:
    return (
        f"{_kept_apart(scores)} ECE: mean distance between predicted and observed shares over ten bins of "
        "equal width; with few items it is too large.",
        "Brier score = reliability − resolution + uncertainty + within bins. Lower reliability and higher "
        "resolution are better; uncertainty depends on the question alone.",
    )


def _of_maps(scores: Scores, result: Snapshot) -> tuple[str, ...]:
    people = crowd(figures(result)).own
    return (
        f"Errors are differences from the {people} mean, in units of their scale. {_kept_apart(scores)}",
        f"A map is useful if its error is below that of “{MAPS['mean']}”, which ignores the score.",
    )


def charts(result: Snapshot) -> list[Chart]:
    """Return the reliability diagrams: of judges first, then of metrics, limited to a few."""
    scores = result.scores
    if scores is None:
        return []
    pairs: dict[tuple[str, str], list[ScoreProbabilities]] = {}
    for member in sorted(scores.probabilities, key=lambda p: p.kind != JUDGE):
        if member.bins:
            pairs.setdefault((member.ref, member.rater), []).append(member)
    diagrams = list(pairs.values())[:MOST_CHARTS]
    n_more = len(pairs) - len(diagrams)
    more = (
        f" {counted(n_more, 'more diagram')} {'is' if n_more == 1 else 'are'} not drawn; the bins are in the "
        "JSON and CSV."
        if n_more
        else ""
    )
    headings = {question.data.ref: heading for heading, question in label(figures(result))}
    return [
        _diagram(number, headings.get(members[0].ref, members[0].title), members, scores, more)
        for number, members in enumerate(diagrams, 1)
    ]


def _diagram(
    place: int, heading: str, members: Sequence[ScoreProbabilities], scores: Scores, more: str
) -> Chart:
    points = tuple(_point(member, place) for member in members for place in range(len(member.bins)))
    errors = "; ".join(
        f"ECE {METHODS[member.method]} {number(member.figures[0].value, 3)}" for member in members
    )
    how = "learned on dev" if scores.held_out else "cross-fitted"
    return Chart(
        f"reliability-{place}",
        f"Reliability of {members[0].rater} on {heading}",
        "Share that people affirm",
        points,
        caption=f"{errors}. Each point is a bin of items (the larger, the more), {how}; on the dashed line "
        "probabilities are right."
        f"{more}",
        x_axis="Probability read from the score",
        diagonal=True,
    )


def _point(member: ScoreProbabilities, place: int) -> Point:
    own = member.bins[place]
    entry = own.observed
    reason = "" if entry.ok else entry.reason
    return Point(
        member.title,
        METHODS[member.method],
        entry.value,
        entry.low,
        entry.high,
        own.n,
        entry.n_clusters,
        reason,
        own.predicted,
    )


def lines(result: Snapshot) -> Iterator[CsvLine]:
    """Yield every figure, named by its table, and each bin of the diagrams."""
    scores = result.scores
    if scores is None:
        return
    for marks in scores.marks:
        for figure in _figures(marks, MARKS):
            yield CsvLine(marks.ref, marks.title, f"threshold_{marks.rule}_{figure.name}", figure)
    for member in scores.probabilities:
        for figure in _figures(member, tuple(OF_PROBABILITIES)):
            yield CsvLine(member.ref, member.title, f"{member.method}_{figure.name}", figure)
        for bin_ in member.bins:
            name = f"{member.method}_bin_{bin_.low:g}_{bin_.high:g}_at_{bin_.predicted:.4g}"
            yield CsvLine(member.ref, member.title, name, bin_.observed)
    for mapped in scores.maps:
        for figure in _figures(mapped, ERRORS):
            yield CsvLine(mapped.ref, mapped.title, f"map_{mapped.map}_{figure.name}", figure)


def _figures(member: Scored, names: Sequence[str]) -> list[Figure]:
    """Return the figures of a score; if it has none, one per name with the reason."""
    return list(member.figures) or [
        Figure(name, status="insufficient", reason=member.reason, raters=(member.rater,)) for name in names
    ]


SCORES = Section("scores", "calibrated", views, lines, charts)
