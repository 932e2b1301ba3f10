"""A corpus with a script of five sessions, two systems that walked through it, and their recorded answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from annotation.corpora.import_file import import_path
from annotation.models import Corpus
from tests.suites.long_dialogue.answers_small import answer
from tests.suites.long_dialogue.examples import script

POINTS = {1: 1, 2: 4, 4: 8, 5: 9}
"""By session with Ana: the number of own turns heard up to the asking point."""
SESSIONS = {1: "s1", 2: "s2", 4: "s4", 5: "s5"}
FREE = {"format": "open", "choices": [], "outcome": "text"}


def asked(number: int, reply: str = "(A)", **record: Any) -> list[dict[str, Any]]:
    """Return a question in a session and its answer, as turns."""
    at, session = POINTS[number], SESSIONS[number]
    told = answer(f"q{number}", number, **record)
    question = {
        "speaker": "ben",
        "text": f"What did Cara buy, {number}?",
        "given": True,
        "addressees": ["ana"],
    }
    turn = {"speaker": "ana", "text": reply, "extra": {"answer": {"set": "first", **told}}}
    return [one | {"at": at, "session": session} for one in (question, turn)]


def walked(
    system: str = "m", trial: int = 0, *turns: list[dict[str, Any]], **condition: Any
) -> dict[str, Any]:
    """Return a system's walk: a static continuation."""
    named = {"model": system, "memory": "base", "names": "original"} | condition
    words = "-".join(str(value) for value in named.values())
    made = {"id": f"{system}-{words}-{trial}", "system": system, "mode": "static", "trial": trial}
    return made | {"condition": named, "turns": [turn for pair in turns for turn in pair]}


def usual() -> list[dict[str, Any]]:
    """Return walks: base is right twice of four in trial 0, once in trial 1; the oracle always.

    Both heard the same.
    """
    found = {"retrieval": {"sessions": [2], "evidence": "sufficient", "k": 1, "k_asked": 20}}
    missed = {"retrieval": {"sessions": [1], "evidence": "none", "k": 20, "k_asked": 20}}
    unknown = {"key": "E", "use": "before_event_unans", "rule": "all later", "evidence": [2]}
    known = {"evidence": [2], "rule": "one heard before", "distance": {"sessions": 2, "tokens": 40}}
    base = [
        [
            asked(1, **unknown, **missed),
            asked(2, **known, **found),
            asked(4, "(B)", outcome="B", **known, **missed),
            asked(5, **known, **found),
        ],
        [
            asked(1, **unknown, **missed),
            asked(2, "(A) or (B)", outcome="ambiguous", **known, **missed),
            asked(4, "(B)", outcome="B", **known, **missed),
            asked(5, **known, **found),
        ],
    ]
    best = [
        asked(1, "(E)", outcome="E", **unknown, **missed),
        *(asked(n, **known, **found) for n in (2, 4, 5)),
    ]
    walks = [walked("m", trial, *turns) for trial, turns in enumerate(base)]
    return walks + [walked("m", trial, *best, memory="oracle") for trial in (0, 1)]


def bring(folder: Path, *continuations: dict[str, Any], name: str = "Loaf", **changes: Any) -> Corpus:
    """Import the script with these walks (by default the usual ones)."""
    path = folder / f"{name}.jsonl"
    made = script(continuations=list(continuations) or usual(), **changes)
    path.write_text(json.dumps(made) + "\n", encoding="utf-8")
    import_path(path=path, name=path.name, format="jsonl", corpus=name, into=False, by=None)
    return Corpus.objects.get(name=name)
