"""Searching the turns of a corpus for a while: a search that has not ended says from where to go on."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass

from annotation.corpora import reading
from annotation.models import Corpus, Turn

SECONDS = 0.2
"""How long a search goes on before it says what it has found so far."""
FIRST, LONGEST = 50, 5_000
"""Dialogues that are read at once: few at first, more as long as they are read quickly."""
QUICKLY = 0.05
PLACE = re.compile(r"\A([0-9]{1,18})-([0-9]{1,18})\Z")


@dataclass(frozen=True)
class Found:
    """Turns that a search found, in the order of dialogues. `after` is where to go on, '' at the end.

    `begun` says whether it began at the corpus's start.
    """

    turns: list[Turn]
    after: str
    begun: bool

    @property
    def is_whole(self) -> bool:
        """Whether the whole corpus was searched."""
        return self.begun and not self.after


def search(
    corpus: Corpus, *, text: str = "", speaker: str = "", system: str = "", after: str = "", most: int
) -> Found:
    """Return up to `most` turns that hold a text (in any case), by a speaker, of a system.

    `after` is where an earlier part of the same search ended. Dialogues are searched in the order in which
    they were imported, at least FIRST of them, until enough is found or SECONDS are over.
    """
    dialogue, turn = _place(after)
    deadline, step = time.monotonic() + SECONDS, FIRST
    found: list[Turn] = []
    ids = corpus.dialogues.order_by("pk").values_list("pk", flat=True)
    wanted = reading.turns(corpus, text=text, speaker=speaker, system=system)
    wanted = wanted.order_by("continuation__dialogue_id", "pk")
    while window := list(ids.filter(pk__gte=dialogue)[:step]):
        began = time.monotonic()
        here = wanted.filter(continuation__dialogue__in=window)
        if turn:
            here = here.exclude(continuation__dialogue=dialogue, pk__lte=turn)
        found += here[: most + 1 - len(found)]
        if len(found) > most:
            last = found[most - 1]
            return Found(found[:most], f"{last.continuation.dialogue_id}-{last.pk}", not after)
        dialogue, turn = window[-1] + 1, 0
        step = min(step * 2, LONGEST) if time.monotonic() - began < QUICKLY else max(step // 2, FIRST)
        if time.monotonic() > deadline:
            more = ids.filter(pk__gte=dialogue).exists()
            return Found(found, f"{dialogue}-0" if more else "", not after)
    return Found(found, "", not after)


def _place(after: str) -> tuple[int, int]:
    """Return the dialogue to begin with, and the last turn of it that was found; nonsense begins anew."""
    place = PLACE.match(after)
    return (int(place[1]), int(place[2])) if place else (0, 0)
