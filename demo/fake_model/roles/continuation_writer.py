"""Whoever continues a conversation of several people, with behaviours planted at known rates.

Keys of its own in an error model:

rates            expected turns per 30 written turns that show a behaviour: an object by prompting and turns
                 per call (`vanilla/30`), by prompting alone, or `*`, each with a number by behaviour
overall          how good a continuation is as a whole, 1 to 10: an object by prompting and turns per call as
                 above, each with a number by score (`consistency`, `collaborativeness`). The last turn of a
                 reply says it, a step up or down for some dialogues
renumbered       chance that the numbers of a reply's turns are shifted by one
speaker_by_name  chance that a reply names speakers by name instead of id, where they have one
overlong         chance that a reply's first turn is far longer than turns usually are
copy_differs     chance that the last of the copied turns is not what was said
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from annotation.schemes.cocoeval_behaviours import BEHAVIOURS
from demo.fake_model.errors import OTHERS, Amounts
from demo.fake_model.mind import Mind
from demo.fake_model.problems import ErrorFileProblem, number
from demo.fake_model.reading import Request, Spoken, turns
from demo.fake_model.roles.base import Answer, Role
from demo.fake_model.roles.overall_judge import SCORES

KEYS = tuple(behaviour[0] for behaviour in BEHAVIOURS)
VANILLA, TAXONOMY = "vanilla", "taxonomy"
PER = 30
"""Rates are turns in so many turns."""
WRITTEN, FIVE, SOME = "generated_turns", "five_previous_turns", "previous_turns"
MISTAKES = ("renumbered", "speaker_by_name", "overlong", "copy_differs")
_CONDITION = re.compile(rf"\*|(?:{VANILLA}|{TAXONOMY})(?:/\d{{1,3}})?")
_CONDITIONS = "vanilla/30 or the like, a prompting alone, or * is needed"
_ASKED = re.compile(r"^Write turns? (\d+)(?: to (\d+))?\.$", re.M)
_COPIED = re.compile(r"^previous_turns: the last (?:(\d+) turns|turn) of HISTORY", re.M)
_BEGINNINGS = (
    "I think",
    "Well,",
    "Let me add that",
    "From where I sit",
    "If you ask me,",
    "Right, so",
    "To be fair,",
    "As far as I can tell",
)
_MIDDLES = (
    "the plan for the spring",
    "what the others sent us",
    "the price of the whole thing",
    "the part that nobody tested",
    "the list from last week",
    "the room on the second floor",
    "the first draft",
    "whoever signs for it",
)
_ENDS = (
    "needs another look before we go on.",
    "is fine with me as it stands.",
    "should come before everything else.",
    "could wait until we know more.",
    "is where most of the time went.",
    "deserves two more days of work.",
    "will decide how the rest goes.",
    "has to be written down somewhere.",
)

Rates = Mapping[str, Amounts]
"""`prompting/turns per call`, prompting or `*`, to expected turns by behaviour."""


def rates_of(value: Any, where: str) -> Rates:
    """Return the rates of a JSON value; raise ErrorFileProblem that names the key."""
    if not isinstance(value, dict):
        raise ErrorFileProblem(f"{where}: an object by prompting and turns per call is needed")
    found: dict[str, Amounts] = {}
    for condition, rates in value.items():
        if not _CONDITION.fullmatch(condition):
            raise ErrorFileProblem(f"{where}.{condition}: {_CONDITIONS}")
        if not isinstance(rates, dict) or not rates.keys() <= {*KEYS, OTHERS}:
            raise ErrorFileProblem(f"{where}.{condition}: a number by behaviour is needed: {', '.join(KEYS)}")
        found[condition] = {
            key: number(rate, f"{where}.{condition}.{key}", 0.0, PER) for key, rate in rates.items()
        }
    return found


def overall_of(value: Any, where: str) -> Rates:
    """Return the overall scores of a JSON value; raise ErrorFileProblem that names the key."""
    if not isinstance(value, dict):
        raise ErrorFileProblem(f"{where}: an object by prompting and turns per call is needed")
    found: dict[str, Amounts] = {}
    for condition, scores in value.items():
        if not _CONDITION.fullmatch(condition):
            raise ErrorFileProblem(f"{where}.{condition}: {_CONDITIONS}")
        if not isinstance(scores, dict) or not scores.keys() <= set(SCORES):
            raise ErrorFileProblem(f"{where}.{condition}: a number by score is needed: {', '.join(SCORES)}")
        found[condition] = {
            key: number(score, f"{where}.{condition}.{key}", 1.0, 10.0) for key, score in scores.items()
        }
    return found


def chance_of(value: Any, where: str) -> float:
    """Return a chance of a JSON value; raise ErrorFileProblem that names the key."""
    return number(value, where, 0.0, 1.0)


def rate_of(rates: Rates, prompting: str, per_call: int, behaviour: str) -> float:
    """Return the expected turns with a behaviour in 30 turns: the closest key of the rates counts."""
    for key in (f"{prompting}/{per_call}", prompting, OTHERS):
        amounts = rates.get(key, {})
        if behaviour in amounts or OTHERS in amounts:
            return amounts.get(behaviour, amounts.get(OTHERS, 0.0))
    return 0.0


def expected_turns(rates: Rates, prompting: str, per_call: int, behaviour: str, length: int = PER) -> float:
    """Return how many turns of a continuation are expected to be planted with a behaviour."""
    return rate_of(rates, prompting, per_call, behaviour) * length / PER


def expected_seen(
    planted: float, sensitivity: float = 1.0, specificity: float = 1.0, length: int = PER
) -> float:
    """Return how many turns a judge is expected to mark: planted * Se + (length - planted) * (1 - Sp)."""
    return planted * sensitivity + (length - planted) * (1 - specificity)


@dataclass(frozen=True)
class Task:
    """What a prompt asks for: which turns, by whom, under which prompting, after what."""

    first: int
    count: int
    prompting: str
    people: tuple[tuple[str, str], ...]
    history: tuple[Spoken, ...]
    copies: int
    copies_name: str

    @property
    def seen(self) -> str:
        """The history as one text: what draws are about."""
        return "\n".join(f"[{said.number}] {said.whole}" for said in self.history)

    def who_said(self, said: Spoken) -> str:
        """Return the speaker of a turn of the history, as it is shown."""
        head = said.whole.partition(":")[0]
        known = [name for name, _ in self.people if said.whole.startswith((f"{name}:", f"{name} ("))]
        return max(known, key=len) if known else head.partition(" (")[0]


def task(request: Request) -> Task | None:
    """Return what a prompt asks for, None where it asks for no continuation."""
    asked = _ASKED.search(request.instruction)
    if asked is None or WRITTEN not in request.fields or not request.shows("HISTORY"):
        return None
    first, last = int(asked[1]), int(asked[2] or asked[1])
    history = tuple(said for said in turns(request.block("HISTORY") or ()) if said.number is not None)
    name = next((field for field in (FIVE, SOME) if field in request.fields), "")
    told = _COPIED.search(request.instruction)
    some = int(told[1] or 1) if told else 0
    with_all = all(key in request.instruction for key in KEYS)
    return Task(
        first,
        last - first + 1,
        TAXONOMY if with_all else VANILLA,
        _people(request),
        history,
        {FIVE: 5, SOME: some}.get(name, 0),
        name,
    )


def _people(request: Request) -> tuple[tuple[str, str], ...]:
    """Return id and name of everybody who may speak."""
    try:
        listed = json.loads("\n".join(request.block("METADATA") or ()))["participants"]
        return tuple((str(one["id"]), str(one.get("name") or one["id"])) for one in listed)
    except (ValueError, KeyError, TypeError):
        return ()


class ContinuationWriter(Role):
    """Writes the turns that are asked for, by the people listed, with markers such as `{repetition}`."""

    key = "continuation_writer"
    title = "the next turns of a conversation"
    own_keys = {"rates": rates_of, "overall": overall_of, **dict.fromkeys(MISTAKES, chance_of)}

    def recognises(self, request: Request) -> bool:
        """Turns to write after a HISTORY, by people listed under METADATA."""
        found = task(request)
        return found is not None and bool(found.people)

    def answer(self, request: Request, mind: Mind) -> Answer:
        """Return the copied and the written turns."""
        found = task(request)
        if found is None or not found.people:
            return Answer({WRITTEN: []})
        wrong = {name for name in MISTAKES if _errs(mind, name, found)}
        reply: dict[str, Any] = {}
        if found.copies_name:
            reply[found.copies_name] = copied(found, differs="copy_differs" in wrong)
        shift = int("renumbered" in wrong)
        names = dict(found.people) if "speaker_by_name" in wrong else {}
        last = found.who_said(found.history[-1]) if found.history else ""
        reply[WRITTEN] = []
        for turn in range(found.first, found.first + found.count):
            last = next_speaker(found, mind, turn, last)
            text = content(found, mind, turn)
            if turn == found.first + found.count - 1:
                text += whole(found, mind)
            if "overlong" in wrong and turn == found.first:
                text = " ".join([text] * 200)
            reply[WRITTEN].append(_turn(turn + shift, names.get(last, last), text))
        return Answer(reply)


def copied(found: Task, *, differs: bool = False) -> list[dict[str, Any]]:
    """Return the last turns of the history word for word, or with another ending."""
    said = [turn for turn in found.history if turn.text][-found.copies :]
    told = [_turn(turn.number or 0, found.who_said(turn), turn.text) for turn in said]
    if differs and told:
        told[-1]["content"] += " And so on."
    return told


def next_speaker(found: Task, mind: Mind, turn: int, last: str) -> str:
    """Return who speaks: anybody but the one before, where there are several."""
    ids = [one for one, _ in found.people]
    others = [one for one in ids if one != last] or ids
    return others[int(mind.draw(f"speaker {turn}", found.seen) * len(others))]


def content(found: Task, mind: Mind, turn: int) -> str:
    """Return what is said in a turn, with a marker for the behaviours that it is planted with."""
    parts = [
        one[int(mind.draw(f"part {n} {turn}", found.seen) * len(one))]
        for n, one in enumerate((_BEGINNINGS, _MIDDLES, _ENDS))
    ]
    shown = planted(found, mind, turn)
    return " ".join([*parts, *([f"{{{' '.join(shown)}}}"] if shown else [])])


def whole(found: Task, mind: Mind) -> str:
    """Return markers that say how good the continuation is as a whole; '' where no error model says so."""
    scores: Rates = mind.errors.own.get("overall", {})
    keys = (f"{found.prompting}/{found.count}", found.prompting, OTHERS)
    amounts = next((scores[key] for key in keys if key in scores), {})
    told = (
        f"{{{name} {min(max(round(score) + int(mind.draw(name, found.seen) * 3) - 1, 1), 10)}}}"
        for name, score in amounts.items()
    )
    return "".join(f" {marker}" for marker in told)


def planted(found: Task, mind: Mind, turn: int) -> list[str]:
    """Return the behaviours that a turn is planted with: each by a draw of its own."""
    rates: Rates = mind.errors.own.get("rates", {})
    return [
        key
        for key in KEYS
        if mind.draw(f"{key} {turn}", found.seen) < rate_of(rates, found.prompting, found.count, key) / PER
    ]


def _errs(mind: Mind, name: str, found: Task) -> bool:
    chance: float = mind.errors.own.get(name, 0.0)
    return mind.draw(f"{name} {found.first}", found.seen) < chance


def _turn(number_: int, speaker: str, text: str) -> dict[str, Any]:
    return {"turn_number": number_, "speaker": speaker, "content": text}
