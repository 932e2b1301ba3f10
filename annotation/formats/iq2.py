"""Oxford-style debates of Intelligence Squared (Zhang et al. 2016), in ConvoKit's form.

A debate is one dialogue by people. Its title, date, votes and winner go into the metadata; a speaker's side
(`for`, `against`, `mod`, ...) is the role, the short biography the profile. The segment of an utterance and
what was heard beside the words (laughter, applause) stay with the turn, for researchers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from annotation.formats import convokit
from annotation.formats.convokit import Conversation, Convokit, Utterance
from annotation.formats.entry import Format, SourceRecord
from annotation.formats.head import Head
from annotation.formats.problems import ImportProblem
from annotation.formats.source import Source
from annotation.records import Dialogue, Participant, Turn

SEGMENTS = {0: "introduction", 1: "discussion", 2: "conclusion"}
ABOUT = ("title", "summary", "date", "url", "winner", "results", "originalid")
SIGNS = ('"speakertype"', '"paragraphbreaks"')


def read(source: Source) -> Iterator[SourceRecord]:
    """Yield a dialogue for each debate, in the order of the file."""
    corpus = convokit.read(source)
    yield from convokit.dialogues(source, corpus, lambda debate: _dialogue(debate, corpus))


def _dialogue(debate: Conversation, corpus: Convokit) -> Dialogue:
    sides: dict[str, str] = {}
    for one in debate.utterances:
        sides[one.speaker] = sides.get(one.speaker) or _side(one)
    return Dialogue(
        id=debate.id,
        turns=tuple(_turn(one) for one in debate.utterances),
        participants=tuple(
            _participant(speaker, side, corpus.speakers.get(speaker, {})) for speaker, side in sides.items()
        ),
        language="en",
        metadata=convokit.told(debate.meta, *ABOUT),
    )


def _side(one: Utterance) -> str:
    side = one.meta.get("speakertype")
    if side is not None and not isinstance(side, str):
        raise ImportProblem("must be a text", field="meta.speakertype", line=one.line)
    return side or ""


def _participant(speaker: str, side: str, meta: dict[str, Any]) -> Participant:
    short, long = meta.get("bio_short"), meta.get("bio")
    profile = next((text for text in (short, long) if isinstance(text, str) and text.strip()), "")
    extra = {"bio": long} if isinstance(long, str) and long.strip() and long != profile else {}
    return Participant(speaker, role=side, profile=(profile,) if profile else (), extra=extra)


def _turn(one: Utterance) -> Turn:
    extra = {name: value for name, value in one.meta.items() if name != "speakertype" and value}
    segment = one.meta.get("segment")
    if segment is not None:
        if isinstance(segment, bool) or segment not in SEGMENTS:
            raise ImportProblem("must be 0, 1 or 2", field="meta.segment", line=one.line)
        extra["segment"] = SEGMENTS[int(segment)]
    return Turn(one.speaker, one.text, time=one.time, extra=extra)


def _looks_like(head: Head) -> bool:
    debates = {"results", "winner", "title"} <= head.inner
    line = {"text"} <= head.keys and bool({"conversation_id", "root"} & head.keys)
    return debates or (line and any(sign in head.text for sign in SIGNS))


FORMAT = Format(
    key="iq2",
    title="Intelligence Squared debates",
    hint="utterances.jsonl, conversations.json and speakers.json of ConvoKit's iq2-corpus together.",
    read=read,
    looks_like=_looks_like,
    folder=True,
)
