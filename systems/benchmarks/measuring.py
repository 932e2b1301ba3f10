"""The statistics of a benchmark by source (CoCoEval, table 2), and what cleaning took away."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.metadata import version
from statistics import fmean
from typing import Any

from annotation.records import Continuation, Dialogue, Participant, Turn
from systems.benchmarks.assembling import FLAGS
from systems.benchmarks.cleaning import counted

# Dialogues in the native format, one a line: the same dialogues are always the same bytes.


def line(dialogue: Dialogue) -> str:
    """Return a dialogue with its continuations as one line of JSON, keys sorted, without the line's end."""
    told: dict[str, Any] = {
        "id": dialogue.id,
        "cluster": dialogue.cluster,
        "language": dialogue.language,
        "summary": dialogue.summary,
        "metadata": dict(dialogue.metadata),
        "participants": [_person(one) for one in dialogue.participants],
        "turns": [_turn(one) for one in dialogue.turns],
        "continuations": [_continuation(one) for one in dialogue.continuations],
    }
    return json.dumps(_without_nothing(told), ensure_ascii=False, sort_keys=True)


def _person(person: Participant) -> dict[str, Any]:
    return _without_nothing(
        {
            "id": person.id,
            "name": person.name,
            "role": person.role,
            "profile": list(person.profile),
            "aliases": list(person.aliases),
            "extra": dict(person.extra),
        }
    )


def _turn(turn: Turn) -> dict[str, Any]:
    told = _without_nothing(
        {
            "given": turn.given,
            "at": turn.at,
            "time": turn.time,
            "session": turn.session,
            "addressees": list(turn.addressees),
            "act": "" if turn.act == "message" else turn.act,
            "sees_history": turn.sees_history,
            "extra": dict(turn.extra),
        }
    )
    audience = {} if turn.audience is None else {"audience": list(turn.audience)}
    return {"speaker": turn.speaker, "text": turn.text, **told, **audience}


def _continuation(one: Continuation) -> dict[str, Any]:
    told = _without_nothing({"trial": one.trial, "condition": dict(one.condition)})
    return {
        "id": one.id,
        "system": one.system,
        "mode": one.mode,
        "turns": [_turn(turn) for turn in one.turns],
        **told,
    }


def _without_nothing(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value or (value == 0 and value is not False)}


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
