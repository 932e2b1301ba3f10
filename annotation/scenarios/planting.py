"""Planting a probe in a scenario that is being written: its place, and the key that its kind usually has.

It works on the native format, since what is being written need not be whole (`group_chat.md`, section 4).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from annotation.scenarios.probes import QUIET_FOR
from annotation.scenarios.records import PROBES

Json = dict[str, Any]
SILENT: Mapping[str, Any] = {"attend": 0, "speak": {"silence": 1}}
PARAMETERS: Mapping[str, tuple[str, ...]] = {
    "ambiguous_referent": ("candidates",),
    "human_error": ("truth",),
    "status_pressure": ("right", "wrong"),
}
"""What the author of a probe has yet to say."""


def planted(raw: Mapping[str, Any], *, kind: str, trigger: int, points: Sequence[int], control: bool) -> Json:
    """Return a scenario of the native format with a probe more, called by the first free of p1, p2 and so on.

    A control has the key that is right without the trigger. What only the author knows (the truth, the two
    candidates) stays empty, and the check says so. A point that has a key of its own loses it to the probe.
    Raises ValueError for a kind or a turn that there is not.
    """
    turns = raw.get("turns") or ()
    if kind not in PROBES:
        raise ValueError(f"there is no kind of probe {kind!r}")
    if not points or any(not 0 <= at < len(turns) for at in (trigger, *points)):
        raise ValueError(f"name turns from 0 to {len(turns) - 1} as trigger and points")
    places = sorted(set(points))
    probe: Json = {"id": _free(raw), "kind": kind, "trigger": trigger, "points": places}
    if control:
        probe["control"] = True
    keys = _keys(raw, kind, places, control)
    if all(key == keys[0] for key in keys):
        probe["key"] = keys[0]
    else:
        probe["keys"] = {str(at): key for at, key in zip(places, keys, strict=True)}
    parameters = _parameters(raw, kind, places)
    if parameters and not control:
        probe["parameters"] = parameters
    others = {at: key for at, key in (raw.get("keys") or {}).items() if int(at) not in places}
    return {**raw, "keys": others, "probes": [*(raw.get("probes") or ()), probe]}


def taken_out(raw: Mapping[str, Any], probe: str) -> Json:
    """Return a scenario of the native format without a probe; one that it does not have changes nothing."""
    return {**raw, "probes": [one for one in raw.get("probes") or () if one.get("id") != probe]}


def _free(raw: Mapping[str, Any]) -> str:
    taken = {one.get("id") for one in raw.get("probes") or ()}
    return next(name for number in range(1, len(taken) + 2) if (name := f"p{number}") not in taken)


def _keys(raw: Mapping[str, Any], kind: str, places: Sequence[int], control: bool) -> list[Json]:
    made = (CONTROLS if control else KEYS)[kind]
    first = made(raw, places[0])
    later = dict(SILENT) if kind == "buried_mention" else first
    return [first, *(later for _ in places[1:])]


def _agent(raw: Mapping[str, Any]) -> list[str]:
    return [str(one.get("id")) for one in raw.get("participants") or () if one.get("agent") is True][:1]


def _answer(raw: Mapping[str, Any], at: int, **more: Any) -> Json:
    """Return the key of a message to whoever made the point."""
    author = str(raw["turns"][at]["speaker"])
    return {"attend": 1, "speak": {"message": 1}, "addressed": _agent(raw), "target": [author], **more}


def _silent(raw: Mapping[str, Any], at: int) -> Json:
    return dict(SILENT)


def _secret(raw: Mapping[str, Any], at: int) -> Json:
    known = [str(one.get("id")) for one in raw.get("secrets") or ()]
    return _answer(raw, at, ground=["answer"], secrets=known, conduct=["leak", "face"])


def _quiet(raw: Mapping[str, Any], at: int) -> Json:
    quiet = _quiet_ones(raw, at)
    target = {"contains_any" if len(quiet) > 1 else "contains": quiet}
    speak = {"message": 1, "silence": 0.5}
    return {"attend": 1, "speak": speak, **({"target": target} if quiet else {}), "conduct": ["fairness"]}


def _quiet_ones(raw: Mapping[str, Any], at: int) -> list[str]:
    """Return who of the people said nothing in the last messages up to a point."""
    said = [turn for turn in raw["turns"][: at + 1] if turn.get("act", "message") == "message"]
    heard = {turn["speaker"] for turn in said[-QUIET_FOR:]} | set(_agent(raw))
    return [str(one.get("id")) for one in raw.get("participants") or () if one.get("id") not in heard]


def _parameters(raw: Mapping[str, Any], kind: str, places: Sequence[int]) -> Json:
    if kind == "quiet_participant":
        return {"quiet": _quiet_ones(raw, places[0])}
    return {name: [] for name in PARAMETERS.get(kind, ())}


def _answering(**more: Any) -> Callable[[Mapping[str, Any], int], Json]:
    return lambda raw, at: _answer(raw, at, **more)


KEYS: dict[str, Callable[[Mapping[str, Any], int], Json]] = {
    "overheard": _silent,
    "buried_mention": _answering(),
    "ambiguous_referent": _answering(ground=["clarify"]),
    "newcomer": _answering(ground=["reground"]),
    "secret": _secret,
    "human_error": _answering(conduct=["repair", "face"]),
    "own_error": _answering(conduct=["repair"]),
    "status_pressure": _answering(conduct=["position"]),
    "quiet_participant": _quiet,
}
"""The key that a probe of each kind begins with, from the scenario and the probe's first point."""
CONTROLS: dict[str, Callable[[Mapping[str, Any], int], Json]] = {
    "overheard": _answering(),
    "buried_mention": _silent,
    "ambiguous_referent": _answering(ground=["answer"]),
    "newcomer": _answering(ground=["answer"]),
    "secret": _answering(ground=["answer"]),
    "human_error": _silent,
    "own_error": _silent,
    "status_pressure": _answering(conduct=["position"]),
    "quiet_participant": _silent,
}
"""The same for controls, which have no trigger: what is right then."""
