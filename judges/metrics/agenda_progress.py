"""InfoCov, InfoGain and AP: whether a message moves the agenda on."""

from __future__ import annotations

import numpy as np

from judges.metrics.kit import agenda
from judges.metrics.kit.agenda import Coverage
from judges.metrics.kit.base import CONTENT, HIGHER, Cause, Metric, Score, Settings, key_of, scored, unscored
from judges.metrics.kit.blocks import likeness
from judges.metrics.kit.scene import Scene
from judges.metrics.kit.tools import Tools, cosine
from judges.metrics.turn_taking import NO_CONTEXT

NOTHING_RELEVANT = "no turn of the context is about an agenda item"


def info_cov(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Information coverage of the agenda item that the context is mostly about.

    (1 - e^(-n/gamma)) times the mean of 1 - cosine over pairs of its n relevant turns: MPCEval eq. 9. Range 0
    to 2. Undefined with fewer than two relevant turns. It tells about the context, not about the message.
    """
    found = _current(scene, turn, settings, tools)
    if isinstance(found, Score):
        return found
    coverage, item = found
    covered = coverage.covered(item)
    if covered is None:
        return unscored("fewer than two turns of the context are about the current agenda item", item=item)
    return scored(covered, item=item, about=coverage.about(item))


def info_gain(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Information that the message adds to the current agenda item: its mean distance to the item's turns.

    1/n times the sum of 1 - cos(e(u), e(c)) over the n relevant turns: MPCEval eq. 10. Range 0 to 2.
    """
    found = _current(scene, turn, settings, tools)
    if isinstance(found, Score):
        return found
    coverage, item = found
    return _gain(scene, turn, coverage, item, tools)


def ap(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Agenda-guided progression: relevance to the active item times information gain on it.

    cos(e(u), e(a)) InfoGain(u, a): MPCEval eq. 11. The active item is the current one, or, where that is
    saturated, the next that is not (algorithm 1). Range -2 to 2. Undefined where no turn is about the active
    item, or where every item in reach is saturated.
    """
    found = _current(scene, turn, settings, tools)
    if isinstance(found, Score):
        return found
    coverage, current = found
    item = agenda.next_item(coverage.agenda, current, coverage.saturated)
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
    """Return the agenda against the context and the item most turns are about, or why there is none."""
    assert turn is not None
    if not scene.target(turn).text.strip():
        return unscored("the message has no text")
    context = scene.context(turn, settings.integer("window"))
    if not context:
        return unscored(NO_CONTEXT)
    coverage = agenda.cover(scene, context, settings, tools)
    if coverage is None:
        return unscored(agenda.NO_AGENDA)
    current = coverage.current()
    return unscored(NOTHING_RELEVANT) if current is None else (coverage, current)


def _gain(scene: Scene, turn: int | None, coverage: Coverage, item: str, tools: Tools) -> Score:
    assert turn is not None
    about = coverage.about(item)
    if not about:
        return unscored("no turn of the context is about the next agenda item", item=item)
    distances = 1 - likeness(scene, turn, tools)[about]
    return scored(float(np.mean(distances)), item=item, about=about)


CAUSES = {
    "item": Cause("agenda item", "agenda"),
    "current": Cause("agenda item before", "agenda"),
    "about": Cause("about", "turn"),
    "relevance": Cause("relevance"),
}

FAMILY = tuple(
    Metric(
        key=key_of(compute),
        title=title,
        kind="turn",
        aspect=CONTENT,
        causes=CAUSES,
        compute=compute,
        low=low,
        high=2.0,
        direction=HIGHER,
        needs=frozenset({"agenda", "embeddings"}),
        parameters=agenda.PARAMETERS,
        texts=agenda.texts,
    )
    for compute, title, low in (
        (info_cov, "Coverage of the current agenda item", 0.0),
        (info_gain, "Information gain on the current agenda item", 0.0),
        (ap, "Agenda progression", -2.0),
    )
)
