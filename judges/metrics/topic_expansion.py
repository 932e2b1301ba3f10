"""TES: how much of a message's topics lies outside those that the context has established."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from annotation.records import Dialogue
from judges.metrics import topics
from judges.metrics.base import (
    NEARER_HALF,
    PAPER,
    REFERENCE,
    Metric,
    Parameter,
    Score,
    Settings,
    scored,
    unscored,
)
from judges.metrics.scene import Scene
from judges.metrics.tools import Tools
from judges.metrics.topics import Mixture, TopicModel, jensen_shannon

LONGEST_REPEAT = 20


def tes(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Topic expansion score: the share of the message's topics that are not dominant in the context.

    MPCEval eq. 19. The context is widened by `step` turns until the next step would move its topic mixture by
    more than `shift` (JSD, base 2); topics that together hold `mass` of that mixture are dominant; the
    message is read with the `support` turns before it. Range 0 (redundant) to 1 (off topic). Undefined where
    no step passes the threshold. `reference` then takes the widest context, repeats a short message until it
    is as long as the turns before it, and gives 0 where anything is missing.
    """
    assert turn is not None
    said = [scene.turns[p].text for p in scene.context(turn, settings.integer("window"))]
    message = scene.target(turn).text
    missing = "" if message.strip() else "the message has no text"
    step = settings.integer("step")
    if len(said) < (step if settings.is_reference else 2 * step):
        missing = missing or "the context is too short for two windows"
    if missing:
        return scored(0.0) if settings.is_reference else unscored(missing)
    size, established = _stable(said, settings, tools.fitted)
    if established is None or not established.any():
        reason = (
            "the topics of the context never shift" if established is None else "the context has no topic"
        )
        return scored(0.0) if settings.is_reference else unscored(reason)
    shown = tools.fitted.mixtures([_supported(said, message, settings)])[0]
    if not shown.any():
        return scored(0.0) if settings.is_reference else unscored("the message has no topic")
    main = dominant(established, settings.number("mass"))
    return scored(float(np.delete(shown, main).sum()), stable_turns=size, dominant=main)


def _stable(said: list[str], settings: Settings, model: TopicModel) -> tuple[int, Mixture | None]:
    """Return the stable window and its mixture: the first after which a step shifts the topics."""
    step, shift = settings.integer("step"), settings.number("shift")
    before = model.mixtures(["\n".join(said[-step:])])[0]
    for size in range(step, len(said) - step + 1, step):
        wider = model.mixtures(["\n".join(said[-(size + step) :])])[0]
        if before.any() and wider.any() and jensen_shannon(before, wider) > shift:
            return size, before
        before = wider
    widest = len(said) // step * step
    return (widest, before) if settings.is_reference else (widest, None)


def _supported(said: list[str], message: str, settings: Settings) -> str:
    """Return the message after the turns that support it; the published code repeats it against dilution."""
    before = said[-settings.integer("support") :]
    if not settings.is_reference:
        return "\n".join([*before, message])
    length = len("\n".join(before))
    times = min(LONGEST_REPEAT, max(1, math.ceil(length / len(message))))
    return "\n".join([*before, *[message] * times])


def dominant(mixture: Mixture, mass: float) -> list[int]:
    """Return the topics, greatest first (the lower number first among equals), that together reach `mass`."""
    ordered = np.argsort(-mixture, kind="stable")
    reached = np.cumsum(mixture[ordered]) >= mass - 1e-12
    return (
        [int(topic) for topic in ordered[: int(reached.argmax()) + 1]]
        if reached.any()
        else list(map(int, ordered))
    )


def _fit(dialogues: Iterable[Dialogue], settings: Settings, tools: Tools) -> TopicModel:
    if settings.text("model") == topics.BERTOPIC:
        found = (
            [_history(dialogue) for dialogue in dialogues]
            if settings.is_reference
            else topics.documents(dialogues)
        )
        return topics.fit_bertopic([text for text in found if text], settings.integer("topic_size"), tools)
    return topics.fit_lda(topics.documents(dialogues), settings.integer("topics"))


def _history(dialogue: Dialogue) -> str:
    return "\n".join(turn.text for turn in dialogue.turns if turn.text.strip())


FAMILY = (
    Metric(
        key="tes",
        title="Topic expansion",
        kind="turn",
        aspect="content",
        compute=tes,
        low=0.0,
        high=1.0,
        direction=NEARER_HALF,
        needs=frozenset({"corpus"}),
        parameters={
            "model": Parameter(topics.LDA, "the topic model", choices=(topics.LDA, topics.BERTOPIC)),
            "topics": Parameter(20, "topics of an LDA", low=2, high=1000),
            "topic_size": Parameter(5, "least documents of a BERTopic topic", low=2),
            "step": Parameter(2, "turns by which the context is widened", low=1),
            "shift": Parameter(0.1, "JSD above which the topics have shifted", low=0.0, high=1.0),
            "mass": Parameter(0.8, "share of the mixture that is dominant", low=0.0, high=1.0),
            "support": Parameter(2, "turns before the message that it is read with", low=1),
        },
        variants={PAPER: {}, REFERENCE: {"model": topics.BERTOPIC}},
        fit=_fit,
    ),
)
