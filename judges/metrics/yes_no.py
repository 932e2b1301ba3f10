"""UniEval: a sequence-to-sequence model's answer to yes-no questions about a response."""

from __future__ import annotations

import math
import re
from typing import Any

from judges.metrics.kit.background import NO_PROFILE
from judges.metrics.kit.base import (
    BASELINES,
    HIGHER,
    QUALITY,
    Metric,
    Parameter,
    Score,
    Settings,
    scored,
    unscored,
)
from judges.metrics.kit.hub import Encoder, load_seq2seq
from judges.metrics.kit.scene import Scene
from judges.metrics.kit.tools import Tools

OVERALL = "overall"
QUESTIONS = {
    "naturalness": ("Is this a natural response in the dialogue?", ()),
    "coherence": ("Is this a coherent response given the dialogue history?", ("dialogue history",)),
    "engagingness": (
        "Is this an engaging and informative response according to the dialogue history and fact?",
        ("dialogue history", "fact"),
    ),
    "groundedness": ("Is this response consistent with knowledge in the fact?", ("fact",)),
    "understandability": ("Is this an understandable response in the dialogue?", ()),
}
"""The questions that the published model was trained on, and what each is asked about."""

_SENTENCE = re.compile(r"[^.!?。！？؟]+(?:[.!?。！？؟]+|$)")


def unieval(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """UniEval: p(Yes) / (p(Yes) + p(No)) for five questions about the response, and their mean.

    Engagingness is the sum over the response's sentences; it and groundedness take the speaker's profile as
    the fact. `aspect` chooses one: ComperDial takes `overall` (table 14). At least 0; all but engagingness,
    and so overall, are at most 1 for one sentence. Undefined without a profile, for the aspects that need
    one.
    """
    assert turn is not None
    response = scene.target(turn).text.strip()
    if not response:
        return unscored("the message has no text")
    aspect = settings.text("aspect")
    asked = list(QUESTIONS) if aspect == OVERALL else [aspect]
    fact = scene.profile(scene.target(turn).speaker)
    if not fact and any("fact" in QUESTIONS[one][1] for one in asked):
        return unscored(NO_PROFILE)
    model = tools.models.get("seq2seq", settings.text("model"), load_seq2seq)
    context = scene.context(turn, settings.integer("window"))
    given = {
        "dialogue history": "\n".join(scene.turns[p].text for p in context) + "\n\n",
        "fact": fact + "\n",
    }
    values = {one: _aspect(model, one, response, given) for one in asked}
    return scored(math.fsum(values.values()) / len(values), **values)


def _aspect(model: Encoder, aspect: str, response: str, given: dict[str, str]) -> float:
    parts = sentences(response) if aspect == "engagingness" else [response]
    return math.fsum(yes(model, question(aspect, part, given)) for part in parts)


def question(aspect: str, response: str, given: dict[str, str]) -> str:
    """Return what the model reads: the question, the response, and what it is asked about."""
    asked, about = QUESTIONS[aspect]
    parts = [f"question: {asked}", f"response: {response}", *(f"{name}: {given[name]}" for name in about)]
    return " </s> ".join(parts)


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, split after full stops, exclamation and question marks."""
    return [part.strip() for part in _SENTENCE.findall(text) if part.strip()] or [text]


def yes(model: Encoder, text: str) -> float:
    """Return p(Yes) / (p(Yes) + p(No)) for the first token of the answer."""
    import torch

    tokenizer = model.tokenizer
    first = {word: tokenizer(word).input_ids[0] for word in ("Yes", "No")}
    inputs: Any = tokenizer(text, return_tensors="pt", truncation=True, max_length=1024)
    output = model.forward(
        input_ids=inputs.input_ids,
        attention_mask=inputs.attention_mask,
        labels=torch.tensor([[first["No"]]]),
    )
    row = torch.log_softmax(output.logits[0, 0].double(), dim=-1)
    return float(torch.sigmoid(row[first["Yes"]] - row[first["No"]]))


FAMILY = (
    Metric(
        key="unieval",
        title="UniEval",
        kind="turn",
        aspect=QUALITY,
        group=BASELINES,
        compute=unieval,
        low=0.0,
        high=None,
        direction=HIGHER,
        needs=frozenset({"language_model", "profile"}),
        parameters={
            "model": Parameter("MingZhong/unieval-dialog", "a UniEval model by name or folder"),
            "aspect": Parameter(OVERALL, "which question", choices=(OVERALL, *QUESTIONS)),
        },
    ),
)
