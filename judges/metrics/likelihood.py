"""LL, FED and UniEval: quality of a message according to language models."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from judges.metrics.kit.metric import (
    BASELINES,
    CONTENT,
    ENDPOINT,
    HIGHER,
    PAPER,
    QUALITY,
    REFERENCE,
    Compute,
    Likelihood,
    Metric,
    Parameter,
    Passage,
    Score,
    Settings,
    key_of,
    scored,
    unscored,
)
from judges.metrics.kit.models import Encoder, load_causal, load_seq2seq
from judges.metrics.kit.tools import Scene, Tools
from judges.metrics.speakers import NO_PROFILE
from judges.metrics.turn_taking import NO_CONTEXT

# FED: likelihood, under a dialogue model, of follow-ups that praise or criticise a response.

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

    The loss is the mean negative log-likelihood, in nats per token, of the dialogue followed by the
    follow-up, under DialoGPT, as in the published code; the follow-ups are the published ones. No fixed
    range; higher is more engaging. Texts are not normalised (ComperDial table 14).
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
    losses = [loss(model, f"{TURN_END} {dialogue} {TURN_END} {follow_up}") for follow_up in follow_ups]
    return sum(losses) / max(len(losses), 1)


def loss(model: Encoder, text: str) -> float:
    """Return the mean negative log-likelihood of a text's tokens after the first; long texts lose their
    beginning."""
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


FOLLOW_UPS = (_metric(fed_engaging, "FED Engaging"), _metric(fed_relevant, "FED Relevant"))


# UniEval: a sequence-to-sequence model's answer to yes-no questions about a response.

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
"""Questions that the published model was trained on, with the inputs of each."""

_SENTENCE = re.compile(r"[^.!?。！？؟]+(?:[.!?。！？؟]+|$)")


def unieval(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """UniEval: p(Yes) / (p(Yes) + p(No)) for five questions about the response, and their mean.

    Engagingness is the sum over the response's sentences; it and groundedness use the speaker's profile as
    the fact. `aspect` selects the value: ComperDial takes `overall` (table 14). At least 0; at most 1, except
    that engagingness, and so overall, can exceed 1 with several sentences. Undefined without a profile, for
    the aspects that need one.
    """
    assert turn is not None
    response = scene.target(turn).text.strip()
    if not response:
        return unscored("the message has no text")
    aspect = settings.text("aspect")
    aspects = list(QUESTIONS) if aspect == OVERALL else [aspect]
    fact = scene.profile(scene.target(turn).speaker)
    if not fact and any("fact" in QUESTIONS[name][1] for name in aspects):
        return unscored(NO_PROFILE)
    model = tools.models.get("seq2seq", settings.text("model"), load_seq2seq)
    context = scene.context(turn, settings.integer("window"))
    inputs = {
        "dialogue history": "\n".join(scene.turns[p].text for p in context) + "\n\n",
        "fact": fact + "\n",
    }
    values = {name: _aspect(model, name, response, inputs) for name in aspects}
    return scored(math.fsum(values.values()) / len(values), **values)


def _aspect(model: Encoder, aspect: str, response: str, inputs: dict[str, str]) -> float:
    parts = sentences(response) if aspect == "engagingness" else [response]
    return math.fsum(yes(model, question(aspect, part, inputs)) for part in parts)


def question(aspect: str, response: str, inputs: dict[str, str]) -> str:
    """Return the model's input: the question, the response, and the inputs of the question."""
    wording, about = QUESTIONS[aspect]
    parts = [f"question: {wording}", f"response: {response}", *(f"{name}: {inputs[name]}" for name in about)]
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


YES_NO = (
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


MODEL = "Qwen/Qwen3-8B"
LIMIT = 4096
STEEPNESS = 25.0
"""Factor of the scaled form 1 - exp(-25 LL), which matches the tables of MPCEval."""


def ll(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Likelihood of the message after its context: exp of the mean log-probability of its tokens.

    exp(1/L sum log p(u_j | u_<j, C_-k)): MPCEval eq. 18; `scaled=1` gives 1 - exp(-25 LL) instead. The
    context is written as `speaker: text` lines and `Next:`, truncated to the last 4096 tokens. Range 0 to 1.
    `reference` gives 0 without a message. With `endpoint` the model of an endpoint reads all of the context.
    """
    passage = passage_of(scene, turn, settings)
    if isinstance(passage, Score):
        return passage
    model = tools.models.get("causal", settings.text("model"), load_causal)
    mean = mean_log_probability(model, passage.context, passage.text)
    if mean is None:
        return unscored("the model reads nothing in the message")
    return score_of_mean(mean, settings)


def passage_of(scene: Scene, turn: int | None, settings: Settings) -> Passage | Score:
    """Return the message after its context, or the score of a message that needs no model."""
    assert turn is not None
    text = scene.target(turn).text.strip()
    context = scene.context(turn, settings.integer("window"))
    if not text:
        return scored(0.0) if settings.is_reference else unscored("the message has no text")
    if not context and not settings.is_reference:
        return unscored(NO_CONTEXT)
    return Passage(prompt(scene, context), " " + text)


def score_of_mean(mean: float, settings: Settings) -> Score:
    """Return the likelihood, or its scaled form, for the mean log-probability of a message's tokens."""
    value = math.exp(mean)
    return scored(1 - math.exp(-STEEPNESS * value) if settings.flag("scaled") else value)


def prompt(scene: Scene, context: list[int]) -> str:
    """Return the context as the model reads it, without the next speaker."""
    lines = (f"{_name(scene, scene.turns[p].speaker)}: {scene.turns[p].text}" for p in context)
    return "\n".join([*lines, "Next:"])


def mean_log_probability(model: Encoder, before: str, text: str) -> float | None:
    """Return the mean natural-log probability of a text's tokens after another text, None without tokens."""
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
            ENDPOINT: Parameter(
                "", "an endpoint that gives log-probabilities of a prompt, instead of a model on this machine"
            ),
        },
        likelihood=Likelihood(passage_of, score_of_mean),
        variants={PAPER: {}, REFERENCE: {}},
    ),
)
