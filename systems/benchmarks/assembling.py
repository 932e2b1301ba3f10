"""The dialogue of an instance: x, r, what is known of the conversation, and what came before in short."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from annotation.records import HUMAN, Continuation, Dialogue, Participant, Turn
from systems.benchmarks.choosing import Instance
from systems.benchmarks.cleaning import words
from systems.benchmarks.cutting import CONTINUATION, HISTORY
from systems.benchmarks.metadata import TEXTS, Metadata
from systems.benchmarks.showing import spoken

RAW, FLAGS, LEFT_OUT = "raw", "flags", "left_out"
_OWN = ("name", "role")
"""Fields of a person in M that participants have themselves; the others are their extra."""


@dataclass(frozen=True, slots=True)
class Cleaned:
    """What came of cleaning a conversation: new texts by position, and the positions that kept theirs."""

    texts: Mapping[int, str]
    kept: frozenset[int] = frozenset()

    @classmethod
    def of(cls, result: Mapping[str, Any]) -> Cleaned:
        """Return what the generator's result says."""
        texts = {int(one["number"]): str(one["text"]) for one in result["turns"]}
        return cls(texts, frozenset(map(int, result["not_a_reduction"])))


def told(dialogue: Dialogue, cleaned: Cleaned | None = None) -> tuple[Turn, ...]:
    """Return the turns with text of a conversation: those that count and that are cut.

    Where it was cleaned, each turn's extra has its `raw` text, its flag, and as `left_out` what was said
    before it and became empty.
    """
    if cleaned is None:
        return tuple(turn for turn in dialogue.turns if spoken(turn))
    found: list[Turn] = []
    empty: list[dict[str, str]] = []
    for place, turn in enumerate(dialogue.turns):
        if not spoken(turn):
            continue
        text = cleaned.texts.get(place, turn.text)
        if not words(text) and words(turn.text):
            empty.append({"speaker": turn.speaker, RAW: turn.text})
            continue
        extra: dict[str, Any] = {**turn.extra, RAW: turn.text}
        if place in cleaned.kept:
            extra[FLAGS] = ["not_a_reduction"]
        if empty:
            extra[LEFT_OUT] = empty
            empty = []
        found.append(replace(turn, text=text, extra=extra))
    return tuple(found)


def assembled(
    instance: Instance,
    conversation: Dialogue,
    turns: tuple[Turn, ...],
    *,
    cluster: str,
    metadata: Metadata | None = None,
    summary: str = "",
) -> Dialogue:
    """Return the dialogue of an instance, cut from the turns with text of its conversation."""
    first = instance.start - HISTORY
    r = turns[instance.start : instance.start + CONTINUATION]
    if first < 0 or len(r) < CONTINUATION:
        raise ValueError(f"{instance.key}: the conversation has {len(turns)} turns with text")
    found = {
        "source": instance.source,
        "first_turn": first,
        "part": instance.part,
    }
    texts = {} if metadata is None else {name: metadata[name] for name in TEXTS}
    return Dialogue(
        id=instance.key,
        turns=turns[first : instance.start],
        participants=people(conversation, metadata),
        continuations=(Continuation(HUMAN, HUMAN, r),),
        cluster=cluster,
        language=conversation.language,
        summary=summary,
        metadata={**texts, **found},
    )


def people(conversation: Dialogue, metadata: Metadata | None) -> tuple[Participant, ...]:
    """Return the participants: as M lists them, where there is one, with what the source says of their names,
    roles, profiles and aliases where M does not."""
    if metadata is None:
        return conversation.participants
    known = {person.id: person for person in conversation.participants}
    found: list[Participant] = []
    for person in metadata["participants"]:
        before = known.get(person["id"], Participant(person["id"]))
        extra = {name: value for name, value in person.items() if name not in ("id", *_OWN)}
        found.append(
            replace(
                before,
                name=before.name or person["name"],
                role=before.role or person["role"],
                extra={**before.extra, **extra},
            )
        )
    return tuple(found)
