"""Lexical units of a text: content words, named entities and bigrams of content words."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from annotation.text.tokens import words
from judges.metrics.kit.base import PAPER, ModelMissing, Settings
from judges.metrics.kit.scene import Scene
from judges.metrics.kit.tools import Tools
from judges.metrics.kit.vectors import Neighbours, unit_vectors, word_vectors

# Closed-class words of a few languages: what carries grammar rather than content.

ENGLISH = """
a an the this that these those some any each every either neither no none all both such same
other another own i me my mine myself we us our ours ourselves you your yours yourself
yourselves he him his himself she her hers herself it its itself they them their theirs
themselves who whom whose which what am is are was were be been being do does did doing done
have has had having will would shall should can could may might must ought and or but nor so
yet if then else because as until while although though unless since whether than of at by
for with about against between into through during before after above below to from up down
in out on off over under again further once here there when where why how not only very too
just also even still more most much many few less least quite rather i'm you're he's she's
it's we're they're i've you've we've they've i'd you'd he'd she'd we'd they'd i'll you'll
he'll she'll we'll they'll isn't aren't wasn't weren't hasn't haven't hadn't doesn't don't
didn't won't wouldn't shan't shouldn't can't cannot couldn't mustn't let's that's who's
what's here's there's um uh er hmm mm oh ah well yeah yes okay ok
"""

CHINESE = """
的 了 着 过 吗 呢 吧 啊 呀 嘛 地 得 我 你 他 她 它 们 是 在 有 和 与 及 或
也 都 就 还 不 没 这 那 个 把 被 对 从 到 为
"""

JAPANESE = "の に は を が と で も へ や か ね よ な だ た て い る う し す れ さ ま あ こ そ ん"

ARABIC = """
في من على إلى عن مع هذا هذه ذلك تلك هو هي هم أنا نحن أنت
أنتم و أو ثم لكن أن إن لا ما لم لن قد كان كانت يكون كل بعض
أي كما إذا حتى عند بعد قبل بين التي الذي الذين ليس هل
"""

GERMAN = """
der die das den dem des ein eine einen einem einer eines und oder aber denn weil dass wenn
als ob ich du er sie es wir ihr mich dich ihn uns euch mir dir ihm ihnen mein dein sein
unser euer ist sind war waren bin bist sei wird werden wurde hat haben hatte nicht kein
keine auch nur noch schon sehr so wie was wer wo in im an am auf aus bei mit nach von vom zu
zum zur für über unter durch
"""

FRENCH = """
le la les un une des de du au aux et ou mais donc car que qui quoi dont où si je tu il elle
on nous vous ils elles me te se mon ma mes ton ta tes son sa ses notre nos votre vos leur
leurs ce cet cette ces est sont était être ai as a avons avez ont avait ne pas plus très
aussi dans en par pour sur sous avec sans
"""

SPANISH = """
el la los las un una unos unas de del al y o pero que quien cual si yo tú él ella nosotros
vosotros ellos ellas me te se nos mi tu su mis tus sus este esta estos estas ese esa es son
era ser está están he ha han no más muy también en por para sobre con sin como
"""

STOP_WORDS = frozenset(" ".join((ENGLISH, CHINESE, JAPANESE, ARABIC, GERMAN, FRENCH, SPANISH)).split())

PARTICLES = frozenset(
    ["的", "了", "着", "过", "吗", "呢", "吧", "啊", "呀", "嘛", "地", "得", "么", "哦", "啦"]
)
"""Chinese particles, 15 like those that the published code of MPCEval leaves out of contexts."""


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


# The lexical units of a scene, indexed once so that every turn's context is looked up, not rebuilt.


class Lexicon:
    """Units by turn, turns by unit, and all units in the order of their first turn.

    `messages` extracts units of messages that are not units of contexts; they come last.
    """

    def __init__(self, scene: Scene, extract: Extract, messages: Extract | None = None) -> None:
        self.turns = [extract(turn.text) for turn in scene.turns]
        self.places: dict[str, list[int]] = {}
        self.seen = [0]
        for position, found in enumerate(self.turns):
            for unit in sorted(found):
                self.places.setdefault(unit, []).append(position)
            self.seen.append(len(self.places))
        self.order = {unit: index for index, unit in enumerate(self.places)}
        self.said = [messages(turn.text) if messages else frozenset() for turn in scene.continuation.turns]
        for unit in sorted(frozenset[str]().union(*self.said)):
            self.order.setdefault(unit, len(self.order))
        self.spoken = [0, *accumulate(bool(turn.text.strip()) for turn in scene.turns)]
        self.filled = [0, *accumulate(bool(found) for found in self.turns)]
        self._scene = scene

    def frequency(self, unit: str, context: Sequence[int]) -> int:
        """Return in how many turns of a context a unit occurs."""
        places = self.places.get(unit, ())
        if span := self._scene.span(context):
            return bisect_left(places, span[1]) - bisect_left(places, span[0])
        return len(set(places) & set(context))

    def documents(self, context: Sequence[int]) -> int:
        """Return how many turns of a context have units."""
        if span := self._scene.span(context):
            return self.filled[span[1]] - self.filled[span[0]]
        return sum(bool(self.turns[p]) for p in context)

    def near(self, units: list[str], context: Sequence[int], settings: Settings, tools: Tools) -> set[str]:
        """Return those units, none of them in the context, that have a near one there."""
        threshold = settings.number("threshold")
        near = self._scene.once(
            ("neighbours", id(self), settings.text("vectors"), tools.embed.name, threshold),
            lambda: self._neighbours(threshold, settings, tools),
        )
        span = self._scene.span(context)
        if span and not self.spoken[span[0]]:
            end = self.seen[span[1]]
            return {unit for unit in units if near.before(self.order[unit], end)}
        known = sorted(set().union(*({self.order[unit] for unit in self.turns[p]} for p in context)))
        rows = np.array([self.order[unit] for unit in units], dtype=np.intp)
        found = near.among(rows, np.array(known, dtype=np.intp))
        return {unit for unit, one in zip(units, found, strict=True) if one}

    def _neighbours(self, threshold: float, settings: Settings, tools: Tools) -> Neighbours:
        """Compare what the continuation says, in its order, as that is what will be asked for."""
        said = frozenset[str]().union(*self.turns[self._scene.offset :], *self.said)
        asked = np.array(sorted(self.order[unit] for unit in said), dtype=np.intp)
        return Neighbours(
            list(self.order), asked, lambda units: unit_vectors(units, settings, tools), threshold
        )
