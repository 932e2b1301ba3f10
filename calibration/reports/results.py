"""Results of a report as they are stored: figures and the rows of its tables, not rounded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, TypeVar

from annotation.text.display import number, percent
from calibration.ratings.definitions import Level, ScaleMap
from calibration.statistics.cocoeval import Policy
from calibration.statistics.core.engine import Result
from calibration.statistics.evidence import Asks
from calibration.statistics.level_correlations import LevelEntry
from calibration.statistics.panels import Member
from calibration.statistics.repeats import How
from calibration.statistics.replacement import StandIn
from calibration.statistics.unanswered import NAME as BOUNDS
from calibration.statistics.verdicts import State, Step

# A stored figure: a result, with the raters that it compares and their question.


@dataclass(frozen=True, slots=True)
class Marks:
    """Typographic marks of a figure in a table: a sign, bold, underlined. `explanation` gives the meaning."""

    sign: Literal["", "*", "†"] = ""
    bold: bool = False
    underlined: bool = False
    explanation: str = ""


@dataclass(frozen=True)
class Figure(Result):
    """A result with the raters it compares (all of them, or the pair) and the question they answered.

    `digits` and `end_digits` are the decimals that pages and printed files show of it and of its interval.
    `percent`: it is shown in percent. `bare`: it has no interval by its nature, as a p-value. `marks` are its
    table's marks, None in tables that mark nothing.
    """

    raters: tuple[str, ...] = ()
    question: str = ""
    digits: ClassVar[int] = 3
    end_digits: ClassVar[int] = 2
    percent: ClassVar[bool] = False
    bare: ClassVar[bool] = False
    marks: ClassVar[Marks | None] = None

    @property
    def text(self) -> str:
        """The value, formatted; a dash where there is none."""
        return percent(self.value, 1) if self.percent else number(self.value, self.digits)

    @property
    def bounded(self) -> bool:
        """Whether `low` and `high` are bounds over unanswered items instead of an interval."""
        return self.name.startswith(BOUNDS)

    @property
    def point(self) -> float:
        """Value of a figure that has one. Raises ValueError otherwise: check `ok` first."""
        if self.value is None:
            raise ValueError(f"{self.name} has no value: {self.reason}")
        return self.value

    @classmethod
    def of(cls, result: Result, *, raters: Sequence[str], question: str, reason: str = "") -> Figure:
        """Convert a result to a stored figure, with `reason` in the reader's words if given."""
        values = {name: getattr(result, name) for name in Result.__dataclass_fields__}
        values["reason"] = reason or result.reason
        return cls(**values, raters=tuple(raters), question=question)


T = TypeVar("T")


def recorded(kind: type[T], source: object, /, **values: Any) -> T:
    """Build a record from a computed source: fields not named come from the source, if it has them."""
    names = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    own = {name: getattr(source, name) for name in names if name not in values and hasattr(source, name)}
    return kind(**own, **values)


# Stored results about the agreement of raters on turns and words as evidence.


@dataclass(frozen=True, slots=True)
class EvidenceRow:
    """People with each other ('' as the name), or another rater with people."""

    name: str
    kind: str
    raters: tuple[str, ...]
    figures: tuple[Figure, ...]


@dataclass(frozen=True, slots=True)
class EvidenceTable:
    """A question whose answers may point at turns or words: `n_answers` of them do, or could have.

    `n_pointed` of these point at something; no rows if only one rater answered.
    """

    ref: str
    title: str
    item_kind: str
    asks: Asks
    n_answers: int
    n_pointed: int
    rows: tuple[EvidenceRow, ...]


# Stored comparisons of judges with each other and of raters with an answer key.


@dataclass(frozen=True, slots=True)
class ComparedPair:
    """Two judges or metrics on one statistic: both values, their difference, p-values.

    `names` are their names in this comparison, `samples` how repeated answers were read (`first` or `mean`,
    empty for a single answer). `reference` is `people` or the name of a key. `n_dropped` items with a
    reference were answered by only one of the two.
    """

    raters: tuple[str, str]
    samples: tuple[str, str]
    names: tuple[str, str]
    statistic: str
    reference: str
    first: Figure
    second: Figure
    difference: Figure
    p: Figure
    p_holm: Figure
    n_dropped: int


@dataclass(frozen=True, slots=True)
class ComparedJudges:
    """All pairs of judges and metrics of a question; `left_out` pairs of metrics are not compared."""

    ref: str
    title: str
    pairs: tuple[ComparedPair, ...]
    left_out: int


@dataclass(frozen=True, slots=True)
class KeyRow:
    """A rater or a baseline against a key: accuracy, balanced accuracy, kappa and MCC.

    `difference` is the accuracy minus that of the baseline `best`, which is `best_accuracy`. `matrix` counts
    items by the key's value (rows) and the rater's.
    """

    rater: str
    kind: str
    n: int
    missing: int
    figures: tuple[Figure, ...]
    difference: Figure | None
    best: str
    best_accuracy: float | None
    matrix: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class KeyTable:
    """The raters of a question against one of its keys; `reason` says why there is no table."""

    ref: str
    title: str
    level: str
    key: str
    values: tuple[str, ...]
    rows: tuple[KeyRow, ...]
    baselines: tuple[KeyRow, ...]
    reason: str


# Stored correlations at turn, dialogue and system level: one table per reference.


@dataclass(frozen=True, slots=True)
class SystemDot:
    """A system's scores: by the reference (x) and by the row (y), with intervals over dialogues."""

    system: str
    x: float | None
    x_low: float | None
    x_high: float | None
    y: float | None
    y_low: float | None
    y_high: float | None


@dataclass(frozen=True, slots=True)
class LevelRow:
    """A rater beside the reference: the kind of item it answered about, and the shares it leaves out.

    `heading` is the heading of the row, `group` the group within which the best is marked. `samples` says how
    repeated answers were read, where that differs between rows.
    """

    name: str
    kind: str
    scores: str
    samples: str
    heading: str
    group: str
    cells: tuple[LevelEntry, ...]
    turns_left_out: int
    turns: int
    continuations_left_out: int
    continuations: int
    dots: tuple[SystemDot, ...] = ()


@dataclass(frozen=True, slots=True)
class LevelTable:
    """All rows beside one reference, on static continuations, on a dialogue's own turns, or on all.

    `about` is the kind of item that the reference answered about. `made` is static, rollout, or empty if the
    table has all continuations. Without rows, `reason` says why.
    """

    question: str
    title: str
    scheme_title: str
    about: str
    reference: str
    people: int
    made: str
    levels: tuple[Level, ...]
    n_turns: int
    n_continuations: int
    n_dialogues: int
    n_systems: int
    rows: tuple[LevelRow, ...] = ()
    warnings: tuple[str, ...] = ()
    reason: str = ""


# Stored results about panels of judges, and about raters beside the baselines.


@dataclass(frozen=True, slots=True)
class PanelSummary:
    """A panel on a question: its rule, members, required number of answers, and outcome by items.

    `basis` is the part shown where weights were learned (always on dev), '' for other rules. `reason` says
    why the panel has no answer at all.
    """

    ref: str
    title: str
    name: str
    rule: str
    members: tuple[Member, ...]
    least: int
    n_answered: int
    n_ties: int
    n_short: int
    basis: str
    reason: str


@dataclass(frozen=True, slots=True)
class FloorRow:
    """A judge, a panel or a baseline beside people; `told` is the value that a baseline always gives."""

    name: str
    kind: str
    told: str
    figures: tuple[Figure, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Floor:
    """A question's judges and panels above baselines `learned` on `dev`, or on `others`: other clusters."""

    ref: str
    title: str
    learned: str
    rows: tuple[FloorRow, ...]


# Stored biases of judges.


@dataclass(frozen=True, slots=True)
class BiasRow:
    """One check of a judge on a question.

    `check` is a key of `biases.CHECKS`, `unit` the unit of the effect in words. `beside` is another figure of
    the same check, without a test. `people` are controls: people's own effect, or the lowest and the highest
    person's. `sentence` states the effect if it is clear, else it is empty.
    """

    rater: str
    check: str
    unit: str
    effect: Figure
    p: Figure | None = None
    p_holm: Figure | None = None
    beside: Figure | None = None
    people: tuple[Figure, ...] = ()
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class JudgeBiases:
    """The checks of all judges of a question."""

    ref: str
    title: str
    item_kind: str
    rows: tuple[BiasRow, ...]


# Stored figures of systems: by a judge alone, and as people would have rated them.


@dataclass(frozen=True, slots=True)
class SystemRow:
    """A system under a condition: its figures, in the order of `corrected_systems.FIGURES`.

    They are shares of `category` if it is not empty, of the positive class for binary questions, else means.
    """

    system: str
    category: str
    n_items: int
    n_rated: int
    figures: tuple[Figure, ...]


@dataclass(frozen=True, slots=True)
class SystemDifference:
    """The first system less the second: by the judge alone and corrected, with p-values of the latter."""

    first: str
    second: str
    category: str
    judge_alone: Figure
    corrected: Figure
    p: Figure | None
    p_holm: Figure | None


@dataclass(frozen=True, slots=True)
class SystemTable:
    """The systems of a question by one judge, corrected with people's answers to `n_rated` of its items.

    `no_pairs` is why no systems are compared, or empty.
    """

    ref: str
    title: str
    item_kind: str
    level: str
    judge: str
    n_items: int
    n_rated: int
    rows: tuple[SystemRow, ...]
    pairs: tuple[SystemDifference, ...]
    no_pairs: str


# Stored preferences: tables of systems, meetings, positions and agreement, as computed.


@dataclass(frozen=True, slots=True)
class PreferenceRow:
    """A line of a table: its subject, and a figure or None per column."""

    about: str
    n_items: int
    n_clusters: int
    cells: tuple[Figure | None, ...]


@dataclass(frozen=True, slots=True)
class PreferenceSheet:
    """One table. `of` names the voters it is about, '' for all; `columns` are (name, heading)."""

    key: str
    title: str
    of: str
    first: str
    note: str
    columns: tuple[tuple[str, str], ...]
    rows: tuple[PreferenceRow, ...]


@dataclass(frozen=True, slots=True)
class PreferenceTable:
    """All results of one question that compares responses; `problem` says why there are none.

    `caveat` says what the figures with people are not, '' if they are of all items.
    """

    ref: str
    title: str
    item_kind: str
    voters: tuple[str, ...]
    sheets: tuple[PreferenceSheet, ...]
    problem: str = ""
    caveat: str = ""


# Stored results about each rater of a question: its ratings, agreement, and repeated answers.


@dataclass(frozen=True, slots=True)
class RaterLine:
    """A rater: its figures, its group of raters joined by items (0: none), its use of each value."""

    name: str
    kind: str
    simulated: bool
    group: int
    figures: tuple[Result, ...]
    shares: dict[str, float]

    def figure(self, name: str) -> Result | None:
        """Return a figure by its name, None if it does not apply."""
        return next((figure for figure in self.figures if figure.name == name), None)


@dataclass(frozen=True, slots=True)
class RepeatLine:
    """A rater's repeated answers: `n_answers` samples of each item, or two occasions; and its figures."""

    name: str
    kind: str
    how: How
    n_answers: int
    figures: tuple[Result, ...]

    def figure(self, name: str) -> Result | None:
        """Return a figure by its name, None if it does not apply."""
        return next((figure for figure in self.figures if figure.name == name), None)


@dataclass(frozen=True, slots=True)
class QuestionRaters:
    """The raters of a question, identified by its reference; `reason` says why none is described.

    `statistic` is that of the agreement with the rest. `groups` names the raters joined by items, if there
    are several groups; `through_judges`: people are joined by judges alone. `over` is the mean agreement of
    pairs of people with an interval over people.
    """

    ref: str
    statistic: str
    rows: tuple[RaterLine, ...]
    repeats: tuple[RepeatLine, ...] = ()
    groups: tuple[tuple[str, ...], ...] = ()
    through_judges: bool = False
    over: Result | None = None
    unidentified: int = 0
    reason: str = ""


# Stored scores of judges and metrics in people's terms.


@dataclass(frozen=True, slots=True)
class ScoreMarks:
    """Marks from a threshold on a score, against people's majority; `reason` if there are none.

    An item is marked from `threshold` up, or, if `rising` is False, from it down. `least` and `most` are the
    lowest and highest threshold over the folds, None if it was learned on dev. `n_ties` items were left out
    because people tie on them.
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
    """A bin of a reliability diagram: its edges, items, mean probability, and share affirmed by people."""

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
    """A score on people's scale by one map: its errors; `n_learned` is 0 if nothing was learned."""

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

    `held_out`: learned on dev and shown on test; otherwise cross-fitted over `folds`.
    """

    held_out: bool
    folds: int
    marks: tuple[ScoreMarks, ...]
    probabilities: tuple[ScoreProbabilities, ...]
    maps: tuple[ScoreMap, ...]


# Stored bounds: how far unanswered items could move a rater's figures.


@dataclass(frozen=True, slots=True)
class BoundsRow:
    """A judge or metric that left items of a question unanswered; the bounds of its figures.

    Of `n_asked` items it left `n_unanswered` open, `n_failed` of these because a call failed, the others with
    a reason. `n_partial` have some of their samples and count as answered. A figure's value is the reported
    value of the answered items, `low` and `high` are its bounds; its `name` is one of
    `statistics.unanswered`. `unbounded` are requested statistics without bounds, with the reasons.
    """

    ref: str
    title: str
    rater: str
    kind: str
    n_asked: int
    n_unanswered: int
    n_failed: int
    n_partial: int
    figures: tuple[Figure, ...]
    unbounded: tuple[tuple[str, str], ...]

    def figure(self, name: str) -> Figure | None:
        """Return a figure by its name, None if there is none."""
        return next((figure for figure in self.figures if figure.name == name), None)


# Stored results of each question, of tags, and of the prevalence of behaviours.


@dataclass(frozen=True, slots=True)
class Answerer:
    """A rater of one question: the numbers of items answered and missing, and the mean answer.

    `mean` is the share of the positive class for binary questions, None for categories. `constant`: the same
    value throughout at least two answers. `n_of_people`: the number of items rated by people that it
    answered, `n_shared` of those rated by two people or more. Raters with the same `answered_items`, a
    digest, answered the same of the items rated by people.
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
    n_shared: int = 0
    answered_items: str = ""


@dataclass(frozen=True, slots=True)
class Link:
    """Another question whose answers were read as answers to this one, through a map of the scales."""

    question: str
    map: dict[str, Any]

    @property
    def scales(self) -> ScaleMap:
        """Map between the two scales."""
        return ScaleMap.parse(self.map)


@dataclass(frozen=True, slots=True)
class Question:
    """All results of one question; `problem` says why there are none.

    `pooled` marks the tags of a scheme read as one. `repeated` counts answers that repeat those of the same
    rater in another campaign. `f_intervals` are the panel's intraclass correlations with F intervals,
    `stand_ins` the verdicts whether each judge may stand in for a person, `people_items` the number of items
    that people rated, `shared_items` of those that two people or more rated. `pairs_left_out` says which
    pairs of a crowd were not compared. `design` says how people's items were drawn (see
    `calibration.ratings.designs.Design.as_dict`), None where all count once.
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
    shared_items: int = 0
    pairs_left_out: str = ""
    design: dict[str, Any] | None = None

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

    `n_items` turns were answered by all of its raters for every behaviour; `n_dropped` by only some of them.
    `unanswered` are the titles of the scheme's tags that the judge did not answer.
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
class TagSet:
    """Agreement on the sets of tags that raters choose in a group: of everyone, then of each kind of rater.

    `titles` are those of the tags.
    """

    scheme: str
    group: str
    item_kind: str
    titles: tuple[str, ...]
    figures: tuple[Figure, ...]

    @property
    def ref(self) -> str:
        """Reference of the group: its scheme and its name."""
        return f"{self.scheme}/{self.group}"


@dataclass(frozen=True, slots=True)
class PrevalenceRow:
    """Prevalence of a question's yes answers by a judge, raw and corrected by people's partial answers.

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
    """Totals of the data read: each item, cluster and rater counted once."""

    labels: int
    missing: int
    items: int
    clusters: int
    raters: int


@dataclass(frozen=True, slots=True)
class SplitUsed:
    """The split of which a report shows a part."""

    name: str
    seed: int
    test_share: float


@dataclass(frozen=True, slots=True)
class RaterVerdict:
    """The verdict on a judge, panel or metric for a question, and the figures that it rests on.

    `agreement` (with people) and `people` (with each other) are of the statistic `statistic`, on the items
    that the rater and at least two people answered; with one person, `agreement` alone. `baseline` is the
    best of the answers given without reading, called `baseline_name`. Of `n_items` items rated by people the
    rater answered `n_answered`. `sentence` gives the main reason, `next_step` what to do, `step` its kind.
    """

    ref: str
    title: str
    rater: str
    kind: str
    state: State
    reasons: tuple[str, ...]
    sentence: str
    next_step: str
    step: Step
    statistic: str
    agreement: Figure | None
    people: Figure | None
    gap: Figure | None
    baseline: Figure | None
    baseline_name: str
    n_answered: int
    n_items: int
