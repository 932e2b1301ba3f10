"""Menus of a table's columns: from a mapping to the fields of the page, and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.utils.text import Truncator

from annotation.formats.mapping import (
    DIALOGUE_ITEM,
    ROLES,
    TURN_ITEM,
    Column,
    Entries,
    Scale,
)
from annotation.formats.mapping import Mapping as ColumnMapping
from annotation.formats.profile import ColumnProfile, Profile
from annotation.formats.scales import EMPTY_SET
from annotation.schemes.definitions import LEVELS

MOST_COLUMNS = 2_000
MOST_VALUES = 12
"""Values of a scale in its summary."""
LONGEST_NAME = 40
"""Characters of a name in a summary."""
IGNORED = ("", "Ignore")
GROUPS = {
    "The dialogue": ("dialogue", "transcript", "language", "cluster", "metadata"),
    "Its turns": ("text", "speaker", "utterance", "turn", "time", "session", "addressees", "given"),
    "Responses of systems": ("system", "response", "continuation", "trial", "at"),
    "Answers": ("label", "judge", "key", "metric", "explanation"),
    "One answer a row": ("item", "rater", "question", "value", "kind", "missing", "sample"),
}
"""Roles in the menus, by group; those that are left come last."""
TITLES = {"question": "Question", "rater": "Rater", "speaker": "Speaker", "system": "System"}
EMPTIES = [("", "nothing: no answer"), (EMPTY_SET, "that no value applies")]
HINTS = {"question": "from its column", "rater": "from its column"}


def role_choices() -> list[tuple[str, list[tuple[str, str]]]]:
    """Return key and title of the roles of the menus, grouped."""
    grouped = {key for keys in GROUPS.values() for key in keys}
    groups = {**GROUPS, "As in Concord's exports": [key for key in ROLES if key not in grouped]}
    return [(title, [(key, ROLES[key].title) for key in keys]) for title, keys in groups.items()]


@dataclass(frozen=True, slots=True)
class NameField:
    """Text field for a name in a column's key: its question, rater, speaker or system."""

    id: str
    title: str
    value: str
    hint: str


@dataclass(frozen=True, slots=True)
class ScaleFields:
    """Fields of a question's scale, beside the first column of the question."""

    summary: str
    level: str
    values: str
    codes: str
    anchors: str
    separator: str
    decimal: str
    empty: str


@dataclass(slots=True)
class ColumnRow:
    """One column of the table: its cells, its role, and the fields of that role."""

    index: int
    name: str
    examples: tuple[str, ...] = ()
    wording: str = ""
    n_different: int = 0
    role: str = ""
    names: list[NameField] = field(default_factory=list)
    item: str | None = None
    items: list[tuple[str, str]] = field(default_factory=list)
    scale: ScaleFields | None = None

    @property
    def is_unnamed(self) -> bool:
        """Whether none of the names that its role has is filled in."""
        return bool(self.names) and not any(name.value for name in self.names)

    @property
    def summary(self) -> str:
        """Fields of the role in a line, `Question: quality · Rater: anna · Scale: 1, 2, 3`, or nothing."""
        parts = [f"{name.title}: {shortened(name.value) or name.hint or 'unnamed'}" for name in self.names]
        parts += [f"About {shortened(self.item)}"] if self.item else []
        parts += [f"Scale: {self.scale.summary}"] if self.scale else []
        return " · ".join(parts)

    @property
    def sample(self) -> str:
        """Some of its cells, and how many different ones it has beyond them."""
        cells = ", ".join(Truncator(example).chars(28) for example in self.examples)
        more = f" · {self.n_different:,} different" if self.n_different > len(self.examples) else ""
        return cells + more

    @property
    def number(self) -> str:
        """Index as a text."""
        return str(self.index)


def column_rows(profile: Profile, mapping: ColumnMapping) -> list[ColumnRow]:
    """Return a row for each column of a table, with what a mapping says of it."""
    mapped = {column.name: column for column in mapping.columns}
    questions: set[str] = set()
    rows = []
    for index, column_profile in enumerate(profile.columns[:MOST_COLUMNS]):
        row = ColumnRow(
            index=index,
            name=column_profile.name,
            examples=column_profile.examples[:3],
            wording=column_profile.wording,
            n_different=column_profile.n_different if column_profile.looks_like == "id" else 0,
        )
        if column := mapped.get(column_profile.name):
            _fill(row, column, column_profile, mapping, questions)
        rows.append(row)
    return rows


def _fill(
    row: ColumnRow, column: Column, profile: ColumnProfile, mapping: ColumnMapping, questions: set[str]
) -> None:
    row.role = column.role
    names = ROLES[column.role].names
    for name in names:
        if name != "item":
            value = getattr(column, name)
            row.names.append(NameField(f"{name}-{row.index}", TITLES[name], value, HINTS.get(name, "")))
    if "item" in names:
        row.item = column.item
        row.items = [("", "its turn or dialogue"), (TURN_ITEM, "the turn"), (DIALOGUE_ITEM, "the dialogue")]
        if column.item not in dict(row.items):
            row.items.append((column.item, column.item))
    if column.role == "explanation" or not ((names and "rater" in names) or column.role == "value"):
        return
    if column.question in questions:
        return
    questions.add(column.question)
    row.scale = _scale_fields(mapping.scale(column.question))


def _scale_fields(scale: Scale) -> ScaleFields:
    words = {code: f" ({word})" for word, code in scale.codes.items() if code != word}
    values = [f"{value}{words.get(value, '')}" for value in scale.values[:MOST_VALUES]]
    summary = ", ".join(values) + (", ..." if len(scale.values) > MOST_VALUES else "")
    missing = [f"“{word}” is no answer" for word, code in scale.codes.items() if not code]
    if scale.separator and scale.codes.get("") != EMPTY_SET:
        missing.append("an empty cell is no answer")
    return ScaleFields(
        summary="; ".join([summary or "any answer", *missing[:3]]),
        level=scale.level,
        values=_joined(scale.values),
        codes=_joined(f"{word} = {code}" for word, code in scale.codes.items() if word),
        anchors=_joined(f"{value} = {wording}" for value, wording in scale.anchors.items()),
        separator=scale.separator,
        decimal=scale.decimal,
        empty=scale.codes.get("", ""),
    )


def shortened(text: str) -> str:
    """Return a name in at most 40 characters."""
    return text if len(text) <= LONGEST_NAME else f"{text[: LONGEST_NAME - 1]}…"


def _joined(texts: Iterable[str]) -> str:
    """Return texts in one field: with commas, with semicolons where a text has a comma."""
    listing = list(texts)
    return ("; " if any("," in text for text in listing) else ", ").join(listing)


def _split(text: str) -> list[str]:
    parts = text.split(";" if ";" in text else ",")
    return [part.strip() for part in parts if part.strip()]


def _pairs(text: str) -> dict[str, str]:
    pairs = [part.partition("=") for part in _split(text)]
    return {word.strip(): code.strip() for word, mark, code in pairs if mark and word.strip()}


def posted_entries(data: Any) -> Entries:
    """Return the mapping of a posted page, as a dictionary; it is checked when the file is read."""
    columns, scales = [], {}
    for index, name in enumerate(data.getlist("column")[:MOST_COLUMNS]):
        role = data.get(f"role-{index}", "")
        if role not in ROLES:
            continue
        names = {
            key: data.get(f"{key}-{index}", "").strip()
            for key in ROLES[role].names
            if f"{key}-{index}" in data
        }
        columns.append(Column(name, role, **names))
        if f"values-{index}" in data:
            scale = _posted_scale(data, index)
            if scale != Scale():
                scales[names.get("question", "")] = scale
    return ColumnMapping(tuple(columns), scales).entries()


def _posted_scale(data: Mapping[str, str], index: int) -> Scale:
    level = data.get(f"level-{index}", "")
    empty = data.get(f"empty-{index}", "")
    return Scale(
        level=level if level in LEVELS else "",
        values=tuple(_split(data.get(f"values-{index}", ""))),
        codes=_pairs(data.get(f"codes-{index}", "")) | ({"": empty} if empty else {}),
        anchors=_pairs(data.get(f"anchors-{index}", "")),
        separator=data.get(f"separator-{index}", "").strip(" "),
        decimal=data.get(f"decimal-{index}", "").strip(),
    )
