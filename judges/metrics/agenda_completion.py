"""ACR, PE and CS: whether a conversation covers its agenda, at what cost, and in what order."""

from __future__ import annotations

from itertools import groupby, pairwise

from judges.metrics.kit import agenda
from judges.metrics.kit.agenda import Coverage
from judges.metrics.kit.base import (
    CONTENT,
    HIGHER,
    LOWER,
    Cause,
    Metric,
    Parameter,
    Score,
    Settings,
    key_of,
    scored,
    unscored,
)
from judges.metrics.kit.scene import Scene
from judges.metrics.kit.tools import Matrix, Tools

STATIC = "turns at fixed points are not one conversation"
EMPTY = "the conversation has no turn with text"


def acr(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Agenda completion rate: the share of agenda items that the conversation saturates.

    MPCEval eq. 27 with 26: an item is saturated where InfoCov is above `coverage`. Range 0 to 1.
    """
    coverage = covered(scene, settings, tools)
    if isinstance(coverage, Score):
        return coverage
    done = [key for key in coverage.keys if coverage.saturated(key)]
    return scored(len(done) / len(coverage.keys), saturated=done)


def pe(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Progression efficiency: the mean number of turns about each saturated item; lower is more efficient.

    Sum over saturated items of their relevant turns / (number of them + epsilon): MPCEval eq. 28. In turns,
    at least 0. Undefined where no item is saturated: 0 would look like perfect efficiency.
    """
    coverage = covered(scene, settings, tools)
    if isinstance(coverage, Score):
        return coverage
    turns = {key: len(coverage.about(key)) for key in coverage.keys if coverage.saturated(key)}
    if not turns:
        return unscored("no agenda item is saturated")
    return scored(sum(turns.values()) / (len(turns) + settings.number("epsilon")), turns=turns)


def cs(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Conversational structure: the share of moves between agenda items that keep to the agenda's order.

    1 - mean of [|pos(z_j+1) - pos(z_j)| > hops]: MPCEval eq. 29-31. Blocks of `block` turns, `step` apart, go
    to the item with the greatest summed cosine; repeats in a row count once; positions are those of the
    linearised agenda (algorithm 2). Range 0 to 1. Undefined where the conversation stays with one item.
    """
    coverage = covered(scene, settings, tools)
    if isinstance(coverage, Score):
        return coverage
    place = {key: index for index, key in enumerate(agenda.linearised(coverage.agenda))}
    rows = _blocks(coverage.similar, settings.integer("block"), settings.integer("step"))
    path = [key for key, _ in groupby(coverage.keys[int(row.argmax())] for row in rows)]
    moves = list(pairwise(path))
    if not moves:
        return unscored("the conversation stays with one agenda item", path=path)
    jumps = [move for move in moves if abs(place[move[1]] - place[move[0]]) > settings.integer("hops")]
    return scored(1 - len(jumps) / len(moves), path=path, jumps=jumps)


def covered(scene: Scene, settings: Settings, tools: Tools) -> Coverage | Score:
    """Return the agenda against the whole conversation, or why that cannot be."""
    if not scene.is_conversation():
        return unscored(STATIC)
    positions = scene.conversation(history=settings.flag("history"))
    if not positions:
        return unscored(EMPTY)
    found = agenda.cover(scene, positions, settings, tools)
    return unscored(agenda.NO_AGENDA) if found is None else found


def _blocks(similar: Matrix, size: int, step: int) -> list[Matrix]:
    """Return the similarities summed over overlapping blocks; the last block ends with the last turn."""
    last = max(len(similar) - size, 0)
    starts = list(range(0, last + 1, step))
    if starts[-1] < last:
        starts.append(starts[-1] + step)
    return [similar[start : start + size].sum(axis=0) for start in starts]


_PE = {**agenda.PARAMETERS, "epsilon": Parameter(0.0, "added to the number of items", low=0.0)}
_CS = {
    "block": Parameter(5, "turns of a block", low=1),
    "step": Parameter(2, "turns between the starts of blocks", low=1),
    "hops": Parameter(1, "places in the agenda's order that a move may go, either way", low=0),
}

CAUSES = {
    "saturated": Cause("fully covered", "agenda"),
    "turns": Cause("turns", "agenda"),
    "path": Cause("agenda items in order", "agenda"),
    "jumps": Cause("jumps", "agenda"),
}

FAMILY = tuple(
    Metric(
        key=key_of(compute),
        title=title,
        kind="dialogue",
        aspect=CONTENT,
        causes=CAUSES,
        compute=compute,
        low=0.0,
        high=high,
        direction=direction,
        needs=frozenset({"agenda", "embeddings"}),
        parameters=parameters,
        texts=agenda.texts,
    )
    for compute, title, high, direction, parameters in (
        (acr, "Agenda completion rate", 1.0, HIGHER, agenda.PARAMETERS),
        (pe, "Progression efficiency", None, LOWER, _PE),
        (cs, "Conversational structure", 1.0, HIGHER, _CS),
    )
)
