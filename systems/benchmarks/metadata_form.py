"""The form of a conversation's metadata M (CoCoEval, table 10), and how it is read, strictly.

task_goal, task_category, org_context                      texts
participants[]  id, name, role, department, reporting_to, expertise_level, expertise_areas[]
  hidden_information  hidden_agenda, knowledge_before_conversation, emotion_before_conversation, posture,
                      beliefs_about_others (id to text)
    communication_style  length, style_types[], personality_traits[], details
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from annotation.text.cleaning import clean
from jobs.prompt import Unparseable

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


def schema(ids: Sequence[str]) -> dict[str, Any] | None:
    """Return the JSON schema of M for people with these ids; what nothing is known of is empty.

    None for more than FEW: a strict schema has a belief of everybody about everybody.
    """
    if len(ids) > FEW:
        return None
    text = {"type": "string"}
    texts = {"type": "array", "items": text}
    style = _object({"length": text, **dict.fromkeys(STYLE_LISTS, texts), "details": text})
    beliefs = _object(dict.fromkeys(ids, text))
    hidden = _object({STYLE: style, **dict.fromkeys(HIDDEN_TEXTS, text), BELIEFS: beliefs})
    person = _object(
        {
            "id": {"type": "string", "enum": list(ids)},
            **dict.fromkeys(PERSON_TEXTS, text),
            AREAS: texts,
            HIDDEN: hidden,
        }
    )
    return _object({**dict.fromkeys(TEXTS, text), "participants": {"type": "array", "items": person}})


def _object(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(fields),
        "required": list(fields),
        "additionalProperties": False,
    }


def read(
    data: Mapping[str, Any], ids: Mapping[str, str], speaking: Iterable[str]
) -> tuple[Metadata, list[str]]:
    """Return M with the source's own ids, its people in the order of `ids`, and flags.

    `ids` has for every id as it was shown the source's own; `speaking` are the source's ids of those who have
    to be there. Raises Unparseable for a field that is missing or of another type, an id that is not known,
    and a person who is missing or there twice. Beliefs about oneself, and empty ones, are left out.
    """
    reader = _Reader(ids)
    found = reader.whole(data)
    listed = [person["id"] for person in found["participants"]]
    shown = {own: name for name, own in ids.items()}
    if twice := next((one for one in listed if listed.count(one) > 1), None):
        raise Unparseable(f"participants: {shown[twice]!r} is there twice")
    if missing := [one for one in speaking if one not in listed]:
        raise Unparseable(f"participants: the speaker {shown[missing[0]]!r} is missing")
    order = list(ids.values())
    found["participants"].sort(key=lambda person: order.index(person["id"]))
    return found, reader.flags


class _Reader:
    """Reads the parts of one reply and keeps what deserves a look."""

    def __init__(self, ids: Mapping[str, str]) -> None:
        self._ids = ids
        self.flags: list[str] = []

    def whole(self, data: Any) -> Metadata:
        """Return all of it."""
        fields = self._fields(data, "", (*TEXTS, "participants"))
        people = fields["participants"]
        if not isinstance(people, list):
            raise Unparseable("participants: a list is needed")
        found: Metadata = {name: _text(fields[name], name) for name in TEXTS}
        found["participants"] = [
            self._person(person, f"participants[{number}]") for number, person in enumerate(people)
        ]
        return found

    def _person(self, data: Any, where: str) -> Metadata:
        fields = self._fields(data, where, ("id", *PERSON_TEXTS, AREAS, HIDDEN))
        key = self._known(fields["id"], f"{where}.id")
        found: Metadata = {"id": key}
        found |= {name: _text(fields[name], f"{where}.{name}") for name in PERSON_TEXTS}
        if found["reporting_to"]:
            found["reporting_to"] = self._known(fields["reporting_to"], f"{where}.reporting_to")
        found[AREAS] = _texts(fields[AREAS], f"{where}.{AREAS}")
        found[HIDDEN] = self._hidden(fields[HIDDEN], f"{where}.{HIDDEN}", key)
        return found

    def _hidden(self, data: Any, where: str, person: str) -> Metadata:
        fields = self._fields(data, where, (STYLE, *HIDDEN_TEXTS, BELIEFS))
        found: Metadata = {STYLE: self._style(fields[STYLE], f"{where}.{STYLE}")}
        found |= {name: _text(fields[name], f"{where}.{name}") for name in HIDDEN_TEXTS}
        beliefs = fields[BELIEFS]
        if not isinstance(beliefs, dict):
            raise Unparseable(f"{where}.{BELIEFS}: an object is needed")
        told = {
            self._known(about, f"{where}.{BELIEFS}"): _text(text, f"{where}.{BELIEFS}.{about[:40]}")
            for about, text in beliefs.items()
        }
        order = list(self._ids.values())
        found[BELIEFS] = {
            about: told[about] for about in sorted(told, key=order.index) if told[about] and about != person
        }
        return found

    def _style(self, data: Any, where: str) -> Metadata:
        fields = self._fields(data, where, ("length", *STYLE_LISTS, "details"))
        found: Metadata = {"length": _text(fields["length"], f"{where}.length")}
        found |= {name: _texts(fields[name], f"{where}.{name}") for name in STYLE_LISTS}
        found["details"] = _text(fields["details"], f"{where}.details")
        for style in found["style_types"]:
            if style not in STYLES:
                self._flag(f"{UNKNOWN_STYLE}: {style[:60]}")
        return found

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

    def _known(self, value: Any, where: str) -> str:
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
    return [_text(one, where) for one in value]
