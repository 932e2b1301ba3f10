"""BLEU, Word F1 and ROUGE: how many words and word sequences a response shares with its reference."""

from __future__ import annotations

from collections import Counter

from judges.metrics.kit.base import (
    AGAINST_REFERENCE,
    BASELINES,
    HIGHER,
    Cause,
    Compute,
    Metric,
    Parameter,
    Score,
    Settings,
    key_of,
    scored,
)
from judges.metrics.kit.comparison import AGAINST, pair
from judges.metrics.kit.scene import Scene
from judges.metrics.kit.tools import Tools

EPSILON = 1e-12
MEASURES = ("f1", "precision", "recall")


def bleu(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """BLEU-4 of the response against the reference, both normalised.

    Brevity penalty times the geometric mean of the 1- to 4-gram precisions, weights 1/4, a precision of zero
    matches smoothed with 1e-12 (nltk sentence_bleu, method 1): ComperDial footnote 17. Range 0 to 1.
    """
    from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

    found = pair(scene, turn, settings)
    if isinstance(found, Score):
        return found
    value = sentence_bleu(
        [list(found.reference_tokens)],
        list(found.response_tokens),
        weights=(0.25, 0.25, 0.25, 0.25),
        smoothing_function=SmoothingFunction(epsilon=EPSILON).method1,
        auto_reweigh=False,
    )
    return scored(float(value))


def word_f1(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Word F1 of the response against the reference, both normalised; words count as often as they occur.

    2PR / (P + R), P and R the shared words' share of the response's and the reference's words; 0 where none
    is shared: ComperDial table 14. Range 0 to 1.
    """
    found = pair(scene, turn, settings)
    if isinstance(found, Score):
        return found
    shared = (Counter(found.response_tokens) & Counter(found.reference_tokens)).total()
    precision, recall = shared / len(found.response_tokens), shared / len(found.reference_tokens)
    if not shared:
        return scored(0.0, precision=0.0, recall=0.0)
    return scored(2 * precision * recall / (precision + recall), precision=precision, recall=recall)


def rouge_1(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """ROUGE-1 of the response against the reference, both normalised: overlap of words, no stemming.

    F1, precision or recall, as `measure` says: ComperDial table 14, by the package rouge-score. Range 0 to 1.
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

    found = pair(scene, turn, settings)
    if isinstance(found, Score):
        return found
    scorer = RougeScorer([kind], tokenizer=_Spaces())
    result = scorer.score(" ".join(found.reference_tokens), " ".join(found.response_tokens))[kind]
    measured = {"f1": result.fmeasure, "precision": result.precision, "recall": result.recall}
    return scored(float(measured[settings.text("measure")]), **measured)


class _Spaces:
    """Splits at spaces: the texts are tokens already."""

    def tokenize(self, text: str) -> list[str]:
        """Return the tokens between spaces."""
        return text.split()


_ROUGE = {**AGAINST, "measure": Parameter("f1", "which of the three to give", choices=MEASURES)}


CAUSES = {"precision": Cause("precision"), "recall": Cause("recall")}


def _metric(compute: Compute, title: str, parameters: dict[str, Parameter]) -> Metric:
    return Metric(
        key=key_of(compute),
        title=title,
        kind="turn",
        aspect=AGAINST_REFERENCE,
        group=BASELINES,
        causes=CAUSES,
        compute=compute,
        low=0.0,
        high=1.0,
        direction=HIGHER,
        needs=frozenset({"reference", "words"}),
        parameters=parameters,
    )


FAMILY = (
    _metric(bleu, "BLEU", AGAINST),
    _metric(word_f1, "Word F1", AGAINST),
    _metric(rouge_1, "ROUGE-1", _ROUGE),
    _metric(rouge_2, "ROUGE-2", _ROUGE),
    _metric(rouge_l, "ROUGE-L", _ROUGE),
)
