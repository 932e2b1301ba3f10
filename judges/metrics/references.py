"""Metrics against a reference: BLEU, Word F1, ROUGE, METEOR, BERTScore, BLEURT and BARTScore."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

from annotation.records import Turn
from annotation.text.words import is_unspaced, words
from judges.metrics.kit.metric import (
    AGAINST_REFERENCE,
    BASELINES,
    HIGHER,
    PAPER,
    QUALITY,
    Cause,
    Compute,
    Metric,
    MetricError,
    ModelMissing,
    Parameter,
    Score,
    Settings,
    key_of,
    scored,
    unscored,
)
from judges.metrics.kit.models import Encoder, load_classifier, load_encoder, load_seq2seq
from judges.metrics.kit.tools import Scene, Tools

# Shared by metrics against a reference: the pair of texts, and ComperDial's normalisation of both.

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
    """Return the normalised texts to compare, or a score with the reason why there is nothing to compare.

    The reference of a static turn is the dialogue's own turn at its point; `against` names another.
    """
    assert turn is not None
    reference = reference_of(scene, turn, settings)
    if isinstance(reference, Score):
        return reference
    if not reference.text.strip():
        return unscored("there is no reference")
    response = scene.target(turn).text
    texts = Pair(normalised(response), normalised(reference.text), tokens(response), tokens(reference.text))
    if not texts.response_tokens:
        return unscored("the response has no words")
    return texts if texts.reference_tokens else unscored("the reference has no words")


def reference_of(scene: Scene, turn: int, settings: Settings) -> Turn | Score:
    """Return a turn's reference, never the turn itself, or a score with the reason why there is none."""
    against = settings.text("against")
    reference = scene.reference(turn, against)
    if reference is None:
        return unscored("there is no reference")
    return unscored("it is the reference itself") if scene.is_reference(turn, against) else reference


def normalised(text: str) -> str:
    """Lower-case a text and remove ASCII punctuation, English articles and surplus spaces."""
    return " ".join(_ARTICLES.sub(" ", _PUNCTUATION.sub(" ", text.lower())).split())


def tokens(text: str) -> tuple[str, ...]:
    """Return the words of a normalised text, split at spaces, and also within scripts without spaces."""
    token_list: list[str] = []
    for part in normalised(text).split():
        token_list.extend(words(part) if any(map(is_unspaced, part)) else [part])
    return tuple(token_list)


# BLEU, Word F1 and ROUGE: words and word sequences that a response shares with its reference.

EPSILON = 1e-12
MEASURES = ("f1", "precision", "recall")


def bleu(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """BLEU-4 of the response against the reference, both normalised.

    Brevity penalty times the geometric mean of the 1- to 4-gram precisions, weights 1/4, a precision of zero
    matches smoothed with 1e-12 (nltk sentence_bleu, method 1): ComperDial footnote 17. Range 0 to 1.
    """
    from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

    texts = pair(scene, turn, settings)
    if isinstance(texts, Score):
        return texts
    value = sentence_bleu(
        [list(texts.reference_tokens)],
        list(texts.response_tokens),
        weights=(0.25, 0.25, 0.25, 0.25),
        smoothing_function=SmoothingFunction(epsilon=EPSILON).method1,
        auto_reweigh=False,
    )
    return scored(float(value))


def word_f1(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Word F1 of the response against the reference, both normalised; words count as often as they occur.

    2PR / (P + R), P and R the shared words' share of the response's and the reference's words; 0 without
    shared words: ComperDial table 14. Range 0 to 1.
    """
    texts = pair(scene, turn, settings)
    if isinstance(texts, Score):
        return texts
    shared = (Counter(texts.response_tokens) & Counter(texts.reference_tokens)).total()
    precision, recall = shared / len(texts.response_tokens), shared / len(texts.reference_tokens)
    if not shared:
        return scored(0.0, precision=0.0, recall=0.0)
    return scored(2 * precision * recall / (precision + recall), precision=precision, recall=recall)


def rouge_1(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """ROUGE-1 of the response against the reference, both normalised: overlap of words, no stemming.

    `measure` selects F1, precision or recall: ComperDial table 14, with the package rouge-score. Range 0 to
    1.
    """
    return _rouge("rouge1", scene, turn, settings)


def rouge_2(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """ROUGE-2 of the response against the reference, both normalised: overlap of pairs of words."""
    return _rouge("rouge2", scene, turn, settings)


def rouge_l(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """ROUGE-L of the response against the reference, both normalised: longest common subsequence of words."""
    return _rouge("rougeL", scene, turn, settings)


def _rouge(kind: str, scene: Scene, turn: int | None, settings: Settings) -> Score:
    from rouge_score.rouge_scorer import RougeScorer

    texts = pair(scene, turn, settings)
    if isinstance(texts, Score):
        return texts
    scorer = RougeScorer([kind], tokenizer=_Spaces())
    result = scorer.score(" ".join(texts.reference_tokens), " ".join(texts.response_tokens))[kind]
    measured = {"f1": result.fmeasure, "precision": result.precision, "recall": result.recall}
    return scored(float(measured[settings.text("measure")]), **measured)


class _Spaces:
    """Tokenizer that splits at spaces, for texts that are already tokenized."""

    def tokenize(self, text: str) -> list[str]:
        """Split a text at spaces."""
        return text.split()


_ROUGE = {**AGAINST, "measure": Parameter("f1", "which of the three to give", choices=MEASURES)}


OVERLAP_CAUSES = {"precision": Cause("precision"), "recall": Cause("recall")}


def _metric(compute: Compute, title: str, parameters: dict[str, Parameter]) -> Metric:
    return Metric(
        key=key_of(compute),
        title=title,
        kind="turn",
        aspect=AGAINST_REFERENCE,
        group=BASELINES,
        causes=OVERLAP_CAUSES,
        compute=compute,
        low=0.0,
        high=1.0,
        direction=HIGHER,
        needs=frozenset({"reference", "words"}),
        parameters=parameters,
    )


OVERLAP = (
    _metric(bleu, "BLEU", AGAINST),
    _metric(word_f1, "Word F1", AGAINST),
    _metric(rouge_1, "ROUGE-1", _ROUGE),
    _metric(rouge_2, "ROUGE-2", _ROUGE),
    _metric(rouge_l, "ROUGE-L", _ROUGE),
)


# METEOR: alignment of the words of a response and its reference by form, stem and, with WordNet, synonym.

EXACT_PLUS_STEM = "exact_plus_stem"


def meteor(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """METEOR of the response against the reference, both normalised.

    F (1 - 0.5 (chunks / matches)^3), F = 10PR / (R + 9P): nltk's single_meteor_score, after ComperDial table
    14. `paper` matches forms, Porter stems and WordNet synonyms; `exact_plus_stem` omits synonyms and
    so is not METEOR as published. Range 0 to 1.
    """
    from nltk.translate.meteor_score import single_meteor_score

    texts = pair(scene, turn, settings)
    if isinstance(texts, Score):
        return texts
    wordnet = tools.models.get("wordnet", "", _wordnet) if settings.variant == PAPER else NoSynonyms()
    value = single_meteor_score(texts.reference_tokens, texts.response_tokens, wordnet=wordnet)
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


METEOR = (
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


# BERTScore and BLEURT: similarity of a response to its reference according to a language model.


def bert_score(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """BERTScore F1 of the response against the reference, both normalised.

    2PR / (P + R): P is the mean over the response's tokens of the best cosine to a token of the reference, R
    the reverse, from one layer of the encoder; no IDF, no rescaling; the special tokens are matched but not
    counted. ComperDial table 14. Range -1 to 1. Undefined if P and R differ in sign, since their harmonic
    mean is then unbounded.
    """
    texts = pair(scene, turn, settings)
    if isinstance(texts, Score):
        return texts
    encoder = tools.models.get("encoder", settings.text("model"), load_encoder)
    layer = settings.integer("layer")
    response, reference = (_tokens(encoder, text, layer) for text in (texts.response, texts.reference))
    similar = response @ reference.T
    precision = float(similar[1:-1].max(dim=1).values.mean())
    recall = float(similar[:, 1:-1].max(dim=0).values.mean())
    value = f1(precision, recall)
    if value is None:
        return unscored("precision and recall differ in sign", precision=precision, recall=recall)
    return scored(value, precision=precision, recall=recall)


def f1(precision: float, recall: float) -> float | None:
    """Return the harmonic mean; 0 if both are 0, None if one is negative (the mean would be unbounded)."""
    if precision * recall < 0:
        return None
    total = precision + recall
    return 2 * precision * recall / total if total else 0.0


def _tokens(encoder: Encoder, text: str, layer: int) -> Any:
    """Return the unit vectors of a text's tokens, with special tokens at both ends, from one layer."""
    states = encoder.run(text, output_hidden_states=True).hidden_states
    if layer >= len(states):
        raise MetricError(f"bert_score: the model has {len(states) - 1} layers, not a layer {layer}")
    rows = states[layer][0].double()
    return rows / rows.norm(dim=-1, keepdim=True)


def bleurt(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """BLEURT of the response against the reference, both normalised: the output of a trained regressor.

    The model reads reference and response as a pair and returns a number: ComperDial table 14. No fixed
    range; the published models give about 0 for unrelated and 1 for equal texts.
    """
    texts = pair(scene, turn, settings)
    if isinstance(texts, Score):
        return texts
    model = tools.models.get("regressor", settings.text("model"), load_classifier)
    logits = model.run(texts.reference, texts.response).logits
    if logits.numel() != 1:
        name, count = settings.text("model"), logits.numel()
        raise MetricError(f"bleurt: {name!r} is not a regressor: it gives {count} numbers")
    return scored(float(logits.reshape(())))


LEARNED_OVERLAP_CAUSES = {"precision": Cause("precision"), "recall": Cause("recall")}

LEARNED_OVERLAP = (
    Metric(
        key="bert_score",
        title="BERTScore",
        kind="turn",
        aspect=AGAINST_REFERENCE,
        group=BASELINES,
        causes=LEARNED_OVERLAP_CAUSES,
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
        causes=LEARNED_OVERLAP_CAUSES,
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


# BARTScore: likelihood of a text given another, under a sequence-to-sequence model.

MODEL = "facebook/bart-large-cnn"
FAITHFULNESS, PRECISION, RECALL, F1 = "faithfulness", "precision", "recall", "f1"
NOTHING_READ = "the model reads nothing in the text to be scored"


def bart_score(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Mean log-likelihood of a text's tokens after another text, under a sequence-to-sequence model.

    1/n sum log p(token_j | tokens before, source), with the natural logarithm. `faithfulness`: of the
    response after the history (its turns' texts, one per line); `precision`: of the response after the
    reference; `recall`: of the reference after the response; `f1`: the mean of precision and recall. Texts
    are not normalised; beyond the model's limit, sources lose their beginning and targets their end. At most
    0, no lower bound.
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
    by_variant = {FAITHFULNESS: {FAITHFULNESS: (source, response)}, F1: pairs}
    text_pairs = by_variant.get(settings.variant) or {settings.variant: pairs[settings.variant]}
    log_probabilities = {name: mean_log_probability(model, *pair) for name, pair in text_pairs.items()}
    means = [value for value in log_probabilities.values() if value is not None]
    if len(means) < len(log_probabilities):
        return unscored(NOTHING_READ)
    return scored(sum(means) / len(means), **(log_probabilities if settings.variant == F1 else {}))


def _history(scene: Scene, turn: int, settings: Settings) -> str | Score:
    texts = [scene.turns[p].text.strip() for p in scene.context(turn, settings.integer("window"))]
    return "\n".join(texts) if texts else unscored("the history has no text")


def _reference(scene: Scene, turn: int, settings: Settings) -> str | Score:
    reference = reference_of(scene, turn, settings)
    if isinstance(reference, Score):
        return reference
    return reference.text.strip() or unscored("the reference has no text")


def mean_log_probability(model: Encoder, source: str, target: str) -> float | None:
    """Return the mean natural-log probability of a target's tokens after a source, None without tokens.

    The tokens are those of the model's own tokenizer, including special tokens, as in the model's training.
    """
    import torch

    tokens = model.tokenizer(text_target=target).input_ids[: model.limit]
    if not set(tokens) - set(model.tokenizer.all_special_ids):
        return None
    read = _cut(model, model.tokenizer(source).input_ids)
    labels = torch.tensor([tokens])
    logits: Any = model.forward(input_ids=torch.tensor([read]), labels=labels).logits[0]
    rows = torch.log_softmax(logits.double(), dim=-1)
    return float(rows[range(len(tokens)), tokens].mean())


def _cut(model: Encoder, tokens: list[int]) -> list[int]:
    """Truncate a source's tokens by dropping the earliest ones; a start token stays."""
    over = len(tokens) - model.limit
    if over <= 0:
        return tokens
    start = 1 if tokens[0] in model.tokenizer.all_special_ids else 0
    return [*tokens[:start], *tokens[start + over :]]


BART_SCORE = (
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
