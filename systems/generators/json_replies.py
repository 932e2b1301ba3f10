"""Reading JSON replies strictly: lists, fields and texts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from annotation.formats.fields import ID_LIMIT
from annotation.text.cleaning import clean, one_line
from jobs.prompt import Unparseable
from judges.protocols.replies import json_value


def array(reply: str) -> list[Any]:
    """Return a reply's JSON array, or that of an object with one key that holds it; raise Unparseable."""
    value = json_value(reply)
    if isinstance(value, dict) and len(value) == 1:
        (value,) = value.values()
    if not isinstance(value, list):
        raise Unparseable("the reply is neither a JSON array nor an object with one key that holds one")
    return value


def fields(entry: Any, names: Sequence[str], where: str) -> dict[str, Any]:
    """Return an object that has every one of the fields; raise Unparseable for another value."""
    if not isinstance(entry, dict):
        raise Unparseable(f"{where} is not a JSON object")
    if missing := [name for name in names if name not in entry]:
        raise Unparseable(f"{where}: the field {missing[0]} is missing")
    return entry


def only(entry: Mapping[str, Any], names: Collection[str], where: str) -> None:
    """Raise Unparseable for a field that was not asked for."""
    if unknown := sorted(set(entry) - set(names)):
        raise Unparseable(f"{where}: there is no field {unknown[0][:40]!r} in the form that was asked for")


def message(value: Any, where: str) -> str:
    """Return a text that says something and can be stored; raise Unparseable for anything else."""
    if not isinstance(value, str):
        raise Unparseable(f"{where} is not a text")
    if not clean(value).strip():
        raise Unparseable(f"{where} is empty")
    if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
        raise Unparseable(f"{where} holds characters that are no text")
    return value


def speaker(value: Any, where: str) -> str:
    """Return a name on one line; raise Unparseable for none, or one that is too long to be one."""
    name = one_line(message(value, where))
    if len(name) > ID_LIMIT:
        raise Unparseable(f"{where} has {len(name):,} characters; a name has at most {ID_LIMIT}")
    return name


def list_schema(name: str, texts: Sequence[str]) -> dict[str, Any]:
    """Return the JSON schema of an object with one key that holds a list of objects of texts."""
    return _object({name: {"type": "array", "items": object_schema(texts)}})


def object_schema(texts: Sequence[str]) -> dict[str, Any]:
    """Return the JSON schema of an object of texts."""
    return _object({text: {"type": "string"} for text in texts})


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
