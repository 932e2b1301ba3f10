"""Meetings of the Topic-Conversation Relevance data: NCPC, SIM, and other sources in the same form.

A file is {source: {meeting: {"topics": {topic: {..., "transcripts": [lines]}}, "metadata"}}}. A meeting is
one dialogue by people, its lines in the order of their times; its topics are the agenda, each leading to the
next. Which topic a line belongs to stays with the turn, for researchers. The files are written by Python's
rules: NaN stands for a value that is missing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from annotation.formats.entry import Format, SourceRecord
from annotation.formats.fields import ID_LIMIT, Fields, decode_python, is_number, kind_of
from annotation.formats.head import Head
from annotation.formats.problems import ImportProblem
from annotation.formats.source import Source
from annotation.records import Agenda, Dialogue, Participant, Turn

MEETING = frozenset({"topics", "metadata"})
TOPIC = frozenset(
    {
        "topic_start_s",
        "topic_end_s",
        "topic_start_line",
        "topic_end_line",
        "topic_trans_word_count",
        "transcripts",
    }
)
LINE = frozenset({"line_id", "speaker", "start_s", "end_s", "contents", "word_count", "cum_wc"})
NOBODY = "unknown"
"""The speaker of a line that names none."""


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of a transcript, with what orders it: its start, where it has one, and its number."""

    turn: Turn
    start: float
    number: float


def read(source: Source) -> Iterator[SourceRecord]:
    """Yield a dialogue for each meeting, in the order of the file; its id is `SOURCE-meeting`."""
    for file in source.files():
        place = file.name if source.path.is_dir() else ""
        try:
            meetings = list(_meetings(source, file))
        except ImportProblem as problem:
            raise problem.placed(file=place) from None
        blank = 0
        for name, key, raw in meetings:
            try:
                record = _dialogue(name, key, raw)
            except ImportProblem as problem:
                source.report(problem.placed(file=place))
                continue
            blank += sum(1 for turn in record.turns if not turn.text.strip())
            yield SourceRecord(record, file=place)
        if blank:
            source.notes.append(f"turns without text, kept as they are: {blank}")


def _meetings(source: Source, file: Path) -> Iterator[tuple[str, str, Any]]:
    """Yield (source's name, meeting's id, meeting)."""
    sources = decode_python(source.document(file))
    if not isinstance(sources, dict) or not sources:
        raise ImportProblem(f"must be an object of sources, not {kind_of(sources)}")
    for name, meetings in sources.items():
        if not isinstance(meetings, dict):
            raise ImportProblem(f"must be an object of meetings, not {kind_of(meetings)}", field=name[:60])
        for key, raw in meetings.items():
            yield name, key, raw


def _dialogue(name: str, key: str, raw: Any) -> Dialogue:
    path = f"{name}.{key}"
    own = f"{name}-{key}"
    if not name or not key or len(own) > ID_LIMIT:
        raise ImportProblem(
            f"source and meeting need names, of {ID_LIMIT} characters at most", field=path[:60]
        )
    fields = Fields(raw, path, MEETING)
    topics = fields.object("topics")
    lines = [line for number, topic in enumerate(topics, start=1) for line in _topic(fields, topic, number)]
    if not lines:
        raise fields.problem("topics", "have no transcripts")
    turns = tuple(line.turn for line in sorted(lines, key=lambda line: (line.start, line.number)))
    return Dialogue(
        id=own,
        turns=turns,
        participants=tuple(Participant(speaker) for speaker in dict.fromkeys(turn.speaker for turn in turns)),
        language="en",
        metadata={"source": name, **_about(fields)},
        agenda=_agenda(list(topics)),
    )


def _about(fields: Fields) -> dict[str, Any]:
    """Return what is known of a meeting, without what is empty."""
    return {key: value for key, value in fields.object("metadata").items() if value not in (None, "", {}, [])}


def _topic(meeting: Fields, topic: str, number: int) -> Iterator[_Line]:
    path = f"{meeting.at('topics')}.{topic[:60]}"
    fields = Fields(meeting.raw["topics"][topic], path, TOPIC)
    for place, part in fields.items("transcripts"):
        yield _line(Fields(part, place, LINE), f"t{number}")


def _line(fields: Fields, topic: str) -> _Line:
    start, end, number = (_number(fields, name) for name in ("start_s", "end_s", "line_id"))
    extra: dict[str, Any] = {"topic": topic}
    if end is not None and end >= 0:
        extra["end_s"] = end
    timed = start is not None and start >= 0
    turn = Turn(_speaker(fields), fields.text("contents", ""), time=str(start) if timed else "", extra=extra)
    return _Line(
        turn, start if timed and start is not None else math.inf, math.inf if number is None else number
    )


def _number(fields: Fields, name: str) -> float | None:
    value = fields.raw.get(name)
    if value is None:
        return None
    if not is_number(value):
        raise fields.problem(name, f"must be a number, not {kind_of(value)}")
    return float(value)


def _speaker(fields: Fields) -> str:
    """Return who spoke: a name or a number; `unknown` where the line says nobody."""
    value = fields.raw.get("speaker")
    if is_number(value):
        return f"{value:g}"
    return fields.id("speaker", "").strip() or NOBODY


def _agenda(topics: list[str]) -> Agenda:
    keys = [f"t{number}" for number in range(1, len(topics) + 1)]
    return Agenda(
        items=dict(zip(keys, topics, strict=True)),
        edges=tuple(pairwise(keys)),
        start=keys[0],
        terminal=keys[-1],
    )


def _looks_like(head: Head) -> bool:
    return head.text.startswith("{") and {"topics", "transcripts"} <= head.inner


FORMAT = Format(
    key="tcr",
    title="Meetings of the Topic-Conversation Relevance data",
    hint="NCPC.json, SIM.json, or another source's file.",
    read=read,
    looks_like=_looks_like,
    folder=True,
)
