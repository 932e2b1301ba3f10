"""Inventories of personas: heads with their tails, given names and family sentences, from CSV and JSON.

An inventory is the material from which personas are drawn (`suites.collecting.personas`). ComperDial's
inventory comes from PeaCoK, section 3.1 and appendix A.3; it is not part of Concord.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotation.text.views import one_line
from annotation.text.words import fold

ASPECTS = ("characteristic", "routine_or_habit", "goal_or_plan", "experience")
WITH = "_with_relationship"
SLOTS = (*ASPECTS, *(f"{aspect}{WITH}" for aspect in ASPECTS))
"""Keys of the eight kinds of tails: four aspects, each without and with a relationship to other people."""
SLOT_TITLES = {
    slot: slot.removesuffix(WITH).replace("_", " ").capitalize()
    + (", with a relationship" if slot.endswith(WITH) else "")
    for slot in SLOTS
}
OLDEST = 120
MOST_BYTES = 4 * 2**20
MOST_HEADS, MOST_TEXTS = 1_000, 50
"""Maximum number of heads, and of tails in one slot of a head."""
LONGEST_TEXT, LONGEST_GENDER = 300, 30
COLUMNS = ("kind", "text", "head", "slot", "start_age", "end_age", "genders", "generation", "negative")
"""Columns of the CSV form, one row for each head, tail, name or family sentence."""
DELIMITERS = (",", ";", "\t")
REQUIRED_COLUMNS = ("kind", "text")
JOIN = ";"
"""Separator between genders in a cell."""
BOOLEANS = {"": False, "no": False, "0": False, "false": False, "yes": True, "1": True, "true": True}


class InventoryProblem(ValueError):
    """An invalid inventory; `field` is the column or the path of a JSON value, `line` that of the file."""

    def __init__(self, reason: str, *, field: str = "", line: int | None = None) -> None:
        self.reason, self.field, self.line = reason, field, line
        place = ", ".join([*([f"line {line}"] if line else []), *([field] if field else [])])
        super().__init__(f"{place}: {reason}" if place else reason)


@dataclass(frozen=True, slots=True)
class Head:
    """A head of a persona. Ages are in years, both ends included; `tails` are texts by slot.

    `negative` heads make a bad impression (a forger, say) and are skipped by draws.
    """

    text: str
    start_age: int
    end_age: int
    genders: tuple[str, ...]
    tails: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    negative: bool = False


@dataclass(frozen=True, slots=True)
class NameList:
    """Given names for people of a gender from an age on, up to the next generation of that gender."""

    generation: int
    gender: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Family:
    """A sentence about the family, for people from `start_age` to `end_age`; `<n>` is a small number."""

    text: str
    start_age: int
    end_age: int


@dataclass(frozen=True, slots=True)
class Inventory:
    """Material of personas."""

    heads: tuple[Head, ...]
    names: tuple[NameList, ...]
    families: tuple[Family, ...]

    def names_for(self, gender: str, age: int) -> tuple[str, ...]:
        """Return the names of a gender's largest generation that is not above an age; empty without one."""
        lists = [row for row in self.names if row.gender == gender and row.generation <= age]
        return max(lists, key=lambda row: row.generation).names if lists else ()

    def families_for(self, age: int) -> tuple[Family, ...]:
        """Return the family sentences for an age."""
        return tuple(row for row in self.families if row.start_age <= age <= row.end_age)

    def gaps(self) -> list[str]:
        """Return sentences about what draws need and the inventory lacks; empty for a complete one."""
        usable = [head for head in self.heads if not head.negative]
        gaps = [] if len(usable) > 1 else ["Draws need at least two heads that are not negative."]
        for head in usable:
            for gender in head.genders:
                if not self.names_for(gender, head.start_age):
                    gaps.append(f"“{head.text}” needs names for gender {gender} from age {head.start_age}.")
            ages = range(head.start_age, head.end_age + 1)
            bare = [age for age in ages if not self.families_for(age)]
            if bare:
                gaps.append(f"“{head.text}” needs a family sentence for age {bare[0]}.")
        return list(dict.fromkeys(gaps))


# Reading: every value is checked, and an invalid one is refused with its place.


def read(name: str, content: bytes) -> Inventory:
    """Read an inventory from a file: JSON where its name ends in .json, else CSV. Raises InventoryProblem."""
    if len(content) > MOST_BYTES:
        raise InventoryProblem(f"The file is larger than {MOST_BYTES // 2**20} MB.")
    try:
        text = content.decode("utf-16" if content.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise InventoryProblem("The text is not UTF-8.", line=line) from None
    return read_json(text) if name.lower().endswith(".json") else read_csv(text)


def read_json(text: str) -> Inventory:
    """Read an inventory from JSON: an object with `heads`, `names` and `families`, each a list of objects."""
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise InventoryProblem(f"No JSON: {error.msg}.", line=error.lineno) from None
    except (RecursionError, ValueError):
        raise InventoryProblem("The JSON is nested too deeply, or has a number that is too long.") from None
    if not isinstance(data, dict):
        raise InventoryProblem("Write an object with heads, names and families.")
    return inventory_record(data)


def inventory_record(data: Mapping[str, Any]) -> Inventory:
    """Return the inventory that JSON data describe. Raises InventoryProblem with the path of a bad value."""
    if unknown := sorted(set(data) - {"heads", "names", "families"}):
        raise InventoryProblem("There is no such field: give heads, names and families.", field=unknown[0])
    heads = [head_record(row, path) for path, row in _rows(data, "heads")]
    if len(heads) > MOST_HEADS:
        raise InventoryProblem(f"At most {MOST_HEADS:,} heads.", field="heads")
    _check_distinct([(head.text, f"heads[{place}].text", None) for place, head in enumerate(heads)])
    names = [names_record(row, path) for path, row in _rows(data, "names")]
    families = [family_record(row, path) for path, row in _rows(data, "families")]
    return _inventory(heads, names, families)


def head_record(row: Mapping[str, Any], path: str = "") -> Head:
    """Return a head from JSON data. Raises InventoryProblem with the path of a bad value."""
    _check_fields(row, ("text", "start_age", "end_age", "genders", "tails", "negative"), path)
    start_age, end_age = _ages(row, path)
    genders = row.get("genders")
    if not isinstance(genders, list | tuple) or not genders:
        raise InventoryProblem("Give a list of at least one gender.", field=_at(path, "genders"))
    tails = row.get("tails", {})
    if not isinstance(tails, dict):
        raise InventoryProblem("Give an object of lists, by slot.", field=_at(path, "tails"))
    negative = row.get("negative", False)
    if not isinstance(negative, bool):
        raise InventoryProblem("Give true or false.", field=_at(path, "negative"))
    return Head(
        text=_text(row.get("text"), _at(path, "text")),
        start_age=start_age,
        end_age=end_age,
        genders=tuple(dict.fromkeys(_gender(gender, _at(path, "genders")) for gender in genders)),
        tails=_tails(tails, _at(path, "tails")),
        negative=negative,
    )


def names_record(row: Mapping[str, Any], path: str = "") -> NameList:
    """Return a list of names from JSON data. Raises InventoryProblem with the path of a bad value."""
    _check_fields(row, ("generation", "gender", "names"), path)
    names = row.get("names")
    if not isinstance(names, list | tuple) or not names:
        raise InventoryProblem("Give a list of at least one name.", field=_at(path, "names"))
    return NameList(
        _age(row.get("generation"), _at(path, "generation")),
        _gender(row.get("gender"), _at(path, "gender")),
        tuple(dict.fromkeys(_text(name, _at(path, "names")) for name in names)),
    )


def family_record(row: Mapping[str, Any], path: str = "") -> Family:
    """Return a family sentence from JSON data. Raises InventoryProblem with the path of a bad value."""
    _check_fields(row, ("text", "start_age", "end_age"), path)
    return Family(_text(row.get("text"), _at(path, "text")), *_ages(row, path))


def read_csv(text: str) -> Inventory:
    """Read an inventory from CSV (`COLUMNS`); a tail names its head's text, which stands above it.

    Cells are separated by commas, or by semicolons or tabs where the header is; its case does not matter.
    """
    delimiter = max(DELIMITERS, key=text.partition("\n")[0].count)
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True, delimiter=delimiter)
    try:
        header = [one_line(name or "").lower() for name in reader.fieldnames or ()]
        reader.fieldnames = header
        if unknown := [name for name in header if name not in COLUMNS]:
            raise InventoryProblem(
                f"There is no such column: the columns are {', '.join(COLUMNS)}.", field=unknown[0], line=1
            )
        for name in REQUIRED_COLUMNS:
            if name not in header:
                raise InventoryProblem("The column is missing.", field=name, line=1)
        return _from_rows(_numbered(reader))
    except csv.Error as error:
        raise InventoryProblem(f"No CSV: {error}.", line=reader.line_num) from None


Row = Mapping[str, str]


def _numbered(reader: csv.DictReader[str]) -> Iterator[tuple[int, Row]]:
    for row in reader:
        if None in row:
            raise InventoryProblem("The row has more cells than the header.", line=reader.line_num)
        cells = {name: (value or "").strip() for name, value in row.items()}
        if any(cells.values()):
            yield reader.line_num, cells


def _from_rows(rows: Iterator[tuple[int, Row]]) -> Inventory:
    heads: dict[str, dict[str, Any]] = {}
    texts: list[tuple[str, str, int | None]] = []
    names: dict[tuple[int, str], list[str]] = {}
    families: list[Family] = []
    for line, row in rows:
        try:
            kind = row["kind"].lower()
            if kind == "head":
                head = _head_of_row(row)
                texts.append((head["text"], "text", line))
                heads.setdefault(fold(head["text"]), head)
            elif kind == "tail":
                _add_tail(heads, row)
            elif kind == "name":
                key = (_age(row.get("generation"), "generation"), _gender(row.get("genders"), "genders"))
                names.setdefault(key, []).append(_text(row["text"], "text"))
            elif kind == "family":
                families.append(Family(_text(row["text"], "text"), *_ages(row, "")))
            else:
                raise InventoryProblem("Give head, tail, name or family.", field="kind")
        except InventoryProblem as problem:
            raise InventoryProblem(problem.reason, field=problem.field, line=line) from None
    if len(texts) > MOST_HEADS:
        raise InventoryProblem(f"At most {MOST_HEADS:,} heads.", line=texts[MOST_HEADS][2], field="kind")
    _check_distinct(texts)
    lists = [NameList(*key, tuple(dict.fromkeys(texts_of))) for key, texts_of in names.items()]
    records = [
        Head(**{**head, "tails": {slot: tuple(tails) for slot, tails in head["tails"].items()}})
        for head in heads.values()
    ]
    return _inventory(records, lists, families)


def _head_of_row(row: Row) -> dict[str, Any]:
    start_age, end_age = _ages(row, "")
    genders = [gender for gender in row.get("genders", "").split(JOIN) if gender.strip()]
    if not genders:
        raise InventoryProblem(f"Give at least one gender, with {JOIN} between two.", field="genders")
    negative = BOOLEANS.get(row.get("negative", "").lower())
    if negative is None:
        raise InventoryProblem("Give yes or no.", field="negative")
    return {
        "text": _text(row["text"], "text"),
        "start_age": start_age,
        "end_age": end_age,
        "genders": tuple(dict.fromkeys(_gender(gender, "genders") for gender in genders)),
        "tails": {},
        "negative": negative,
    }


def _add_tail(heads: Mapping[str, dict[str, Any]], row: Row) -> None:
    head = heads.get(fold(one_line(row.get("head", ""))))
    if head is None:
        raise InventoryProblem("No head above this row has this text.", field="head")
    slot = row.get("slot", "").lower().replace(" ", "_")
    if slot not in SLOTS:
        raise InventoryProblem(f"Give one of {', '.join(SLOTS)}.", field="slot")
    tails = head["tails"].setdefault(slot, [])
    tails.append(_text(row["text"], "text"))
    if len(tails) > MOST_TEXTS:
        raise InventoryProblem(f"At most {MOST_TEXTS} tails in one slot of a head.", field="slot")


def _rows(data: Mapping[str, Any], name: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    rows = data.get(name)
    if not isinstance(rows, list):
        raise InventoryProblem("Give a list.", field=name)
    for place, row in enumerate(rows):
        if not isinstance(row, dict):
            raise InventoryProblem("Give an object.", field=f"{name}[{place}]")
        yield f"{name}[{place}]", row


def _inventory(heads: Sequence[Head], names: Sequence[NameList], families: Sequence[Family]) -> Inventory:
    for title, rows in (("heads", heads), ("names", names), ("families", families)):
        if not rows:
            raise InventoryProblem(f"There are no {title}.", field=title)
    lists = [(row.generation, row.gender) for row in names]
    if repeated := next((key for key in lists if lists.count(key) > 1), None):
        raise InventoryProblem(
            f"Two lists are for generation {repeated[0]}, gender {repeated[1]}.", field="names"
        )
    return Inventory(tuple(heads), tuple(names), tuple(families))


def _check_distinct(texts: Sequence[tuple[str, str, int | None]]) -> None:
    seen: set[str] = set()
    for text, path, line in texts:
        if fold(text) in seen:
            raise InventoryProblem("Another head has the same text.", field=path, line=line)
        seen.add(fold(text))


def _check_fields(row: Mapping[str, Any], names: Sequence[str], path: str) -> None:
    if unknown := sorted(set(row) - set(names)):
        raise InventoryProblem(
            f"There is no such field: give {', '.join(names)}.", field=_at(path, unknown[0])
        )


def _at(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _text(value: Any, path: str) -> str:
    text = one_line(value) if isinstance(value, str) else ""
    if not text:
        raise InventoryProblem("Give a text.", field=path)
    if len(text) > LONGEST_TEXT:
        raise InventoryProblem(f"At most {LONGEST_TEXT} characters.", field=path)
    if "\0" in text:
        raise InventoryProblem("The text has a character that cannot be stored.", field=path)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InventoryProblem("The text has a character that cannot be stored.", field=path) from None
    return text


def _gender(value: Any, path: str) -> str:
    gender = _text(value, path).lower()
    if len(gender) > LONGEST_GENDER or JOIN in gender:
        raise InventoryProblem(f"A gender is a word of at most {LONGEST_GENDER} characters.", field=path)
    return gender


def _age(value: Any, path: str) -> int:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 4:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= OLDEST:
        raise InventoryProblem(f"Give a whole number from 0 to {OLDEST}.", field=path)
    return value


def _ages(row: Mapping[str, Any], path: str) -> tuple[int, int]:
    start_age = _age(row.get("start_age"), _at(path, "start_age"))
    end_age = _age(row.get("end_age"), _at(path, "end_age"))
    if end_age < start_age:
        raise InventoryProblem("The end is before the start.", field=_at(path, "end_age"))
    return start_age, end_age


def _tails(tails: Mapping[str, Any], path: str) -> dict[str, tuple[str, ...]]:
    checked: dict[str, tuple[str, ...]] = {}
    for slot, texts in tails.items():
        if slot not in SLOTS:
            raise InventoryProblem(f"Give one of {', '.join(SLOTS)}.", field=_at(path, str(slot)))
        if not isinstance(texts, list | tuple) or len(texts) > MOST_TEXTS:
            raise InventoryProblem(f"Give a list of at most {MOST_TEXTS} texts.", field=_at(path, slot))
        checked[slot] = tuple(_text(text, _at(path, slot)) for text in texts)
    return {slot: checked[slot] for slot in SLOTS if checked.get(slot)}


# Inventories as JSON data, which `inventory_record` reads back.


def head_json(head: Head) -> dict[str, Any]:
    """Return a head as JSON data."""
    return {
        "text": head.text,
        "start_age": head.start_age,
        "end_age": head.end_age,
        "genders": list(head.genders),
        "tails": {slot: list(texts) for slot, texts in head.tails.items()},
        "negative": head.negative,
    }


def names_json(row: NameList) -> dict[str, Any]:
    """Return a list of names as JSON data."""
    return {"generation": row.generation, "gender": row.gender, "names": list(row.names)}


def family_json(row: Family) -> dict[str, Any]:
    """Return a family sentence as JSON data."""
    return {"text": row.text, "start_age": row.start_age, "end_age": row.end_age}


def inventory_json(inventory: Inventory) -> dict[str, Any]:
    """Return an inventory as JSON data."""
    return {
        "heads": [head_json(head) for head in inventory.heads],
        "names": [names_json(row) for row in inventory.names],
        "families": [family_json(row) for row in inventory.families],
    }


def inventory_sha256(inventory: Inventory) -> str:
    """Return the SHA-256 of an inventory's canonical JSON, which identifies the material of a draw."""
    text = json.dumps(inventory_json(inventory), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()
