"""Mapping of a table's columns: what each column of somebody's file is in Concord.

A mapping is a dictionary from keys to columns, the same in a YAML file, in the options of a command, in the
API and in the database:

    dialogue: conv_id                      a role, and the column that has it
    text: utterance
    "label:Helpful@ann1": ann1_helpful     a column with the answers of one rater to one question
    "judge:Helpful@gpt": gpt_helpful
    "utterance:user": prompt               a column with a turn of this speaker
    "response:gpt-4o": answer_1            a column with a response of this system
    "label[dialogue]:Overall": overall     about the dialogue, in a table with turns
    "label[turn]:act": turns[].act         a list with an answer for each turn of a list
    "label[d7/self/2]:Overall@ann1": q1    about this item
    "label:Helpful@ann *": scores[]        lists with an answer of each of several raters, who are numbered
    item: [doc_id, version]                the columns that say together what is rated
    "scale:Helpful": [poor, fair, good]    all answers of a scale, lowest first
    "level:Helpful": ordinal
    "codes:Agree": {"yes": "1", "no": "0", "-": ""}  what words of the file stand for; "" is no answer
    "anchors:Helpful": {"1": "poor"}       the wording of a number
    "separator:Topics": ";"                between the values of a set in one cell
    "codes:Topics": {"": "[]"}             an empty cell says that no value applies; otherwise it is no answer
    "decimal:Score": ","                   the decimal mark

Several columns of one key are a list: the rater of each is the rest of its name. Columns without a role are
ignored, and named with the import.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from collections.abc import Mapping as Dictionary
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from annotation.formats.source import ImportProblem
from annotation.text.yaml_tree import BadFile, dump, parse
from jobs.tables import Table


@dataclass(frozen=True, slots=True)
class Role:
    """What a column can be. `names` are the parts that its key has behind the role: `label:QUESTION@RATER`.

    Several columns may have a role that `repeats`; without that, each role has one column.
    """

    key: str
    title: str
    help: str
    names: tuple[str, ...] = ()
    repeats: bool = False


ANSWER = ("question", "rater", "item")
ROLES: Table[Role] = Table(
    "roles",
    {
        role.key: role
        for role in (
            Role("dialogue", "Dialogue id", "Which dialogue the row belongs to."),
            Role("speaker", "Speaker", "Who says the turn."),
            Role("text", "Text", "What is said."),
            Role("turn", "Turn number", "Place of the turn in its dialogue."),
            Role("time", "Time", "When it is said."),
            Role("session", "Session", "Which session of a long dialogue."),
            Role("addressees", "Addressees", "Who is spoken to, separated by semicolons."),
            Role("system", "System", "The model or agent that produced the turn or the dialogue."),
            Role("continuation", "Continuation id", "Which continuation of the dialogue."),
            Role("trial", "Trial", "Number of a repeated run."),
            Role("at", "Turns before it", "How many turns of the dialogue a response sees."),
            Role("given", "Context only", "Whether the turn is context and not rated: yes or no."),
            Role("cluster", "Cluster", "What is resampled together; the dialogue if there is none."),
            Role("language", "Language", "Code of the language, such as en."),
            Role("metadata", "Kept with the dialogue", "Shown to researchers.", repeats=True),
            Role("transcript", "Whole dialogue", "All turns in one cell."),
            Role("utterance", "Turn of one speaker", "One turn a cell.", ("speaker",), repeats=True),
            Role("response", "Response of one system", "One response a cell.", ("system",), repeats=True),
            Role("label", "Label", "A person's answers.", ANSWER, repeats=True),
            Role("judge", "Judge's label", "A model's answers.", ANSWER, repeats=True),
            Role("key", "Answer key", "The right answers.", ANSWER, repeats=True),
            Role(
                "metric", "Metric's score", "An automatic score.", ("question", "rater", "item"), repeats=True
            ),
            Role("item", "Item", "What is rated; several columns are joined.", repeats=True),
            Role("rater", "Rater", "Who answers."),
            Role("question", "Question", "Which question is answered."),
            Role("value", "Answer", "The answer, in a table with one answer a row."),
            Role("explanation", "Explanation", "Why.", ANSWER, repeats=True),
            Role("kind", "Kind of rater", "human, judge, metric or key."),
            Role("identified", "Rater is identified", "Whether a name is always the same person: yes or no."),
            Role("sample", "Repetition", "Number of a repeated answer, from 0."),
            Role("missing", "Reason for no answer", "Why there is no answer."),
            Role("turn_number", "Turn number on the screen", "As annotators see it, from 1."),
            Role("level", "Level", "Measurement level of the question."),
            Role("values", "Values", "All answers of the question's scale."),
            Role("scheme", "Scheme", "The annotation scheme of the question."),
            Role("evidence", "Evidence", "What the answer points at, as JSON."),
            Role("occasion", "Occasion", "When it was answered, as in exports."),
            Role("order", "Order shown", "In which order compared responses were shown."),
        )
    },
)
QUESTION = "overall"
"""Key of a question that nothing names."""
RATER_KINDS = {"label": "human", "judge": "judge", "key": "key", "metric": "metric"}
"""Kind of the rater of a column with answers, by its role."""
TEXT_ROLES = ("text", "transcript", "utterance", "response")
"""Roles of columns with the texts of turns."""
TURN_ITEM, DIALOGUE_ITEM = "turn", "dialogue"
"""Items of answer columns in a table with turns: the row's own turn, and its dialogue."""
EVERY = "*"
"""Ends the name of a rater whose column has lists: each element is the answer of another one."""
SCALE_KEYS = ("scale", "level", "codes", "anchors", "separator", "decimal")
KEY = re.compile(r"([a-z_]+)(?:\[([^\]]*)\])?(?::(.*)|(@.*))?", re.DOTALL)
MOST_ENTRIES = 2_000
LONGEST_NAME = 1_000

Entries = dict[str, Any]
"""A mapping as a dictionary."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column with a role. The other fields are the names in its key, empty where the row has them.

    An answer's question, rater and item are each named by the column or by the row's own columns.
    """

    name: str
    role: str
    question: str = ""
    rater: str = ""
    item: str = ""
    speaker: str = ""
    system: str = ""

    @property
    def key(self) -> str:
        """Key of the column in a mapping's dictionary."""
        key = f"{self.role}[{self.item}]" if self.item else self.role
        name = self.speaker or self.system or self.question
        rater = f"@{self.rater}" if self.rater else ""
        return f"{key}:{name}{rater}" if name else f"{key}{rater}"


@dataclass(frozen=True, slots=True)
class Scale:
    """How answers to a question are read: their level and values in order, and what the file's words mean.

    `codes` give the stored answer of a word in the file (`yes`: `1`; `2 - Strongly present`: `2`; `NA`: ``,
    which is no answer), `anchors` the wording of a stored number; `separator` stands between the values of a
    set in one cell, and `decimal` is the decimal mark, a point where it is empty.
    """

    level: str = ""
    values: tuple[str, ...] = ()
    codes: Dictionary[str, str] = field(default_factory=lambda: MappingProxyType({}))
    anchors: Dictionary[str, str] = field(default_factory=lambda: MappingProxyType({}))
    separator: str = ""
    decimal: str = ""


@dataclass(frozen=True, slots=True)
class Mapping:
    """The roles of a table's columns, and the scales of its questions by their keys (empty: of all)."""

    columns: tuple[Column, ...] = ()
    scales: Dictionary[str, Scale] = field(default_factory=lambda: MappingProxyType({}))
    _by_role: dict[str, list[Column]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for column in self.columns:
            self._by_role.setdefault(column.role, []).append(column)

    def of(self, role: str) -> str:
        """Return the column of a role that only one column has, empty where none has it."""
        columns = self._by_role.get(role)
        return columns[0].name if columns else ""

    def all_of(self, *roles: str) -> tuple[Column, ...]:
        """Return the columns of these roles, in the order of the file."""
        if self._by_role.keys().isdisjoint(roles):
            return ()
        return tuple(column for column in self.columns if column.role in roles)

    @property
    def answers(self) -> tuple[Column, ...]:
        """Columns of answers: of people, judges, metrics and keys."""
        return self.all_of(*RATER_KINDS)

    @property
    def has_dialogues(self) -> bool:
        """Whether the rows hold turns, and not answers about turns that a corpus has already."""
        return bool(self.all_of(*TEXT_ROLES))

    def is_of_each_turn(self, column: Column) -> bool:
        """Whether the lists of a column with answers have one for each turn of a list of turns."""
        turns = self.of("text") or self.of("transcript")
        return column.item == TURN_ITEM and "[]" in column.name and "[]" in turns

    def scale(self, question: str) -> Scale:
        """Return the scale of a question."""
        return self.scales.get(question) or self.scales.get("") or Scale()

    def entries(self) -> Entries:
        """Return the mapping as a dictionary, to be stored and read again with `read_mapping`."""
        entries: Entries = {}
        for column in self.columns:
            names = entries.setdefault(column.key, [])
            names.append(column.name)
        entries = {key: names[0] if len(names) == 1 else names for key, names in entries.items()}
        for question, scale in self.scales.items():
            parts = (list(scale.values), scale.level, dict(scale.codes), dict(scale.anchors))
            for name, value in zip(SCALE_KEYS, (*parts, scale.separator, scale.decimal), strict=True):
                if value:
                    entries[f"{name}:{question}"] = value
        return entries


def read_mapping(
    entries: Dictionary[str, Any], columns: Sequence[str], *, allow_repeats: bool = False
) -> Mapping:
    """Return the mapping of a dictionary for a table with these columns; raises ImportProblem for errors.

    A form in which a role was given to too many columns allows repeats, to show them.
    """
    check_entries(entries)
    mapped: list[Column] = []
    scales: dict[str, Scale] = {}
    for key, value in entries.items():
        role, item, name = _parts(key)
        if role in SCALE_KEYS:
            scales[name] = replace(scales.get(name, Scale()), **_part_of_scale(role, value))
            continue
        names = _column_names(value, columns)
        is_answer = "rater" in ROLES[role].names and "@" in name
        question, _, rater = name.partition("@") if is_answer else (name, "", "")
        has_raters = "rater" in ROLES[role].names and len(names) > 1
        raters = _raters(names, question) if has_raters else [rater] * len(names)
        mapped += [
            _column(column, role, item, question, own_rater)
            for column, own_rater in zip(names, raters, strict=True)
        ]
    if not allow_repeats:
        _refuse_repeated(mapped)
    order = {name: number for number, name in enumerate(columns)}
    return Mapping(tuple(sorted(mapped, key=lambda column: order[column.name])), scales)


def _column(name: str, role: str, item: str, own_name: str, rater: str) -> Column:
    names = ROLES[role].names
    if not names:
        return Column(name, role)
    if names[0] == "question":
        return Column(name, role, question=own_name, rater=rater, item=item)
    return Column(name, role, **{names[0]: own_name or (name if role == "utterance" else "")})


def _refuse_repeated(columns: list[Column]) -> None:
    """Refuse a column with two roles, and two columns for a role or an answer that only one can have."""
    for name, count in Counter(column.name for column in columns).items():
        if count > 1:
            raise _problem(f"the column {name!r} is mapped twice")
    for key, count in Counter(column.key for column in columns).items():
        role, _, _ = _parts(key)
        if count > 1 and (not ROLES[role].repeats or "rater" in ROLES[role].names):
            raise _problem(f"{key!r} is mapped to {count} columns: only one can be that")


def _column_names(value: Any, columns: Sequence[str]) -> list[str]:
    """Return the table's columns that a value names: one, several with commas, or a list."""
    names = value if isinstance(value, list) else [value]
    if isinstance(value, str) and _matching(value, columns) is None and "," in value:
        names = [part.strip() for part in value.split(",") if part.strip()]
    matches = []
    for name in names:
        match = _matching(name, columns)
        if match is None:
            listing = ", ".join(columns)[:300]
            raise _problem(f"there is no column {name!r}; the columns are {listing}")
        matches.append(match)
    return matches


def _matching(name: str, columns: Sequence[str]) -> str | None:
    """Return the column of this name, else the only one that differs from it in case or space alone."""
    if name in columns:
        return name
    alike = [column for column in columns if column.strip().casefold() == name.strip().casefold()]
    return alike[0] if len(alike) == 1 else None


def _raters(names: Sequence[str], question: str) -> list[str]:
    """Return the rater of each of several columns: the rest of its name, if that tells them apart."""
    pattern = re.compile(rf"(?:(?<![\W_])[\W_]*)?{re.escape(question)}[\W_]*", re.IGNORECASE)
    rests = [pattern.sub("", name, count=1).strip(" ()[]{}_-.:/") if question else name for name in names]
    return rests if all(rests) and len(set(rests)) == len(rests) else list(names)


def _part_of_scale(name: str, value: Any) -> dict[str, Any]:
    if name in ("codes", "anchors"):
        return {name: {str(word): str(code) for word, code in value.items()}}
    if name == "scale":
        values = value if isinstance(value, list) else str(value).split(",")
        return {"values": tuple(str(part).strip() for part in values)}
    return {name: str(value)}


def _parts(key: str) -> tuple[str, str, str]:
    """Split a key into role, item and name."""
    match = KEY.fullmatch(key)
    if match is None:
        raise _problem(f"{key[:60]!r} is not a role: write one like dialogue, text or label:QUESTION@RATER")
    role, item, name, rater = match.groups(default="")
    return role, item.strip(), (name or rater).strip()


def _problem(reason: str) -> ImportProblem:
    return ImportProblem(reason, field="map")


def check_entries(entries: Any, roles: Iterable[str] = ()) -> Entries:
    """Check the form of a mapping's dictionary; `roles` are those of its format, all where there are none.

    Raises ImportProblem for `map`.
    """
    if not isinstance(entries, dict) or not all(isinstance(key, str) for key in entries):
        raise _problem("must have the roles as keys and the file's columns as values")
    if len(entries) > MOST_ENTRIES:
        raise _problem(f"has {len(entries)} entries; at most {MOST_ENTRIES} are read")
    accepted = tuple(roles) or (*ROLES, *SCALE_KEYS)
    for key, value in entries.items():
        role, item, name = _parts(key)
        if role not in accepted:
            raise _problem(f"{role!r} is not a role; use {', '.join(accepted)}")
        if role not in SCALE_KEYS and not roles and (name or item) and not ROLES[role].names:
            raise _problem(f"{key!r}: the role {role} has no name behind it")
        values = value.values() if isinstance(value, dict) else value if isinstance(value, list) else [value]
        is_dictionary = role in ("codes", "anchors")
        if isinstance(value, dict) != is_dictionary or not all(
            isinstance(part, str | int | float) and not isinstance(part, bool) for part in values
        ):
            raise _problem(f"{key!r} must have {'words and their codes' if is_dictionary else 'columns'}")
        if any(len(str(part)) > LONGEST_NAME or "\0" in str(part) for part in (key, *values)):
            raise _problem(f"{key[:60]!r} is longer than {LONGEST_NAME} characters")
    return dict(entries)


def has_dialogues(entries: Iterable[str]) -> bool:
    """Whether the keys of a mapping's dictionary name a column with the texts of turns."""
    return any(_parts(key)[0] in TEXT_ROLES for key in entries)


def entries_of_options(options: Sequence[str], path: Path | None = None) -> Entries:
    """Return the mapping of a command's options `ROLE=COLUMN`, added to that of a YAML file."""
    entries = {} if path is None else entries_of_yaml(path.read_bytes())
    for option in options:
        key, mark, value = option.partition("=")
        if not (mark and key.strip() and value.strip()):
            raise _problem(f"{option[:60]!r} is not like dialogue=conv_id or label:Helpful=ann1,ann2")
        role = _parts(key.strip())[0]
        if role in ("codes", "anchors"):
            pairs = [part.rpartition(":") for part in value.split(",")]
            entries[key.strip()] = {word.strip(): code.strip() for word, _, code in pairs}
        else:
            entries[key.strip()] = value.strip()
    return check_entries(entries)


def entries_of_yaml(content: bytes) -> Entries:
    """Parse the YAML of a mapping; raises ImportProblem for `map`."""
    try:
        entries = parse(content.decode("utf-8-sig"), core=True).value
    except UnicodeDecodeError:
        raise _problem("the file is not UTF-8") from None
    except BadFile as error:
        raise _problem(str(error)) from None
    return check_entries({} if entries is None else entries)


def yaml_of_entries(entries: Dictionary[str, Any]) -> str:
    """Return a mapping's dictionary as YAML."""
    return dump(entries)
