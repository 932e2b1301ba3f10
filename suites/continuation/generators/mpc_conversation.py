"""MPCEval: a whole conversation, from a topic and its speakers alone or as the continuation of a history."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from annotation.records import Dialogue, Turn
from annotation.text.words import fold
from jobs.prompt import TEXT, Prompt, Unparseable, list_schema, object_schema
from judges.protocols.quoting import quote
from judges.protocols.replies import json_value
from suites.continuation.generators import cocoeval_continuation
from suites.continuation.generators.generator import (
    Done,
    Generator,
    Reply,
    Setting,
    Settings,
    State,
    StoredTurns,
    Value,
    WrongSettings,
    array,
    fields,
    filled,
    message,
    speaker,
)
from suites.continuation.generators.named_cast import Cast, Member, stance_of

# Constraints on a conversation, in words: they are stated in the prompt, and checked afterwards. A reply that
# breaks a constraint is a result, not an error.

TURNS, LEAST, MOST = "turns", "min_turns", "max_turns"
EACH, IN_A_ROW, ADDRESSEES_SETTING, STANCES = "min_each", "max_in_a_row", "addressees", "stance"
LONGEST = 1_000
CONSTRAINT_SETTINGS = (
    Setting(TURNS, 20, "How many turns are wanted.", low=1, high=LONGEST, varies=True),
    Setting(LEAST, 0, "The least number of turns; 0 is no limit.", low=0, high=LONGEST, varies=True),
    Setting(MOST, 0, "The greatest number of turns; 0 is no limit.", low=0, high=LONGEST, varies=True),
    Setting(EACH, 0, "How often every listed speaker speaks at least.", low=0, high=LONGEST, varies=True),
    Setting(
        IN_A_ROW,
        0,
        "How many turns in a row one speaker has at most; 0 is no limit.",
        low=0,
        high=LONGEST,
        varies=True,
    ),
    Setting(ADDRESSEES_SETTING, False, "Every turn names whom it is addressed to.", varies=True),
    Setting(STANCES, False, "Everybody keeps to the stance that is declared.", varies=True),
)


def checked_constraints(settings: Settings) -> None:
    """Raise WrongSettings for contradictory numbers of turns."""
    target, least, most = (int(settings[name]) for name in (TURNS, LEAST, MOST))
    if most and least > most:
        raise WrongSettings(f"{LEAST} is {least} and {MOST} is {most}: the least is more than the greatest.")
    if target < least or (most and target > most):
        bounds = f"at least {least}" if target < least else f"at most {most}"
        raise WrongSettings(f"{TURNS} is {target}, but {bounds} are asked for: change one of the two.")


def constraint_error(dialogue: Dialogue, speakers: int, settings: Settings) -> str:
    """Return why this many speakers of a dialogue cannot keep the constraints, '' where they can."""
    each, longest = int(settings[EACH]), int(settings[MOST]) or int(settings[TURNS])
    if each * speakers > longest:
        return f"{speakers} speakers with at least {each} turns each do not fit into {longest} turns"
    if settings[STANCES] and not any(map(stance_of, dialogue.participants)):
        return "none of its participants has a stance (extra.stance)"
    return ""


def worded(settings: Settings) -> str:
    """Return the constraints as a list, one line each."""
    each, in_a_row = int(settings[EACH]), int(settings[IN_A_ROW])
    lines = [
        "Only the people listed under CAST speak, each under the name that stands there.",
        _length(settings),
    ]
    if each:
        lines.append(f"Everybody listed under CAST speaks at least {_times(each)}.")
    if in_a_row:
        lines.append(f"Nobody has more than {_turns(in_a_row)} in a row.")
    if settings[ADDRESSEES_SETTING]:
        lines.append("Every turn names whom it is addressed to: one of the people listed under CAST, or all.")
    if settings[STANCES]:
        lines.append("Everybody whose stance is stated under CAST holds it from the first turn to the last.")
    return "\n".join(f"- {line}" for line in lines)


def _length(settings: Settings) -> str:
    target, least, most = (int(settings[name]) for name in (TURNS, LEAST, MOST))
    if not least and not most:
        return f"The new part has exactly {_turns(target)}."
    limits = [f"at least {least}"] * bool(least) + [f"at most {most}"] * bool(most)
    return f"The new part has about {_turns(target)}: {' and '.join(limits)}."


def _turns(number: int) -> str:
    return "1 turn" if number == 1 else f"{number} turns"


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


# Replies of `mpc_conversation`: a list of turns, or one turn; strict in format, free in content.

SPEAKER, MESSAGE, ADDRESSEE = "speaker", "message", "addressee"
EVERYBODY = frozenset(["all", "everybody", "everyone"])
UNKNOWN_SPEAKER, UNKNOWN_ADDRESSEE, EXTRA_FIELD = "unknown_speaker", "unknown_addressee", "extra_field"
MOST_LISTED = 10
Read = tuple[Turn, tuple[str, ...]]
"""A turn, and the names of its flags."""


def names_in(addressees: bool) -> tuple[str, ...]:
    """Return the names of a turn's fields."""
    return (SPEAKER, MESSAGE, ADDRESSEE) if addressees else (SPEAKER, MESSAGE)


def conversation(reply: str, cast: Cast, *, addressees: bool) -> list[Read]:
    """Return the turns of a reply.

    Raises Unparseable without a list, or for an empty message or a missing field.
    """
    entries = array(reply)
    if not entries:
        raise Unparseable("the list has no turns")
    return [_turn(entry, number, cast, addressees) for number, entry in enumerate(entries, start=1)]


def next_turn(reply: str, number: int, cast: Cast, *, addressees: bool) -> Read:
    """Return the turn of a reply, the `number`th written; raise Unparseable as `conversation`."""
    return _turn(json_value(reply), number, cast, addressees)


def _turn(entry: Any, number: int, cast: Cast, addressees: bool) -> Read:
    where = f"turn {number}"
    field_names = names_in(addressees)
    values = fields(entry, field_names, where)
    speaker_id, flags = _speaker(values, where, cast)
    text = message(values[MESSAGE], f"{where}: the message")
    to: tuple[str, ...] = ()
    if addressees:
        to, more = _addressees(values[ADDRESSEE], where, speaker_id, cast)
        flags += more
    if set(values) - set(field_names):
        flags.append(EXTRA_FIELD)
    return Turn(speaker_id, text, addressees=to), tuple(flags)


def _speaker(values: Mapping[str, Any], where: str, cast: Cast) -> tuple[str, list[str]]:
    name = speaker(values[SPEAKER], f"{where}: the speaker")
    member = _member(name, cast)
    return (member.id, []) if member else (name, [UNKNOWN_SPEAKER])


def _addressees(value: Any, where: str, speaker_id: str, cast: Cast) -> tuple[tuple[str, ...], list[str]]:
    """Return the addressees of a turn: none, one, or all others. An unlisted name is kept."""
    if not isinstance(value, str):
        raise Unparseable(f"{where}: the addressee is not a text")
    if not value.strip():
        return (), []
    name = speaker(value, f"{where}: the addressee")
    if (member := _member(name, cast)) is not None:
        return (member.id,), []
    if fold(name) in EVERYBODY:
        return tuple(other.id for other in cast.members if other.id != speaker_id), []
    return (name,), [UNKNOWN_ADDRESSEE]


def describe_flags(turns_by_flag: Mapping[str, Sequence[int]]) -> tuple[str, ...]:
    """Return flags with their turns: `unknown_speaker: turns 3, 7`."""
    lines = []
    for name, turns in sorted(turns_by_flag.items()):
        more = f" and {len(turns) - MOST_LISTED:,} more" if len(turns) > MOST_LISTED else ""
        numbers = ", ".join(map(str, turns[:MOST_LISTED]))
        lines.append(f"{name}: {'turn' if len(turns) == 1 else 'turns'} {numbers}{more}")
    return tuple(lines)


def _member(name: str, cast: Cast) -> Member | None:
    """Return the member of a name; None for nobody, or where several are possible."""
    try:
        return cast.find(name)
    except Unparseable:
        return None


FROM, SCRATCH, HISTORY = "from", "scratch", "history"
STRATEGY, ONE_PASS, TURN_BY_TURN = "strategy", "one_pass", "turn_by_turn"
SETTINGS = (
    Setting(FROM, HISTORY, "Continue the dialogue, or begin one of a dialogue without turns.",
            choices=(HISTORY, SCRATCH), varies=True),
    Setting(STRATEGY, ONE_PASS, "All turns in one reply, or one turn a call.",
            choices=(ONE_PASS, TURN_BY_TURN), varies=True),
    *CONSTRAINT_SETTINGS,
)  # fmt: skip
FORMS = {SPEAKER: "the name of whoever speaks", MESSAGE: "what is said, without the name in front",
         ADDRESSEE: "the name of whoever it is addressed to, or all"}  # fmt: skip


class Conversation(Generator):
    """Writes a conversation under declared constraints. Violations are kept, and counted afterwards."""

    key = "mpc_conversation"
    title = "A whole conversation among several people, under constraints"
    produces = "rollout"
    settings = SETTINGS

    def checked(self, settings: Settings) -> None:
        """Refuse contradictory numbers of turns."""
        checked_constraints(settings)

    def why_not(self, dialogue: Dialogue, settings: Settings) -> str:
        """Return why no conversation can be written: turns present or missing, too few speakers, no topic."""
        speakers = len(Cast.of(dialogue).members)
        if settings[FROM] == SCRATCH and dialogue.turns:
            return "it has turns, and a conversation from scratch begins without any"
        if settings[FROM] == SCRATCH and not cocoeval_continuation.metadata_lines(
            dialogue, cocoeval_continuation.TOPIC
        ):
            return f"its metadata have no {cocoeval_continuation.join_or(cocoeval_continuation.TOPIC)}"
        if settings[FROM] == HISTORY and not dialogue.turns:
            return f"it has no turns to continue; set {FROM} to {SCRATCH}"
        if speakers < 2:
            return "it has fewer than two speakers"
        return constraint_error(dialogue, speakers, settings)

    def begin(self, dialogue: Dialogue, settings: Settings) -> State:
        """Return the history, the possible speakers, the topic, and the settings."""
        cast = Cast.of(dialogue)
        return {
            "cast": cast.as_json(),
            "people": cast.people(dialogue),
            "facts": cocoeval_continuation.facts(dialogue),
            "history": StoredTurns(dialogue.turns).as_json(),
            "settings": dict(settings),
            "written": [],
            "done": False,
            "flags": {},
        }

    def request(self, state: State) -> Sequence[Prompt] | Done:
        """Return the prompt for the conversation or its next turn, or all written turns."""
        if state["done"]:
            return Done(
                turns=StoredTurns.from_json(state["written"]).turns, flags=describe_flags(state["flags"])
            )
        names = names_in(state["settings"][ADDRESSEES])
        step_by_step = _step_by_step(state)
        texts = dict.fromkeys(names, TEXT)
        schema = object_schema(texts) if step_by_step else list_schema("conversation", texts)
        return [
            filled(f"{self.key}_{state['settings'][STRATEGY]}", self.version, _values(state, names), schema)
        ]

    def receive(self, state: State, replies: Sequence[Reply]) -> State:
        """Return the state with the turns of the reply; raise Unparseable only for errors of format."""
        cast, addressees = Cast.from_json(state["cast"]), bool(state["settings"][ADDRESSEES])
        text, number = replies[0].text, len(state["written"]) + 1
        read: list[Read]
        if _step_by_step(state):
            read = [next_turn(text, number, cast, addressees=addressees)]
            done = number >= state["settings"][TURNS]
        else:
            read = conversation(text, cast, addressees=addressees)
            done = True
        flags = {name: list(turns) for name, turns in state["flags"].items()}
        for place, (_, names) in enumerate(read, start=number):
            for name in names:
                flags.setdefault(name, []).append(place)
        new_turns = [*state["written"], *StoredTurns(tuple(turn for turn, _ in read)).as_json()]
        return {**state, "written": new_turns, "done": done, "flags": flags}

    def pretend(self, state: State) -> Sequence[str]:
        """Return one turn, or the target number of turns, with the speakers taking turns."""
        names = Cast.from_json(state["cast"]).shown_names()
        count = state["settings"][TURNS]
        words = " ".join(["word"] * _usual_words(state))
        field_names = names_in(state["settings"][ADDRESSEES])
        at = len(state["written"])
        numbers = [at] if _step_by_step(state) else range(count)
        turns = [
            {
                name: {SPEAKER: names[i % len(names)], MESSAGE: words, ADDRESSEE: "all"}[name]
                for name in field_names
            }
            for i in numbers
        ]
        return [json.dumps(turns[0] if _step_by_step(state) else turns, ensure_ascii=False)]

    def name(self, model: str, condition: Mapping[str, Value]) -> str:
        """Return the model with the non-default settings, such as `m1 from scratch max_in_a_row 1`."""
        parts = [model, "conversation"]
        for setting in self.settings:
            if (value := condition[setting.name]) != setting.default:
                parts.append(setting.name if value is True else f"{setting.name} {value}")
        return " ".join(parts)


ADDRESSEES = ADDRESSEES_SETTING
CONTINUES = "Continue the conversation whose turns so far stand under CONVERSATION."
BEGINS = (
    "Write the conversation that these people have about what stands under TOPIC, from its first turn on."
)
USUAL_WORDS = 20


def _step_by_step(state: State) -> bool:
    return bool(state["settings"][STRATEGY] == TURN_BY_TURN)


def _values(state: State, names: Sequence[str]) -> dict[str, str]:
    """Return the values of the prompt's placeholders."""
    cast, settings = Cast.from_json(state["cast"]), state["settings"]
    history, new_turns = (StoredTurns.from_json(state[name]).turns for name in ("history", "written"))
    blocks = [quote("CAST", state["people"])]
    blocks += [quote("TOPIC", state["facts"])] if state["facts"] else []
    blocks += [quote("CONVERSATION", cast.transcript(history))] if history else []
    blocks += (
        [quote("NEW TURNS", cast.transcript(new_turns, after=history, numbers=True))] if new_turns else []
    )
    fields: dict[str, Any] = dict.fromkeys(names, "...")
    return {
        "task": CONTINUES if settings[FROM] == HISTORY else BEGINS,
        "blocks": "\n\n".join(blocks),
        "constraints": worded(settings),
        "number": str(len(new_turns) + 1),
        "wanted": str(settings[TURNS]),
        "fields": "\n".join(f'- "{name}": {FORMS[name]}' for name in names),
        "example": json.dumps(fields),
    }


def _usual_words(state: State) -> int:
    """Return the mean length of a turn of the history in words, or a short turn's without history."""
    lengths = [len(turn["text"].split()) for turn in state["history"]]
    return max(1, sum(lengths) // len(lengths)) if lengths else USUAL_WORDS
