"""Agendas: coverage of agenda items, progress by single messages, and task success."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any

import numpy as np
import regex  # type: ignore[import-untyped]
from numpy.typing import NDArray

from annotation.records import Agenda
from judges.metrics.kit.metric import (
    CONTENT,
    HIGHER,
    LOWER,
    Cause,
    Metric,
    MetricError,
    Parameter,
    Score,
    Settings,
    key_of,
    scored,
    unscored,
)
from judges.metrics.kit.tools import Matrix, Scene, Tools, cosine, likeness, rows_at
from judges.metrics.turn_taking import NO_CONTEXT

# Shared by agenda metrics: the turns about an item, their coverage of the item, and the agenda's order.

# Spread of a set of messages: the mean edge of their minimum spanning tree under cosine distance.

Distances = NDArray[np.float64]
EXACT = 2000
ROWS = 256


@dataclass(frozen=True)
class Tree:
    """A minimum spanning tree: its total length, and its longest edge (two indexes and the length)."""

    length: float
    longest: tuple[int, int, float]


def prim(distances: Distances, members: NDArray[np.intp], unit: Matrix | None = None) -> Tree:
    """Return the minimum spanning tree over some rows of a distance matrix, by Prim's algorithm.

    Zero is a valid edge length. Takes n^2 steps and n numbers of memory besides the matrix. For a matrix in
    single precision, `unit` gives the edge lengths in double precision.
    """
    if len(members) < 2:
        return Tree(0.0, (0, 0, 0.0))
    nearest = np.full(len(members), np.inf)
    parent = np.zeros(len(members), dtype=np.intp)
    waiting = np.ones(len(members), dtype=bool)
    ends = np.empty((len(members) - 1, 2), dtype=np.intp)
    at = 0
    for edge in range(len(members) - 1):
        waiting[at] = False
        nearest[at] = np.inf
        row = distances[members[at], members]
        closer = waiting & (row < nearest)
        nearest[closer] = row[closer]
        parent[closer] = at
        new = int(nearest.argmin())
        ends[edge] = members[parent[new]], members[new]
        at = new
    return _tree(ends, distances[ends[:, 0], ends[:, 1]] if unit is None else _lengths(unit, ends))


def _tree(ends: NDArray[np.intp], lengths: Distances) -> Tree:
    length, left, right = max(
        (float(edge_length), *pair) for edge_length, pair in zip(lengths, ends.tolist(), strict=True)
    )
    return Tree(float(np.sum(np.sort(lengths))), (left, right, length))


def _lengths(unit: Matrix, ends: NDArray[np.intp]) -> Distances:
    distances = (1.0 - float(unit[left] @ unit[right]) for left, right in ends)
    return np.clip(np.fromiter(distances, np.float64, len(ends)), 0.0, 2.0)


def cosine_distances(unit: Matrix) -> Distances:
    """Return 1 - cosine of unit rows, at least 0, with a diagonal of exact zeros.

    Above `EXACT` rows in single precision: precise enough to choose edges, at half the size.
    """
    count = len(unit)
    distances: Distances = np.empty((count, count), np.float64 if count <= EXACT else np.float32)
    for begin in range(0, count, ROWS):
        block = unit[begin : begin + ROWS] @ unit.T
        distances[begin : begin + ROWS] = np.clip(np.subtract(1.0, block, out=block), 0.0, 2.0, out=block)
    np.fill_diagonal(distances, 0.0)
    return distances


NO_AGENDA = "the dialogue has no agenda"

PARAMETERS = {
    "relevance": Parameter(0.6, "cosine above which a turn is about an item", low=-1.0, high=1.0),
    "gamma": Parameter(5.0, "how many turns it takes to cover an item", low=1e-9),
    "coverage": Parameter(0.3, "coverage above which an item is saturated", low=0.0, high=2.0),
}


@dataclass(frozen=True)
class Theme:
    """Positions of the turns about an agenda item, and the sums of cosines over pairs of the first n."""

    at: list[int]
    pairs: list[float]


@dataclass(frozen=True)
class Coverage:
    """Coverage of an agenda by the turns at `positions`; `items` has a unit row per key."""

    scene: Scene
    agenda: Agenda
    keys: list[str]
    positions: list[int]
    unit: Matrix
    items: Matrix
    every: Matrix
    settings: Settings

    @property
    def similar(self) -> Matrix:
        """Cosines of the turns (rows) to the items (columns), in agenda order."""
        return rows_at(self.every, self.positions)

    def about(self, key: str) -> list[int]:
        """Return the positions of the turns about an item: cosine above `relevance`."""
        return list(self.scene.among(self._theme(key).at, self.positions))

    def covered(self, key: str) -> float | None:
        """Return InfoCov of an item, None with fewer than two turns about it.

        (1 - e^(-n/gamma)) times the mean of 1 - cosine over pairs of the n turns: MPCEval eq. 9.
        """
        about, theme = self.about(key), self._theme(key)
        count = len(about)
        if count < 2:
            return None
        first = theme.at[count - 1] == about[-1]
        pairs = theme.pairs[count - 1] if first else pair_sums(self.unit, about)[-1]
        apart = max(0.0, 1 - pairs / (count * (count - 1) / 2))
        return (1 - math.exp(-count / self.settings.number("gamma"))) * apart

    def saturated(self, key: str) -> bool:
        """Whether an item's coverage is above `coverage`: MPCEval eq. 26."""
        covered = self.covered(key)
        return covered is not None and covered > self.settings.number("coverage")

    def current(self) -> str | None:
        """Return the item with the most turns about it (the first in a tie), None without such turns."""
        counts = [len(self.scene.among(self._theme(key).at, self.positions)) for key in self.keys]
        return self.keys[counts.index(max(counts))] if any(counts) else None

    def _theme(self, key: str) -> Theme:
        relevance = self.settings.number("relevance")
        return self.scene.once(("theme", id(self.every), key, relevance), lambda: self._find(key, relevance))

    def _find(self, key: str, relevance: float) -> Theme:
        column = self.every[:, self.keys.index(key)]
        relevant = np.flatnonzero(column > relevance).tolist()
        at = [p for p in relevant if self.scene.turns[p].text.strip()]
        return Theme(at, pair_sums(self.unit, at))


def cover(scene: Scene, positions: list[int], settings: Settings, tools: Tools) -> Coverage | None:
    """Return the coverage of the dialogue's agenda by turns with text, None if no agenda item has text."""
    agenda = scene.dialogue.agenda
    keys = [key for key, text in agenda.items.items() if text.strip()] if agenda else []
    if agenda is None or not keys:
        return None
    items = scene.once(
        ("agenda", tools.embed.name), lambda: tools.unit_texts([agenda.items[key] for key in keys])
    )
    unit = tools.unit(scene)
    similar = scene.once(("agenda similarity", tools.embed.name), lambda: cosine(unit, items))
    return Coverage(scene, agenda, keys, positions, unit, items, similar, settings)


def pair_sums(unit: Matrix, positions: Sequence[int]) -> list[float]:
    """Return the sums of cosines over all pairs among the first turn, the first two turns, and so on."""
    together = np.zeros(unit.shape[1])
    total, sums = 0.0, list[float]()
    for position in positions:
        total += float(together @ unit[position])
        together += unit[position]
        sums.append(total)
    return sums


def next_item(agenda: Agenda, start: str, saturated: Callable[[str], bool]) -> str | None:
    """Return the first unsaturated item in a depth-first search from `start`, None if there is none.

    MPCEval algorithm 1: successors before predecessors, in the order of the agenda's edges.
    """
    discovered: set[str] = set()
    waiting = [start]
    while waiting:
        item = waiting.pop()
        if item in discovered:
            continue
        discovered.add(item)
        if not saturated(item):
            return item
        after = [end for begin, end in agenda.edges if begin == item]
        before = [begin for begin, end in agenda.edges if end == item]
        waiting.extend(reversed(after + before))
    return None


def linearised(agenda: Agenda) -> list[str]:
    """Return the agenda's items in the order of a depth-first walk from its start.

    MPCEval algorithm 2. Without a declared start, the first item is the start; items that the walk does not
    reach follow in the agenda's order, each with the items reachable from it.
    """
    start = agenda.start if agenda.start is not None else next(iter(agenda.items), None)
    ordered: dict[str, None] = {}
    for root in [start, *agenda.items] if start is not None else []:
        waiting = [root]
        while waiting:
            item = waiting.pop()
            if item not in ordered:
                ordered[item] = None
                waiting.extend(reversed([end for begin, end in agenda.edges if begin == item]))
    return list(ordered)


def texts(scene: Scene, settings: Settings) -> Iterable[str]:
    """Yield the texts that agenda metrics embed: turns and items."""
    if scene.dialogue.agenda:
        yield from filter(str.strip, scene.dialogue.agenda.items.values())
        yield from (turn.text for turn in scene.turns if turn.text.strip())


# ACR, PE and CS: how far a conversation covers its agenda, in how many turns, and in what order.

STATIC = "turns at fixed points are not one conversation"
EMPTY = "the conversation has no turn with text"


def acr(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Agenda completion rate: the share of agenda items that the conversation saturates.

    MPCEval eq. 27 with 26: an item is saturated if InfoCov is above `coverage`. Range 0 to 1.
    """
    coverage = covered(scene, settings, tools)
    if isinstance(coverage, Score):
        return coverage
    done = [key for key in coverage.keys if coverage.saturated(key)]
    return scored(len(done) / len(coverage.keys), saturated=done)


def pe(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Progression efficiency: the mean number of turns per saturated item; lower is more efficient.

    Sum over saturated items of their relevant turns / (number of them + epsilon): MPCEval eq. 28. In turns,
    at least 0. Undefined if no item is saturated, since 0 would look like perfect efficiency.
    """
    coverage = covered(scene, settings, tools)
    if isinstance(coverage, Score):
        return coverage
    turns = {key: len(coverage.about(key)) for key in coverage.keys if coverage.saturated(key)}
    if not turns:
        return unscored("no agenda item is saturated")
    return scored(sum(turns.values()) / (len(turns) + settings.number("epsilon")), turns=turns)


def cs(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Conversational structure: the share of moves between agenda items that follow the agenda's order.

    1 - mean of [|pos(z_j+1) - pos(z_j)| > hops]: MPCEval eq. 29-31. Blocks of `block` turns, `step` apart,
    are assigned to the item with the greatest summed cosine; consecutive repeats count once; positions are
    those of the linearised agenda (algorithm 2). Range 0 to 1. Undefined if the conversation stays with one
    item.
    """
    coverage = covered(scene, settings, tools)
    if isinstance(coverage, Score):
        return coverage
    place = {key: index for index, key in enumerate(linearised(coverage.agenda))}
    rows = _blocks(coverage.similar, settings.integer("block"), settings.integer("step"))
    path = [key for key, _ in groupby(coverage.keys[int(row.argmax())] for row in rows)]
    moves = list(pairwise(path))
    if not moves:
        return unscored("the conversation stays with one agenda item", path=path)
    jumps = [move for move in moves if abs(place[move[1]] - place[move[0]]) > settings.integer("hops")]
    return scored(1 - len(jumps) / len(moves), path=path, jumps=jumps)


def covered(scene: Scene, settings: Settings, tools: Tools) -> Coverage | Score:
    """Return the coverage of the agenda by the whole conversation, or a score with the reason for none."""
    if not scene.is_conversation():
        return unscored(STATIC)
    positions = scene.conversation(history=settings.flag("history"))
    if not positions:
        return unscored(EMPTY)
    coverage = cover(scene, positions, settings, tools)
    return unscored(NO_AGENDA) if coverage is None else coverage


def _blocks(similar: Matrix, size: int, step: int) -> list[Matrix]:
    """Return the similarities summed over overlapping blocks; the last block ends with the last turn."""
    last = max(len(similar) - size, 0)
    starts = list(range(0, last + 1, step))
    if starts[-1] < last:
        starts.append(starts[-1] + step)
    return [similar[start : start + size].sum(axis=0) for start in starts]


_PE = {**PARAMETERS, "epsilon": Parameter(0.0, "added to the number of items", low=0.0)}
_CS = {
    "block": Parameter(5, "turns of a block", low=1),
    "step": Parameter(2, "turns between the starts of blocks", low=1),
    "hops": Parameter(1, "places in the agenda's order that a move may go, either way", low=0),
}

AGENDA_COMPLETION_CAUSES = {
    "saturated": Cause("fully covered", "agenda"),
    "turns": Cause("turns", "agenda"),
    "path": Cause("agenda items in order", "agenda"),
    "jumps": Cause("jumps", "agenda"),
}

AGENDA_COMPLETION = tuple(
    Metric(
        key=key_of(compute),
        title=title,
        kind="dialogue",
        aspect=CONTENT,
        causes=AGENDA_COMPLETION_CAUSES,
        compute=compute,
        low=0.0,
        high=high,
        direction=direction,
        needs=frozenset({"agenda", "embeddings"}),
        parameters=parameters,
        texts=texts,
    )
    for compute, title, high, direction, parameters in (
        (acr, "Agenda completion rate", 1.0, HIGHER, PARAMETERS),
        (pe, "Progression efficiency", None, LOWER, _PE),
        (cs, "Conversational structure", 1.0, HIGHER, _CS),
    )
)


# InfoCov, InfoGain and AP: how much a message advances the agenda.

NOTHING_RELEVANT = "no turn of the context is about an agenda item"


def info_cov(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Information coverage of the agenda item with the most turns in the context.

    (1 - e^(-n/gamma)) times the mean of 1 - cosine over pairs of its n relevant turns: MPCEval eq. 9. Range 0
    to 2. Undefined with fewer than two relevant turns. Describes the context, not the message.
    """
    result = _current(scene, turn, settings, tools)
    if isinstance(result, Score):
        return result
    coverage, item = result
    covered = coverage.covered(item)
    if covered is None:
        return unscored("fewer than two turns of the context are about the current agenda item", item=item)
    return scored(covered, item=item, about=coverage.about(item))


def info_gain(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Information gain of the message on the current agenda item: its mean distance to the item's turns.

    1/n times the sum of 1 - cos(e(u), e(c)) over the n relevant turns: MPCEval eq. 10. Range 0 to 2.
    """
    result = _current(scene, turn, settings, tools)
    if isinstance(result, Score):
        return result
    coverage, item = result
    return _gain(scene, turn, coverage, item, tools)


def ap(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Agenda-guided progression: relevance to the active item times information gain on it.

    cos(e(u), e(a)) InfoGain(u, a): MPCEval eq. 11. The active item is the current item or, if that is
    saturated, the next unsaturated one (algorithm 1). Range -2 to 2. Undefined if no turn is about the active
    item, or if every reachable item is saturated.
    """
    result = _current(scene, turn, settings, tools)
    if isinstance(result, Score):
        return result
    coverage, current = result
    item = next_item(coverage.agenda, current, coverage.saturated)
    if item is None:
        return unscored("every agenda item in reach is saturated", current=current)
    gain = _gain(scene, turn, coverage, item, tools)
    if not isinstance(gain.value, float):
        return gain
    assert turn is not None
    message = tools.unit(scene)[scene.position(turn)]
    relevance = float(cosine(coverage.items[coverage.keys.index(item)], message))
    return scored(relevance * gain.value, item=item, current=current, relevance=relevance)


def _current(
    scene: Scene, turn: int | None, settings: Settings, tools: Tools
) -> tuple[Coverage, str] | Score:
    """Return the coverage of the agenda by the context, and the item with the most turns, or a score with
    the reason why there is none."""
    assert turn is not None
    if not scene.target(turn).text.strip():
        return unscored("the message has no text")
    context = scene.context(turn, settings.integer("window"))
    if not context:
        return unscored(NO_CONTEXT)
    coverage = cover(scene, context, settings, tools)
    if coverage is None:
        return unscored(NO_AGENDA)
    current = coverage.current()
    return unscored(NOTHING_RELEVANT) if current is None else (coverage, current)


def _gain(scene: Scene, turn: int | None, coverage: Coverage, item: str, tools: Tools) -> Score:
    assert turn is not None
    about = coverage.about(item)
    if not about:
        return unscored("no turn of the context is about the next agenda item", item=item)
    distances = 1 - likeness(scene, turn, tools)[about]
    return scored(float(np.mean(distances)), item=item, about=about)


AGENDA_PROGRESS_CAUSES = {
    "item": Cause("agenda item", "agenda"),
    "current": Cause("agenda item before", "agenda"),
    "about": Cause("about", "turn"),
    "relevance": Cause("relevance"),
}

AGENDA_PROGRESS = tuple(
    Metric(
        key=key_of(compute),
        title=title,
        kind="turn",
        aspect=CONTENT,
        causes=AGENDA_PROGRESS_CAUSES,
        compute=compute,
        low=low,
        high=2.0,
        direction=HIGHER,
        needs=frozenset({"agenda", "embeddings"}),
        parameters=PARAMETERS,
        texts=texts,
    )
    for compute, title, low in (
        (info_cov, "Coverage of the current agenda item", 0.0),
        (info_gain, "Information gain on the current agenda item", 0.0),
        (ap, "Agenda progression", -2.0),
    )
)


# Task success: whether the artifact of a conversation meets its criteria, which are declarations, never code.

ARTIFACT = "artifact"
LAST_TURN = "last_turn"
BLOCK = "block"
SECONDS = 1.0
_FENCED = re.compile(r"```[^\n`]*\n(.*?)```", re.DOTALL)


def task_success(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Task success: 1 if every success criterion holds, else 0; without criteria, 1 if the last item is
    covered.

    Product of the criteria on the artifact (MPCEval eq. 25), or saturation of the agenda's terminal item (eq.
    26). A criterion is {"kind": "json"}, {"kind": "fields", "fields": [...]}, {"kind": "matches", "pattern":
    ...}, {"kind": "contains", "text": ...} or {"kind": "not_empty"}, about `of`: "artifact" (the
    continuation's condition `artifact`, or the dialogue's metadata for its own turns), "last_turn" or "block"
    (the last fenced block). Undefined if the artifact is absent, or neither criteria nor a terminal item are
    declared.
    """
    plan = scene.dialogue.agenda
    if plan is None:
        return unscored(NO_AGENDA)
    if plan.success:
        return _validated(scene, plan.success)
    if plan.terminal is None:
        return unscored("the agenda declares neither success criteria nor a terminal item")
    coverage = covered(scene, settings, tools)
    if isinstance(coverage, Score):
        return coverage
    if plan.terminal not in coverage.keys:
        return unscored("the terminal agenda item has no text")
    return scored(coverage.saturated(plan.terminal), item=plan.terminal)


def _validated(scene: Scene, criteria: tuple[Mapping[str, Any], ...]) -> Score:
    failed: list[Mapping[str, Any]] = []
    for criterion in criteria:
        artifact = _artifact(scene, str(criterion.get("of", ARTIFACT)))
        if artifact is None:
            return unscored(f"there is no {criterion.get('of', ARTIFACT)} to check")
        if not holds(criterion, artifact):
            failed.append(criterion)
    return scored(not failed, failed=failed)


def _artifact(scene: Scene, of: str) -> str | None:
    """Return the artifact of a criterion as text, None if it is absent."""
    if of == ARTIFACT:
        own = scene.continuation.condition or ({} if scene.offset else scene.dialogue.metadata)
        artifact = own.get(ARTIFACT)
        return (
            artifact
            if isinstance(artifact, str) or artifact is None
            else json.dumps(artifact, ensure_ascii=False)
        )
    messages = [turn.text for turn in scene.continuation.turns if turn.text.strip()]
    if of == LAST_TURN:
        return messages[-1] if messages else None
    if of == BLOCK:
        blocks = _FENCED.findall("\n".join(messages))
        return blocks[-1] if blocks else None
    raise MetricError(f"a success criterion is about {of!r}: it must be artifact, last_turn or block")


def holds(criterion: Mapping[str, Any], artifact: str) -> bool:
    """Whether an artifact meets a criterion; raises MetricError for an invalid criterion."""
    kind = criterion.get("kind")
    if kind == "json":
        return _json(artifact) is not None
    if kind == "fields":
        fields, parsed = _list(criterion), _json(artifact)
        return isinstance(parsed, dict) and all(parsed.get(field) not in (None, "") for field in fields)
    if kind == "matches":
        return _matches(_text(criterion, "pattern"), artifact)
    if kind == "contains":
        return _text(criterion, "text") in artifact
    if kind == "not_empty":
        return bool(artifact.strip())
    raise MetricError(
        f"a success criterion has kind {kind!r}: it must be json, fields, matches, contains or not_empty"
    )


def _json(artifact: str) -> Any:
    """Parse JSON; None if invalid (a bare null does not count as a result either)."""
    try:
        return json.loads(artifact)
    except (ValueError, RecursionError):
        return None


def _matches(pattern: str, artifact: str) -> bool:
    try:
        return regex.search(pattern, artifact, timeout=SECONDS) is not None
    except regex.error as error:
        raise MetricError(f"the success pattern {pattern!r} is not a regular expression: {error}") from None
    except TimeoutError:
        raise MetricError(f"the success pattern {pattern!r} takes too long to match") from None


def _text(criterion: Mapping[str, Any], field: str) -> str:
    value = criterion.get(field)
    if not isinstance(value, str):
        raise MetricError(f"a success criterion of kind {criterion.get('kind')} needs {field!r} as a text")
    return value


def _list(criterion: Mapping[str, Any]) -> list[str]:
    value = criterion.get("fields")
    if not isinstance(value, list) or not all(isinstance(field, str) for field in value):
        raise MetricError("a success criterion of kind fields needs 'fields' as a list of texts")
    return value


TASK_SUCCESS_CAUSES = {"item": Cause("agenda item", "agenda"), "failed": Cause("failed")}

TASK_SUCCESS = (
    Metric(
        key="task_success",
        title="Task success",
        kind="dialogue",
        aspect=CONTENT,
        causes=TASK_SUCCESS_CAUSES,
        compute=task_success,
        low=0.0,
        high=1.0,
        direction=HIGHER,
        needs=frozenset({"agenda", "artifact", "embeddings"}),
        parameters=PARAMETERS,
        texts=texts,
    ),
)
