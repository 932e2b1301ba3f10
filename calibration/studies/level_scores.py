"""From the answers of a question at levels to the scores of its reference and rows, on common units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from calibration.reading.census import RaterInfo
from calibration.reading.level_sources import LevelInputs, LevelQuestion, Source
from calibration.reading.levels import Attribute
from calibration.reports.wording import crowd_of
from calibration.statistics import Ratings
from calibration.statistics.analysis import MEAN_OF_PEOPLE
from calibration.statistics.baselines import BASELINE, CHARACTERS, WORDS
from calibration.statistics.by_level import Frame, Scores, Units
from calibration.statistics.by_level.scored import Kind
from calibration.statistics.core.data import codes
from calibration.statistics.core.types import Floats, Samples
from calibration.statistics.panels import PANEL

HUMAN, TURN, DIALOGUE = "human", "turn", "dialogue"
ORDER = ("metric", "judge", PANEL, "key", HUMAN)
HEADINGS = {TURN: "From turn scores", DIALOGUE: "From dialogue scores"}
KINDS = {
    "metric": "Metrics",
    "judge": "Judges",
    PANEL: "Panels of judges",
    "key": "Answer keys",
    HUMAN: "People",
    BASELINE: "Baselines",
}
NOBODY = RaterInfo(0, "", "", True)


@dataclass(frozen=True)
class Laid:
    """The continuations of a question's answers as units, which are static, and the items of each kind.

    `index` says per kind of item where in its frame the item of a key stands.
    """

    units: Units
    static: npt.NDArray[np.bool_]
    frames: Mapping[str, Frame]
    index: Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class ScoredRow:
    """A row before it is correlated: its scores, whose they are, and what it stands under.

    `samples` says how repeated answers were read, where the same rater has several rows.
    """

    scores: Scores
    rater: str
    heading: str
    samples: str = ""


def laid_out(asked: LevelQuestion, read: LevelInputs) -> Laid:
    """Number the continuations that somebody answered about, and all items in these, rated or not."""
    keys = sorted({record.continuation for source in asked.sources for record in source.data.records})
    made = [read.continuations[key] for key in keys]
    dialogues, systems = [one.dialogue for one in made], [one.system for one in made]
    units = Units(
        dialogues=codes(dialogues),
        clusters=codes([one.cluster for one in made]),
        systems=codes(systems),
        dialogue_names=tuple(dict.fromkeys(dialogues)),
        system_names=tuple(dict.fromkeys(systems)),
    )
    places = {kind: _places(kind, keys, read) for kind in sorted({source.kind for source in asked.sources})}
    return Laid(
        units,
        np.array([one.static for one in made], dtype=np.bool_),
        {kind: _frame(kind, found) for kind, found in places.items()},
        {kind: {key: at for at, (_, _, key) in enumerate(found)} for kind, found in places.items()},
    )


def _places(kind: str, keys: Sequence[str], read: LevelInputs) -> list[tuple[int, int, str]]:
    """Return (unit, position, item key) of all items of a kind in some continuations."""
    if kind == DIALOGUE:
        return [(unit, 0, key) for unit, key in enumerate(keys)]
    return [
        (unit, position, f"{key}/{position}") for unit, key in enumerate(keys) for position in read.turns[key]
    ]


def _frame(kind: str, places: Sequence[tuple[int, int, str]]) -> Frame:
    units, positions = (np.array([place[n] for place in places], dtype=np.int64) for n in (0, 1))
    return Frame(cast(Kind, kind), units, positions)


def sides(
    asked: LevelQuestion, read: LevelInputs, laid: Laid, policy: Samples | None
) -> tuple[Scores | None, list[ScoredRow]]:
    """Return the reference, None where it did not answer, and the rows in the order of the table.

    `policy` says how repeated answers are read where the levels name no rows for them. Raises RatingError for
    answers that cannot be read.
    """
    policies: tuple[Samples | None, ...] = read.asked.samples or (policy,)
    own, *across = [
        _rows(source, read, laid, policies, _clashes(asked.sources, number))
        for number, source in enumerate(asked.sources)
    ]
    name = read.asked.reference
    reference = next((row.scores for row in own if row.rater == name), None)
    rows = [row for row in own if row.rater != name] + [row for rows in across for row in rows]
    headings = list(dict.fromkeys([*HEADINGS.values(), *KINDS.values(), *(row.heading for row in rows)]))
    rows.sort(key=lambda row: (headings.index(row.heading), ORDER.index(row.scores.kind)))
    return reference, rows


def by_length(
    asked: LevelQuestion, laid: Laid, rows: Sequence[ScoredRow], lengths: Mapping[str, tuple[int, int]]
) -> list[ScoredRow]:
    """Return the baselines of a question that a judge or panel answers: how long its items are.

    What always says one value has a mean of that value at every level, and so no correlation: it has no row.
    """
    if not any(row.scores.kind in ("judge", PANEL) for row in rows):
        return []
    kind = asked.sources[0].kind
    made = []
    for place, name in enumerate((CHARACTERS, WORDS)):
        known = [lengths[key][place] if key in lengths else np.nan for key in laid.index[kind]]
        scores = Scores(name, cast(Kind, kind), np.array(known, np.float64), BASELINE)
        made.append(ScoredRow(scores, name, KINDS[BASELINE]))
    return made


def _clashes(sources: Sequence[Source], number: int) -> bool:
    """Whether an earlier source is about the same kind of item, so that names need to say which question."""
    return any(source.kind == sources[number].kind for source in sources[:number])


def _rows(
    source: Source, read: LevelInputs, laid: Laid, policies: Sequence[Samples | None], clashes: bool
) -> list[ScoredRow]:
    """Return every rater of a source, people as their mean; one row a policy where answers are repeated."""
    repeated = _repeated(source)
    rows = []
    for number, policy in enumerate(policies):
        ratings = source.data.ratings(policy)
        values = _on_frame(ratings, source, laid)
        people = list(ratings.of_kind(HUMAN))
        if people and not number:
            mean = Scores.of_people(MEAN_OF_PEOPLE, cast(Kind, source.kind), values[:, people])
            rows.append(_people_row(mean, source, read))
        for column, name in enumerate(ratings.raters):
            several = repeated.get(name, 0) if len(policies) > 1 else 0
            if column not in people and (several or not number):
                told = f"{policy} of {several}" if several else ""
                kind = ratings.kinds[column]
                scores = Scores(name, cast(Kind, source.kind), values[:, column], kind)
                rows.append(_row(scores, source, read, _info(name, source), told))
    return [_told_apart(row, source) for row in rows] if clashes else rows


def _repeated(source: Source) -> dict[str, int]:
    """Return how many answers the raters gave at most to an item, those with more than one."""
    most: dict[str, int] = {}
    for record in source.data.records:
        if record.sample:
            most[record.rater] = max(most.get(record.rater, 1), record.sample + 1)
    return most


def _on_frame(ratings: Ratings, source: Source, laid: Laid) -> Floats:
    """Return all items of the source's kind x raters, NaN where nobody answered, on the reference's scale."""
    index = laid.index[source.kind]
    values = np.full((len(index), len(ratings.raters)), np.nan)
    values[[index[item] for item in ratings.items]] = ratings.values
    mapped: Any = source.map.apply(cast(Any, values))
    return cast(Floats, mapped)


def _info(name: str, source: Source) -> RaterInfo:
    """Return who a row is; repeated answers may be rows of their own, called `name#0`."""
    base = name.rpartition("#")[0]
    return next((info for info in source.data.raters if info.name in (name, base)), NOBODY)


def _row(scores: Scores, source: Source, read: LevelInputs, info: RaterInfo, samples: str = "") -> ScoredRow:
    spec = read.attributes.get(info.id, {})
    heading = _attribute(read.asked.heading, scores, spec, source) or KINDS[scores.kind]
    group = _attribute(read.asked.best_per, scores, spec, source) if read.asked.best_per else ""
    name = f"{scores.name} ({samples})" if samples else scores.name
    return ScoredRow(replace(scores, name=name, group=group), scores.name, heading, samples)


def _people_row(scores: Scores, source: Source, read: LevelInputs) -> ScoredRow:
    """Return the row of people's mean, under a name that says what they labelled."""
    who = crowd_of(source.data.raters).many.capitalize()
    row = _row(scores, source, read, NOBODY)
    heading = who if row.heading == KINDS[HUMAN] else row.heading
    return replace(row, heading=heading, scores=replace(row.scores, name=f"{who} ({source.kind} labels)"))


def _attribute(which: Attribute, scores: Scores, spec: Mapping[str, str], source: Source) -> str:
    if which == "source":
        return HEADINGS[source.kind]
    return KINDS[scores.kind] if which == "kind" else spec.get(which, "")


def _told_apart(row: ScoredRow, source: Source) -> ScoredRow:
    """Return a row whose name says which question it answers."""
    name = f"{row.scores.name}: {source.data.subject.question.title}"
    return replace(row, scores=replace(row.scores, name=name))
