"""Lexical units of a text: content words, named entities and bigrams of content words."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from typing import Any

from annotation.text.tokens import words
from judges.metrics.kit.base import PAPER, Settings
from judges.metrics.kit.errors import ModelMissing
from judges.metrics.kit.stopwords import PARTICLES, STOP_WORDS
from judges.metrics.kit.tools import Tools
from judges.metrics.kit.vectors import word_vectors

Extract = Callable[[str], frozenset[str]]

CONTENT_TAGS = ("NOUN", "PROPN", "VERB", "ADJ", "ADV", "NUM")


def extractor(settings: Settings, tools: Tools) -> Extract:
    """Return what a variant extracts units with; raise ModelMissing where `paper` names no pipeline."""
    if settings.variant != PAPER:
        return written
    name = settings.text("pipeline")
    if not name:
        raise ModelMissing(
            "the variant paper needs a spaCy pipeline: install spaCy and one of its pipelines, and name it "
            "with pipeline=NAME; the variant words does without"
        )
    return tools.models.get("spacy", name, _pipeline)


@lru_cache(maxsize=65536)
def written(text: str) -> frozenset[str]:
    """Return the stand-in's units: words as written, without stop words, and bigrams of neighbours."""
    return with_bigrams([word for word in words(text) if word not in STOP_WORDS])


def with_bigrams(content: list[str]) -> frozenset[str]:
    """Return content words and the bigrams of those that follow each other."""
    return frozenset(content) | {f"{one} {two}" for one, two in pairwise(content)}


@lru_cache(maxsize=65536)
def plain(text: str) -> frozenset[str]:
    """Return the published code's units of a message: its lower-cased words."""
    return frozenset(words(text))


def without_particles(text: str) -> frozenset[str]:
    """Return the published code's units of a context turn: its words without Chinese particles."""
    return plain(text) - PARTICLES


def known(found: frozenset[str], settings: Settings, tools: Tools) -> frozenset[str]:
    """Return the units that a file of word vectors has; all of them where no file is named."""
    if not settings.text("vectors"):
        return found
    return frozenset(unit for unit in found if unit in word_vectors(settings, tools).rows)


def _pipeline(name: str) -> Extract:
    """Load a spaCy pipeline and return what extracts units with it."""
    try:
        import spacy
    except ImportError:
        raise ModelMissing("pipeline needs the Python package spacy, which is not installed") from None
    try:
        loaded = spacy.load(name)
    except OSError:
        raise ModelMissing(
            f"the spaCy pipeline {name!r} is absent: python -m spacy download {name}"
        ) from None
    return lru_cache(maxsize=65536)(lambda text: from_document(loaded(text)))


def from_document(document: Any) -> frozenset[str]:
    """Return lemmas of content words, their bigrams, and named entities of a spaCy document."""
    content = [
        token.lemma_.casefold() for token in document if token.pos_ in CONTENT_TAGS and not token.is_stop
    ]
    return with_bigrams(content) | {entity.text.casefold() for entity in document.ents}
