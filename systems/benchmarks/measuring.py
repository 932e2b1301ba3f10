"""The statistics of a benchmark by source (CoCoEval, table 2), and what cleaning took away."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.metadata import version
from statistics import fmean
from typing import Any

from annotation.records import Dialogue, Turn
from systems.benchmarks.assembling import FLAGS
from systems.benchmarks.wording import counted


def tokenizer() -> str:
    """Return the name of the tokenizer that tokens are counted with."""
    return f"Penn Treebank rules (NLTK {version('nltk')})"


@cache
def _treebank() -> Any:
    from nltk.tokenize import NLTKWordTokenizer

    return NLTKWordTokenizer()


def tokens(text: str) -> int:
    """Return how many tokens a text has by Penn Treebank rules: words, parts of contractions, signs."""
    return len(_treebank().tokenize(text))


def shown(dialogue: Dialogue) -> tuple[Turn, ...]:
    """Return x and r."""
    return (*dialogue.turns, *(turn for one in dialogue.continuations for turn in one.turns))


def by_source(dialogues: Iterable[Dialogue]) -> dict[str, dict[str, Any]]:
    """Return per source, in order of names: instances by part, people listed and speaking (means over
    instances), turns, tokens a turn (mean over the turns of x and r), and flags."""
    found: dict[str, list[Dialogue]] = {}
    for dialogue in dialogues:
        found.setdefault(str(dialogue.metadata["source"]), []).append(dialogue)
    return {source: _of(found[source]) for source in sorted(found)}


def _of(dialogues: Sequence[Dialogue]) -> dict[str, Any]:
    turns = [turn for dialogue in dialogues for turn in shown(dialogue)]
    parts = [dialogue.metadata["part"] for dialogue in dialogues]
    return {
        "instances": len(dialogues),
        "evaluation": parts.count("evaluation"),
        "train": parts.count("train"),
        "conversations": len({dialogue.cluster for dialogue in dialogues}),
        "participants_listed": fmean(len(dialogue.participants) for dialogue in dialogues),
        "participants_speaking": fmean(
            len({turn.speaker for turn in shown(dialogue)}) for dialogue in dialogues
        ),
        "tokens_per_turn": fmean(tokens(turn.text) for turn in turns),
        "turns": len(turns),
        "not_a_reduction": sum("not_a_reduction" in turn.extra.get(FLAGS, ()) for turn in turns),
        "no_summary": sum(not dialogue.summary for dialogue in dialogues),
    }


def removed(before: Iterable[Turn], after: Iterable[Turn]) -> dict[str, Any]:
    """Return what cleaning took away of some turns: words before and after, and the share that went (None
    where there were no words)."""
    old, new = counted(turn.text for turn in before), counted(turn.text for turn in after)
    return {"words_before": old, "words_after": new, "share_removed": (old - new) / old if old else None}


def share_of(removals: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return several such figures as one."""
    told = list(removals)
    old, new = (sum(one[name] for one in told) for name in ("words_before", "words_after"))
    return {"words_before": old, "words_after": new, "share_removed": (old - new) / old if old else None}


def wilson(positive: float, n: int) -> tuple[float, float]:
    """Return the limits of Wilson's 95% interval for a share of n cases (n > 0)."""
    z = 1.959963984540054
    p = positive / n
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * (p * (1 - p) / n + z * z / (4 * n * n)) ** 0.5
    return max(0.0, centre - half) if positive else 0.0, min(1.0, centre + half) if positive < n else 1.0
