"""TES: how much of a message's topics lies outside those that the context has established."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import numpy as np

from annotation.records import Dialogue
from judges.metrics.kit import topics
from judges.metrics.kit.base import (
    CONTENT,
    NEARER_HALF,
    PAPER,
    REFERENCE,
    Cause,
    Metric,
    Parameter,
    Score,
    Settings,
    scored,
    unscored,
)
from judges.metrics.kit.scene import Scene
from judges.metrics.kit.tools import Tools
from judges.metrics.kit.topics import Mixture, TopicModel, jensen_shannon

LONGEST_REPEAT = 20
SHARE_DIGITS = 9


def tes(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Topic expansion score: the share of the message's topics that are not dominant in the context.

    MPCEval eq. 19. The context is widened by `step` turns until the next step would move its topic mixture by
    more than `shift` (JSD, base 2); topics that together hold `mass` of that mixture are dominant; the
    message is read with the `support` turns before it; the mixture of several turns is the mean of theirs.
    Where no step would, the whole context is stable and is taken. Range 0 (redundant) to 1 (off topic).
    Undefined with a context of fewer than two steps. `reference` reads several turns as one text, takes the
    greatest multiple of `step` where no step passes, repeats a short message until it is as long as the turns
    before it, and gives 0 where anything is missing.
    """
    assert turn is not None
    if settings.is_reference:
        return _reference(scene, turn, settings, tools.fitted)
    context = scene.context(turn, settings.integer("window"))
    if not scene.target(turn).text.strip():
        return unscored("the message has no text")
    if len(context) < 2 * settings.integer("step"):
        return unscored("the context is too short for two windows")
    turns = topics.of_turns(scene, tools.fitted)
    most = turns.reach(context, settings.integer("step"), settings.number("shift"))
    size = _stable(most, settings, lambda size: turns.mixture(context[-size:]))
    established = turns.mixture(context if size is None else context[-size:])
    if not established.any():
        return unscored("the topic model knows no word of the context")
    shown = turns.mixture([*context[-settings.integer("support") :], scene.position(turn)])
    if not shown.any():
        return unscored("the topic model knows no word of the message")
    main = dominant(established, settings.number("mass"))
    value = float(np.delete(shown, main).sum())
    return scored(value, stable_turns=size or len(context), shifts=size is not None, dominant=main)


def _reference(scene: Scene, turn: int, settings: Settings, model: TopicModel) -> Score:
    said = [scene.turns[p].text for p in scene.context(turn, settings.integer("window"))]
    message, step = scene.target(turn).text, settings.integer("step")
    if not message.strip() or len(said) < step:
        return scored(0.0)

    def mixture(size: int) -> Mixture:
        """The mixture of the last `size` turns as one text."""
        return model.mixtures(["\n".join(said[-size:])])[0]

    size = _stable(len(said), settings, mixture) or len(said) // step * step
    shown = model.mixtures([_supported(said, message, settings)])[0]
    main = dominant(mixture(size), settings.number("mass"))
    return scored(float(np.delete(shown, main).sum()), stable_turns=size, dominant=main)


def _stable(count: int, settings: Settings, mixture: Callable[[int], Mixture]) -> int | None:
    """Return the first window size after which one more step shifts the topics, None where none does."""
    step, shift = settings.integer("step"), settings.number("shift")
    before = mixture(step)
    for size in range(step, count - step + 1, step):
        wider = mixture(size + step)
        if before.any() and wider.any() and jensen_shannon(before, wider) > shift:
            return size
        before = wider
    return None


def _supported(said: list[str], message: str, settings: Settings) -> str:
    """Return the message after the turns that support it, repeated against dilution."""
    before = said[-settings.integer("support") :]
    length = len("\n".join(before))
    times = min(LONGEST_REPEAT, max(1, math.ceil(length / len(message))))
    return "\n".join([*before, *[message] * times])


def dominant(mixture: Mixture, mass: float) -> list[int]:
    """Return the topics, greatest first (the lower number first among equals), that together reach `mass`.

    Shares that differ by rounding alone are equal: an LDA gives many topics the same small share.
    """
    ordered = np.argsort(-np.round(mixture, SHARE_DIGITS), kind="stable")
    reached = np.cumsum(mixture[ordered]) >= mass - 1e-12
    return (
        [int(topic) for topic in ordered[: int(reached.argmax()) + 1]]
        if reached.any()
        else list(map(int, ordered))
    )


def _fit(dialogues: Iterable[Dialogue], settings: Settings, tools: Tools) -> TopicModel:
    if settings.text("model") == topics.LDA:
        return topics.fit_lda(topics.documents(dialogues), settings.integer("topics"))
    found = topics.documents(dialogues) if not settings.is_reference else sorted(map(_history, dialogues))
    return topics.fit_bertopic(list(filter(None, found)), settings.integer("topic_size"), tools)


def _history(dialogue: Dialogue) -> str:
    return "\n".join(turn.text for turn in dialogue.turns if turn.text.strip())


CAUSES = {
    "stable_turns": Cause("stable turns"),
    "shifts": Cause("shifts"),
    "dominant": Cause("dominant"),
}

FAMILY = (
    Metric(
        key="tes",
        title="Topic expansion",
        kind="turn",
        aspect=CONTENT,
        causes=CAUSES,
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
