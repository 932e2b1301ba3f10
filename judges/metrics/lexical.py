"""LNR, LNR-E and LNR-E-w: the share of a message's vocabulary that is new."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotation.records import Dialogue
from annotation.text.words import words
from judges.metrics.kit.instrument import Instrument
from judges.metrics.kit.metric import (
    CONTENT,
    NEARER_HALF,
    PAPER,
    REFERENCE,
    Cause,
    Metric,
    ModelMissing,
    Need,
    Parameter,
    Score,
    Settings,
    scored,
    unscored,
)
from judges.metrics.kit.models import Embedder
from judges.metrics.kit.tools import Matrix, Scene, Tools, normalised
from judges.metrics.turn_taking import NO_CONTEXT

# Word vectors: from a file of static vectors, else from the embedding model as a stand-in.

# Search for an earlier near unit of each lexical unit: in single precision, with doubtful cosines in double.

Indexes = NDArray[np.intp]
Single = NDArray[np.float32]

DOUBT = 1e-4
"""Upper bound on the error of single precision."""
WIDTH = 4096
ROWS = 512
NEVER = np.iinfo(np.intp).max


class Neighbours:
    """Units in the order of their first turn, with the first near unit of each.

    `vectors` returns the unit vectors of some units; near means a cosine of at least `threshold`. Units are
    looked up in the order of `queries`; a block of them at a time is compared with the units before each.
    """

    def __init__(
        self, units: Sequence[str], queries: Indexes, vectors: Callable[[list[str]], Matrix], threshold: float
    ) -> None:
        self._units = units
        self._vectors = vectors
        self._threshold = threshold
        self._rows = _single(units, vectors)
        self._queries = queries
        self._place = {int(unit): place for place, unit in enumerate(queries)}
        self._first = np.full(len(queries), -1, dtype=np.intp)

    def before(self, unit: int, end: int) -> bool:
        """Whether one of the first `end` units is near a unit that is not among them."""
        place = self._place[unit]
        if self._first[place] < 0:
            begin = place // ROWS * ROWS
            self._first[begin : begin + ROWS] = self._compare(self._queries[begin : begin + ROWS])
        return bool(self._first[place] < end)

    def among(self, units: Indexes, columns: Indexes) -> NDArray[np.bool_]:
        """Return a mask of the units that are near one of the units in `columns`."""
        cosines = self._rows[units] @ self._rows[columns].T
        hits = (self._hit(unit, row, columns) for unit, row in zip(units, cosines, strict=True))
        return np.array([hit != NEVER for hit in hits], dtype=bool)

    def _compare(self, block: Indexes) -> Indexes:
        """Return the first near unit before each unit, NEVER if there is none."""
        first = np.full(len(block), NEVER, dtype=np.intp)
        for begin in range(0, int(block.max()), WIDTH):
            waiting = np.flatnonzero((first == NEVER) & (block > begin))
            columns = np.arange(begin, min(begin + WIDTH, len(self._rows)), dtype=np.intp)
            cosines = self._rows[block[waiting]] @ self._rows[begin : begin + WIDTH].T
            for index in np.flatnonzero(cosines.max(axis=1, initial=-1.0) >= self._threshold - DOUBT):
                at = waiting[index]
                earlier = columns[: max(0, block[at] - begin)]
                first[at] = self._hit(block[at], cosines[index, : len(earlier)], earlier)
        return first

    def _hit(self, unit: np.intp, row: Single, columns: Indexes) -> np.intp:
        """Return the first of `columns` that is near a unit, NEVER if there is none."""
        for column in np.flatnonzero(row >= self._threshold - DOUBT):
            sure = row[column] >= self._threshold + DOUBT
            if sure or self._cosine(unit, columns[column]) >= self._threshold:
                return columns[column]
        return np.intp(NEVER)

    def _cosine(self, first: np.intp, second: np.intp) -> float:
        rows = self._vectors([self._units[int(first)], self._units[int(second)]])
        return float(rows[0] @ rows[1])


def _single(units: Sequence[str], vectors: Callable[[list[str]], Matrix]) -> Single:
    """Return the units' vectors in single precision, holding only a few at a time in double precision."""
    parts = [
        vectors(list(units[begin : begin + WIDTH])).astype(np.float32)
        for begin in range(0, len(units), WIDTH)
    ]
    return np.concatenate(parts)


# Flags for texts that a metric can hardly read: tokens unknown to its model, words without letters.
#
# Above a threshold the value is kept but flagged: all unknown tokens have the same vector, so two texts of
# unknown tokens look alike however different they are.

MOST_UNKNOWN = 0.2
"""Maximum share of unknown tokens in a conversation. Plain English has none, with emoji some 2%."""
MOST_WITHOUT_LETTERS = 0.5
"""Maximum share of a conversation's words (`annotation.text.words`) made of digits or pictures alone."""


def flag(instrument: Instrument, scene: Scene, embed: Embedder) -> str:
    """Return the reason to doubt a metric's values for a scene, as a phrase; '' if there is none.

    Checks the texts that the metric embeds, or the words that it compares. Models whose tokenizer knows every
    text (such as byte tokenizers) or is missing are not flagged.
    """
    needs = instrument.metric.needs
    if "embeddings" in needs:
        texts = tuple(instrument.texts(scene))
        unknown, total = scene.once(("unknown", embed.name, texts), lambda: _counted(embed, texts))
        if total and unknown / total > MOST_UNKNOWN:
            return f"{unknown / total:.0%} of {total:,} tokens are unknown to the model {embed.name}"
    if "words" in needs:
        bare, total = scene.once(("without letters",), lambda: _without_letters(scene))
        if total and bare / total > MOST_WITHOUT_LETTERS:
            return f"{bare / total:.0%} of {total:,} words have no letter"
    return ""


def _counted(embed: Embedder, texts: Iterable[str]) -> tuple[int, int]:
    counts = [embed.unknown(text) for text in texts]
    return sum(unknown for unknown, _ in counts), sum(total for _, total in counts)


def _without_letters(scene: Scene) -> tuple[int, int]:
    counts = [_bare(turn.text) for turn in scene.turns]
    return sum(bare for bare, _ in counts), sum(total for _, total in counts)


@lru_cache(maxsize=4096)
def _bare(text: str) -> tuple[int, int]:
    tokens = words(text)
    return sum(not any(character.isalpha() for character in word) for word in tokens), len(tokens)


class WordVectors:
    """Static word vectors in word2vec's text format (fastText's .vec): one word and its numbers per line."""

    def __init__(self, path: str) -> None:
        rows: dict[str, Matrix] = {}
        with Path(path).open(encoding="utf-8", errors="replace") as lines:
            for line in lines:
                word, *numbers = line.rstrip().split(" ")
                if len(numbers) > 1:
                    rows[word] = np.array(numbers, dtype=np.float32).astype(np.float64)
        if not rows:
            raise ModelMissing(f"{path} holds no word vectors")
        self.rows = rows
        self.nothing = np.zeros(len(next(iter(rows.values()))))

    def __call__(self, units: Sequence[str]) -> Matrix:
        """Return one row per unit: the mean of its words' vectors; zeros for an unknown unit."""
        return np.array([self._row(unit) for unit in units])

    def _row(self, unit: str) -> Matrix:
        vectors = [self.rows[word] for word in unit.split() if word in self.rows]
        return np.mean(vectors, axis=0) if vectors else self.nothing


def unit_vectors(units: Sequence[str], settings: Settings, tools: Tools) -> Matrix:
    """Return the unit vectors of units, from the file `vectors` if set, else from the embedding model."""
    if not settings.text("vectors"):
        return tools.unit_texts(list(units))
    return normalised(word_vectors(settings, tools)(units))


def word_vectors(settings: Settings, tools: Tools) -> WordVectors:
    """Return the word vectors of the file `vectors`; raise ModelMissing if it is absent."""
    name = settings.text("vectors")
    if not Path(name).is_file():
        raise ModelMissing(f"there is no file of word vectors {name!r}: download one in word2vec's text form")
    return tools.models.get("word vectors", name, WordVectors)


# Lexical units of a text: content words, named entities and bigrams of content words.

# Closed-class words of a few languages, which carry grammar rather than content.

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
    """Return a variant's function for extracting units; raise ModelMissing if `paper` has no pipeline."""
    if settings.variant != PAPER:
        return word_units
    name = settings.text("pipeline")
    if not name:
        raise ModelMissing(
            "the variant paper needs a spaCy pipeline: install spaCy and one of its pipelines, and name it "
            "with pipeline=NAME; the variant words does without"
        )
    return tools.models.get("spacy", name, _pipeline)


@lru_cache(maxsize=65536)
def word_units(text: str) -> frozenset[str]:
    """Return the stand-in's units: words as written, without stop words, and bigrams of adjacent words."""
    return with_bigrams([word for word in words(text) if word not in STOP_WORDS])


def with_bigrams(content: list[str]) -> frozenset[str]:
    """Return content words and the bigrams of adjacent ones."""
    return frozenset(content) | {f"{first} {second}" for first, second in pairwise(content)}


@lru_cache(maxsize=65536)
def plain(text: str) -> frozenset[str]:
    """Return the published code's units of a message: its lower-cased words."""
    return frozenset(words(text))


def without_particles(text: str) -> frozenset[str]:
    """Return the published code's units of a context turn: its words without Chinese particles."""
    return plain(text) - PARTICLES


def with_vectors(units: frozenset[str], settings: Settings, tools: Tools) -> frozenset[str]:
    """Return the units found in the file of word vectors; all of them if no file is set."""
    if not settings.text("vectors"):
        return units
    return frozenset(unit for unit in units if unit in word_vectors(settings, tools).rows)


def _pipeline(name: str) -> Extract:
    """Load a spaCy pipeline and return a function that extracts units with it."""
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


# The lexical units of a scene, indexed once so that each turn's context is looked up instead of rebuilt.


class Lexicon:
    """Units by turn, turns by unit, and all units in the order of their first turn.

    `messages` extracts units for messages only; units that no context has come last.
    """

    def __init__(self, scene: Scene, extract: Extract, messages: Extract | None = None) -> None:
        self.turns = [extract(turn.text) for turn in scene.turns]
        self.places: dict[str, list[int]] = {}
        self.seen = [0]
        for position, units in enumerate(self.turns):
            for unit in sorted(units):
                self.places.setdefault(unit, []).append(position)
            self.seen.append(len(self.places))
        self.order = {unit: index for index, unit in enumerate(self.places)}
        self.message_units = [
            messages(turn.text) if messages else frozenset() for turn in scene.continuation.turns
        ]
        for unit in sorted(frozenset[str]().union(*self.message_units)):
            self.order.setdefault(unit, len(self.order))
        self.spoken = [0, *accumulate(bool(turn.text.strip()) for turn in scene.turns)]
        self.filled = [0, *accumulate(bool(units) for units in self.turns)]
        self._scene = scene

    def frequency(self, unit: str, context: Sequence[int]) -> int:
        """Return the number of turns of a context in which a unit occurs."""
        places = self.places.get(unit, ())
        if span := self._scene.span(context):
            return bisect_left(places, span[1]) - bisect_left(places, span[0])
        return len(set(places) & set(context))

    def documents(self, context: Sequence[int]) -> int:
        """Return the number of turns of a context that have units."""
        if span := self._scene.span(context):
            return self.filled[span[1]] - self.filled[span[0]]
        return sum(bool(self.turns[p]) for p in context)

    def near(self, units: list[str], context: Sequence[int], settings: Settings, tools: Tools) -> set[str]:
        """Return the units that have a near unit in the context; no unit may be in the context itself."""
        threshold = settings.number("threshold")
        near = self._scene.once(
            ("neighbours", id(self), settings.text("vectors"), tools.embed.name, threshold),
            lambda: self._neighbours(threshold, settings, tools),
        )
        span = self._scene.span(context)
        if span and not self.spoken[span[0]]:
            end = self.seen[span[1]]
            return {unit for unit in units if near.before(self.order[unit], end)}
        context_units = sorted(set().union(*({self.order[unit] for unit in self.turns[p]} for p in context)))
        rows = np.array([self.order[unit] for unit in units], dtype=np.intp)
        hits = near.among(rows, np.array(context_units, dtype=np.intp))
        return {unit for unit, hit in zip(units, hits, strict=True) if hit}

    def _neighbours(self, threshold: float, settings: Settings, tools: Tools) -> Neighbours:
        """Index neighbours in the order of the continuation's units, the order of later look-ups."""
        own_units = frozenset[str]().union(*self.turns[self._scene.offset :], *self.message_units)
        queries = np.array(sorted(self.order[unit] for unit in own_units), dtype=np.intp)
        return Neighbours(
            list(self.order), queries, lambda units: unit_vectors(units, settings, tools), threshold
        )


WORDS = "words"
CORPUS = "corpus"


@dataclass(frozen=True)
class Case:
    """The units of a message and the lexicon and positions of its context."""

    message: list[str]
    lexicon: Lexicon
    context: list[int]

    def new(self) -> list[str]:
        """Return the message's units that are not in the context."""
        return [unit for unit in self.message if not self.lexicon.frequency(unit, self.context)]


def lnr(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Lexical novelty rate: the share of the message's units that are not in the context.

    |E(u) minus E(C_-k)| / |E(u)|: MPCEval eq. 12. Range 0 (all repeated) to 1 (all new), about 0.5 balanced.
    Units are content words, entities and bigrams of content words: `paper` takes lemmas and entities from the
    spaCy pipeline `pipeline`; `words`, the stand-in without a pipeline, takes words as written.
    """
    case = _case(scene, turn, settings, tools)
    if isinstance(case, Score):
        return case
    new = case.new()
    return scored(len(new) / len(case.message), new=new)


def lnr_e(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Embedding-aware lexical novelty rate: the share of units without a near unit in the context.

    A unit is new if its best cosine to the context's units is below `threshold`: MPCEval eq. 13. Range 0 to
    1.
    """
    case = _case(scene, turn, settings, tools)
    if isinstance(case, Score):
        return case
    new = _new(case, settings, tools)
    return scored(len(new) / len(case.message), new=sorted(new))


def lnr_e_w(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Embedding-aware lexical novelty rate weighted by IDF: MPCEval eq. 14.

    Sum of IDF over new units / sum over all units; IDF = ln((N+1)/(df+1)) + 1 over the context's turns and
    the message (`idf=pair`) or over the corpus's turns (`idf=corpus`). Range 0 to 1. `reference` takes the
    set of lower-cased words, and gives 0 without words and 1 without context.
    """
    case = _case(scene, turn, settings, tools)
    if isinstance(case, Score):
        return case
    weights = _weights(case, settings, tools)
    new = _new(case, settings, tools)
    total = sum(weights[unit] for unit in case.message)
    return scored(sum(weights[unit] for unit in case.message if unit in new) / total, new=sorted(new))


def _case(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Case | Score:
    """Return the units to compare, or a score with the reason why there are none."""
    assert turn is not None
    context = scene.context(turn, settings.integer("window"))
    if settings.is_reference:
        message = with_vectors(plain(scene.target(turn).text), settings, tools)
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
    """Return the scene's units; in `reference` those of contexts and, extracted differently, of messages."""
    if not settings.is_reference:
        extract = extractor(settings, tools)
        name = ("lexicon", settings.variant, settings.text("pipeline"))
        return scene.once(name, lambda: Lexicon(scene, extract))
    name = ("lexicon", settings.variant, settings.text("vectors"))

    def of_context(text: str) -> frozenset[str]:
        return with_vectors(without_particles(text), settings, tools)

    def of_message(text: str) -> frozenset[str]:
        return with_vectors(plain(text), settings, tools)

    return scene.once(name, lambda: Lexicon(scene, of_context, of_message))


def _new(case: Case, settings: Settings, tools: Tools) -> set[str]:
    """Return the message's units whose nearest context unit is below the threshold."""
    fresh = case.new()
    if not fresh or not case.lexicon.documents(case.context):
        return set(fresh)
    return set(fresh) - case.lexicon.near(fresh, case.context, settings, tools)


def _weights(case: Case, settings: Settings, tools: Tools) -> dict[str, float]:
    """Return the IDF of the message's units, computed in the pair or in the corpus."""
    if settings.text("idf") == CORPUS:
        documents, counts = tools.fitted
        return {unit: _idf(documents, counts.get(unit, 0)) for unit in case.message}
    documents = case.lexicon.documents(case.context) + 1
    return {unit: _idf(documents, case.lexicon.frequency(unit, case.context) + 1) for unit in case.message}


def _idf(documents: int, frequency: int) -> float:
    return math.log((documents + 1) / (frequency + 1)) + 1


def _fit_idf(dialogues: Iterable[Dialogue], settings: Settings, tools: Tools) -> tuple[int, dict[str, int]]:
    """Return the number of a corpus's turns that have units, and each unit's number of turns."""
    extract = plain if settings.is_reference else extractor(settings, tools)
    documents, counts = 0, dict[str, int]()
    for dialogue in dialogues:
        for continuation in dialogue.all_continuations():
            for units in filter(None, (extract(turn.text) for turn in continuation.turns)):
                documents += 1
                for unit in units:
                    counts[unit] = counts.get(unit, 0) + 1
    return documents, counts


def _texts(scene: Scene, settings: Settings) -> Iterable[str]:
    """Yield the words that may be embedded if the embedding model supplies the word vectors."""
    if settings.text("vectors") or settings.variant == PAPER:
        return
    extract = plain if settings.is_reference else word_units
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
