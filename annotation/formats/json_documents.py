"""Dialogues as JSON documents: QMSum's and TCR's meetings, and MPDD."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from annotation.formats.corpus_format import Format, Head, SourceRecord
from annotation.formats.fields import (
    ID_LIMIT,
    Fields,
    decode,
    decode_python,
    is_number,
    number_or_none,
    plain,
    require,
)
from annotation.formats.source import ImportProblem, Source
from annotation.records import SELF, Agenda, Dialogue, LabelRecord, Participant, Turn


def _agenda(topics: Iterable[str]) -> Agenda | None:
    """Return topics as an agenda, each leading to the next; None without any."""
    items = {f"t{number}": topic for number, topic in enumerate(topics, start=1)}
    if not items:
        return None
    keys = list(items)
    return Agenda(items, edges=tuple(pairwise(keys)), start=keys[0], terminal=keys[-1])


# QMSum meetings (Zhong et al. 2021): a file is one meeting, a folder several.
#
# A meeting is one dialogue by people; its topics are the agenda, each leading to the next; queries with their
# answers stay in the metadata. Transcription marks, like {vocalsound}, stay in the text.

QMSUM_MEETING = frozenset({"topic_list", "general_query_list", "specific_query_list", "meeting_transcripts"})
UTTERANCE = frozenset({"speaker", "content"})
QMSUM_TOPIC = frozenset({"topic", "relevant_text_span"})
NOT_MEETINGS = {"index.json"}
NUMBER = re.compile(r"\s*[A-Z0-9]?$")


def read_qmsum(source: Source) -> Iterator[SourceRecord]:
    """Yield a dialogue for each file; its id is the file's name without its extension."""
    files = source.files()
    if source.path.is_dir():
        files = [file for file in files if file.suffix == ".json" and file.name not in NOT_MEETINGS]
    for file in files:
        name = source.called(file)
        try:
            yield SourceRecord(_meeting(source, file, Path(name).stem), file=name)
        except ImportProblem as problem:
            raise problem.placed(file=name) from None


def _meeting(source: Source, file: Path, key: str) -> Dialogue:
    fields = Fields(decode(source.document(file)), "", QMSUM_MEETING)
    utterances = fields.objects("meeting_transcripts", UTTERANCE)
    turns = tuple(Turn(utterance.id("speaker"), utterance.text("content")) for utterance in utterances)
    if not turns:
        raise fields.problem("meeting_transcripts", "has no turns")
    speakers = dict.fromkeys(turn.speaker for turn in turns)
    return Dialogue(
        id=key,
        turns=turns,
        participants=tuple(Participant(speaker, role=role(speaker)) for speaker in speakers),
        language="en",
        metadata=_metadata(fields),
        agenda=_agenda(topic.text("topic") for topic in fields.objects("topic_list", QMSUM_TOPIC)),
    )


def role(speaker: str) -> str:
    """Return the role in a speaker's name: `Grad C` is a Grad, `Project Manager` a Project Manager."""
    return NUMBER.sub("", speaker) if re.search(r"\s[A-Z0-9]$", speaker) else speaker


def _metadata(fields: Fields) -> dict[str, Any]:
    """Return the queries, and the position of each topic in the meeting."""
    names = ("general_query_list", "specific_query_list", "topic_list")
    return {name: plain(fields.raw[name], name) for name in names if fields.raw.get(name)}


QMSUM = Format(
    key="qmsum",
    title="QMSum meetings",
    hint="One meeting's .json file; with the command also a folder of them.",
    read=read_qmsum,
    looks_like=lambda head: head.text.startswith("{") and "meeting_transcripts" in head.keys,
    folder=True,
    has_marks=True,
)


# Meetings of the Topic-Conversation Relevance data: NCPC, SIM, and other sources in the same form.
#
# A file is {source: {meeting: {"topics": {topic: {..., "transcripts": [lines]}}, "metadata"}}}. A meeting
# is one dialogue by people, its lines ordered by time; its topics are the agenda, each leading to the next.
# The topic of a line stays with the turn, for researchers. The files are written by Python's rules: NaN is a
# missing value.

TCR_MEETING = frozenset({"topics", "metadata"})
TCR_TOPIC = frozenset(
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
"""Speaker of a line without a name."""


@dataclass(frozen=True, slots=True)
class _Line:
    """A transcript line, with its sort keys: its start, where it has one, and its number."""

    turn: Turn
    start: float
    number: float


def read_tcr(source: Source) -> Iterator[SourceRecord]:
    """Yield a dialogue for each meeting, in the order of the file; its id is `SOURCE-meeting`."""
    for file in source.files():
        place = source.name_in_folder(file)
        try:
            meetings = list(_meetings(source, file))
        except ImportProblem as problem:
            raise problem.placed(file=place) from None
        blank = 0
        for name, key, raw in meetings:
            with source.report_problems(file):
                record = _tcr_dialogue(name, key, raw)
                blank += sum(1 for turn in record.turns if not turn.text.strip())
                yield SourceRecord(record, file=place)
        if blank:
            source.notes.append(f"turns without text, kept as they are: {blank}")


def _meetings(source: Source, file: Path) -> Iterator[tuple[str, str, Any]]:
    """Yield (source's name, meeting's id, meeting)."""
    content = decode_python(source.document(file))
    for name, meetings in require(content, dict, expected="an object of sources", filled=True).items():
        for key, raw in require(meetings, dict, name[:60], "an object of meetings").items():
            yield name, key, raw


def _tcr_dialogue(name: str, key: str, raw: Any) -> Dialogue:
    path = f"{name}.{key}"
    own = f"{name}-{key}"
    if not name or not key or len(own) > ID_LIMIT:
        raise ImportProblem(
            f"source and meeting need names, of {ID_LIMIT} characters at most", field=path[:60]
        )
    fields = Fields(raw, path, TCR_MEETING)
    topics = fields.object("topics")
    lines = [line for number, topic in enumerate(topics, start=1) for line in _topic(fields, topic, number)]
    if not lines:
        raise fields.problem("topics", "have no transcripts")
    turns = tuple(line.turn for line in sorted(lines, key=lambda line: (line.start, line.number)))
    return Dialogue(
        id=own,
        turns=turns,
        participants=tuple(map(Participant, dict.fromkeys(turn.speaker for turn in turns))),
        language="en",
        metadata={"source": name, **_about(fields)},
        agenda=_agenda(topics),
    )


def _about(fields: Fields) -> dict[str, Any]:
    """Return the metadata of a meeting, without empty values."""
    return {key: value for key, value in fields.object("metadata").items() if value not in (None, "", {}, [])}


def _topic(meeting: Fields, topic: str, number: int) -> Iterator[_Line]:
    path = f"{meeting.at('topics')}.{topic[:60]}"
    fields = Fields(meeting.raw["topics"][topic], path, TCR_TOPIC)
    return (_line(line, f"t{number}") for line in fields.objects("transcripts", LINE))


def _line(fields: Fields, topic: str) -> _Line:
    start, end, number = (
        number_or_none(fields.raw.get(name), fields.at(name)) for name in ("start_s", "end_s", "line_id")
    )
    extra: dict[str, Any] = {"topic": topic}
    if end is not None and end >= 0:
        extra["end_s"] = end
    timed = start is not None and start >= 0
    turn = Turn(_speaker(fields), fields.text("contents", ""), time=str(start) if timed else "", extra=extra)
    return _Line(
        turn, start if timed and start is not None else math.inf, math.inf if number is None else number
    )


def _speaker(fields: Fields) -> str:
    """Return the speaker: a name or a number; `unknown` where the line names nobody."""
    value = fields.raw.get("speaker")
    if is_number(value):
        return f"{value:g}"
    return fields.id("speaker", "").strip() or NOBODY


def _looks_like_tcr(head: Head) -> bool:
    return head.text.startswith("{") and {"topics", "transcripts"} <= head.inner


TCR = Format(
    key="tcr",
    title="Meetings of the Topic-Conversation Relevance data",
    hint="NCPC.json, SIM.json, or another source's file.",
    read=read_tcr,
    looks_like=_looks_like_tcr,
    folder=True,
)


# MPDD (Chen et al. 2020): dialogues of Chinese television plays.
#
# Read from `dialogue.json`, optionally with `metadata.json` beside it.
#
# A case is one dialogue by people, in Chinese. An utterance's listeners are its addressees. Its emotion, and
# the speaker's relation to each listener, are nominal labels of one imported rater: `relation` to the first
# listener, `relation_2` to the second, and so on. `metadata.json` lists the possible emotions and relations,
# and groups relations by field and position. The setting `min_turns` leaves shorter dialogues out.

RATER = "MPDD annotation"
DIALOGUES, METADATA = "dialogue.json", "metadata.json"
MPDD_UTTERANCE = frozenset({"speaker", "utterance", "listener", "emotion"})
LISTENER = frozenset({"name", "relation"})
METADATA_FIELDS = frozenset({"relation", "field", "position", "emotion"})
GROUPS = ("field", "position")


@dataclass(slots=True)
class _Scale:
    """The possible answers: those listed in the metadata, else those encountered, in that order."""

    is_listed: bool = False
    answers: dict[str, dict[str, None]] = field(default_factory=lambda: {"emotion": {}, "relation": {}})
    groups: dict[str, dict[str, str]] = field(default_factory=lambda: {group: {} for group in GROUPS})

    def answer(self, fields: Fields, name: str) -> str:
        """Return an answer; refuse one that the metadata do not list."""
        value = fields.id(name)
        if self.is_listed and value not in self.answers[name]:
            allowed = ", ".join(self.answers[name])
            raise fields.problem(name, f"{value[:60]!r} is not listed in {METADATA}: {allowed[:200]}")
        self.answers[name].setdefault(value)
        return value


@dataclass(slots=True)
class _Utterance:
    """An utterance as a turn, with its emotion and the relations to its listeners."""

    turn: Turn
    emotion: str
    relations: list[str]


def read_mpdd(source: Source) -> Iterator[SourceRecord]:
    """Yield a dialogue for each case, in the order of the file."""
    files = source.files_by_name(DIALOGUES)
    if DIALOGUES not in files:
        raise ImportProblem(f"there is no {DIALOGUES} among the files")
    if extra := sorted(files.keys() - {DIALOGUES, METADATA}):
        raise ImportProblem("is no file of MPDD: leave it out", file=extra[0])
    scale = _Scale()
    if METADATA in files:
        _list(scale, source, files[METADATA])
    place = source.name_in_folder(files[DIALOGUES])
    content = decode(source.document(files[DIALOGUES]))
    cases = require(content, dict, expected="an object of dialogues by case", file=place, filled=True)
    read_cases: dict[str, list[_Utterance]] = {}
    for key, case in cases.items():
        with source.report_problems(files[DIALOGUES]):
            read_cases[key] = _case(key, case, scale)
    least = int(source.settings.get("min_turns", 1))
    short = sum(1 for utterances in read_cases.values() if len(utterances) < least)
    if short:
        source.notes.append(f"dialogues of fewer than {least} turns, left out: {short}")
    for key, utterances in read_cases.items():
        if len(utterances) >= least:
            yield SourceRecord(_dialogue(key, utterances, scale), file=place)


def _list(scale: _Scale, source: Source, file: Path) -> None:
    """Read the possible emotions and relations, and the grouping of relations."""
    try:
        fields = Fields(decode(source.document(file)), "", METADATA_FIELDS)
        for name in scale.answers:
            scale.answers[name].update(dict.fromkeys(fields.texts(name)))
        for group in GROUPS:
            parts = Fields(fields.object(group), group)
            scale.groups[group] = {relation: part for part in parts.raw for relation in parts.texts(part)}
    except ImportProblem as problem:
        raise problem.placed(file=file.name) from None
    scale.is_listed = True


def _case(key: str, case: Any, scale: _Scale) -> list[_Utterance]:
    if not key or len(key) > ID_LIMIT:
        raise ImportProblem(f"the id of a case has 1 to {ID_LIMIT} characters", field=key[:60])
    fields = Fields({key: case})
    utterances = [_utterance(utterance, scale) for utterance in fields.objects(key, MPDD_UTTERANCE)]
    if not utterances:
        raise fields.problem(key, "has no turns")
    return utterances


def _utterance(fields: Fields, scale: _Scale) -> _Utterance:
    listeners = list(fields.objects("listener", LISTENER))
    names = [listener.id("name") for listener in listeners]
    if len(set(names)) < len(names):
        raise fields.problem("listener", "names one listener twice")
    relations = [scale.answer(listener, "relation") for listener in listeners]
    turn = Turn(
        fields.id("speaker"),
        fields.text("utterance"),
        addressees=tuple(names),
        extra=_extra(dict(zip(names, relations, strict=True)), scale),
    )
    return _Utterance(turn, scale.answer(fields, "emotion"), relations)


def _extra(relations: dict[str, str], scale: _Scale) -> dict[str, Any]:
    """Return the relations by listener, with their field and position where these are known."""
    listeners = {
        name: {"relation": relation}
        | {group: part[relation] for group, part in scale.groups.items() if relation in part}
        for name, relation in relations.items()
    }
    return {"listeners": listeners} if listeners else {}


def _dialogue(key: str, utterances: list[_Utterance], scale: _Scale) -> Dialogue:
    people = dict.fromkeys(
        name for utterance in utterances for name in (utterance.turn.speaker, *utterance.turn.addressees)
    )
    return Dialogue(
        id=key,
        turns=tuple(utterance.turn for utterance in utterances),
        participants=tuple(Participant(name) for name in people),
        labels=tuple(
            label for n, utterance in enumerate(utterances) for label in _labels(utterance, n, scale)
        ),
        language="zh",
    )


def _labels(utterance: _Utterance, position: int, scale: _Scale) -> Iterator[LabelRecord]:
    answers = [("emotion", "emotion", utterance.emotion)]
    for number, relation in enumerate(utterance.relations, start=1):
        answers.append(("relation", "relation" if number == 1 else f"relation_{number}", relation))
    for name, question, value in answers:
        yield LabelRecord(
            rater=RATER,
            kind="human",
            continuation=SELF,
            turn=position,
            question=question,
            value=value,
            level="nominal",
            values=tuple(scale.answers[name]),
        )


def _looks_like_mpdd(head: Head) -> bool:
    return head.text.startswith("{") and {"speaker", "utterance", "listener", "emotion"} <= head.inner


MPDD = Format(
    key="mpdd",
    title="MPDD dialogues",
    hint="dialogue.json, alone or together with metadata.json.",
    read=read_mpdd,
    looks_like=_looks_like_mpdd,
    folder=True,
    settings=("min_turns",),
)
