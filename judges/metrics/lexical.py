"""LNR, LNR-E and LNR-E-w: how much of a message's vocabulary is new."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from annotation.records import Dialogue
from judges.metrics.kit import units
from judges.metrics.kit.base import (
    CONTENT,
    NEARER_HALF,
    PAPER,
    REFERENCE,
    Cause,
    Metric,
    Need,
    Parameter,
    Score,
    Settings,
    scored,
    unscored,
)
from judges.metrics.kit.scene import Scene
from judges.metrics.kit.tools import Tools
from judges.metrics.kit.units import Lexicon
from judges.metrics.turn_taking import NO_CONTEXT

WORDS = "words"
CORPUS = "corpus"


@dataclass(frozen=True)
class Case:
    """The units of a message and the lexicon and positions of its context."""

    message: list[str]
    lexicon: Lexicon
    context: list[int]

    def new(self) -> list[str]:
        """Return the message's units that the context does not have."""
        return [unit for unit in self.message if not self.lexicon.frequency(unit, self.context)]


def lnr(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Lexical novelty rate: the share of the message's units that the context does not have.

    |E(u) minus E(C_-k)| / |E(u)|: MPCEval eq. 12. Range 0 (all repeated) to 1 (all new), about 0.5 balanced.
    Units are content words, entities and bigrams of content words: `paper` takes lemmas and entities from
    the spaCy pipeline that `pipeline` names; `words`, the stand-in without one, takes words as written.
    """
    found = _case(scene, turn, settings, tools)
    if isinstance(found, Score):
        return found
    new = found.new()
    return scored(len(new) / len(found.message), new=new)


def lnr_e(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Embedding-aware lexical novelty rate: units without a near one in the context count as new.

    A unit is new if its best cosine to the context's units is below `threshold`: MPCEval eq. 13. Range 0 to
    1.
    """
    found = _case(scene, turn, settings, tools)
    if isinstance(found, Score):
        return found
    new = _new(found, settings, tools)
    return scored(len(new) / len(found.message), new=sorted(new))


def lnr_e_w(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Embedding-aware lexical novelty rate weighted by IDF: MPCEval eq. 14.

    Sum of IDF over new units / sum over all units; IDF = ln((N+1)/(df+1)) + 1 over the context's turns and
    the message (`idf=pair`) or over the corpus's turns (`idf=corpus`). Range 0 to 1. `reference` takes the
    set of lower-cased words, and gives 0 without words and 1 without context.
    """
    found = _case(scene, turn, settings, tools)
    if isinstance(found, Score):
        return found
    weights = _weights(found, settings, tools)
    new = _new(found, settings, tools)
    total = sum(weights[unit] for unit in found.message)
    return scored(sum(weights[unit] for unit in found.message if unit in new) / total, new=sorted(new))


def _case(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Case | Score:
    """Return the units to compare, or why there are none."""
    assert turn is not None
    context = scene.context(turn, settings.integer("window"))
    if settings.is_reference:
        message = units.known(units.plain(scene.target(turn).text), settings, tools)
        lexicon = _lexicon(scene, settings, tools)
        return Case(sorted(message), lexicon, context) if message else scored(0.0)
    if not context:
        return unscored(NO_CONTEXT)
    lexicon = _lexicon(scene, settings, tools)
    message = lexicon.turns[scene.position(turn)]
    return (
        Case(sorted(message), lexicon, context) if message else unscored("the message has no content words")
    )


def _lexicon(scene: Scene, settings: Settings, tools: Tools) -> Lexicon:
    """Return the scene's units: of contexts alone in `reference`, which treats them and messages unlike."""
    if not settings.is_reference:
        extract = units.extractor(settings, tools)
        name = ("lexicon", settings.variant, settings.text("pipeline"))
        return scene.once(name, lambda: Lexicon(scene, extract))
    name = ("lexicon", settings.variant, settings.text("vectors"))

    def of_context(text: str) -> frozenset[str]:
        return units.known(units.without_particles(text), settings, tools)

    def of_message(text: str) -> frozenset[str]:
        return units.known(units.plain(text), settings, tools)

    return scene.once(name, lambda: Lexicon(scene, of_context, of_message))


def _new(found: Case, settings: Settings, tools: Tools) -> set[str]:
    """Return the message's units whose nearest context unit is below the threshold."""
    fresh = found.new()
    if not fresh or not found.lexicon.documents(found.context):
        return set(fresh)
    return set(fresh) - found.lexicon.near(fresh, found.context, settings, tools)


def _weights(found: Case, settings: Settings, tools: Tools) -> dict[str, float]:
    """Return the IDF of the message's units, in the pair or in the corpus."""
    if settings.text("idf") == CORPUS:
        documents, counts = tools.fitted
        return {unit: _idf(documents, counts.get(unit, 0)) for unit in found.message}
    documents = found.lexicon.documents(found.context) + 1
    return {unit: _idf(documents, found.lexicon.frequency(unit, found.context) + 1) for unit in found.message}


def _idf(documents: int, frequency: int) -> float:
    return math.log((documents + 1) / (frequency + 1)) + 1


def _fit_idf(dialogues: Iterable[Dialogue], settings: Settings, tools: Tools) -> tuple[int, dict[str, int]]:
    """Return the number of turns of a corpus that have units, and in how many each unit occurs."""
    extract = units.plain if settings.is_reference else units.extractor(settings, tools)
    documents, counts = 0, dict[str, int]()
    for dialogue in dialogues:
        for continuation in dialogue.all_continuations():
            for found in filter(None, (extract(turn.text) for turn in continuation.turns)):
                documents += 1
                for unit in found:
                    counts[unit] = counts.get(unit, 0) + 1
    return documents, counts


def _texts(scene: Scene, settings: Settings) -> Iterable[str]:
    """Yield the words that may be embedded, where the embedding model gives the word vectors."""
    if settings.text("vectors") or settings.variant == PAPER:
        return
    extract = units.plain if settings.is_reference else units.written
    for turn in scene.turns:
        yield from extract(turn.text)


_PIPELINE = {"pipeline": Parameter("", "name or path of a spaCy pipeline, for the variant paper")}
_NEAR = {
    **_PIPELINE,
    "threshold": Parameter(0.7, "cosine below which a unit is new", low=-1.0, high=1.0),
    "vectors": Parameter("", "word vectors in word2vec's text form; empty: the embedding model"),
}
_IDF = {**_NEAR, "idf": Parameter("pair", "where IDF is counted", choices=("pair", CORPUS))}
_EMBEDDED: frozenset[Need] = frozenset({"embeddings"})

CAUSES = {"new": Cause("new words")}

FAMILY = tuple(
    Metric(
        key=compute.__name__,
        title=title,
        kind="turn",
        aspect=CONTENT,
        causes=CAUSES,
        compute=compute,
        low=0.0,
        high=1.0,
        direction=NEARER_HALF,
        needs=frozenset({"words"}) if compute is lnr else _EMBEDDED,
        parameters=parameters,
        variants={WORDS: {}, PAPER: {}, **({REFERENCE: {}} if compute is lnr_e_w else {})},
        fit=_fit_idf if compute is lnr_e_w else None,
        fit_when=lambda settings: settings.values.get("idf") == CORPUS,
        texts=None if compute is lnr else _texts,
    )
    for compute, title, parameters in (
        (lnr, "Lexical novelty rate", _PIPELINE),
        (lnr_e, "Lexical novelty rate, embedding-aware", _NEAR),
        (lnr_e_w, "Lexical novelty rate, embedding-aware, IDF-weighted", _IDF),
    )
)
