"""A scenario in plain text: who takes part, the script as a transcript, and what it tests.

Three parts, with a line --- between them: the dialogue's fields as YAML, the turns, a line each, with marks
beneath them, and probes, secrets and common ground as YAML. `docs/scenario_editor.md` describes it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from annotation.formats import jsonl
from annotation.formats.fields import decode
from annotation.formats.problems import ImportProblem
from annotation.records import Dialogue, Participant
from annotation.scenarios.points import candidates
from annotation.scenarios.records import Scenario
from annotation.scenarios.stored import KIND
from annotation.text.yaml_tree import BadFile, parse

# The turns of a script in plain text, and the marks beneath them: `docs/scenario_editor.md`.

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
            _mark_of_script_turns(line.lstrip(" \t"), number, found)
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


def _mark_of_script_turns(told: str, number: int, found: Turns) -> None:
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


IN_SCRIPT = ("kind", "turns", "points", "keys", "continuations", "labels")
"""Fields of the native format that the script itself says, or that a scenario in the making does not have."""
MARKED = {"probes": "probe", "secrets": "secret", "common_ground": "fact"}
LISTED = ("participants", "live", *MARKED)
BETWEEN = re.compile(r"-{3,}\s*")
_PLACED = re.compile(r"(turns|participants|probes|secrets|common_ground|live)\[(\d+)\]|keys\.(\d+)")


@dataclass(slots=True)
class Script:
    """A scenario as the native format has it, and on which line of the text each of its parts stands."""

    raw: dict[str, Any]
    lines: dict[str, int] = field(default_factory=dict)

    def placed(self, problem: ImportProblem) -> ImportProblem:
        """Return a problem of the native format with the line of the text that it is about."""
        match = _PLACED.match(problem.field)
        name = match[0] if match else re.split(r"[.\[]", problem.field)[0]
        line = self.lines.get(name, self.lines.get(name.partition("[")[0]))
        return problem.placed(line=line)


def is_json(text: str) -> bool:
    """Whether a text is the native format and no script."""
    return text.lstrip("\ufeff \t\r\n").startswith("{")


def read_scenario(text: str, *, any_size: bool = False) -> Dialogue:
    """Return the scenario that a text describes, as a script or as JSON.

    Raises ImportProblem, with the line and the native field, for whatever an import would refuse.
    """
    script = read_script(text)
    try:
        return jsonl.dialogue(script.raw, any_size=any_size)
    except ImportProblem as problem:
        raise script.placed(problem) from None


def read_script(text: str) -> Script:
    """Return what a text says, as far as its form goes; raise ImportProblem where it has none."""
    text = text.replace("\r\n", "\n").removeprefix("\ufeff")
    if "\0" in text:
        raise ImportProblem("holds a NUL character")
    if is_json(text):
        raw = decode(text.encode("utf-8", "surrogatepass"))
        if not isinstance(raw, dict) or raw.get("kind") != KIND:
            raise ImportProblem(f"must be {KIND!r}", field="kind")
        return Script(raw)
    head, turns, tail = _parts(text)
    script = Script({})
    for part in (head, tail):
        _take(part, script)
    people = People(participants_of(script.raw))
    said = read_turns(turns, people)
    _place(said, script)
    return script


def _parts(text: str) -> tuple[list[tuple[int, str]], ...]:
    parts: list[list[tuple[int, str]]] = [[]]
    for number, line in numbered(text):
        if BETWEEN.fullmatch(line):
            parts.append([])
            if len(parts) > 3:
                told = "is a third line ---; two of them stand between fields, script and probes"
                raise ImportProblem(told, line=number)
        else:
            parts[-1].append((number, line))
    if len(parts) < 2:
        raise ImportProblem("has no line --- between the participants and the script")
    return (*parts, []) if len(parts) == 2 else tuple(parts)


def _take(part: list[tuple[int, str]], script: Script) -> None:
    """Add the fields of a part in YAML."""
    if not any(line.strip() for _, line in part):
        return
    first = part[0][0]
    try:
        tree = parse("\n".join(line for _, line in part), first, core=True)
    except BadFile as error:
        where, _, reason = str(error).partition(": ")
        raise ImportProblem(reason, line=int(where.removeprefix("line "))) from None
    if not isinstance(tree.value, dict):
        raise ImportProblem("must be fields, such as “id: launch-01”", line=first)
    for name, value in tree.value.items():
        line = tree.line(name)
        if name in IN_SCRIPT:
            raise ImportProblem("is said by the script, not as a field", field=name, line=line)
        if name in script.raw:
            raise ImportProblem("is there twice", field=name, line=line)
        script.raw[name] = value
        script.lines[name] = line
        if name in LISTED:
            _check_listed(name, value, line)
            script.lines |= {f"{name}[{index}]": tree.line(name, index) for index in range(len(value))}


def _check_listed(name: str, value: Any, line: int) -> None:
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        told = "must be a list of objects, each on a line of its own that begins with -"
        raise ImportProblem(told, field=name, line=line)


def participants_of(raw: Mapping[str, Any]) -> list[Participant]:
    """Return who can be named, as far as that is said rightly; the strict reader refuses the rest."""
    return [
        Participant(
            id=str(one["id"]),
            name=str(one.get("name") or ""),
            aliases=tuple(map(str, one["aliases"])) if isinstance(one.get("aliases"), list) else (),
            agent=one.get("agent") is True,
        )
        for one in raw.get("participants") or ()
        if one.get("id")
    ]


def _place(said: Turns, script: Script) -> None:
    """Put the turns and what is marked beneath them where the native format has it."""
    raw = script.raw
    raw["kind"], raw["turns"] = KIND, said.turns
    script.lines |= {f"turns[{index}]": line for index, line in enumerate(said.lines)}
    script.lines |= {f"keys.{at}": line for at, line in said.key_lines.items()}
    if said.keys:
        raw["keys"] = {str(at): key for at, key in said.keys.items()}
    if said.no_points:
        raw["points"] = [at for at in _candidates(raw) if at not in said.no_points]
    known = set()
    for name, kind in MARKED.items():
        for index, one in enumerate(raw.get(name) or ()):
            _mark(one, kind, f"{name}[{index}]", said, script)
            known.add((kind, str(one.get("id"))))
    for (kind, about), line in said.named.items():
        if (kind, about) not in known:
            listed = next(name for name, one in MARKED.items() if one == kind)
            raise ImportProblem(f"there is no {kind} {about!r} in {listed} below the script", line=line)


def _mark(one: dict[str, Any], kind: str, path: str, said: Turns, script: Script) -> None:
    about, line = str(one.get("id")), script.lines[path]
    for name in ("trigger", "points", "keys") if kind == "probe" else ("since",):
        if name in one:
            raise ImportProblem("is marked beneath a turn", field=f"{path}.{name}", line=line)
    if kind != "probe":
        if (kind, about) in said.since:
            one["since"] = said.since[kind, about]
        return
    points = said.points.get(about, [])
    if points:
        one["points"] = points
    if points or about in said.triggers:
        one["trigger"] = said.triggers.get(about, min(points, default=0))
    if own := said.own_keys.get(about):
        common = one.pop("key", None)
        one["keys"] = {str(at): own.get(at, common) for at in points if at in own or common is not None}


def _candidates(raw: dict[str, Any]) -> list[int]:
    """Return where there may be points in what is said so far; nowhere where it is not right yet."""
    made = chat_of(raw)
    return [] if made is None else list(candidates(made))


def chat_of(raw: Mapping[str, Any]) -> Dialogue | None:
    """Return who says what in a scenario whose probes and keys need not be right yet, as one without points.

    None where even that cannot be read.
    """
    plain = {name: raw[name] for name in ("id", "language", "participants", "turns") if name in raw}
    try:
        made = jsonl.dialogue(plain)
    except ImportProblem:
        return None
    agent = next((person.id for person in made.participants if person.agent), "")
    return replace(made, scenario=Scenario(agent))
