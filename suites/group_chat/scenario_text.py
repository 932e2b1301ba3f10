"""A scenario in plain text: reading it, and writing it back."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import yaml

from annotation.formats import jsonl
from annotation.formats.fields import decode
from annotation.formats.source import ImportProblem
from annotation.records import Dialogue, Participant
from annotation.scenario_records import KIND, Scenario
from annotation.text.yaml_tree import BadFile, parse
from suites.group_chat.scenarios.points import candidates, points_of, scenario_of

# A scenario in plain text: who takes part, the script as a transcript, and what it tests.
#
# Three parts, with a line --- between them: the dialogue's fields as YAML, the turns, a line each, with marks
# beneath them, and probes, secrets and common ground as YAML. `docs/scenario_editor.md` describes it.

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
        _own_of_script(match["name"], match["value"], number, found)
    elif match := MARK.fullmatch(told):
        _about(match, number, found)
    else:
        raise ImportProblem(MARKS, line=number)


def _own_of_script(name: str, value: str, number: int, found: Turns) -> None:
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


# Writing a scenario as a script in plain text: the way back from `annotation.formats.script`.

HEAD = (
    "id",
    "cluster",
    "language",
    "summary",
    "system",
    "keyed_by",
    "addressees",
    "metadata",
    "agenda",
    "participants",
)
TAIL = ("probes", "secrets", "common_ground", "live")
WRITTEN_ACTS = {"reaction": "reacts", "join": "joins", "leave": "leaves", "silence": "says nothing"}
Raw = Mapping[str, Any]


def write_script(raw: Raw) -> str | None:
    """Return a scenario of the native format as a script; None where only JSON can say all that it says.

    What is written is read again as the same scenario: names with brackets, say, have no place in a script.
    """
    try:
        before = jsonl.dialogue(dict(raw), any_size=True)
        text = _written(raw, before)
        return text if _same(read_scenario(text, any_size=True), before) else None
    except (ImportProblem, ValueError):
        return None


def _same(one: Dialogue, other: Dialogue) -> bool:
    """Whether two scenarios say the same; that all points there may be are named says nothing."""
    mine, theirs = scenario_of(one), scenario_of(other)
    if points_of(one) != points_of(other):
        return False
    alike = replace(mine, points=None) == replace(theirs, points=None)
    return alike and replace(one, scenario=None) == replace(other, scenario=None)


def write_draft(raw: Raw) -> str:
    """Return a scenario that need not be whole as a script; raise ValueError where a script cannot say it."""
    people = {person.id: person for person in participants_of(raw)}
    return _text(raw, people, _marks(raw, frozenset(_left_out(raw))))


def _written(raw: Raw, dialogue: Dialogue) -> str:
    left_out = frozenset[int]()
    if scenario_of(dialogue).points is not None:
        left_out = frozenset(candidates(dialogue)) - frozenset(scenario_of(dialogue).points or ())
    people = {person.id: person for person in dialogue.participants}
    return _text(raw, people, _marks(raw, left_out))


def _left_out(raw: Raw) -> list[int]:
    points = raw.get("points")
    return [] if points is None else [at for at in range(len(raw.get("turns") or ())) if at not in points]


def _text(raw: Raw, people: Mapping[str, Participant], marks: Mapping[int, list[str]]) -> str:
    label = label_of(People(list(people.values())), people)
    lines = [line for name in HEAD if raw.get(name) for line in _field(name, raw[name])]
    lines += ["---"]
    for at, turn in enumerate(raw.get("turns") or ()):
        lines += [_line(turn, label), *(f"    {mark}" for mark in (*_own(turn), *marks[at]))]
    tail = {name: raw[name] for name in TAIL if raw.get(name)}
    if tail:
        lines += ["---", *(line for name, value in tail.items() for line in _field(name, value))]
    return "\n".join(lines) + "\n"


def _field(name: str, value: Any) -> list[str]:
    """Return a field as lines of YAML: a list of objects with one each."""
    if not (isinstance(value, list) and value and all(isinstance(one, dict) for one in value)):
        return [f"{name}: {write_flow(value)}"]
    lines = [f"{name}:"]
    for one in value:
        if name == "participants":
            lines.append(f"- {write_flow(one)}")
            continue
        said = {key: part for key, part in one.items() if key not in _marked(name)}
        told = [f"{key}: {write_flow(part)}" for key, part in said.items()]
        lines += [("- " if index == 0 else "  ") + line for index, line in enumerate(told)]
    return lines


def _marked(name: str) -> tuple[str, ...]:
    """Return what of a probe, secret or fact stands beneath the turns."""
    return ("trigger", "points", "keys") if name == "probes" else ("since",) if name in MARKED else ()


def _line(turn: Raw, label: Callable[[str], str]) -> str:
    who = label(turn["speaker"])
    act = WRITTEN_ACTS.get(turn.get("act", ""), "") + (f", {HISTORY}" if turn.get("sees_history") else "")
    to = f"to {_listed(turn['addressees'], label)}" if turn.get("addressees") else ""
    how = " ".join(part for part in (act, to) if part)
    audience = turn.get("audience")
    private = "" if audience is None else f"(private: {who} to {_listed(audience, label) or 'nobody'}) "
    first, *_ = turn.get("text", "").split("\n")
    says = f": {first}" if first or not act else ""
    return f"{private}{who}{f' ({how})' if how else ''}{says}"


def _listed(ids: list[str], label: Callable[[str], str]) -> str:
    names = [label(one) for one in ids]
    return " and ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)


def _own(turn: Raw) -> list[str]:
    """Return what stands beneath a turn of itself."""
    found = [f"| {more}" for more in turn.get("text", "").split("\n")[1:]]
    found += [f"{name}: {turn[name]}" for name in ("time", "session") if turn.get(name)]
    if turn.get("given") and turn.get("act") not in ("join", "leave"):
        found.append("given")
    if turn.get("extra"):
        found.append(f"extra: {write_flow(turn['extra'])}")
    return found


def _marks(raw: Raw, left_out: frozenset[int]) -> Mapping[int, list[str]]:
    """Return the marks beneath each turn, by its number."""
    found: defaultdict[int, list[str]] = defaultdict(list)
    for at in left_out:
        found[at].append("no point")
    for name in ("secrets", "common_ground"):
        for one in raw.get(name) or ():
            found[int(one.get("since", 0))].append(f"{MARKED[name]} {one.get('id')}")
    for one in raw.get("probes") or ():
        points = [int(at) for at in one.get("points") or ()]
        trigger = one.get("trigger")
        if trigger is not None and trigger != min(points, default=-1):
            found[int(trigger)].append(f"trigger {one.get('id')}")
        for at in points:
            own = (one.get("keys") or {}).get(str(at))
            found[at].append(f"point {one.get('id')}" + (f": {write_flow(own)}" if own is not None else ""))
    for at, key in (raw.get("keys") or {}).items():
        found[int(at)].append(f"key: {write_flow(key)}")
    return found


def write_flow(value: Any) -> str:
    """Return a value as one line of YAML."""
    if isinstance(value, str) and "\n" not in value:
        told = yaml.safe_dump([value], allow_unicode=True, width=10**9, default_flow_style=True)
        return told.strip()[1:-1]
    told = yaml.safe_dump(
        _plain(value), allow_unicode=True, width=10**9, default_flow_style=True, sort_keys=False
    )
    return told.removesuffix("\n").removesuffix("\n...").strip()


def _plain(value: Any) -> Any:
    """Return a value with whole numbers written without a fraction."""
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
