"""BARTScore: how expected one text is after another to a sequence-to-sequence model."""

from __future__ import annotations

from typing import Any

from judges.metrics.kit.base import (
    BASELINES,
    HIGHER,
    QUALITY,
    Cause,
    Metric,
    Parameter,
    Score,
    Settings,
    scored,
    unscored,
)
from judges.metrics.kit.comparison import AGAINST, reference_of
from judges.metrics.kit.hub import Encoder, load_seq2seq
from judges.metrics.kit.scene import Scene
from judges.metrics.kit.tools import Tools

MODEL = "facebook/bart-large-cnn"
FAITHFULNESS, PRECISION, RECALL, F1 = "faithfulness", "precision", "recall", "f1"
NOTHING_READ = "the model reads nothing in the text to be scored"


def bart_score(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Mean log-likelihood of a text's tokens after another text, under a sequence-to-sequence model.

    1/n sum log p(token_j | tokens before, source), with the natural logarithm. `faithfulness`: of the
    response after the history (its turns' texts, one a line); `precision`: of the response after the
    reference; `recall`: of the reference after the response; `f1`: the mean of these two. Texts are read as
    they stand, sources cut at their beginning, targets at their end, to what the model reads. At most 0, no
    lower bound.
    """
    assert turn is not None
    response = scene.target(turn).text.strip()
    if not response:
        return unscored("the message has no text")
    source = (
        _history(scene, turn, settings)
        if settings.variant == FAITHFULNESS
        else _reference(scene, turn, settings)
    )
    if isinstance(source, Score):
        return source
    model = tools.models.get("seq2seq", settings.text("model"), load_seq2seq)
    pairs = {PRECISION: (source, response), RECALL: (response, source)}
    wanted = {FAITHFULNESS: {FAITHFULNESS: (source, response)}, F1: pairs}
    asked = wanted.get(settings.variant) or {settings.variant: pairs[settings.variant]}
    found = {name: mean_log_probability(model, *pair) for name, pair in asked.items()}
    means = [one for one in found.values() if one is not None]
    if len(means) < len(found):
        return unscored(NOTHING_READ)
    return scored(sum(means) / len(means), **(found if settings.variant == F1 else {}))


def _history(scene: Scene, turn: int, settings: Settings) -> str | Score:
    said = [scene.turns[p].text.strip() for p in scene.context(turn, settings.integer("window"))]
    return "\n".join(said) if said else unscored("the history has no text")


def _reference(scene: Scene, turn: int, settings: Settings) -> str | Score:
    found = reference_of(scene, turn, settings)
    if isinstance(found, Score):
        return found
    return found.text.strip() or unscored("the reference has no text")


def mean_log_probability(model: Encoder, source: str, target: str) -> float | None:
    """Return the mean natural-log probability of a target's tokens after a source, None without a token.

    The tokens are those that the model's own tokenizer makes of a target, special ones included, as the model
    was trained on.
    """
    import torch

    tokens = model.tokenizer(text_target=target).input_ids[: model.limit]
    if not set(tokens) - set(model.tokenizer.all_special_ids):
        return None
    read = _cut(model, model.tokenizer(source).input_ids)
    labels = torch.tensor([tokens])
    made: Any = model.forward(input_ids=torch.tensor([read]), labels=labels).logits[0]
    rows = torch.log_softmax(made.double(), dim=-1)
    return float(rows[range(len(tokens)), tokens].mean())


def _cut(model: Encoder, tokens: list[int]) -> list[int]:
    """Return a source's tokens, the earliest left out where they are too many; a start mark stays."""
    over = len(tokens) - model.limit
    if over <= 0:
        return tokens
    start = 1 if tokens[0] in model.tokenizer.all_special_ids else 0
    return [*tokens[:start], *tokens[start + over :]]


FAMILY = (
    Metric(
        key="bart_score",
        title="BARTScore",
        kind="turn",
        aspect=QUALITY,
        group=BASELINES,
        compute=bart_score,
        low=None,
        high=0.0,
        direction=HIGHER,
        needs=frozenset({"language_model"}),
        parameters={
            **AGAINST,
            "model": Parameter(MODEL, "an encoder-decoder language model by name or folder"),
        },
        variants={FAITHFULNESS: {}, PRECISION: {}, RECALL: {}, F1: {}},
        causes={PRECISION: Cause("precision"), RECALL: Cause("recall")},
    ),
)
