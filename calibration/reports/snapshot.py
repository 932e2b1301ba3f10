"""A report as it is kept: typed, so that tables, sentences, charts, pages and files read the same fields.

A report's row holds it as JSON (`to_json`), nothing rounded; `snapshot_of` reads it back into these types.
FORMAT is raised whenever reports compute or record something else, so that nothing is taken for what it is
not: a report in a format that is not READABLE is told as one of an older format.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from calibration.errors import OlderFormat
from calibration.ratings.calls import Calls
from calibration.ratings.definitions import Definition, ScaleMap, parse
from calibration.ratings.ratings import Answered
from calibration.ratings.votes import Uncompared
from calibration.reports.contents import (
    BoundsRow,
    ComparedJudges,
    CoverageTable,
    EvidenceTable,
    Figure,
    Floor,
    KeyTable,
    LevelTable,
    PanelSummary,
    PreferenceTable,
    QuestionRaters,
    Scores,
)
from calibration.statistics.cocoeval import Policy
from calibration.statistics.replacement import StandIn

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from calibration.models import Report

FORMAT = 10
READABLE = frozenset({3, 4, 5, 6, 7, 8, 9, 10})
"""Format 3 had no tables of tags, format 4 none of the other sections, format 5 no panels and baselines,
format 6 no bounds over unanswered items, format 7 neither baselines at levels nor the mode in which judges
were asked, format 8 neither what answers point at nor preferences, format 9 no verdicts on standing in for a
person and no number of the items that people answered."""

READ = "_snapshot"
"""Where a report's row keeps what was read from it."""


@dataclass(frozen=True, slots=True)
class Answerer:
    """A rater of one question: how many items it answered and left out, and what it said on average.

    `mean` is the share of the positive class for binary questions, None for categories. `constant`: one value
    throughout, of two or more. `n_of_people`: how many of the items that people rated it answered.
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
    n_of_people: int = 0


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
    said in another campaign. `f_intervals` are the panel's intraclass correlations with F intervals,
    `stand_ins` whether each judge may stand in for a person, `people_items` how many items people rated.
    `pairs_left_out` says which pairs of a crowd were not compared.
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
    stand_ins: tuple[StandIn, ...] = ()
    people_items: int = 0
    pairs_left_out: str = ""

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
    levels: tuple[LevelTable, ...] = ()
    prevalence: tuple[PrevalenceRow, ...] = ()
    raters: tuple[QuestionRaters, ...] = ()
    coverage: tuple[CoverageTable, ...] = ()
    compared: tuple[ComparedJudges, ...] = ()
    keys: tuple[KeyTable, ...] = ()
    scores: Scores | None = None
    panels: tuple[PanelSummary, ...] = ()
    floors: tuple[Floor, ...] = ()
    bounds: tuple[BoundsRow, ...] = ()
    left_out: tuple[str, ...] = ()
    evidence: tuple[EvidenceTable, ...] = ()
    preferences: tuple[PreferenceTable, ...] = ()
    fake_systems: tuple[str, ...] = ()


@cache
def _adapter() -> TypeAdapter[Snapshot]:
    from pydantic import TypeAdapter  # a tenth of a second, and most requests show no report

    return TypeAdapter(Snapshot)


def to_json(snapshot: Snapshot) -> dict[str, Any]:
    """Convert a snapshot to JSON-ready values, its definition as definitions are written."""
    fields: dict[str, Any] = _adapter().dump_python(snapshot, mode="json")
    return fields | {"definition": snapshot.definition.as_dict()}


def is_readable(report: Report) -> bool:
    """Whether a report was kept in a format that this version shows."""
    return report.result.get("format") in READABLE


def snapshot_of(report: Report) -> Snapshot:
    """Read the snapshot of a report's row, once per row: a page and its parts ask for it several times.

    Raises OlderFormat where it was kept in a format of before.
    """
    snapshot: Snapshot | None = vars(report).get(READ)
    if snapshot is None:
        snapshot = vars(report)[READ] = _read(report.result, is_readable(report))
    return snapshot


def _read(stored: dict[str, Any], readable: bool) -> Snapshot:
    if not readable:
        raise OlderFormat(
            f"was kept in format {stored.get('format')}, which this version does not show: compute it again "
            "or download its JSON as it was kept"
        )
    return _adapter().validate_python(stored | {"definition": parse(stored["definition"])})
