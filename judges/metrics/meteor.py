"""METEOR: alignment of a response's words with its reference's, by form, stem and, with WordNet, synonym."""

from __future__ import annotations

from typing import Any

from judges.metrics.kit.base import (
    AGAINST_REFERENCE,
    BASELINES,
    HIGHER,
    PAPER,
    Metric,
    ModelMissing,
    Score,
    Settings,
    scored,
)
from judges.metrics.kit.comparison import AGAINST, pair
from judges.metrics.kit.scene import Scene
from judges.metrics.kit.tools import Tools

EXACT_PLUS_STEM = "exact_plus_stem"


def meteor(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """METEOR of the response against the reference, both normalised.

    F (1 - 0.5 (chunks / matches)^3), F = 10PR / (R + 9P): nltk's single_meteor_score, after ComperDial table
    14. `paper` matches forms, Porter stems and WordNet synonyms; `exact_plus_stem` does without synonyms and
    so is not METEOR as published. Range 0 to 1.
    """
    from nltk.translate.meteor_score import single_meteor_score

    found = pair(scene, turn, settings)
    if isinstance(found, Score):
        return found
    wordnet = tools.models.get("wordnet", "", _wordnet) if settings.variant == PAPER else NoSynonyms()
    value = single_meteor_score(found.reference_tokens, found.response_tokens, wordnet=wordnet)
    return scored(float(value))


class NoSynonyms:
    """A thesaurus without entries."""

    def synsets(self, word: str) -> list[Any]:
        """Return nothing: no word has a synonym."""
        return []


def _wordnet(name: str) -> Any:
    from nltk.corpus import wordnet

    try:
        wordnet.synsets("word")
    except LookupError:
        raise ModelMissing(
            "METEOR needs WordNet: run python -m nltk.downloader wordnet, or take meteor@exact_plus_stem"
        ) from None
    return wordnet


FAMILY = (
    Metric(
        key="meteor",
        title="Aligned words",
        kind="turn",
        aspect=AGAINST_REFERENCE,
        group=BASELINES,
        compute=meteor,
        low=0.0,
        high=1.0,
        direction=HIGHER,
        needs=frozenset({"reference", "words"}),
        parameters=AGAINST,
        variants={EXACT_PLUS_STEM: {}, PAPER: {}},
    ),
)
