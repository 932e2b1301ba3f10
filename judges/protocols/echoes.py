"""Telling what a reply says from what it repeats: the lines that a judge was shown about a case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from annotation.text.cleaning import clean
from judges.protocols.base import Case
from judges.protocols.quoting import Seen

_NO_DRESS = str.maketrans("", "", "*_#`")


def plain(line: str) -> str:
    """Return a line's words and signs without the dress of Markdown or a list, in one case."""
    return " ".join(line.lstrip(" \t*#-").translate(_NO_DRESS).casefold().split())


def shown(case: Case, names: Sequence[str]) -> frozenset[str]:
    """Return the lines that a judge may have been shown about a case, as `plain` gives them.

    None where no word of `names` comes up in the material: then no line of it can say a score.
    """
    if not _mentions(case, names):
        return frozenset()
    seen = Seen(case)
    turns = (*case.dialogue.turns, *case.continuation.turns)
    spoken = [line for turn in turns for line in seen.view.spoken(turn.text).split("\n")]
    around = [*seen.people(), *seen.facts()]
    endings = [ending for line in around for ending in _endings(line)]
    return frozenset(map(plain, (*spoken, *seen.transcript(turns), *around, *endings)))


def is_copy(reply: str, case: Case) -> bool:
    """Whether a JSON reply stands in a text of the case as it is, white space aside."""
    wanted = "".join(clean(reply).split())
    return any(wanted in "".join(clean(text).split()) for text in _texts(case) if "{" in text)


def _endings(line: str) -> Iterator[str]:
    """Yield what stands behind each colon of a line: the value of `setting: mood: 5` is `mood: 5` or `5`."""
    while ": " in line:
        line = line.partition(": ")[2]
        yield line


def _mentions(case: Case, names: Sequence[str]) -> bool:
    text = plain(clean("\n".join(_texts(case))).replace("_", " "))
    return any(plain(name) in text for name in names)


def _texts(case: Case) -> Iterator[str]:
    dialogue = case.dialogue
    for turn in (*dialogue.turns, *case.continuation.turns):
        yield from (turn.text, turn.speaker, turn.session)
    for person in dialogue.participants:
        yield from (person.name, person.role, *person.profile, *person.aliases)
        yield from _within(person.extra)
    yield dialogue.summary
    yield from dialogue.agenda.items.values() if dialogue.agenda else ()
    yield from _within(dialogue.metadata)
    if dialogue.scenario is not None:
        yield from (one.text for one in dialogue.scenario.secrets)
        yield from (one.fact for one in dialogue.scenario.common_ground)


def _within(value: Any) -> Iterator[str]:
    """Yield the keys and values of nested metadata as texts."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield str(key)
            yield from _within(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _within(inner)
    else:
        yield str(value)
