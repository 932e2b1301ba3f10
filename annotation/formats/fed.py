"""FED (Mehri and Eskenazi 2020): 125 conversations rated whole, and 375 responses in them.

The file lists rated contexts. One without a response is a whole conversation: a dialogue here, its
system's lines rated turns, the user's lines given. A rated response whose context is the beginning of a
conversation and which is that conversation's next line is that turn; another one is a static continuation
at its point. Five people rated each item, but slot i is not one person throughout: they are unidentified.
A text `N/A (reason)` in place of a value is a missing answer with its reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from annotation.formats.entry import Format, SourceRecord
from annotation.formats.fields import NAME_LIMIT, Fields, decode, is_number, kind_of
from annotation.formats.problems import ImportProblem
from annotation.formats.source import Source
from annotation.records import SELF, Continuation, Dialogue, LabelRecord, Participant, Turn
from annotation.schemes.fed import DIALOGUE, TURN

KNOWN = frozenset({"context", "response", "system", "annotations"})
PARTICIPANTS = (Participant("User", role="user"), Participant("System", role="system"))
NOT_APPLICABLE = re.compile(r"\s*N/A\b\s*(?:\((?P<reason>.*)\))?\s*", re.DOTALL | re.IGNORECASE)

Lines = tuple[str, ...]


@dataclass(slots=True)
class _Placed:
    """A conversation with the responses that were placed in it."""

    dialogue: Dialogue
    lines: Lines
    labels: list[LabelRecord]
    continuations: list[Continuation] = field(default_factory=list)

    def record(self) -> Dialogue:
        return replace(self.dialogue, continuations=tuple(self.continuations), labels=tuple(self.labels))


def read(source: Source) -> Iterator[SourceRecord]:
    """Yield the conversations in the file's order, `fed-001` first."""
    items = _items(source)
    placed = [_conversation(item, number) for number, item in enumerate(_whole(items), start=1)]
    if not placed:
        raise ImportProblem("holds no whole conversation: each item has a response")
    for item in items:
        if item.has("response"):
            _place(item, placed)
    for conversation in placed:
        yield SourceRecord(conversation.record())


def dialogue_id(number: int) -> str:
    """Return the id of the n-th conversation of the file, counted from 1."""
    return f"fed-{number:03d}"


def _items(source: Source) -> list[Fields]:
    content = decode(source.document(source.path))
    if not isinstance(content, list):
        raise ImportProblem(f"must be a list of rated items, not {kind_of(content)}")
    return [Fields(item, f"[{index}]", KNOWN) for index, item in enumerate(content)]


def _whole(items: list[Fields]) -> Iterator[Fields]:
    return (item for item in items if not item.has("response"))


def _conversation(item: Fields, number: int) -> _Placed:
    lines = tuple(item.text("context").split("\n"))
    turns = tuple(_turn(line, item.at("context")) for line in lines)
    dialogue = Dialogue(
        id=dialogue_id(number),
        turns=turns,
        participants=PARTICIPANTS,
        language="en",
        system=item.id("system", limit=NAME_LIMIT),
    )
    return _Placed(dialogue, lines, list(_labels(item, SELF, None, DIALOGUE.key)))


def _turn(line: str, path: str) -> Turn:
    speaker, mark, text = line.partition(": ")
    if not mark or speaker not in ("User", "System"):
        raise ImportProblem(f"{line[:40]!r} begins with neither 'User: ' nor 'System: '", field=path)
    return Turn(speaker, text, given=speaker == "User")


def _place(item: Fields, placed: list[_Placed]) -> None:
    """Add a rated response to the first conversation that its context begins."""
    lines = tuple(item.text("context").split("\n"))
    at = len(lines)
    found = next((one for one in placed if one.lines[:at] == lines), None)
    if found is None:
        raise item.problem("context", "is the beginning of no conversation in the file")
    response = item.text("response")
    if found.lines[at : at + 1] == (response,) and not found.dialogue.turns[at].given:
        found.labels.extend(_labels(item, SELF, at, TURN.key))
        return
    taken = sum(1 for one in found.continuations if one.turns[0].at == at)
    key = f"response-at-{at}" + (f"-{taken + 1}" if taken else "")
    turn = replace(_turn(response, item.at("response")), at=at)
    if turn.given:
        raise item.problem("response", "is by the user: only the system's responses are rated")
    found.continuations.append(Continuation(key, item.id("system", limit=NAME_LIMIT), (turn,), mode="static"))
    found.labels.extend(_labels(item, key, 0, TURN.key))


def _labels(item: Fields, continuation: str, turn: int | None, scheme: str) -> Iterator[LabelRecord]:
    if not item.has("annotations"):
        raise item.problem("annotations", "is missing")
    for quality, values in item.object("annotations").items():
        path = f"{item.at('annotations')}.{quality}"
        if not isinstance(values, list):
            raise ImportProblem(f"must be a list, not {kind_of(values)}", field=path)
        for slot, value in enumerate(values, start=1):
            number, missing = _value(value, f"{path}[{slot - 1}]")
            yield LabelRecord(
                rater=f"slot {slot}",
                kind="human",
                continuation=continuation,
                turn=turn,
                question=quality.lower().replace(" ", "_"),
                value=number,
                missing=missing,
                identified=False,
                scheme=scheme,
            )


def _value(value: Any, path: str) -> tuple[float | None, str]:
    """Return a number, or why there is none."""
    if is_number(value):
        return float(value), ""
    if isinstance(value, str) and (match := NOT_APPLICABLE.fullmatch(value)):
        return None, (match["reason"] or "not applicable").strip()
    raise ImportProblem(f"must be a number or a text like 'N/A (reason)', not {kind_of(value)}", field=path)


FORMAT = Format(
    key="fed",
    title="FED conversations with their ratings",
    hint="fed_data.json: 125 conversations with ratings of each and of 375 responses.",
    read=read,
    looks_like=lambda head: head.text.startswith("[") and {"context", "annotations"} <= head.keys,
    schemes=("fed_turn", "fed_dialogue"),
)
