"""The turns of a script in plain text, and the marks beneath them: `docs/scenario_editor.md`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotation.formats.problems import ImportProblem
from annotation.records import Participant
from annotation.text.yaml_tree import BadFile, parse

HISTORY = "sees history"
LINE = re.compile(
    r"(?:\(private(?:: (?P<sender>[^()]*?))? to (?P<hearers>[^()]*)\) )?"
    r"(?P<who>[^:()]+?) ?(?:\((?P<how>[^()]*)\))?(?P<says>:(?: (?P<text>.*))?)?",
    re.DOTALL,
)
HOW = re.compile(rf"(?P<act>reacts|joins(?:, {HISTORY})?|leaves|says nothing)?(?:(?:^| )to (?P<to>.+))?")
ACTS = {"reacts": "reaction", "joins": "join", "leaves": "leave", "says nothing": "silence"}
MARK = re.compile(r"(?P<name>trigger|point|secret|fact) (?P<id>.+?)(?:: (?P<key>\{.*\}))?", re.DOTALL)
OWN = re.compile(r"(?P<name>key|time|session|extra): (?P<value>.*)", re.DOTALL)
NO_POINT, GIVEN, MORE = "no point", "given", "| "
FORM = "a turn is one line, such as “Mia (to Ole): Did you get it?”, “Sam (joins)” or “Ole (reacts): 👍”"
MARKS = (
    "a line that is set in says something of the turn above it: | more of its text, trigger ID, point ID, "
    "key: {...}, no point, secret ID, fact ID, time: ..., session: ..., given or extra: {...}"
)


class People:
    """Whom the names of a script mean: an id, or else a name or alias that only one has, in any case."""

    def __init__(self, people: Sequence[Participant]) -> None:
        self.ids = [person.id for person in people]
        self._known: dict[str, set[str]] = {}
        for person in people:
            for name in (person.id, person.name, *person.aliases):
                self._known.setdefault(name.strip().casefold(), set()).add(person.id)
        self._names: dict[str, set[str]] = {}
        for person in people:
            self._names.setdefault(person.name, set()).add(person.id)

    def id(self, name: str) -> str | None:
        """Return the id of whom a name means, None where it is nobody's or that of several."""
        name = name.strip()
        if name in self.ids:
            return name
        found = self._names.get(name) or self._known.get(name.casefold()) or set()
        return next(iter(found)) if len(found) == 1 else None

    def told(self) -> str:
        """Return who there is, for whoever named somebody else."""
        return ", ".join(self.ids[:12]) or "nobody: participants stand above the script"


@dataclass(slots=True)
class Turns:
    """What the lines of a script say: turns as the native format has them, and marks by what they are about.

    `lines` has the line of each turn, and of each mark's key by its path.
    """

    turns: list[dict[str, Any]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    triggers: dict[str, int] = field(default_factory=dict)
    points: dict[str, list[int]] = field(default_factory=dict)
    own_keys: dict[str, dict[int, Any]] = field(default_factory=dict)
    keys: dict[int, Any] = field(default_factory=dict)
    key_lines: dict[int, int] = field(default_factory=dict)
    no_points: set[int] = field(default_factory=set)
    since: dict[tuple[str, str], int] = field(default_factory=dict)
    named: dict[tuple[str, str], int] = field(default_factory=dict)
    """The line on which a mark first names (probe, secret or fact; id)."""


def read_turns(lines: Iterable[tuple[int, str]], people: People) -> Turns:
    """Return what numbered lines say; raise ImportProblem with the line of the first that says nothing."""
    found = Turns()
    for number, line in lines:
        if not line.strip():
            continue
        if line[0] not in " \t":
            found.turns.append(_turn(line, number, people))
            found.lines.append(number)
        elif not found.turns:
            raise ImportProblem("what is set in belongs to a turn, and none stands above it", line=number)
        else:
            _mark(line.lstrip(" \t"), number, found)
    return found


def _turn(line: str, number: int, people: People) -> dict[str, Any]:
    match = LINE.fullmatch(line)
    if match is None or (match["says"] is None and match["how"] is None):
        raise ImportProblem(FORM, line=number)
    how = HOW.fullmatch(match["how"] or "")
    if how is None:
        told = f"({match['how'][:60]}) is none of (to ...), (reacts), (joins), (leaves), (says nothing)"
        raise ImportProblem(told, line=number)
    who = _person(match["who"], number, people)
    if match["sender"] is not None and _person(match["sender"], number, people) != who:
        raise ImportProblem(f"is private from another than {match['who']!r}, who says it", line=number)
    doing = how["act"] or ""
    act = ACTS.get(doing.partition(",")[0], "message")
    if act == "message" and match["says"] is None:
        raise ImportProblem(FORM, line=number)
    turn: dict[str, Any] = {"speaker": who, "text": match["text"] or ""}
    if act != "message":
        turn["act"] = act
    if doing.endswith(HISTORY):
        turn["sees_history"] = True
    if how["to"]:
        turn["addressees"] = _several(how["to"], who, number, people)
    if match["hearers"] is not None:
        turn["audience"] = _several(match["hearers"], who, number, people)
    return turn


def _person(name: str, number: int, people: People) -> str:
    found = people.id(name)
    if found is None:
        raise ImportProblem(f"{name[:60]!r} is none of the participants ({people.told()})", line=number)
    return found


def _several(told: str, who: str, number: int, people: People) -> list[str]:
    """Return the ids of a list of names; `all` is everybody else, in the participants' order."""
    if told == "all":
        return [one for one in people.ids if one != who]
    if told == "nobody":
        return []
    return [_person(name, number, people) for name in re.split(r", | and ", told)]


def _mark(told: str, number: int, found: Turns) -> None:
    """Take note of what a line says of the turn above it."""
    at = len(found.turns) - 1
    turn = found.turns[at]
    if told.startswith(MORE) or told == MORE.strip():
        turn["text"] += "\n" + told[len(MORE) :]
    elif (told := told.rstrip()) == NO_POINT:
        found.no_points.add(at)
    elif told == GIVEN:
        turn["given"] = True
    elif match := OWN.fullmatch(told):
        _own(match["name"], match["value"], number, found)
    elif match := MARK.fullmatch(told):
        _about(match, number, found)
    else:
        raise ImportProblem(MARKS, line=number)


def _own(name: str, value: str, number: int, found: Turns) -> None:
    at = len(found.turns) - 1
    if name == "key":
        if at in found.keys:
            raise ImportProblem("the turn has a key already", line=number)
        found.keys[at], found.key_lines[at] = flow(value, number), number
    else:
        found.turns[at][name] = flow(value, number) if name == "extra" else value


def _about(match: re.Match[str], number: int, found: Turns) -> None:
    at, name, about = len(found.turns) - 1, match["name"], match["id"]
    if match["key"] and name != "point":
        raise ImportProblem(f"only a point has a key, a {name} has none", line=number)
    kind = name if name in ("secret", "fact") else "probe"
    found.named.setdefault((kind, about), number)
    if kind != "probe":
        _once(found.since, (kind, about), at, f"the {kind} {about!r}", number)
    elif name == "trigger":
        _once(found.triggers, about, at, f"the trigger of {about!r}", number)
    else:
        points = found.points.setdefault(about, [])
        if at in points:
            raise ImportProblem(f"is a point of {about!r} already", line=number)
        points.append(at)
        if match["key"]:
            found.own_keys.setdefault(about, {})[at] = flow(match["key"], number)


def _once(places: dict[Any, int], key: Any, at: int, told: str, number: int) -> None:
    if key in places:
        raise ImportProblem(f"{told} stands at turn {places[key]} already", line=number)
    places[key] = at


def flow(text: str, number: int) -> Any:
    """Return what a line of YAML or JSON says; raise ImportProblem with its line."""
    try:
        return parse(text, number, core=True).value
    except BadFile as error:
        raise ImportProblem(str(error).partition(": ")[2], line=number) from None


def label_of(people: People, by_id: Mapping[str, Participant]) -> Callable[[str], str]:
    """Return a function from an id to what a script calls that participant: the name where it can.

    It raises ValueError for somebody whom no line can name.
    """

    def label(key: str) -> str:
        person = by_id.get(key)
        for name in (person.name if person else "", key):
            if (
                _SAFE.fullmatch(name)
                and " and " not in name
                and name not in _TAKEN
                and people.id(name) == key
            ):
                return name
        raise ValueError(f"{key!r} cannot be named in a script")

    return label


def numbered(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text with their numbers, from 1."""
    yield from enumerate(text.split("\n"), start=1)


_SAFE = re.compile(r"[^\s:(),](?:[^:(),\n]*[^\s:(),])?")
_TAKEN = ("all", "nobody")
