"""LL: how expected a message is to a causal language model."""

from __future__ import annotations

import math
from typing import Any

from judges.metrics.kit.base import (
    CONTENT,
    HIGHER,
    PAPER,
    REFERENCE,
    Metric,
    Parameter,
    Score,
    Settings,
    scored,
    unscored,
)
from judges.metrics.kit.hub import Encoder, load_causal
from judges.metrics.kit.scene import Scene
from judges.metrics.kit.tools import Tools
from judges.metrics.turn_taking import NO_CONTEXT

MODEL = "Qwen/Qwen3-8B"
LIMIT = 4096
STEEPNESS = 25.0
"""Of the scaled form 1 - exp(-25 LL), which the tables of MPCEval fit."""


def ll(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Likelihood of the message after its context: exp of the mean log-probability of its tokens.

    exp(1/L sum log p(u_j | u_<j, C_-k)): MPCEval eq. 18; `scaled=1` gives 1 - exp(-25 LL) instead. The
    context is written as `speaker: text` lines and `Next:`, cut at its beginning to the last 4096 tokens.
    Range 0 to 1. `reference` gives 0 where there is no message.
    """
    assert turn is not None
    text = scene.target(turn).text.strip()
    context = scene.context(turn, settings.integer("window"))
    if not text:
        return scored(0.0) if settings.is_reference else unscored("the message has no text")
    if not context and not settings.is_reference:
        return unscored(NO_CONTEXT)
    model = tools.models.get("causal", settings.text("model"), load_causal)
    mean = mean_log_probability(model, prompt(scene, context), " " + text)
    if mean is None:
        return unscored("the model reads nothing in the message")
    value = math.exp(mean)
    return scored(1 - math.exp(-STEEPNESS * value) if settings.flag("scaled") else value)


def prompt(scene: Scene, context: list[int]) -> str:
    """Return the context as the model reads it; who speaks next is not told."""
    said = (f"{_name(scene, scene.turns[p].speaker)}: {scene.turns[p].text}" for p in context)
    return "\n".join([*said, "Next:"])


def mean_log_probability(model: Encoder, before: str, text: str) -> float | None:
    """Return the mean natural-log probability of a text's tokens after another text, None without a token."""
    import torch

    start = model.tokenizer(before).input_ids
    message = model.tokenizer(text, add_special_tokens=False).input_ids
    if not message:
        return None
    limit = min(LIMIT, model.limit)
    message = message[: limit - 1]
    start = start[-(limit - len(message)) :]
    logits: Any = model.forward(input_ids=torch.tensor([start + message])).logits[0]
    rows = torch.log_softmax(logits[len(start) - 1 : -1].double(), dim=-1)
    return float(rows[range(len(message)), message].mean())


def _name(scene: Scene, speaker: str) -> str:
    return scene.participant(speaker).name or speaker


FAMILY = (
    Metric(
        key="ll",
        title="Likelihood under a language model",
        kind="turn",
        aspect=CONTENT,
        compute=ll,
        low=0.0,
        high=1.0,
        direction=HIGHER,
        needs=frozenset({"language_model"}),
        parameters={
            "model": Parameter(MODEL, "a causal language model by name or folder"),
            "scaled": Parameter(False, "whether to give 1 - exp(-25 LL)"),
        },
        variants={PAPER: {}, REFERENCE: {}},
    ),
)
