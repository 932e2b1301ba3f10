"""Turn vs. dialogue ratings: continuations by both scores, and inversions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.corpora import exclusion, splits
from annotation.models import Campaign, Continuation, Corpus
from annotation.text.display import percent
from calibration.comparisons.responses import InversionsSerializer, LineSerializer, TurnVsDialogueSerializer
from calibration.errors import LevelsRefused
from calibration.ratings import designs
from calibration.ratings.scope import Census, QuestionInfo, RaterInfo, Scope, census, narrowed, scope_of
from calibration.ratings.subsets import Subset
from calibration.renderings import Rendering, json_text, records_csv
from calibration.reports.kinds import Parameters, ReportKind
from calibration.reports.wording import counted, crowd_of
from calibration.statistics.core.ratings import codes
from calibration.statistics.level_scores import Inversions, Units, turns_and_whole

# Selection of the question about turns and the question about whole continuations to compare.

HUMAN, TURN, DIALOGUE = "human", "turn", "dialogue"
NUMBERS = frozenset({"binary", "ordinal", "interval", "ratio"})
PAIRS = (("comperdial_turn", "comperdial_dialogue"), ("fed_turn", "fed_dialogue"))
"""Pairs of schemes (turns, whole continuations) that ask the same under the same key."""


@dataclass(frozen=True)
class QuestionPair:
    """A question about turns and one about whole continuations, with the people who answered either."""

    scope: Scope
    turns: QuestionInfo
    dialogues: QuestionInfo
    people: tuple[RaterInfo, ...]

    @property
    def n_people(self) -> int:
        """Number of people who answered."""
        return len(self.people)

    @property
    def same_scale(self) -> bool:
        """Whether the two questions have the same range, so that a difference is meaningful."""
        ends = [(min(q.values), max(q.values)) if q.values else None for q in (self.turns, self.dialogues)]
        return ends[0] == ends[1]


def offered(counted: Census) -> tuple[list[QuestionInfo], list[QuestionInfo]]:
    """Return the numeric questions that people answered: about turns, and about whole continuations."""
    answered = {question for question, rater in counted.counts if counted.raters[rater].kind == HUMAN}
    rated = [q for q in counted.questions.values() if q.id in answered and q.level in NUMBERS]
    return [q for q in rated if q.item_kind == TURN], [q for q in rated if q.item_kind == DIALOGUE]


def read(params: Mapping[str, str], corpus: Corpus, campaign: Campaign | None) -> QuestionPair:
    """Read the two questions from the parameters `turns` and `whole`; by default the best-fitting pair.

    `exclude` leaves out dialogues. Raises LevelsRefused, in one line, if people did not answer such
    questions.
    """
    exclude = Parameters.of(params, LevelsRefused).exclude(corpus)
    scope = narrowed(scope_of(corpus, campaign), Subset(exclude=exclude))
    counted = census(scope)
    turns, dialogues = offered(counted)
    if not turns or not dialogues:
        lacking = "single turns" if not turns else "whole dialogues"
        raise LevelsRefused(f"nobody has rated {lacking} in numbers in {scope.name} yet")
    by_default = _fitting(turns, dialogues)
    first = _match_question(params.get("turns", ""), turns, by_default[0])
    second = _match_question(params.get("whole", ""), dialogues, _like(first, dialogues) or by_default[1])
    question_ids = {first.id, second.id}
    people = [
        info
        for info in counted.raters.values()
        if info.kind == HUMAN and any((question, info.id) in counted.counts for question in question_ids)
    ]
    return QuestionPair(scope, first, second, tuple(people))


def _match_question(ref: str, among: Sequence[QuestionInfo], by_default: QuestionInfo) -> QuestionInfo:
    if not ref:
        return by_default
    match = next((question for question in among if question.ref == ref), None)
    if match is None:
        valid_refs = ", ".join(question.ref for question in among)
        raise LevelsRefused(f"people answered no question {ref!r} of this kind; there are {valid_refs}")
    return match


def _fitting(
    turns: Sequence[QuestionInfo], dialogues: Sequence[QuestionInfo]
) -> tuple[QuestionInfo, QuestionInfo]:
    """Return the best-fitting pair: overall first, else any with a common key, else the first of each."""
    pairs = [(question, other) for question in turns if (other := _like(question, dialogues))]
    overall = [pair for pair in pairs if pair[0].key == "overall"]
    return (overall or pairs or [(turns[0], dialogues[0])])[0]


def _like(question: QuestionInfo, among: Sequence[QuestionInfo]) -> QuestionInfo | None:
    """Return the question with the same key, in this scheme's partner if possible, else in any scheme."""
    same = [other for other in among if other.key == question.key]
    scheme = question.scheme.rsplit("@", 1)[0]
    partner = next((dialogue_scheme for turns, dialogue_scheme in PAIRS if turns == scheme), None)
    matched = [other for other in same if other.scheme.rsplit("@", 1)[0] == partner]
    return next(iter(matched or same), None)


# Each continuation by the mean of its turn labels and by its own label, and the differences between both
# orders.

CHUNK = 20_000
Values = dict[int, list[float]]
"""Per continuation, people's mean of each labelled item."""


@dataclass(frozen=True, slots=True)
class Line:
    """A continuation with both scores, its rank in its dialogue by each score (1 is best), and links.

    `by_turns` is the mean of `n_turns` labelled turns. `difference` is the whole minus the turns, None if the
    scales differ; `moved` is above 0 if the whole ranks it better than its turns do.
    """

    pk: int
    dialogue_pk: int
    dialogue: str
    continuation: str
    system: str
    n_turns: int
    by_turns: float
    by_whole: float
    difference: float | None
    rank_by_turns: float
    rank_by_whole: float
    moved: float


@dataclass(frozen=True)
class TurnVsDialogue:
    """All continuations with both scores, largest rank changes first, and each dialogue's inversions.

    `left_out` counts the continuations for which only turns, or only the whole, were labelled. `is_locked`:
    the test part is left out, because nobody has opened it. `rated_only` is a sentence where the rated items
    were drawn with unequal probabilities.
    """

    pair: QuestionPair
    lines: tuple[Line, ...]
    dialogues: tuple[Inversions, ...]
    left_out: int
    is_locked: bool
    rated_only: str = ""

    @property
    def excluded(self) -> dict[str, Any] | None:
        """The dialogues left out by people's answers, as plain data; None without an exclusion."""
        scope = self.pair.scope
        return exclusion.described(scope.corpus, scope.subset.exclude, training=scope.training)

    @property
    def inversions(self) -> float:
        """Number of pairs that the two orders rank differently, over all dialogues."""
        return sum(dialogue.inversions for dialogue in self.dialogues)

    @property
    def pairs(self) -> int:
        """Number of pairs of continuations of one dialogue, over all dialogues."""
        return sum(dialogue.pairs for dialogue in self.dialogues)


def compute(pair: QuestionPair) -> TurnVsDialogue:
    """Compare people's labels of turns with those of the whole, in three queries and one pass."""
    locked = set(splits.unopened(pair.scope.corpus).values_list("cluster", flat=True))
    turns, by_dialogue = (_people(pair, question) for question in (pair.turns, pair.dialogues))
    rows = [
        row
        for row in Continuation.objects.filter(dialogue__corpus=pair.scope.corpus)
        .order_by("dialogue_id", "pk")
        .values_list("pk", "dialogue_id", "dialogue__key", "key", "system__name", "dialogue__cluster")
        if row[0] in turns or row[0] in by_dialogue
    ]
    seen = [row for row in rows if row[5] not in locked]
    both = [row for row in seen if row[0] in turns and row[0] in by_dialogue]
    units = Units(
        dialogues=codes([row[1] for row in both]),
        clusters=codes([row[5] for row in both]),
        systems=codes([row[4] for row in both]),
        dialogue_names=tuple(dict.fromkeys(row[2] for row in both)),
        system_names=tuple(dict.fromkeys(row[4] for row in both)),
    )
    by_turns, by_whole = (
        np.array([sum(values[row[0]]) / len(values[row[0]]) for row in both])
        for values in (turns, by_dialogue)
    )
    placed, inversions = turns_and_whole(units, by_turns, by_whole)
    lines = [
        Line(
            *both[placement.unit][:5],
            n_turns=len(turns[both[placement.unit][0]]),
            by_turns=placement.by_turns,
            by_whole=placement.by_whole,
            difference=placement.difference if pair.same_scale else None,
            rank_by_turns=placement.rank_by_turns,
            rank_by_whole=placement.rank_by_whole,
            moved=placement.moved,
        )
        for placement in placed
    ]
    lines.sort(
        key=lambda line: (-abs(line.moved), -abs(line.difference or 0.0), line.dialogue, line.continuation)
    )
    most_first = sorted(inversions, key=lambda dialogue: -(dialogue.share or 0.0))
    return TurnVsDialogue(
        pair,
        tuple(lines),
        tuple(most_first),
        len(seen) - len(both),
        len(seen) < len(rows),
        designs.rated_only(pair.scope, (pair.turns.id, pair.dialogues.id)),
    )


def _people(pair: QuestionPair, question: QuestionInfo) -> Mapping[int, list[float]]:
    """Return people's mean of each labelled item, by continuation; a person counts once per item."""
    rows = (
        pair.scope.labels()
        .filter(question=question.id, rater__kind=HUMAN, missing="")
        .order_by("item_id", "rater_id", "sample", "pk")
        .distinct("item_id", "rater_id")
        .values_list("item__continuation_id", "item_id", "number")
    )
    items: dict[int, tuple[int, list[float]]] = {}
    for continuation, item, value in rows.iterator(chunk_size=CHUNK):
        if value is not None:
            items.setdefault(item, (continuation, []))[1].append(value)
    values_by_continuation: Values = {}
    for continuation, values in items.values():
        values_by_continuation.setdefault(continuation, []).append(sum(values) / len(values))
    return values_by_continuation


# Turn vs. dialogue ratings in sentences.


def facts(result: TurnVsDialogue) -> list[str]:
    """Return sentences about the list: how many, by whom, what is left out, how many inversions."""
    pair = result.pair
    crowd = crowd_of(pair.people)
    lines = [
        f"{counted(len(result.lines), 'continuation')} in {counted(len(result.dialogues), 'dialogue')} that "
        f"{crowd.counted(len(pair.people))} labelled turn by turn ({pair.turns.ref}) and as a whole "
        f"({pair.dialogues.ref})."
    ]
    if excluded := result.excluded:
        lines.append(excluded["sentence"])
    if result.rated_only:
        lines.append(result.rated_only)
    if result.pairs:
        lines.append(
            f"{_inversions(result.inversions)} among {counted(result.pairs, 'pair')} of continuations of "
            f"one dialogue, {percent(result.inversions / result.pairs, 1)}: the two scores order them "
            "differently."
        )
    elif result.lines:
        lines.append("No dialogue has two such continuations, so there is no order to compare.")
    if not pair.same_scale:
        lines.append("The two questions have different scales, so there are ranks and no differences.")
    if result.left_out:
        lines.append(
            f"Left out: {counted(result.left_out, 'continuation')} of which only turns, or only the whole, "
            "were labelled."
        )
    if result.is_locked:
        lines.append("The test part of the corpus is left out: nobody has opened it.")
    return lines


def _inversions(count: float) -> str:
    number_text = f"{count:,.0f}" if count == int(count) else f"{count:,.1f}"
    return f"{number_text} inversion{'' if count == 1 else 's'}"


# Turn vs. dialogue ratings as files: CSV of continuations or of dialogues, and JSON of both, unrounded.


def lines_csv(result: TurnVsDialogue) -> str:
    """Return one line per continuation, largest rank changes first."""
    return records_csv([*LineSerializer().fields], LineSerializer(result.lines, many=True).data)


def dialogues_csv(result: TurnVsDialogue) -> str:
    """Return one line per dialogue with its inversions."""
    return records_csv(
        [*InversionsSerializer().fields], InversionsSerializer(result.dialogues, many=True).data
    )


def as_json(result: TurnVsDialogue) -> str:
    """Return both lists, of continuations and of dialogues."""
    lines = LineSerializer(result.lines, many=True).data
    return json_text(TurnVsDialogueSerializer(result).data | {"continuations": lines})


FILES: dict[str, Rendering[TurnVsDialogue, str]] = {
    file.key: file
    for file in (
        Rendering("csv", "CSV, continuations", "csv", "text/csv; charset=utf-8", lines_csv),
        Rendering("dialogues", "CSV, dialogues", "csv", "text/csv; charset=utf-8", dialogues_csv),
        Rendering("json", "JSON", "json", "application/json", as_json),
    )
}

TURN_VS_DIALOGUE = ReportKind(
    "turns-and-whole",
    "Turns and whole",
    read,
    lambda query, by, again=False: compute(query),
    FILES,
    file_detail=lambda result, form: "-dialogues" if form == "dialogues" else "",
)
