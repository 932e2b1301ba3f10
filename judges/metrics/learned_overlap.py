"""BERTScore and BLEURT: how near a response is to its reference in the eyes of a language model."""

from __future__ import annotations

from typing import Any

from judges.metrics.kit.base import (
    AGAINST_REFERENCE,
    BASELINES,
    HIGHER,
    Cause,
    Metric,
    MetricError,
    Parameter,
    Score,
    Settings,
    scored,
    unscored,
)
from judges.metrics.kit.comparison import AGAINST, pair
from judges.metrics.kit.hub import Encoder, load_classifier, load_encoder
from judges.metrics.kit.scene import Scene
from judges.metrics.kit.tools import Tools


def bert_score(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """BERTScore F1 of the response against the reference, both normalised.

    2PR / (P + R): P is the mean over the response's tokens of the best cosine to a token of the reference, R
    the reverse, from one layer of the encoder; no IDF, no rescaling; the special tokens are matched but not
    counted. ComperDial table 14. Range -1 to 1. Undefined where P and R differ in sign: their harmonic mean
    has no bounds.
    """
    found = pair(scene, turn, settings)
    if isinstance(found, Score):
        return found
    encoder = tools.models.get("encoder", settings.text("model"), load_encoder)
    layer = settings.integer("layer")
    left, right = (_tokens(encoder, text, layer) for text in (found.response, found.reference))
    similar = left @ right.T
    precision = float(similar[1:-1].max(dim=1).values.mean())
    recall = float(similar[:, 1:-1].max(dim=0).values.mean())
    value = f1(precision, recall)
    if value is None:
        return unscored("precision and recall differ in sign", precision=precision, recall=recall)
    return scored(value, precision=precision, recall=recall)


def f1(precision: float, recall: float) -> float | None:
    """Return the harmonic mean, 0 where both are 0; None where one is negative: it would have no bounds."""
    if precision * recall < 0:
        return None
    total = precision + recall
    return 2 * precision * recall / total if total else 0.0


def _tokens(encoder: Encoder, text: str, layer: int) -> Any:
    """Return the unit vectors of a text's tokens, special ones at both ends, from one layer."""
    states = encoder.run(text, output_hidden_states=True).hidden_states
    if layer >= len(states):
        raise MetricError(f"bert_score: the model has {len(states) - 1} layers, not a layer {layer}")
    rows = states[layer][0].double()
    return rows / rows.norm(dim=-1, keepdim=True)


def bleurt(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """BLEURT of the response against the reference, both normalised: the output of a trained regressor.

    The model reads reference and response as a pair and gives one number: ComperDial table 14. No fixed
    range; the published models give about 0 for unlike and 1 for equal texts.
    """
    found = pair(scene, turn, settings)
    if isinstance(found, Score):
        return found
    model = tools.models.get("regressor", settings.text("model"), load_classifier)
    logits = model.run(found.reference, found.response).logits
    if logits.numel() != 1:
        name, count = settings.text("model"), logits.numel()
        raise MetricError(f"bleurt: {name!r} is not a regressor: it gives {count} numbers")
    return scored(float(logits.reshape(())))


CAUSES = {"precision": Cause("precision"), "recall": Cause("recall")}

FAMILY = (
    Metric(
        key="bert_score",
        title="BERTScore",
        kind="turn",
        aspect=AGAINST_REFERENCE,
        group=BASELINES,
        causes=CAUSES,
        compute=bert_score,
        low=-1.0,
        high=1.0,
        direction=HIGHER,
        needs=frozenset({"reference", "language_model"}),
        parameters={
            **AGAINST,
            "model": Parameter("bert-base-multilingual-cased", "an encoder by name or folder"),
            "layer": Parameter(9, "which layer's vectors are compared", low=0),
        },
    ),
    Metric(
        key="bleurt",
        title="BLEURT",
        kind="turn",
        aspect=AGAINST_REFERENCE,
        group=BASELINES,
        causes=CAUSES,
        compute=bleurt,
        low=None,
        high=None,
        direction=HIGHER,
        needs=frozenset({"reference", "language_model"}),
        parameters={
            **AGAINST,
            "model": Parameter("Elron/bleurt-large-512", "a regressor of text pairs by name or folder"),
        },
    ),
)
