"""Writing a scenario as a script in plain text: the way back from `annotation.formats.script`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import yaml

from annotation.formats import jsonl
from annotation.formats.problems import ImportProblem
from annotation.formats.script import HISTORY, MARKED, People, label_of, participants_of, read_scenario
from annotation.records import Dialogue, Participant
from annotation.scenarios.points import candidates, points_of, scenario_of

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
ACTS = {"reaction": "reacts", "join": "joins", "leave": "leaves", "silence": "says nothing"}
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
        return [f"{name}: {flow(value)}"]
    lines = [f"{name}:"]
    for one in value:
        if name == "participants":
            lines.append(f"- {flow(one)}")
            continue
        said = {key: part for key, part in one.items() if key not in _marked(name)}
        told = [f"{key}: {flow(part)}" for key, part in said.items()]
        lines += [("- " if index == 0 else "  ") + line for index, line in enumerate(told)]
    return lines


def _marked(name: str) -> tuple[str, ...]:
    """Return what of a probe, secret or fact stands beneath the turns."""
    return ("trigger", "points", "keys") if name == "probes" else ("since",) if name in MARKED else ()


def _line(turn: Raw, label: Callable[[str], str]) -> str:
    who = label(turn["speaker"])
    act = ACTS.get(turn.get("act", ""), "") + (f", {HISTORY}" if turn.get("sees_history") else "")
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
        found.append(f"extra: {flow(turn['extra'])}")
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
            found[at].append(f"point {one.get('id')}" + (f": {flow(own)}" if own is not None else ""))
    for at, key in (raw.get("keys") or {}).items():
        found[int(at)].append(f"key: {flow(key)}")
    return found


def flow(value: Any) -> str:
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
