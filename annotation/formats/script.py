"""A scenario in plain text: who takes part, the script as a transcript, and what it tests.

Three parts, with a line --- between them: the dialogue's fields as YAML, the turns, a line each, with marks
beneath them, and probes, secrets and common ground as YAML. `docs/scenario_editor.md` describes it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from annotation.formats import jsonl
from annotation.formats.decoding import decode
from annotation.formats.problems import ImportProblem
from annotation.formats.script_turns import People, Turns, numbered, read_turns
from annotation.records import Dialogue, Participant
from annotation.scenarios.points import candidates
from annotation.scenarios.records import Scenario
from annotation.scenarios.stored import KIND
from annotation.text.yaml_tree import BadFile, parse

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
