"""FED: how likely a dialogue model finds it that a person answers a response with praise or with blame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from judges.metrics.kit.base import (
    BASELINES,
    HIGHER,
    QUALITY,
    Compute,
    Metric,
    Parameter,
    Score,
    Settings,
    key_of,
    scored,
    unscored,
)
from judges.metrics.kit.hub import Encoder, load_causal
from judges.metrics.kit.scene import Scene
from judges.metrics.kit.tools import Tools

TURN_END = "<|endoftext|>"
ENGAGED = (
    "Wow! That's really cool!",
    "Tell me more!",
    "I'm really interested in learning more about this.",
)
BORED = (
    "Let's change the topic.",
    "I don't really care. That's pretty boring.",
    "I want to talk about something else.",
)
OFF_TOPIC = (
    "That's not even related to what I said.",
    "Don't change the topic!",
    "Why are you changing the topic?",
)


def fed_engaging(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """FED Engaging: mean loss of bored follow-ups minus mean loss of engaged ones.

    The loss is the mean negative log-likelihood, in nats a token, of the dialogue with the follow-up after
    it, under DialoGPT, as in the published code; the follow-ups are the published ones. No fixed range;
    higher is more engaging. Texts stay as they are (ComperDial table 14).
    """
    return _fed(scene, turn, settings, tools, praise=ENGAGED, blame=BORED)


def fed_relevant(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """FED Relevant: mean loss of follow-ups that complain of a change of topic; higher is more relevant."""
    return _fed(scene, turn, settings, tools, praise=(), blame=OFF_TOPIC)


def _fed(
    scene: Scene,
    turn: int | None,
    settings: Settings,
    tools: Tools,
    *,
    praise: Sequence[str],
    blame: Sequence[str],
) -> Score:
    assert turn is not None
    response = scene.target(turn).text.strip()
    if not response:
        return unscored("the message has no text")
    context = [scene.turns[p].text for p in scene.context(turn, settings.integer("window"))]
    model = tools.models.get("causal", settings.text("model"), load_causal)
    dialogue = f" {TURN_END} ".join([*context, response])
    return scored(_mean_loss(model, dialogue, blame) - _mean_loss(model, dialogue, praise))


def _mean_loss(model: Encoder, dialogue: str, follow_ups: Sequence[str]) -> float:
    """Return the mean loss of a dialogue with each follow-up, 0 without follow-ups."""
    losses = [loss(model, f"{TURN_END} {dialogue} {TURN_END} {one}") for one in follow_ups]
    return sum(losses) / max(len(losses), 1)


def loss(model: Encoder, text: str) -> float:
    """Return the mean negative log-likelihood of a text's tokens after the first, cut at its beginning."""
    import torch

    ids = model.tokenizer(text, add_special_tokens=False).input_ids[-model.limit :]
    logits: Any = model.forward(input_ids=torch.tensor([ids])).logits[0]
    rows = torch.log_softmax(logits[:-1].double(), dim=-1)
    return -float(rows[range(len(ids) - 1), ids[1:]].mean())


def _metric(compute: Compute, title: str) -> Metric:
    return Metric(
        key=key_of(compute),
        title=title,
        kind="turn",
        aspect=QUALITY,
        group=BASELINES,
        compute=compute,
        low=None,
        high=None,
        direction=HIGHER,
        needs=frozenset({"language_model"}),
        parameters={"model": Parameter("microsoft/DialoGPT-large", "a dialogue model by name or folder")},
    )


FAMILY = (_metric(fed_engaging, "FED Engaging"), _metric(fed_relevant, "FED Relevant"))
