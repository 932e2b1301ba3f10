"""What metrics against a reference share: the pair of texts, and ComperDial's normalisation of both."""

from __future__ import annotations

import re
from dataclasses import dataclass

from annotation.records import Turn
from annotation.text.tokens import is_unspaced, words
from judges.metrics.kit.base import Parameter, Score, Settings, unscored
from judges.metrics.kit.scene import Scene

AGAINST = {"against": Parameter("", "continuation whose turn at the same place is the reference")}
_PUNCTUATION = re.compile(r"""[!"#$%&()*+,\-./:;<=>?@\[\]\\^`{|}~_']""")
_ARTICLES = re.compile(r"\b(a|an|the)\b")


@dataclass(frozen=True)
class Pair:
    """A response and its reference, as written and as tokens."""

    response: str
    reference: str
    response_tokens: tuple[str, ...]
    reference_tokens: tuple[str, ...]


def pair(scene: Scene, turn: int | None, settings: Settings) -> Pair | Score:
    """Return the texts to compare, normalised, or why there is nothing to compare.

    The reference of a static turn is the dialogue's own turn at its point; `against` names another.
    """
    assert turn is not None
    reference = reference_of(scene, turn, settings)
    if isinstance(reference, Score):
        return reference
    if not reference.text.strip():
        return unscored("there is no reference")
    response = scene.target(turn).text
    found = Pair(normalised(response), normalised(reference.text), tokens(response), tokens(reference.text))
    if not found.response_tokens:
        return unscored("the response has no words")
    return found if found.reference_tokens else unscored("the reference has no words")


def reference_of(scene: Scene, turn: int, settings: Settings) -> Turn | Score:
    """Return what a turn is compared with, or why it is compared with nothing: never with itself."""
    against = settings.text("against")
    reference = scene.reference(turn, against)
    if reference is None:
        return unscored("there is no reference")
    return unscored("it is the reference itself") if scene.is_reference(turn, against) else reference


def normalised(text: str) -> str:
    """Return a text in lower case, without ASCII punctuation, English articles and surplus spaces."""
    return " ".join(_ARTICLES.sub(" ", _PUNCTUATION.sub(" ", text.lower())).split())


def tokens(text: str) -> tuple[str, ...]:
    """Return the words of a normalised text: split at spaces, and within scripts that have none."""
    found: list[str] = []
    for part in normalised(text).split():
        found.extend(words(part) if any(map(is_unspaced, part)) else [part])
    return tuple(found)
