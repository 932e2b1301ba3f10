"""QMSum meetings (Zhong et al. 2021): a file is one meeting, a folder several.

A meeting is one dialogue by people; its topics are the agenda, each leading to the next; queries with their
answers stay in the metadata. Marks of the transcription, like {vocalsound}, stay in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from annotation.formats.entry import Format, SourceRecord
from annotation.formats.fields import Fields, decode, plain
from annotation.formats.problems import ImportProblem
from annotation.formats.source import Source
from annotation.records import Agenda, Dialogue, Participant, Turn

MEETING = frozenset({"topic_list", "general_query_list", "specific_query_list", "meeting_transcripts"})
UTTERANCE = frozenset({"speaker", "content"})
TOPIC = frozenset({"topic", "relevant_text_span"})
NOT_MEETINGS = {"index.json"}
NUMBER = re.compile(r"\s*[A-Z0-9]?$")


def read(source: Source) -> Iterator[SourceRecord]:
    """Yield a dialogue for each file, its id the file's name without its ending."""
    files = source.files()
    if source.path.is_dir():
        files = [file for file in files if file.suffix == ".json" and file.name not in NOT_MEETINGS]
    for file in files:
        name = file.name if source.path.is_dir() else source.name
        try:
            yield SourceRecord(_meeting(source, file, Path(name).stem), file=name)
        except ImportProblem as problem:
            raise problem.placed(file=name) from None


def _meeting(source: Source, file: Path, key: str) -> Dialogue:
    fields = Fields(decode(source.document(file)), "", MEETING)
    turns = tuple(_turn(part, path) for path, part in fields.items("meeting_transcripts"))
    if not turns:
        raise fields.problem("meeting_transcripts", "has no turns")
    speakers = dict.fromkeys(turn.speaker for turn in turns)
    return Dialogue(
        id=key,
        turns=turns,
        participants=tuple(Participant(speaker, role=role(speaker)) for speaker in speakers),
        language="en",
        metadata=_metadata(fields),
        agenda=_agenda(fields),
    )


def _turn(raw: Any, path: str) -> Turn:
    fields = Fields(raw, path, UTTERANCE)
    return Turn(fields.id("speaker"), fields.text("content"))


def role(speaker: str) -> str:
    """Return the role that a speaker's name tells: `Grad C` is a Grad, `Project Manager` one such."""
    return NUMBER.sub("", speaker) if re.search(r"\s[A-Z0-9]$", speaker) else speaker


def _agenda(fields: Fields) -> Agenda | None:
    topics = [Fields(part, path, TOPIC).text("topic") for path, part in fields.items("topic_list")]
    if not topics:
        return None
    keys = [f"t{number}" for number in range(1, len(topics) + 1)]
    return Agenda(
        items=dict(zip(keys, topics, strict=True)),
        edges=tuple(pairwise(keys)),
        start=keys[0],
        terminal=keys[-1],
    )


def _metadata(fields: Fields) -> dict[str, Any]:
    """Return the queries, and where in the meeting each topic is."""
    names = ("general_query_list", "specific_query_list", "topic_list")
    return {name: plain(fields.raw[name], name) for name in names if fields.raw.get(name)}


FORMAT = Format(
    key="qmsum",
    title="QMSum meetings",
    hint="One meeting's .json file; with the command also a folder of them.",
    read=read,
    looks_like=lambda head: head.text.startswith("{") and "meeting_transcripts" in head.keys,
    folder=True,
)
