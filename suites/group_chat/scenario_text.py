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

# A scenario in plain text: its participants, the script as a transcript, and its probes and facts.
#
# Three parts, separated by a line ---: the dialogue's fields as YAML, the turns, one per line with marks
# beneath them, and probes, secrets and common ground as YAML. `docs/group_chat/scenarios.md` describes the
# format.

# Turns of a script in plain text, and the marks beneath them: `docs/group_chat/scenarios.md`.

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
NO_POINT, GIVEN_MARK, MORE = "no point", "given", "| "
FORM = "a turn is one line, such as “Mia (to Ole): Did you get it?”, “Sam (joins)” or “Ole (reacts): 👍”"
MARKS = (
    "a line that is set in says something of the turn above it: | more of its text, trigger ID, point ID, "
    "key: {...}, no point, secret ID, fact ID, time: ..., session: ..., given or extra: {...}"
)


class People:
    """Resolves the names of a script: an id, or else a name or alias that is unique, in any case."""

    def __init__(self, people: Sequence[Participant]) -> None:
        self.ids = [person.id for person in people]
        self._ids_by_name: dict[str, set[str]] = {}
        for person in people:
            for name in (person.id, person.name, *person.aliases):
                self._ids_by_name.setdefault(name.strip().casefold(), set()).add(person.id)
        self._names: dict[str, set[str]] = {}
        for person in people:
            self._names.setdefault(person.name, set()).add(person.id)

    def id(self, name: str) -> str | None:
        """Return the id of a name, None where it is unknown or ambiguous."""
        name = name.strip()
        if name in self.ids:
            return name
        ids = self._names.get(name) or self._ids_by_name.get(name.casefold()) or set()
        return next(iter(ids)) if len(ids) == 1 else None

    def describe(self) -> str:
        """List the participants' ids, for a message about an unknown name."""
        return ", ".join(self.ids[:12]) or "nobody: participants stand above the script"


@dataclass(slots=True)
class Turns:
    """Parsed lines of a script: turns in the native format, and marks by the record they belong to.

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
    first_mentions: dict[tuple[str, str], int] = field(default_factory=dict)
    """Line of the first mark of a (probe, secret or fact; id)."""


def read_turns(lines: Iterable[tuple[int, str]], people: People) -> Turns:
    """Read numbered lines of a script; raise ImportProblem with the line of the first unreadable one."""
    turns = Turns()
    for number, line in lines:
        if not line.strip():
            continue
        if line[0] not in " \t":
            turns.turns.append(_turn(line, number, people))
            turns.lines.append(number)
        elif not turns.turns:
            raise ImportProblem("what is set in belongs to a turn, and none stands above it", line=number)
        else:
            _mark_of_script_turns(line.lstrip(" \t"), number, turns)
    return turns


def _turn(line: str, number: int, people: People) -> dict[str, Any]:
    match = LINE.fullmatch(line)
    if match is None or (match["says"] is None and match["how"] is None):
        raise ImportProblem(FORM, line=number)
    how = HOW.fullmatch(match["how"] or "")
    if how is None:
        message = f"({match['how'][:60]}) is none of (to ...), (reacts), (joins), (leaves), (says nothing)"
        raise ImportProblem(message, line=number)
    speaker = _person(match["who"], number, people)
    if match["sender"] is not None and _person(match["sender"], number, people) != speaker:
        raise ImportProblem(f"is private from another than {match['who']!r}, who says it", line=number)
    doing = how["act"] or ""
    act = ACTS.get(doing.partition(",")[0], "message")
    if act == "message" and match["says"] is None:
        raise ImportProblem(FORM, line=number)
    turn: dict[str, Any] = {"speaker": speaker, "text": match["text"] or ""}
    if act != "message":
        turn["act"] = act
    if doing.endswith(HISTORY):
        turn["sees_history"] = True
    if how["to"]:
        turn["addressees"] = _several(how["to"], speaker, number, people)
    if match["hearers"] is not None:
        turn["audience"] = _several(match["hearers"], speaker, number, people)
    return turn


def _person(name: str, number: int, people: People) -> str:
    person = people.id(name)
    if person is None:
        raise ImportProblem(f"{name[:60]!r} is none of the participants ({people.describe()})", line=number)
    return person


def _several(names: str, speaker: str, number: int, people: People) -> list[str]:
    """Return the ids of a list of names; `all` is everybody else, in the participants' order."""
    if names == "all":
        return [person for person in people.ids if person != speaker]
    if names == "nobody":
        return []
    return [_person(name, number, people) for name in re.split(r", | and ", names)]


def _mark_of_script_turns(mark: str, number: int, turns: Turns) -> None:
    """Store an indented line's information about the turn above it."""
    at = len(turns.turns) - 1
    turn = turns.turns[at]
    if mark.startswith(MORE) or mark == MORE.strip():
        turn["text"] += "\n" + mark[len(MORE) :]
    elif (mark := mark.rstrip()) == NO_POINT:
        turns.no_points.add(at)
    elif mark == GIVEN_MARK:
        turn["given"] = True
    elif match := OWN.fullmatch(mark):
        _own_of_script(match["name"], match["value"], number, turns)
    elif match := MARK.fullmatch(mark):
        _about(match, number, turns)
    else:
        raise ImportProblem(MARKS, line=number)


def _own_of_script(name: str, value: str, number: int, turns: Turns) -> None:
    at = len(turns.turns) - 1
    if name == "key":
        if at in turns.keys:
            raise ImportProblem("the turn has a key already", line=number)
        turns.keys[at], turns.key_lines[at] = flow(value, number), number
    else:
        turns.turns[at][name] = flow(value, number) if name == "extra" else value


def _about(match: re.Match[str], number: int, turns: Turns) -> None:
    at, name, about = len(turns.turns) - 1, match["name"], match["id"]
    if match["key"] and name != "point":
        raise ImportProblem(f"only a point has a key, a {name} has none", line=number)
    kind = name if name in ("secret", "fact") else "probe"
    turns.first_mentions.setdefault((kind, about), number)
    if kind != "probe":
        _once(turns.since, (kind, about), at, f"the {kind} {about!r}", number)
    elif name == "trigger":
        _once(turns.triggers, about, at, f"the trigger of {about!r}", number)
    else:
        points = turns.points.setdefault(about, [])
        if at in points:
            raise ImportProblem(f"is a point of {about!r} already", line=number)
        points.append(at)
        if match["key"]:
            turns.own_keys.setdefault(about, {})[at] = flow(match["key"], number)


def _once(places: dict[Any, int], key: Any, at: int, subject: str, number: int) -> None:
    if key in places:
        raise ImportProblem(f"{subject} stands at turn {places[key]} already", line=number)
    places[key] = at


def flow(text: str, number: int) -> Any:
    """Return the value of a line of YAML or JSON; raise ImportProblem with its line."""
    try:
        return parse(text, number, core=True).value
    except BadFile as error:
        raise ImportProblem(str(error).partition(": ")[2], line=number) from None


def label_of(people: People, by_id: Mapping[str, Participant]) -> Callable[[str], str]:
    """Return a function from an id to the participant's label in a script: the name where possible.

    It raises ValueError for a participant that no line can name.
    """

    def label(key: str) -> str:
        person = by_id.get(key)
        for name in (person.name if person else "", key):
            if (
                _SAFE.fullmatch(name)
                and " and " not in name
                and name not in _RESERVED_NAMES
                and people.id(name) == key
            ):
                return name
        raise ValueError(f"{key!r} cannot be named in a script")

    return label


def numbered(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text with their numbers, from 1."""
    yield from enumerate(text.split("\n"), start=1)


_SAFE = re.compile(r"[^\s:(),](?:[^:(),\n]*[^\s:(),])?")
_RESERVED_NAMES = ("all", "nobody")


IN_SCRIPT = ("kind", "turns", "points", "keys", "continuations", "labels")
"""Fields of the native format that the script itself expresses, or that a new scenario does not have."""
MARKED = {"probes": "probe", "secrets": "secret", "common_ground": "fact"}
LIST_FIELDS = ("participants", "live", *MARKED)
BETWEEN = re.compile(r"-{3,}\s*")
_PLACED = re.compile(r"(turns|participants|probes|secrets|common_ground|live)\[(\d+)\]|keys\.(\d+)")


@dataclass(slots=True)
class Script:
    """A scenario in the native format, and the line of the text for each of its parts."""

    raw: dict[str, Any]
    lines: dict[str, int] = field(default_factory=dict)

    def placed(self, problem: ImportProblem) -> ImportProblem:
        """Return a problem of the native format with its line in the text."""
        match = _PLACED.match(problem.field)
        name = match[0] if match else re.split(r"[.\[]", problem.field)[0]
        line = self.lines.get(name, self.lines.get(name.partition("[")[0]))
        return problem.placed(line=line)


def is_json(text: str) -> bool:
    """Whether a text is in the native format, not a script."""
    return text.lstrip("\ufeff \t\r\n").startswith("{")


def read_scenario(text: str, *, any_size: bool = False) -> Dialogue:
    """Return the scenario of a text, a script or JSON.

    Raises ImportProblem, with the line and the native field, for anything that an import would refuse.
    """
    script = read_script(text)
    try:
        return jsonl.dialogue(script.raw, any_size=any_size)
    except ImportProblem as problem:
        raise script.placed(problem) from None


def read_script(text: str) -> Script:
    """Parse the form of a text, without checking its content; raise ImportProblem for errors of form."""
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
    script_turns = read_turns(turns, people)
    _place(script_turns, script)
    return script


def _parts(text: str) -> tuple[list[tuple[int, str]], ...]:
    parts: list[list[tuple[int, str]]] = [[]]
    for number, line in numbered(text):
        if BETWEEN.fullmatch(line):
            parts.append([])
            if len(parts) > 3:
                message = "is a third line ---; two of them stand between fields, script and probes"
                raise ImportProblem(message, line=number)
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
        if name in LIST_FIELDS:
            _check_listed(name, value, line)
            script.lines |= {f"{name}[{index}]": tree.line(name, index) for index in range(len(value))}


def _check_listed(name: str, value: Any, line: int) -> None:
    if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
        message = "must be a list of objects, each on a line of its own that begins with -"
        raise ImportProblem(message, field=name, line=line)


def participants_of(raw: Mapping[str, Any]) -> list[Participant]:
    """Return the participants that can be named, as far as valid; the strict reader refuses the others."""
    return [
        Participant(
            id=str(person["id"]),
            name=str(person.get("name") or ""),
            aliases=tuple(map(str, person["aliases"])) if isinstance(person.get("aliases"), list) else (),
            agent=person.get("agent") is True,
        )
        for person in raw.get("participants") or ()
        if person.get("id")
    ]


def _place(turns: Turns, script: Script) -> None:
    """Move the turns and the marks beneath them to their places in the native format."""
    raw = script.raw
    raw["kind"], raw["turns"] = KIND, turns.turns
    script.lines |= {f"turns[{index}]": line for index, line in enumerate(turns.lines)}
    script.lines |= {f"keys.{at}": line for at, line in turns.key_lines.items()}
    if turns.keys:
        raw["keys"] = {str(at): key for at, key in turns.keys.items()}
    if turns.no_points:
        raw["points"] = [at for at in _candidates(raw) if at not in turns.no_points]
    existing = set()
    for name, kind in MARKED.items():
        for index, entry in enumerate(raw.get(name) or ()):
            _mark(entry, kind, f"{name}[{index}]", turns, script)
            existing.add((kind, str(entry.get("id"))))
    for (kind, about), line in turns.first_mentions.items():
        if (kind, about) not in existing:
            field_name = next(name for name, marked_kind in MARKED.items() if marked_kind == kind)
            raise ImportProblem(f"there is no {kind} {about!r} in {field_name} below the script", line=line)


def _mark(entry: dict[str, Any], kind: str, path: str, turns: Turns, script: Script) -> None:
    about, line = str(entry.get("id")), script.lines[path]
    for name in ("trigger", "points", "keys") if kind == "probe" else ("since",):
        if name in entry:
            raise ImportProblem("is marked beneath a turn", field=f"{path}.{name}", line=line)
    if kind != "probe":
        if (kind, about) in turns.since:
            entry["since"] = turns.since[kind, about]
        return
    points = turns.points.get(about, [])
    if points:
        entry["points"] = points
    if points or about in turns.triggers:
        entry["trigger"] = turns.triggers.get(about, min(points, default=0))
    if own := turns.own_keys.get(about):
        common = entry.pop("key", None)
        entry["keys"] = {str(at): own.get(at, common) for at in points if at in own or common is not None}


def _candidates(raw: dict[str, Any]) -> list[int]:
    """Return the possible points of a script as far as it is readable; none where it is not."""
    chat = chat_of(raw)
    return [] if chat is None else list(candidates(chat))


def chat_of(raw: Mapping[str, Any]) -> Dialogue | None:
    """Return the chat of a scenario as one without points; its probes and keys may still be wrong.

    None where even the chat is unreadable.
    """
    plain = {name: raw[name] for name in ("id", "language", "participants", "turns") if name in raw}
    try:
        chat = jsonl.dialogue(plain)
    except ImportProblem:
        return None
    agent = next((person.id for person in chat.participants if person.agent), "")
    return replace(chat, scenario=Scenario(agent))


# Writing a scenario as a script in plain text: the reverse of reading.

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
    """Return a scenario of the native format as a script; None where only JSON can express all of it.

    The script is read again to prove that it gives the same scenario: names with brackets, for instance,
    cannot be written in a script.
    """
    try:
        before = jsonl.dialogue(dict(raw), any_size=True)
        text = _write_text(raw, before)
        return text if _same(read_scenario(text, any_size=True), before) else None
    except (ImportProblem, ValueError):
        return None


def _same(first: Dialogue, second: Dialogue) -> bool:
    """Whether two scenarios are equal, no matter whether points are listed explicitly."""
    mine, theirs = scenario_of(first), scenario_of(second)
    if points_of(first) != points_of(second):
        return False
    alike = replace(mine, points=None) == replace(theirs, points=None)
    return alike and replace(first, scenario=None) == replace(second, scenario=None)


def write_draft(raw: Raw) -> str:
    """Return an incomplete scenario as a script; raise ValueError where a script cannot express it."""
    people = {person.id: person for person in participants_of(raw)}
    return _text(raw, people, _marks(raw, frozenset(_left_out(raw))))


def _write_text(raw: Raw, dialogue: Dialogue) -> str:
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
    """Return a field as lines of YAML: a list of objects has one item per object."""
    if not (isinstance(value, list) and value and all(isinstance(entry, dict) for entry in value)):
        return [f"{name}: {write_flow(value)}"]
    lines = [f"{name}:"]
    for entry in value:
        if name == "participants":
            lines.append(f"- {write_flow(entry)}")
            continue
        unmarked = {key: part for key, part in entry.items() if key not in _marked_fields(name)}
        field_lines = [f"{key}: {write_flow(part)}" for key, part in unmarked.items()]
        lines += [("- " if index == 0 else "  ") + line for index, line in enumerate(field_lines)]
    return lines


def _marked_fields(name: str) -> tuple[str, ...]:
    """Return the fields of a probe, secret or fact that are marked beneath the turns."""
    return ("trigger", "points", "keys") if name == "probes" else ("since",) if name in MARKED else ()


def _line(turn: Raw, label: Callable[[str], str]) -> str:
    speaker = label(turn["speaker"])
    act = WRITTEN_ACTS.get(turn.get("act", ""), "") + (f", {HISTORY}" if turn.get("sees_history") else "")
    to = f"to {_join_names(turn['addressees'], label)}" if turn.get("addressees") else ""
    how = " ".join(part for part in (act, to) if part)
    audience = turn.get("audience")
    private = (
        "" if audience is None else f"(private: {speaker} to {_join_names(audience, label) or 'nobody'}) "
    )
    first, *_ = turn.get("text", "").split("\n")
    says = f": {first}" if first or not act else ""
    return f"{private}{speaker}{f' ({how})' if how else ''}{says}"


def _join_names(ids: list[str], label: Callable[[str], str]) -> str:
    names = [label(person) for person in ids]
    return " and ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)


def _own(turn: Raw) -> list[str]:
    """Return the lines beneath a turn for its own fields."""
    lines = [f"| {more}" for more in turn.get("text", "").split("\n")[1:]]
    lines += [f"{name}: {turn[name]}" for name in ("time", "session") if turn.get(name)]
    if turn.get("given") and turn.get("act") not in ("join", "leave"):
        lines.append("given")
    if turn.get("extra"):
        lines.append(f"extra: {write_flow(turn['extra'])}")
    return lines


def _marks(raw: Raw, left_out: frozenset[int]) -> Mapping[int, list[str]]:
    """Return the marks beneath each turn, by its number."""
    marks: defaultdict[int, list[str]] = defaultdict(list)
    for at in left_out:
        marks[at].append("no point")
    for name in ("secrets", "common_ground"):
        for entry in raw.get(name) or ():
            marks[int(entry.get("since", 0))].append(f"{MARKED[name]} {entry.get('id')}")
    for entry in raw.get("probes") or ():
        points = [int(at) for at in entry.get("points") or ()]
        trigger = entry.get("trigger")
        if trigger is not None and trigger != min(points, default=-1):
            marks[int(trigger)].append(f"trigger {entry.get('id')}")
        for at in points:
            own = (entry.get("keys") or {}).get(str(at))
            marks[at].append(f"point {entry.get('id')}" + (f": {write_flow(own)}" if own is not None else ""))
    for at, key in (raw.get("keys") or {}).items():
        marks[int(at)].append(f"key: {write_flow(key)}")
    return marks


def write_flow(value: Any) -> str:
    """Return a value as one line of YAML."""
    if isinstance(value, str) and "\n" not in value:
        text = yaml.safe_dump([value], allow_unicode=True, width=10**9, default_flow_style=True)
        return text.strip()[1:-1]
    text = yaml.safe_dump(
        _plain(value), allow_unicode=True, width=10**9, default_flow_style=True, sort_keys=False
    )
    return text.removesuffix("\n").removesuffix("\n...").strip()


def _plain(value: Any) -> Any:
    """Return a value with whole numbers written without a fraction."""
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
