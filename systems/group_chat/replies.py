"""Reading an agent's reply: a decision, or the reason why it cannot be read. Nothing is repaired silently."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from annotation.records import Participant
from annotation.scenarios.records import ACTS, EVERYBODY, MOVES, Act, Decision
from annotation.text.views import one_line
from annotation.text.words import fold
from jobs.prompt import Unparseable
from judges.protocols.replies import json_object
from systems.generators.base import fields, message, only

EXPLICIT_FIELDS = ("attend", "act", "addressed", "targets", "ground", "text")
IMPLICIT_FIELDS = ("act", "text")
SILENCE_TOKEN = "[silence]"
BY_NAME = "named_by_name"
"""The one repair: somebody given by name or alias instead of by id, found by exact match after folding."""
LONGEST = 8_000


def explicit(
    reply: str, point: int, people: Sequence[Participant], everybody: Mapping[str, Sequence[str]]
) -> Decision:
    """Return the decision that a reply in explicit mode is; raise Unparseable.

    `people` are all participants, `everybody` the ids for whom `all` stands among addressed and targets.
    """
    found = fields(json_object(reply), EXPLICIT_FIELDS, "the reply")
    only(found, EXPLICIT_FIELDS, "the reply")
    if not isinstance(found["attend"], bool):
        raise Unparseable("attend is neither true nor false")
    if found["ground"] not in MOVES:
        raise Unparseable(f"ground is none of {', '.join(MOVES)}")
    act = _act(found["act"])
    text = _text(found["text"], act)
    flags: list[str] = []
    addressed = _ids(found["addressed"], "addressed", people, everybody["addressed"], flags)
    targets = _ids(found["targets"], "targets", people, everybody["targets"], flags)
    if act == "silence" and targets:
        raise Unparseable("silence has targets")
    return Decision(
        point=point,
        act=act,
        text=text,
        mode="explicit",
        attend=found["attend"],
        addressed=addressed,
        targets=targets,
        ground=found["ground"],
        flags=tuple(dict.fromkeys(flags)),
    )


def implicit(reply: str, point: int) -> Decision:
    """Return the decision that a reply in implicit mode is: an object of act and text, or plain text."""
    plain = reply.strip()
    if plain.startswith(("{", "```")):
        found = fields(json_object(reply), IMPLICIT_FIELDS, "the reply")
        only(found, IMPLICIT_FIELDS, "the reply")
        act = _act(found["act"])
        return Decision(point, act, _text(found["text"], act), "implicit")
    if fold(plain) == SILENCE_TOKEN:
        return Decision(point, "silence", "", "implicit")
    return Decision(point, "message", _text(plain, "message"), "implicit")


def _act(value: Any) -> Act:
    if value not in ACTS:
        raise Unparseable(f"act is none of {', '.join(ACTS)}")
    return cast(Act, value)


def _text(value: Any, act: Act) -> str:
    if act == "silence":
        if not isinstance(value, str) or value.strip():
            raise Unparseable("silence has a text")
        return ""
    text = message(value, "text").strip()
    if len(text) > LONGEST:
        raise Unparseable(f"text has {len(text):,} characters; a message has at most {LONGEST:,}")
    return text


def _ids(
    value: Any, name: str, people: Sequence[Participant], everybody: Sequence[str], flags: list[str]
) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise Unparseable(f"{name} is not a list of ids")
    known = {person.id for person in people}
    found: set[str] = set()
    for one in value:
        if one in known:
            found.add(one)
        elif fold(one) == EVERYBODY:
            found.update(everybody)
        else:
            found.add(_by_name(one, name, people))
            flags.append(BY_NAME)
    return tuple(sorted(found))


def _by_name(value: str, name: str, people: Sequence[Participant]) -> str:
    wanted = fold(one_line(value)).removeprefix("@")
    meant = {
        person.id
        for person in people
        if wanted and wanted in {fold(one) for one in (person.id, person.name, *person.aliases)}
    }
    if len(meant) != 1:
        raise Unparseable(f"{name}: {value[:60]!r} is not the id of a member")
    return meant.pop()


def explicit_schema() -> Mapping[str, Any]:
    """Return the JSON schema of a reply in explicit mode."""
    ids = {"type": "array", "items": {"type": "string"}}
    return _object(
        {
            "attend": {"type": "boolean"},
            "act": {"type": "string", "enum": list(ACTS)},
            "addressed": ids,
            "targets": ids,
            "ground": {"type": "string", "enum": list(MOVES)},
            "text": {"type": "string"},
        }
    )


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
