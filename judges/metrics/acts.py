"""Dialogue acts: DAF, act taggers, and models that predict the next act."""

from __future__ import annotations

import hashlib
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotation.records import Dialogue, Turn
from annotation.text.words import words
from judges.metrics.kit.metric import (
    CONTENT,
    HIGHER,
    LEARN_FROM,
    REFERENCE,
    Cause,
    Metric,
    MetricError,
    Parameter,
    Score,
    Settings,
    scored,
    unscored,
)
from judges.metrics.kit.models import Encoder, folder_hash, load_causal, load_classifier
from judges.metrics.kit.tools import Scene, Tools
from judges.metrics.turn_taking import NO_CONTEXT

# Dialogue-act taggers: rules over punctuation and words of several languages, or a sequence classifier.

RULES = "rules"
MOST_CACHED = 100_000
QUESTION_MARKS = "?？؟"

ACTS = (
    "question",
    "greeting",
    "thanks",
    "apology",
    "agreement",
    "disagreement",
    "request",
    "backchannel",
    "statement",
)
"""Acts that the rules distinguish."""


def _openings(*phrases: str) -> tuple[str, ...]:
    """Split comma-separated phrases and return each as words with a space after every word."""
    word_lists = (words(phrase) for line in phrases for phrase in line.split(","))
    return tuple(" ".join(word_list) + " " for word_list in word_lists)


OPENINGS = {
    "greeting": _openings(
        "hello, hi, hey, good morning, good afternoon, good evening, bye, goodbye, see you",
        "你好, 您好, 大家好, 早上好, 再见, こんにちは, おはよう, さようなら, مرحبا, السلام عليكم",
        "صباح الخير",
        "hallo, bonjour, salut, hola, adiós",
    ),
    "thanks": _openings(
        "thanks, thank you, cheers, 谢谢, 感谢, 多谢, ありがとう, شكرا, danke, merci, gracias"
    ),
    "apology": _openings(
        "sorry, i'm sorry, i apologise, i apologize, excuse me, 对不起, 抱歉, 不好意思, すみません, ごめん",
        "آسف, عفوا",
        "entschuldigung, désolé, perdón",
    ),
    "disagreement": _openings(
        "no, nope, not really, i disagree, i don't think, i don't agree",
        "不是, 不对, 不同意, いいえ, 違います, لا, nein, non, no creo",
    ),
    "agreement": _openings(
        "yes, yeah, yep, yup, sure, right, exactly, agreed, i agree, absolutely, of course, good idea",
        "sounds good, 是的, 对, 好的, 同意, 没错, はい, そうです, نعم, صحيح, أوافق",
        "ja, genau, oui, d'accord, sí",
        "claro",
    ),
    "request": _openings(
        "please, let's, let us, let me, could you, can you, would you, 请, 我们来, お願い, من فضلك, bitte",
        "s'il vous plaît, por favor",
    ),
}
BACKCHANNELS = frozenset(words("ok okay mm mhm mm-hmm hmm uh-huh oh ah wow lol 嗯 哦 うん حسنا 👍"))


def rule_act(text: str) -> str:
    """Return the act of a message from its punctuation and first words; `statement` if no rule applies."""
    if any(mark in text for mark in QUESTION_MARKS):
        return "question"
    tokens = words(text)
    if tokens and len(tokens) <= 3 and set(tokens) <= BACKCHANNELS:
        return "backchannel"
    line = " ".join(tokens) + " "
    for act, openings in OPENINGS.items():
        if line.startswith(openings):
            return act
    return "statement"


def reference_act(text: str, before: Sequence[str]) -> str:
    """Return the act according to the published code's toy rules.

    A question mark anywhere in the message or the two messages before it makes a question; Chinese greetings
    and thanks are recognised; all else is OTHER.
    """
    joined = "".join([*before[-2:], text])
    if "?" in joined or "？" in joined:
        return "QUESTION"
    if any(word in text for word in ("你好", "您好", "大家好", "早上好")):
        return "GREETING"
    return "THANKS" if any(word in text for word in ("谢谢", "感谢", "多谢")) else "OTHER"


REFERENCE_ACTS = 4


def known_acts(name: str, tools: Tools) -> tuple[str, ...]:
    """Return the acts that a tagger distinguishes."""
    return ACTS if name == RULES else tools.models.get("act classifier", name, Classifier).acts


def tagger(name: str, tools: Tools) -> tuple[Callable[[str], str], int]:
    """Return a tagging function and its number of acts; `name`: `rules`, or a classifier's name or folder."""
    if name == RULES:
        return rule_act, len(ACTS)
    classifier = tools.models.get("act classifier", name, Classifier)
    return classifier, classifier.size


class Classifier:
    """A transformers sequence classifier as tagger; caches the tags of `MOST_CACHED` distinct texts."""

    def __init__(self, name: str) -> None:
        self._encoder: Encoder = load_classifier(name)
        self._labels: dict[int, Any] = self._encoder.model.config.id2label
        self._labels_by_text: dict[str, str] = {}
        self.size = len(self._labels)
        self.acts = tuple(map(str, self._labels.values()))

    def __call__(self, text: str) -> str:
        """Return the label with the greatest logit."""
        if len(self._labels_by_text) >= MOST_CACHED:
            self._labels_by_text.clear()
        if text not in self._labels_by_text:
            logits = self._encoder.run(text).logits[0]
            self._labels_by_text[text] = str(self._labels[int(logits.argmax())])
        return self._labels_by_text[text]


# A hidden Markov model over symbols: likelihood, prediction of the next symbol, and fitting by EM.
#
# Implemented here because no library that Concord uses has it: the Baum-Welch algorithm with scaled
# probabilities, over many sequences at once. Arrays: start (S,), transitions (S, S), emissions (S, V); S
# states, V symbols.

Array = NDArray[np.float64]
Block = tuple[NDArray[np.int64], NDArray[np.int64]]
ExpectedCounts = tuple[Array, Array, Array]
STATES = range(2, 7)
STARTS = 4
FIRST_ROUNDS = 15
ROUNDS = 200
ENOUGH = 1e-7
"""EM ends when a round improves the log-likelihood by less than this share."""
BLOCK = 256
"""Number of sequences in memory at once."""


@dataclass(frozen=True)
class Model:
    """Probabilities of the initial state, of state transitions, and of symbols given a state."""

    start: Array
    transitions: Array
    emissions: Array

    def forward(self, symbols: Sequence[int]) -> Array:
        """Return the forward probabilities after the last symbol, up to a factor common to all states.

        All 0 if the sequence is impossible under the model. Needs at least one symbol.
        """
        alpha = self.start * self.emissions[:, symbols[0]]
        for symbol in symbols[1:]:
            total = alpha.sum()
            if total <= 0:
                break
            alpha = (alpha / total) @ self.transitions * self.emissions[:, symbol]
        return alpha

    def next_symbol(self, symbols: Sequence[int]) -> Array | None:
        """Return p(symbol | the symbols before it), shape (V,); None if those are impossible.

        sum_j [sum_i alpha_i a_ij] b_j(d) / sum_i alpha_i; without symbols, the distribution of the first.
        """
        if not len(symbols):
            return np.asarray(self.start @ self.emissions)
        alpha = self.forward(symbols)
        total = alpha.sum()
        return None if total <= 0 else np.asarray((alpha / total) @ self.transitions @ self.emissions)

    def log_likelihood(self, sequences: Sequence[Sequence[int]]) -> float:
        """Return the natural log of the probability of all sequences; minus infinity if one is
        impossible."""
        with np.errstate(divide="ignore"):
            return math.fsum(np.log(_forward(self, *block)[1]).sum() for block in _blocks(sequences))

    @property
    def size(self) -> int:
        """Number of free parameters."""
        states, symbols = self.emissions.shape
        return (states - 1) + states * (states - 1) + states * (symbols - 1)


def fit(sequences: Sequence[Sequence[int]], symbols: int, seed: int = 0) -> Model:
    """Return the model of 2 to 6 states with the least BIC, each fitted by EM from several seeded starts.

    BIC = size ln(number of symbols seen) - 2 log-likelihood. Needs at least one sequence with a symbol.
    """
    non_empty = [sequence for sequence in sequences if len(sequence)]
    seen = sum(map(len, non_empty))
    best: tuple[float, Model] | None = None
    for states in STATES:
        model = fit_with(non_empty, symbols, states, seed)
        bic = model.size * math.log(seen) - 2 * model.log_likelihood(non_empty)
        if best is None or bic < best[0]:
            best = bic, model
    assert best is not None
    return best[1]


def fit_with(sequences: Sequence[Sequence[int]], symbols: int, states: int, seed: int = 0) -> Model:
    """Return the model with `states` states that EM reaches from the most promising of several starts."""
    blocks = _blocks(sequences)
    draw = np.random.default_rng([seed, states])
    begun = [_climbed(_random_model(draw, states, symbols), blocks, FIRST_ROUNDS) for _ in range(STARTS)]
    return _climbed(max(begun, key=lambda pair: pair[0])[1], blocks, ROUNDS)[1]


def _random_model(draw: np.random.Generator, states: int, symbols: int) -> Model:
    return Model(
        draw.dirichlet(np.ones(states)),
        draw.dirichlet(np.ones(states), states),
        draw.dirichlet(np.ones(symbols), states),
    )


def _climbed(model: Model, blocks: Sequence[Block], rounds: int) -> tuple[float, Model]:
    """Return the log-likelihood and the model after at most `rounds` rounds of EM."""
    likelihood, counts = _expected(model, blocks)
    for _ in range(rounds):
        better = _maximised(model, counts)
        now, counts = _expected(better, blocks)
        if now - likelihood <= ENOUGH * abs(likelihood):
            return max((likelihood, model), (now, better), key=lambda pair: pair[0])
        likelihood, model = now, better
    return likelihood, model


def _expected(model: Model, blocks: Sequence[Block]) -> tuple[float, ExpectedCounts]:
    """Return the log-likelihood and the expected counts of starts, transitions and emissions."""
    states, kinds = model.emissions.shape
    start, pairs, emitted = np.zeros(states), np.zeros((states, states)), np.zeros((kinds, states))
    likelihood = 0.0
    for symbols, lengths in blocks:
        alpha, scale, mask = _forward(model, symbols, lengths)
        beta = _backward(model, symbols, scale, mask)
        gamma = alpha * beta * mask[:, :, None]
        start += gamma[:, 0].sum(axis=0)
        np.add.at(emitted, symbols[mask], gamma[mask])
        coming = model.emissions.T[symbols[:, 1:]] * beta[:, 1:] / scale[:, 1:, None] * mask[:, 1:, None]
        previous = alpha[:, :-1].reshape(-1, states)
        pairs += previous.T @ coming.reshape(-1, states) * model.transitions
        likelihood += float(np.log(scale).sum())
    return likelihood, (start, pairs, emitted.T)


def _maximised(model: Model, counts: ExpectedCounts) -> Model:
    start, pairs, emitted = counts
    return Model(start / start.sum(), _rows(pairs, model.transitions), _rows(emitted, model.emissions))


def _forward(
    model: Model, symbols: NDArray[np.int64], lengths: NDArray[np.int64]
) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Return scaled forward probabilities (N, T, S), scales (N, T; 1 after the end) and the mask (N, T)."""
    n, longest = symbols.shape
    mask = np.arange(longest) < lengths[:, None]
    alpha = np.zeros((n, longest, len(model.start)))
    scale = np.ones((n, longest))
    for at in range(longest):
        ahead = (
            alpha[:, at - 1] @ model.transitions if at else np.broadcast_to(model.start, alpha[:, 0].shape)
        )
        now = ahead * model.emissions[:, symbols[:, at]].T
        total = now.sum(axis=1)
        scale[:, at] = np.where(mask[:, at], total, 1.0)
        alpha[:, at] = np.where(total[:, None] > 0, now / np.where(total > 0, total, 1.0)[:, None], 0.0)
    return alpha, scale, mask


def _backward(model: Model, symbols: NDArray[np.int64], scale: Array, mask: NDArray[np.bool_]) -> Array:
    n, longest = symbols.shape
    beta = np.ones((n, longest, len(model.start)))
    for at in range(longest - 2, -1, -1):
        ahead = model.emissions[:, symbols[:, at + 1]].T * beta[:, at + 1] / scale[:, at + 1, None]
        beta[:, at] = np.where(mask[:, at + 1, None], ahead @ model.transitions.T, 1.0)
    return beta


def _blocks(sequences: Sequence[Sequence[int]]) -> list[Block]:
    """Group sequences of similar length: symbols (N, T), 0 after the end, and lengths (N,)."""
    ordered = sorted((sequence for sequence in sequences if len(sequence)), key=len)
    return [_padded(ordered[at : at + BLOCK]) for at in range(0, len(ordered), BLOCK)]


def _padded(sequences: Sequence[Sequence[int]]) -> Block:
    lengths = np.array([len(sequence) for sequence in sequences], dtype=np.int64)
    padded = np.zeros((len(sequences), int(lengths.max())), dtype=np.int64)
    for row, sequence in zip(padded, sequences, strict=True):
        row[: len(sequence)] = sequence
    return padded, lengths


def _rows(counts: Array, before: Array) -> Array:
    """Normalise counts by row; rows without counts are taken from `before`."""
    totals = counts.sum(axis=1, keepdims=True)
    return np.where(totals > 0, counts / np.where(totals > 0, totals, 1.0), before)


# Prediction of the next act from the acts before it: a hidden Markov model or a causal sequence model.

MOST = 100_000
"""Maximum number of acts to fit a hidden Markov model on; above it, every second, third, ... sequence."""
FITTED_ON_ITSELF = "fitted_on_itself"


@dataclass(frozen=True)
class Learned:
    """A model learned from dialogues, and the identities of these dialogues.

    `places` maps each act to its symbol in `model`; both are absent for a causal model.
    """

    seen: frozenset[str]
    model: Model | None = None
    places: dict[str, int] | None = None

    def flags(self, scene: Scene) -> tuple[str, ...]:
        """Return the flag for values of a scene whose dialogue the model was learned from."""
        turns = scene.dialogue.turns or scene.continuation.turns
        return (FITTED_ON_ITSELF,) if digest(turns) in self.seen else ()

    def probability(self, act: str, before: Sequence[str]) -> float | None:
        """Return p(act | the acts before it) under the hidden Markov model, None if those are impossible."""
        assert self.model is not None
        assert self.places is not None
        if any(earlier_act not in self.places for earlier_act in before):
            return None
        chances = self.model.next_symbol([self.places[earlier_act] for earlier_act in before])
        if chances is None:
            return None
        return float(chances[self.places[act]]) if act in self.places else 0.0


def sequences(dialogue: Dialogue) -> list[tuple[Turn, ...]]:
    """Return the sequences of turns to learn acts from: the dialogue's own, else those of its
    continuations."""
    return (
        [dialogue.turns]
        if dialogue.turns
        else [continuation.turns for continuation in dialogue.continuations]
    )


def digest(turns: Iterable[Turn]) -> str:
    """Return a hash that identifies a sequence of turns by speakers and texts."""
    hasher = hashlib.sha256()
    for turn in turns:
        hasher.update(f"{turn.speaker}\0{turn.text}\0".encode())
    return hasher.hexdigest()


def hidden(dialogues: Iterable[Dialogue], tag: Callable[[str], str]) -> Learned:
    """Fit a hidden Markov model on the acts of dialogues; raise MetricError if there are no acts."""
    seen, act_sequences = set(), []
    for dialogue in dialogues:
        for turns in sequences(dialogue):
            seen.add(digest(turns))
            act_sequences.append([tag(turn.text) for turn in turns if turn.text.strip()])
    act_sequences = [acts for acts in act_sequences if acts]
    if not act_sequences:
        raise MetricError("daf: there are no turns to learn acts from")
    step = -(-sum(map(len, act_sequences)) // MOST)
    places = {act: place for place, act in enumerate(sorted({act for acts in act_sequences for act in acts}))}
    coded = [[places[act] for act in acts] for acts in act_sequences[::step]]
    return Learned(frozenset(seen), fit(coded, len(places)), places)


def only_seen(dialogues: Iterable[Dialogue]) -> Learned:
    """Record the dialogues that an externally trained model has learned from."""
    return Learned(frozenset(digest(turns) for dialogue in dialogues for turns in sequences(dialogue)))


class Causal:
    """A causal sequence model over act tokens, loaded from a folder."""

    def __init__(self, name: str) -> None:
        folder_hash(name)  # raises if there is no folder
        self._encoder = load_causal(name)
        self._name = name

    def probability(self, act: str, before: Sequence[str], vocabulary: Sequence[str]) -> float:
        """Return p(act | the acts before it), renormalised over the known acts.

        Each act is one token. The sequence starts with the tokenizer's beginning-of-sequence token, if it has
        one, and keeps only the last acts that the model can read. Raises MetricError for an act without a
        token.
        """
        import torch

        start = self._encoder.tokenizer.bos_token_id
        ids = [self._token(earlier_act) for earlier_act in before]
        begun = [] if start is None else [start]
        ids = begun + ids[-(self._encoder.limit - len(begun)) :]
        logits: Any = self._encoder.forward(input_ids=torch.tensor([ids])).logits[0, -1].double()
        chances = torch.softmax(logits[[self._token(candidate) for candidate in vocabulary]], dim=-1)
        return float(chances[list(vocabulary).index(act)])

    def _token(self, act: str) -> int:
        tokenizer = self._encoder.tokenizer
        token_id = tokenizer.get_vocab().get(act)
        if token_id is None:
            raise MetricError(f"daf: the model {self._name} has no token for the act {act!r}")
        return int(token_id)


# DAF: how likely the act of a message is after the acts before it.

History = tuple[str, ...]
TransitionCounts = Counter[tuple[History, str]]
ANY = ""
NGRAM, HMM, TRANSFORMER = "ngram", "hmm", "transformer"


@dataclass
class ActModel:
    """Counts of acts after each history over all dialogues, and the acts of each dialogue.

    A dialogue's own counts are computed from its acts on demand: keeping them for a large corpus would
    exhaust memory.
    """

    order: int
    total: TransitionCounts = field(default_factory=Counter)
    sequences: dict[str, list[tuple[int, History]]] = field(default_factory=dict)
    _last: tuple[str, TransitionCounts] = ("", Counter())

    def learn(self, dialogue: str, tags: list[str], first: int) -> None:
        """Count the acts of one sequence from its position `first`, after histories of up to `order` acts."""
        acts = tuple(map(sys.intern, tags))
        self.sequences.setdefault(dialogue, []).append((first, acts))
        self._count(acts, first, self.total)

    def probability(
        self, act: str, before: list[str], dialogue: str, alpha: float, size: int
    ) -> float | None:
        """Return p(act | the longest history seen in other dialogues), None if they have no acts.

        Add-alpha smoothing over `size` acts, with the dialogue's own counts left out.
        """
        own = self._own(dialogue)
        for length in range(min(self.order, len(before)), -1, -1):
            history = tuple(before[len(before) - length :])
            seen = self.total[history, ANY] - own[history, ANY]
            if seen > 0:
                count = self.total[history, act] - own[history, act]
                return (count + alpha) / (seen + alpha * size)
        return None

    def _own(self, dialogue: str) -> TransitionCounts:
        if dialogue not in self.sequences:
            return Counter()
        if self._last[0] != dialogue or not self._last[1]:
            own: TransitionCounts = Counter()
            for first, acts in self.sequences[dialogue]:
                self._count(acts, first, own)
            self._last = dialogue, own
        return self._last[1]

    def _count(self, acts: History, first: int, counts: TransitionCounts) -> None:
        for index in range(first, len(acts)):
            for length in range(min(index, self.order) + 1):
                history = acts[index - length : index]
                counts[history, acts[index]] += 1
                counts[history, ANY] += 1


def daf(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Dialogue-act transition fit: p(act of the message | acts of the context): MPCEval eq. 17.

    `tagger` tags each message on its own (`rules`, or a transformers sequence classifier). `ngram`: an n-gram
    model of acts fitted without the dialogue itself: back-off to the longest history seen, add-alpha. `hmm`:
    a hidden Markov model, sum_j [sum_i alpha_i a_ij] b_j(act) / sum_i alpha_i with the forward probabilities
    alpha of the acts before. `transformer`: a causal model over act tokens, renormalised over the acts. The
    latter two learn from other dialogues (`learn_from`); values of dialogues that they learned from are
    flagged `fitted_on_itself`. Range 0 to 1. `reference` uses the published code's four toy acts, learns from
    histories alone, and gives 1 / 4 for unseen histories.
    """
    assert turn is not None
    if settings.is_reference:
        return _reference(scene, turn, settings, tools)
    context = scene.context(turn, settings.integer("window"))
    text = scene.target(turn).text
    if not text.strip():
        return unscored("the message has no text")
    if not context:
        return unscored(NO_CONTEXT)
    tag, size = tagger(settings.text("tagger"), tools)
    if settings.variant == NGRAM:
        model: ActModel = tools.fitted
        before = [tag(scene.turns[p].text) for p in context[-model.order :]]
        act = tag(text)
        value = model.probability(act, before, scene.dialogue.id, settings.number("alpha"), size)
        if value is None:
            return unscored("no other dialogue of the corpus has turns to learn from")
        return scored(value, act=act, after=before)
    return _by_sequence(tag(text), [tag(scene.turns[p].text) for p in context], scene, settings, tools)


def _by_sequence(act: str, before: list[str], scene: Scene, settings: Settings, tools: Tools) -> Score:
    """Score by a model of whole sequences; flag the value if the model has learned from this dialogue."""
    learned: Learned | None = tools.fitted
    if settings.variant == HMM:
        assert learned is not None
        value = learned.probability(act, before)
        if value is None:
            return unscored("the acts before never follow each other in what was learned from")
    else:
        model = tools.models.get("act sequences", settings.text("model"), Causal)
        value = model.probability(act, before, known_acts(settings.text("tagger"), tools))
    flags = learned.flags(scene) if learned else ()
    return replace(scored(value, act=act, after=before[-settings.integer("order") :]), flags=flags)


def _reference(scene: Scene, turn: int, settings: Settings, tools: Tools) -> Score:
    texts = [scene.turns[p].text for p in scene.context(turn, settings.integer("window"))]
    model: ActModel = tools.fitted
    size = REFERENCE_ACTS
    act = reference_act(scene.target(turn).text, texts)
    before = _reference_acts(texts, model.order)
    value = model.probability(act, before, scene.dialogue.id, settings.number("alpha"), size)
    return scored(1 / size if value is None else value)


def _reference_acts(texts: list[str], last: int | None = None) -> list[str]:
    first = 0 if last is None else max(0, len(texts) - last)
    return [reference_act(texts[at], texts[:at]) for at in range(first, len(texts))]


def _fit(dialogues: Iterable[Dialogue], settings: Settings, tools: Tools) -> ActModel | Learned:
    if settings.variant == TRANSFORMER:
        return only_seen(dialogues)
    if settings.variant == HMM:
        return hidden(dialogues, tagger(settings.text("tagger"), tools)[0])
    model = ActModel(settings.integer("order"))
    if settings.is_reference:
        for dialogue in dialogues:
            texts = [turn.text for turn in dialogue.turns if turn.text.strip()]
            model.learn(dialogue.id, _reference_acts(texts), model.order)
        return model
    tag, _ = tagger(settings.text("tagger"), tools)
    for dialogue in dialogues:
        for turns in sequences(dialogue):
            model.learn(dialogue.id, [tag(turn.text) for turn in turns if turn.text.strip()], 0)
    return model


def _learns(settings: Settings) -> bool:
    """Whether fitting is needed: a transformer is trained elsewhere, so only with `learn_from` set."""
    return settings.variant != TRANSFORMER or bool(settings.text(LEARN_FROM))


def _identity(settings: Settings) -> Mapping[str, str]:
    return {"model_hash": folder_hash(settings.text("model"))} if settings.variant == TRANSFORMER else {}


CAUSES = {"act": Cause("act"), "after": Cause("after")}

FAMILY = (
    Metric(
        key="daf",
        title="Dialogue-act transition fit",
        kind="turn",
        aspect=CONTENT,
        causes=CAUSES,
        compute=daf,
        low=0.0,
        high=1.0,
        direction=HIGHER,
        needs=frozenset({"corpus"}),
        parameters={
            "tagger": Parameter(RULES, "rules, or a sequence classifier by name or folder"),
            "order": Parameter(4, "longest history of acts", low=0, high=10),
            "alpha": Parameter(0.1, "what is added to every count", low=1e-9),
            LEARN_FROM: Parameter(
                "", "dev or a corpus whose dialogues are learned from; empty: the scored one"
            ),
            "model": Parameter("", "folder of a causal model over act tokens, for the variant transformer"),
        },
        variants={NGRAM: {}, HMM: {}, TRANSFORMER: {}, REFERENCE: {}},
        fit=_fit,
        fit_when=_learns,
        identity=_identity,
    ),
)
