"""Metadata inferred from a whole conversation: its purpose, its people, and their backgrounds.

A conversation longer than `part_tokens` is read in overlapping parts; a second step merges their metadata.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from annotation.records import Dialogue
from annotation.text.views import clean
from jobs.prompt import Prompt, Unparseable, about_tokens, object_schema
from judges.protocols.quoting import quote
from judges.protocols.replies import json_object
from suites.continuation.benchmarks.summary import by_id, speakers, spoken, transcript
from suites.continuation.generators.generator import (
    Done,
    Generator,
    Reply,
    Setting,
    Settings,
    State,
    Value,
    filled,
)

# Format of a conversation's metadata M (CoCoEval, table 10), and its strict parser.
#
#  task_goal, task_category, org_context                      texts
#  participants[]  id, name, role, department, reporting_to, expertise_level, expertise_areas[]
#    hidden_information  hidden_agenda, knowledge_before_conversation, emotion_before_conversation, posture,
#                        beliefs_about_others (id to text)
#      communication_style  length, style_types[], personality_traits[], details

Metadata = dict[str, Any]

TEXTS = ("task_goal", "task_category", "org_context")
PERSON_TEXTS = ("name", "role", "department", "reporting_to", "expertise_level")
HIDDEN_TEXTS = ("hidden_agenda", "knowledge_before_conversation", "emotion_before_conversation", "posture")
STYLE_LISTS = ("style_types", "personality_traits")
BELIEFS, HIDDEN, STYLE, AREAS = (
    "beliefs_about_others",
    "hidden_information",
    "communication_style",
    "expertise_areas",
)
STYLES = (
    "formal",
    "informal",
    "assertive",
    "passive",
    "concise",
    "elaborative",
    "technical",
    "layman",
)
UNKNOWN_STYLE, EXTRA_FIELD = "unknown_style", "extra_field"
LONGEST, MOST = 10_000, 100
FEW = 12
PART_TOKENS = Setting(
    "part_tokens",
    60_000,
    "Longest part of a conversation in one request, in tokens.",
    low=200,
    high=10**7,
)


def schema(ids: Sequence[str]) -> dict[str, Any] | None:
    """Return the JSON schema of M for people with these ids; unknown values are empty.

    None for more than FEW: a strict schema has a belief of everybody about everybody.
    """
    if len(ids) > FEW:
        return None
    text = {"type": "string"}
    texts = {"type": "array", "items": text}
    style = object_schema({"length": text, **dict.fromkeys(STYLE_LISTS, texts), "details": text})
    beliefs = object_schema(dict.fromkeys(ids, text))
    hidden = object_schema({STYLE: style, **dict.fromkeys(HIDDEN_TEXTS, text), BELIEFS: beliefs})
    person = object_schema(
        {
            "id": {"type": "string", "enum": list(ids)},
            **dict.fromkeys(PERSON_TEXTS, text),
            AREAS: texts,
            HIDDEN: hidden,
        }
    )
    return object_schema({**dict.fromkeys(TEXTS, text), "participants": {"type": "array", "items": person}})


def read(
    data: Mapping[str, Any], ids: Mapping[str, str], speaking: Iterable[str]
) -> tuple[Metadata, list[str]]:
    """Return M with the source's own ids, its people in the order of `ids`, and flags.

    `ids` maps each id as shown to the source's own; `speaking` are the source's ids of the people who must be
    present. Raises Unparseable for a missing field or a wrong type, an unknown id, and a missing or repeated
    person. Beliefs about oneself, and empty ones, are left out.
    """
    reader = _Reader(ids)
    metadata = reader.read_metadata(data)
    listed_ids = [person["id"] for person in metadata["participants"]]
    shown_ids = {own: name for name, own in ids.items()}
    if twice := next((person_id for person_id in listed_ids if listed_ids.count(person_id) > 1), None):
        raise Unparseable(f"participants: {shown_ids[twice]!r} is there twice")
    if missing := [speaker for speaker in speaking if speaker not in listed_ids]:
        raise Unparseable(f"participants: the speaker {shown_ids[missing[0]]!r} is missing")
    order = list(ids.values())
    metadata["participants"].sort(key=lambda person: order.index(person["id"]))
    return metadata, reader.flags


class _Reader:
    """Parses the parts of one reply and collects flags."""

    def __init__(self, ids: Mapping[str, str]) -> None:
        self._ids = ids
        self.flags: list[str] = []

    def read_metadata(self, data: Any) -> Metadata:
        """Parse the metadata of the conversation and of everybody in it."""
        fields = self._fields(data, "", (*TEXTS, "participants"))
        people = fields["participants"]
        if not isinstance(people, list):
            raise Unparseable("participants: a list is needed")
        metadata: Metadata = {name: _text(fields[name], name) for name in TEXTS}
        metadata["participants"] = [
            self._person(person, f"participants[{number}]") for number, person in enumerate(people)
        ]
        return metadata

    def _person(self, data: Any, where: str) -> Metadata:
        fields = self._fields(data, where, ("id", *PERSON_TEXTS, AREAS, HIDDEN))
        key = self._own_id(fields["id"], f"{where}.id")
        person: Metadata = {"id": key}
        person |= {name: _text(fields[name], f"{where}.{name}") for name in PERSON_TEXTS}
        if person["reporting_to"]:
            person["reporting_to"] = self._own_id(fields["reporting_to"], f"{where}.reporting_to")
        person[AREAS] = _texts(fields[AREAS], f"{where}.{AREAS}")
        person[HIDDEN] = self._hidden(fields[HIDDEN], f"{where}.{HIDDEN}", key)
        return person

    def _hidden(self, data: Any, where: str, person: str) -> Metadata:
        fields = self._fields(data, where, (STYLE, *HIDDEN_TEXTS, BELIEFS))
        hidden: Metadata = {STYLE: self._style(fields[STYLE], f"{where}.{STYLE}")}
        hidden |= {name: _text(fields[name], f"{where}.{name}") for name in HIDDEN_TEXTS}
        beliefs = fields[BELIEFS]
        if not isinstance(beliefs, dict):
            raise Unparseable(f"{where}.{BELIEFS}: an object is needed")
        belief_texts = {
            self._own_id(about, f"{where}.{BELIEFS}"): _text(text, f"{where}.{BELIEFS}.{about[:40]}")
            for about, text in beliefs.items()
        }
        order = list(self._ids.values())
        hidden[BELIEFS] = {
            about: belief_texts[about]
            for about in sorted(belief_texts, key=order.index)
            if belief_texts[about] and about != person
        }
        return hidden

    def _style(self, data: Any, where: str) -> Metadata:
        fields = self._fields(data, where, ("length", *STYLE_LISTS, "details"))
        style_fields: Metadata = {"length": _text(fields["length"], f"{where}.length")}
        style_fields |= {name: _texts(fields[name], f"{where}.{name}") for name in STYLE_LISTS}
        style_fields["details"] = _text(fields["details"], f"{where}.details")
        for style in style_fields["style_types"]:
            if style not in STYLES:
                self._flag(f"{UNKNOWN_STYLE}: {style[:60]}")
        return style_fields

    def _fields(self, data: Any, where: str, names: Sequence[str]) -> Mapping[str, Any]:
        at = f"{where}." if where else ""
        if not isinstance(data, dict):
            raise Unparseable(f"{where or 'the reply'}: an object is needed")
        for name in names:
            if name not in data:
                raise Unparseable(f"{at}{name} is missing")
        for name in data:
            if name not in names:
                self._flag(f"{EXTRA_FIELD}: {name[:60]}")
        return data

    def _own_id(self, value: Any, where: str) -> str:
        if not isinstance(value, str) or value not in self._ids:
            raise Unparseable(f"{where}: {str(value)[:60]!r} is not the id of anybody in the conversation")
        return self._ids[value]

    def _flag(self, flag: str) -> None:
        if flag not in self.flags:
            self.flags.append(flag)


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise Unparseable(f"{where}: a text is needed")
    if len(value) > LONGEST:
        raise Unparseable(f"{where}: has {len(value):,} characters, not at most {LONGEST:,}")
    return clean(value).strip()


def _texts(value: Any, where: str) -> list[str]:
    if not isinstance(value, list) or len(value) > MOST:
        raise Unparseable(f"{where}: a list of at most {MOST} texts is needed")
    return [_text(item, where) for item in value]


BELIEVED = 3
"""Usual number of other people about whom a model states someone's beliefs."""


class CocoevalMetadata(Generator):
    """Infers M, in parts where the conversation is long.

    State: `ids` ([as shown, the source's]), `speaking`, `parts` ([lines, ids of the speakers in it]),
    `drafts` after the parts were read, finally `metadata` and `flags`. Result: M.
    """

    key = "cocoeval_metadata"
    title = "CoCoEval: metadata of a conversation and its participants"
    produces = "text"
    settings = (
        PART_TOKENS,
        Setting("overlap", 10, "Turns that two neighbouring parts share.", low=0, high=1000),
    )

    def name(self, model: str, condition: Mapping[str, Value]) -> str:
        """Return the model and the task."""
        return f"{model} metadata"

    def begin(self, dialogue: Dialogue, settings: Settings) -> State:
        """Keep the conversation as lines, cut into parts."""
        names, speaking = by_id(dialogue), speakers(dialogue.turns)
        people = list(dict.fromkeys([*(person.id for person in dialogue.participants), *speaking]))
        turns = [turn for turn in dialogue.turns if turn.text.strip() or turn.act != "message"]
        lines = transcript(turns, names)
        spans = spans_of(lines, int(settings["part_tokens"]), int(settings["overlap"]))
        return {
            "ids": [[names.of(person), person] for person in people],
            "speaking": speaking,
            "parts": [[lines[start:end], speakers(turns[start:end])] for start, end in spans],
        }

    def why_not(self, dialogue: Dialogue, settings: Settings) -> str:
        """Refuse a conversation without text, or with speakers whose ids look alike."""
        names = by_id(dialogue)
        shown_ids = [
            names.of(person) for person in {*(p.id for p in dialogue.participants), *speakers(dialogue.turns)}
        ]
        if len(set(shown_ids)) < len(shown_ids):
            return "two of its speakers have ids that look alike"
        return "" if any(map(spoken, dialogue.turns)) else "nothing is said in it"

    def request(self, state: State) -> Sequence[Prompt] | Done:
        """Return a prompt for each part, then one that merges them, then M."""
        if "metadata" in state:
            return Done(text=state["metadata"], flags=tuple(state["flags"]))
        if "drafts" in state:
            return [_merging(state)]
        return [_reading(state, part) for part in range(len(state["parts"]))]

    def check(self, state: State, part: int, reply: str) -> None:
        """Parse the reply about one part, or the merged one."""
        _read(state, None if "drafts" in state else part, reply)

    def receive(self, state: State, replies: Sequence[Reply]) -> State:
        """Keep the metadata of each part; that of the only part, or the merged one, is M."""
        if "drafts" in state or len(state["parts"]) == 1:
            metadata, flags = _read(state, None, replies[0].text)
            return {**state, "metadata": metadata, "flags": flags}
        drafts = [_read(state, part, reply.text) for part, reply in enumerate(replies)]
        read_already = [[[], speaking] for _, speaking in state["parts"]]
        return {**state, "parts": read_already, "drafts": [metadata for metadata, _ in drafts]}

    def pretend(self, state: State) -> Sequence[str]:
        """Return metadata of usual length about everybody."""
        shown_ids = dict(_ids(state, own_first=True))
        if "drafts" in state:
            return [_pretended(list(shown_ids.values()))]
        return [_pretended([shown_ids[speaker] for speaker in speaking]) for _, speaking in state["parts"]]


def spans_of(lines: Sequence[str], most: int, overlap: int) -> list[tuple[int, int]]:
    """Return [start, end) of parts of at most `most` tokens (at least one line).

    Each begins `overlap` lines before the end of the previous one, or fewer where it would otherwise not
    advance.
    """
    sizes = [about_tokens(line) + 1 for line in lines]
    spans: list[tuple[int, int]] = []
    start = 0
    while True:
        end, size = start + 1, sum(sizes[start : start + 1])
        while end < len(lines) and size + sizes[end] <= most:
            size += sizes[end]
            end += 1
        spans.append((start, end))
        if end >= len(lines):
            return spans
        start = max(end - overlap, start + 1)


def _ids(state: State, own_first: bool = False) -> list[tuple[str, str]]:
    return [(own, shown_id) if own_first else (shown_id, own) for shown_id, own in state["ids"]]


def _read(state: State, part: int | None, reply: str) -> tuple[Metadata, list[str]]:
    """Parse a reply; it must have everybody who speaks in the part, or in the conversation."""
    is_complete = part is None or len(state["parts"]) == 1
    speaking = state["speaking"] if is_complete else state["parts"][part][1]
    return read(json_object(reply), dict(_ids(state)), speaking)


def _people(state: State) -> str:
    speaking = set(state["speaking"])
    return quote(
        "PEOPLE",
        [shown_id if own in speaking else f"{shown_id} (says nothing)" for shown_id, own in _ids(state)],
    )


def _reading(state: State, part: int) -> Prompt:
    lines, speaking = state["parts"][part]
    number = len(state["parts"])
    shown_ids = dict(_ids(state, own_first=True))
    which = "" if number == 1 else f"You see part {part + 1} of {number} of the conversation. "
    values = {
        "which": which,
        "people": _people(state),
        "speaking": quote("SPEAKING", [shown_ids[speaker] for speaker in speaking]),
        "conversation": quote("CONVERSATION", lines),
        "styles": ", ".join(STYLES),
    }
    return filled("cocoeval_metadata", 1, values, schema([shown_id for shown_id, _ in _ids(state)]))


def _merging(state: State) -> Prompt:
    shown_ids = dict(_ids(state, own_first=True))
    drafts = [json.dumps(_with_shown_ids(draft, shown_ids), ensure_ascii=False) for draft in state["drafts"]]
    values = {
        "people": _people(state),
        "speaking": quote("SPEAKING", [shown_ids[speaker] for speaker in state["speaking"]]),
        "parts": "\n\n".join(quote(f"PART {number}", [text]) for number, text in enumerate(drafts, start=1)),
        "styles": ", ".join(STYLES),
    }
    return filled("cocoeval_metadata_merged", 1, values, schema([name for name, _ in _ids(state)]))


def _with_shown_ids(metadata: Metadata, shown_ids: dict[str, str]) -> Metadata:
    """Return M with the ids as shown."""
    people = []
    for person in metadata["participants"]:
        hidden = person["hidden_information"]
        beliefs = {shown_ids[about]: text for about, text in hidden["beliefs_about_others"].items()}
        people.append(
            {
                **person,
                "id": shown_ids[person["id"]],
                "reporting_to": shown_ids.get(person["reporting_to"], ""),
                "hidden_information": {**hidden, "beliefs_about_others": beliefs},
            }
        )
    return {**metadata, "participants": people}


def _pretended(ids: Sequence[str]) -> str:
    text = "what can be told from the conversation, in a sentence of usual length"
    person: dict[str, Any] = {
        **dict.fromkeys(PERSON_TEXTS, ""),
        "expertise_level": "senior",
        "expertise_areas": [text],
        "hidden_information": {
            "communication_style": {
                "length": "usually 5 to 10 words",
                "style_types": ["informal", "concise"],
                "personality_traits": ["patient"],
                "details": f"{text}; {text}; {text}",
            },
            **dict.fromkeys(HIDDEN_TEXTS, text),
        },
    }
    people = []
    for person_id in ids:
        beliefs = dict.fromkeys([other for other in ids if other != person_id][:BELIEVED], text)
        hidden = {**person["hidden_information"], "beliefs_about_others": beliefs}
        people.append({"id": person_id, **person, "hidden_information": hidden})
    return json.dumps({**dict.fromkeys(TEXTS, text), "participants": people}, ensure_ascii=False)
