"""A report as it is kept: typed, so that tables, sentences, charts, pages and files read the same fields.

A report's row holds it as JSON (`written`), nothing rounded; `snapshot_of` reads it back into these types.
FORMAT is raised whenever reports compute or record something else, so that nothing is taken for what it is
not: a report in a format that is not READABLE is told as one of an older format.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from calibration.errors import OlderFormat
from calibration.reading.answered import Answered
from calibration.reading.calls import Calls
from calibration.reading.definitions import Definition, parse
from calibration.reading.scale_maps import ScaleMap
from calibration.reading.uncompared import Uncompared
from calibration.reports.levels import LevelTable
from calibration.statistics import Result
from calibration.statistics.cocoeval import Policy

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from calibration.models import Report

FORMAT = 5
READABLE = frozenset({3, 4, 5})
"""Format 3 had no tables of tags, format 4 none of the other sections."""

READ = "_snapshot"
"""Where a report's row keeps what was read from it."""


@dataclass(frozen=True, slots=True)
class Marks:
    """How a table sets a figure off: by a sign, bold, underlined. `told` says in words what these mean."""

    sign: Literal["", "*", "†"] = ""
    bold: bool = False
    underlined: bool = False
    told: str = ""


@dataclass(frozen=True)
class Figure(Result):
    """A result with the raters it compares (all of them, or the pair) and the question they answered.

    `digits` and `end_digits` are the decimals that pages and printed files show of it and of its interval.
    `percent`: it is shown in percent. `bare`: it has no interval by its nature. `marks` is how its table sets
    it off, None in tables that mark nothing.
    """

    raters: tuple[str, ...] = ()
    question: str = ""
    digits: ClassVar[int] = 3
    end_digits: ClassVar[int] = 2
    percent: ClassVar[bool] = False
    bare: ClassVar[bool] = False
    marks: ClassVar[Marks | None] = None

    @property
    def point(self) -> float:
        """The value of a figure that has one. Raises ValueError for one without: ask `ok` first."""
        if self.value is None:
            raise ValueError(f"{self.name} has no value: {self.reason}")
        return self.value

    @classmethod
    def of(cls, result: Result, *, raters: Sequence[str], question: str, reason: str = "") -> Figure:
        """Return a result as a report keeps it, its reason in the reader's words where these are given."""
        kept = {name: getattr(result, name) for name in Result.__dataclass_fields__}
        kept["reason"] = reason or result.reason
        return cls(**kept, raters=tuple(raters), question=question)


@dataclass(frozen=True, slots=True)
class Answerer:
    """A rater of one question: how many items it answered and left out, and what it said on average.

    `mean` is the share of the positive class for binary questions, None for categories. `constant`: one value
    throughout, of two or more.
    """

    name: str
    kind: str
    identified: bool
    on_scale: bool
    n: int
    constant: bool
    mean: float | None
    missing: int
    samples: int
    simulated: bool


@dataclass(frozen=True, slots=True)
class Link:
    """Another question whose answers were read as answers to this one, through a map of the scales."""

    question: str
    map: dict[str, Any]

    @property
    def scales(self) -> ScaleMap:
        """How the two scales meet."""
        return ScaleMap.parse(self.map)


@dataclass(frozen=True, slots=True)
class Question:
    """All that was computed on one question; `problem` says why nothing was, where that is so.

    `pooled` marks the tags of a scheme read as one. `repeated` counts answers that repeat what the same rater
    said in another campaign. `f_intervals` are the panel's intraclass correlations with F intervals.
    """

    ref: str
    key: str
    title: str
    wording: str
    scheme: str
    scheme_title: str
    item_kind: str
    level: str
    values: list[Any]
    group: str
    pooled: bool
    links: tuple[Link, ...]
    repeated: int
    problem: str = ""
    raters: tuple[Answerer, ...] = ()
    n_items: int = 0
    n_clusters: int = 0
    panel: tuple[Figure, ...] = ()
    pairs: tuple[Figure, ...] = ()
    replacement: tuple[Figure, ...] = ()
    gaps: tuple[Figure, ...] = ()
    f_intervals: tuple[Figure, ...] = ()

    @property
    def figures(self) -> tuple[Figure, ...]:
        """All figures: of the panel, of pairs, of the alternative annotator test, of gaps."""
        return self.panel + self.pairs + self.replacement + self.gaps


@dataclass(frozen=True, slots=True)
class TagRow:
    """A behaviour of table 7: marked turns, precision, recall, MCC and kappa with people, and among them."""

    key: str
    title: str
    detected_by_people: Figure
    detected_by_judge: Figure
    judge: tuple[Figure, ...]
    people: tuple[Figure, ...]


@dataclass(frozen=True, slots=True)
class TagTable:
    """Table 7 of one judge on the tags of a scheme, by one policy; the last row joins all behaviours.

    `n_items` turns were answered by all of its raters for every behaviour; `n_dropped` by some of them only.
    `unanswered` are the tags of the scheme that the judge was not asked, by title.
    """

    scheme: str
    scheme_title: str
    judge: str
    people: tuple[str, ...]
    unanswered: tuple[str, ...]
    policy: Policy
    n_items: int
    n_dropped: int
    rows: tuple[TagRow, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class PrevalenceRow:
    """How often a judge says yes to a question, and corrected by people who answered a part of its items.

    `figures` stand in the order of `corrected_share.FIGURES`. `n_divided` clusters hold items of both parts.
    """

    ref: str
    title: str
    item_kind: str
    judge: str
    people: tuple[str, ...]
    figures: tuple[Figure, ...]
    n_labelled: int
    n_unlabelled: int
    n_divided: int


@dataclass(frozen=True, slots=True)
class ScoreMarks:
    """Marks that a threshold makes of a score, against people's majority; `reason` where there are none.

    An item is marked from `threshold` up, or where `rising` is False from it down. `least` and `most` are the
    lowest and highest threshold over the folds, None where it was learned on dev. `n_ties` items were left
    out because people tie on them.
    """

    ref: str
    title: str
    rater: str
    kind: str
    rule: str
    threshold: float | None
    rising: bool
    least: float | None
    most: float | None
    n_learned: int
    n_ties: int
    figures: tuple[Figure, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class ScoreBin:
    """A bin of a reliability diagram: its edges, items, mean probability, and share that people affirm."""

    low: float
    high: float
    n: int
    predicted: float
    observed: Figure


@dataclass(frozen=True, slots=True)
class ScoreProbabilities:
    """A score as probabilities by one method: figures, and the bins of its diagram; else a `reason`."""

    ref: str
    title: str
    rater: str
    kind: str
    method: str
    n_learned: int
    figures: tuple[Figure, ...]
    bins: tuple[ScoreBin, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class ScoreMap:
    """A score on people's scale by one map: its errors; `n_learned` is 0 where nothing was learned."""

    ref: str
    title: str
    rater: str
    kind: str
    map: str
    n_learned: int
    figures: tuple[Figure, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Scores:
    """Judges' and metrics' scores in people's terms.

    `held_out`: it was learned on dev and is shown on test; else it is cross-fitted over `folds`.
    """

    held_out: bool
    folds: int
    marks: tuple[ScoreMarks, ...]
    probabilities: tuple[ScoreProbabilities, ...]
    maps: tuple[ScoreMap, ...]


@dataclass(frozen=True, slots=True)
class Totals:
    """What was read: each item, cluster and rater counted once."""

    labels: int
    missing: int
    items: int
    clusters: int
    raters: int


@dataclass(frozen=True, slots=True)
class SplitUsed:
    """The split whose part a report shows."""

    name: str
    seed: int
    test_share: float


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A report: what it was asked, what it was computed from, and everything it found."""

    format: int
    study: str
    corpus: str
    campaign: str | None
    occasions: tuple[str, ...]
    definition: Definition
    part: str
    split: SplitUsed | None
    counts: Totals
    calls: tuple[Calls, ...]
    answered: tuple[Answered, ...]
    uncompared: tuple[Uncompared, ...]
    questions: tuple[Question, ...]
    tags: tuple[TagTable, ...] = ()
    scores: Scores | None = None
    levels: tuple[LevelTable, ...] = ()
    prevalence: tuple[PrevalenceRow, ...] = ()


@cache
def _adapter() -> TypeAdapter[Snapshot]:
    from pydantic import TypeAdapter  # a tenth of a second, and most requests show no report

    return TypeAdapter(Snapshot)


def written(snapshot: Snapshot) -> dict[str, Any]:
    """Return a snapshot as JSON-ready values, its definition as definitions are written."""
    kept: dict[str, Any] = _adapter().dump_python(snapshot, mode="json")
    return kept | {"definition": snapshot.definition.as_dict()}


def is_readable(report: Report) -> bool:
    """Whether a report was kept in a format that this version shows."""
    return report.result.get("format") in READABLE


def snapshot_of(report: Report) -> Snapshot:
    """Return what a report's row holds, read once per row: a page and its parts ask for it several times.

    Raises OlderFormat where it was kept in a format of before.
    """
    found: Snapshot | None = vars(report).get(READ)
    if found is None:
        found = vars(report)[READ] = _read(report.result, is_readable(report))
    return found


def _read(kept: dict[str, Any], readable: bool) -> Snapshot:
    if not readable:
        raise OlderFormat(
            f"was kept in format {kept.get('format')}, which this version does not show: compute it again "
            "or download its JSON as it was kept"
        )
    return _adapter().validate_python(kept | {"definition": parse(kept["definition"])})
