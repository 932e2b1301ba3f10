"""CoCoEval's continuations: a model writes the next turns of a conversation of several people.

The design is that of CoCoEval: metadata with hidden information, a summary of what came before, the last 30
turns; 30 more turns written 1, 5 or 30 at a time; with or without a list of behaviours (its vanilla and
taxonomy prompts); the last five turns repeated first. The wording is Concord's own, and the behaviours are
those of the scheme `cocoeval_behaviours`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from statistics import median

from annotation.records import EVENTS, Dialogue, Turn
from annotation.text.cleaning import clean
from annotation.text.tokens import words
from jobs.prompt import Prompt
from judges.protocols.quoting import quote
from systems.generators.base import (
    Done,
    Generator,
    Reply,
    Setting,
    Settings,
    Shown,
    State,
    Value,
    WrongSettings,
)
from systems.generators.cocoeval_replies import WRITTEN, Asked, copies_name, form, read, schema, written
from systems.generators.cocoeval_shown import (
    Cast,
    behaviours_text,
    first_number,
    metadata_json,
    people_of,
    window_lines,
)
from systems.generators.texts import filled

VANILLA, TAXONOMY = "vanilla", "taxonomy"
PROMPTS = 1
"""The version of the prompt texts."""
MOST = 300


class CocoevalContinuation(Generator):
    """Writes a rollout in `turns / turns_per_call` steps; each sees what was written so far in its window."""

    key = "cocoeval_continuation"
    title = "CoCoEval: the next turns of a conversation of several people"
    produces = "rollout"
    settings = (
        Setting(
            "prompting",
            VANILLA,
            "Without (vanilla) or with (taxonomy) the list of inconsistent and uncollaborative behaviours.",
            choices=(VANILLA, TAXONOMY),
            varies=True,
        ),
        Setting(
            "turns_per_call",
            30,
            "Turns that are written in one call; the number of turns must be divisible by it.",
            low=1,
            high=MOST,
            varies=True,
        ),
        Setting("turns", 30, "Turns to write.", low=1, high=MOST),
        Setting(
            "window", 30, "How many of the last turns are shown, written ones among them.", low=1, high=MOST
        ),
        Setting(
            "copy", 5, "How many of the last turns the model repeats first; 0 for none.", low=0, high=MOST
        ),
    )

    def checked(self, settings: Settings) -> None:
        """Refuse turns per call that do not divide the turns, and more copies than turns are shown."""
        turns, per_call = int(settings["turns"]), int(settings["turns_per_call"])
        if turns % per_call:
            divisors = ", ".join(str(n) for n in range(1, turns + 1) if turns % n == 0)
            raise WrongSettings(
                f"turns_per_call: {per_call} does not divide {turns} turns; {divisors} would do."
            )
        if int(settings["copy"]) > int(settings["window"]):
            raise WrongSettings(
                f"copy: of {settings['window']} turns that are shown {settings['copy']} cannot be repeated."
            )

    def why_not(self, dialogue: Dialogue, settings: Settings) -> str:
        """A conversation without a turn that says something cannot be continued."""
        if not any(_is_said(turn) for turn in dialogue.turns):
            return "it has no turn with text"
        return "" if people_of(dialogue) else "it has no participants"

    def calls(self, settings: Settings) -> int:
        """Return the number of steps: each has one prompt."""
        return int(settings["turns"]) // int(settings["turns_per_call"])

    def name(self, model: str, condition: Mapping[str, Value]) -> str:
        """Return `<model> <prompting> <k>/call`."""
        return f"{model} {condition['prompting']} {condition['turns_per_call']}/call"

    def begin(self, dialogue: Dialogue, settings: Settings) -> State:
        """Keep who may speak, what is known, and the window: earlier turns are not needed again."""
        people = people_of(dialogue)
        window = int(settings["window"])
        before = dialogue.turns[-window:]
        lengths = _lengths(dialogue.turns)
        return {
            "settings": {one.name: settings[one.name] for one in self.settings},
            "people": [one.as_json() for one in people],
            "metadata": metadata_json(dialogue, people),
            "summary": clean(dialogue.summary).strip(),
            "usual": [[who, median(found)] for who, found in lengths.items()],
            "in_all": median([length for found in lengths.values() for length in found] or [0]),
            "first": first_number(dialogue) + len(dialogue.turns) - len(before),
            "before": Shown(before).as_json(),
            "written": [],
            "flags": [],
        }

    def request(self, state: State) -> Sequence[Prompt] | Done:
        """Return the one prompt of the next step, or the continuation."""
        if len(state["written"]) >= state["settings"]["turns"]:
            return Done(turns=_written(state), flags=tuple(state["flags"]))
        asked = _asked(state)
        turns, first = _window(state)
        settings = state["settings"]
        values = {
            "k": _turns_told(asked.count),
            "asked": f"turns {asked.first} to {asked.first + asked.count - 1}"
            if asked.count > 1
            else f"turn {asked.first}",
            "first": str(asked.first),
            "form": form(asked),
            "copying": _copying(len(asked.copies)),
            "behaviours": behaviours_text(),
            "metadata": quote("METADATA", state["metadata"].split("\n")),
            "summary": quote("SUMMARY", state["summary"].split("\n") if state["summary"] else ()),
            "history": quote("HISTORY", window_lines(turns, first, asked.cast.names)),
        }
        name = f"{self.key}_{settings['prompting']}"
        return [filled(name, PROMPTS, values, schema(len(asked.copies)))]

    def receive(self, state: State, replies: Sequence[Reply]) -> State:
        """Add the turns of the one reply."""
        found = read(replies[0].text, _asked(state))
        return {
            **state,
            "written": [*state["written"], *([speaker, text] for speaker, text in found.turns)],
            "flags": [*state["flags"], *found.flags],
        }

    def pretend(self, state: State) -> Sequence[str]:
        """Say the turns of the window again, as long as people's are."""
        asked, before = _asked(state), Shown.from_json(state["before"]).turns
        people = asked.cast.people
        turns = []
        for place in range(len(state["written"]), len(state["written"]) + asked.count):
            text = clean(before[place % len(before)].text)
            turns.append((people[place % len(people)].shown, text if text.strip() else "…"))
        return [written(asked, turns)]

    def anew(self, reply: str) -> str:
        """Return the written turns, without those that were copied."""
        return json.dumps(json.loads(reply)[WRITTEN], ensure_ascii=False)

    def reply(self, state: State, turns: Sequence[Turn]) -> str:
        """Return the reply to the next step that says these turns."""
        asked = _asked(state)
        names = asked.cast.names
        return written(asked, [(names.of(turn.speaker), clean(turn.text)) for turn in turns])


def _is_said(turn: Turn) -> bool:
    return turn.act not in EVENTS and bool(clean(turn.text).strip())


def _lengths(turns: Sequence[Turn]) -> dict[str, list[int]]:
    """Return the lengths in words of everybody's turns."""
    found: dict[str, list[int]] = {}
    for turn in turns:
        if _is_said(turn):
            found.setdefault(turn.speaker, []).append(len(words(clean(turn.text))))
    return found


def _written(state: State) -> tuple[Turn, ...]:
    return tuple(Turn(speaker, text) for speaker, text in state["written"])


def _window(state: State) -> tuple[tuple[Turn, ...], int]:
    """Return the turns that are shown, the written ones last, and the number of the first of them."""
    turns = (*Shown.from_json(state["before"]).turns, *_written(state))
    shown = turns[-state["settings"]["window"] :]
    return shown, state["first"] + len(turns) - len(shown)


def _asked(state: State) -> Asked:
    settings = state["settings"]
    cast = Cast.from_json(state["people"])
    turns, first = _window(state)
    said: list[tuple[int, Turn]] = []
    for number, turn in zip(range(first + len(turns) - 1, first - 1, -1), reversed(turns), strict=True):
        if len(said) == settings["copy"]:
            break
        if _is_said(turn):
            said.append((number, turn))
    copies = [(number, cast.names.of(turn.speaker), clean(turn.text)) for number, turn in reversed(said)]
    return Asked(
        first=first + len(turns),
        count=settings["turns_per_call"],
        cast=cast,
        copies=tuple(copies),
        usual=dict(state["usual"]),
        in_all=state["in_all"],
    )


def _turns_told(count: int) -> str:
    return "1 turn" if count == 1 else f"{count} turns"


def _copying(count: int) -> str:
    if not count:
        return ""
    what = "the last turn" if count == 1 else f"the last {count} turns"
    return f"{copies_name(count)}: {what} of HISTORY, repeated word for word.\n"
