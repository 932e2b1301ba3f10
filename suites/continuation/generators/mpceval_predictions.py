"""MPCEval: predictions of a next turn - speaker and message, the speaker alone, or the message alone."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from annotation.records import Dialogue, Turn
from annotation.text.views import clean
from jobs.prompt import TEXT, Prompt, Unparseable, list_schema
from judges.protocols.quoting import quote
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
    only,
    speaker,
)
from suites.continuation.generators.named_cast import Cast

# Points at which a next turn is predicted: numbers of preceding turns of a dialogue.

LAST, EVERY = "last", "every:"
MOST = 1_000
FORM = f"the point is {LAST}, {EVERY}N (such as {EVERY}5), or numbers of turns (such as 3,7,12)"


def is_single(point: str) -> bool:
    """Whether a setting names one point of a dialogue."""
    return point.strip() == LAST or len(_point_numbers(point) or ()) == 1


def check_points(point: str) -> None:
    """Raise WrongSettings for a setting that names no points."""
    if point.strip() != LAST and not _step(point) and not _point_numbers(point):
        raise WrongSettings(f"point: {point[:60]!r} is not understood; {FORM}.")


def prediction_points(point: str, turns: Sequence[Turn]) -> tuple[tuple[int, ...], int]:
    """Return the numbers of visible turns, ascending, and the number of points left out.

    At each point a message follows, and at least one turn precedes it: elsewhere there is nothing to predict,
    or no turn of people to place the prediction beside. `last` is the last such point.
    """
    if point.strip() == LAST:
        points = [at for at in range(1, len(turns)) if says(turns[at])][-1:]
        return tuple(points), 0
    step = _step(point)
    numbers = range(step, len(turns), step) if step else _point_numbers(point)
    valid_points = [at for at in numbers if 0 < at < len(turns) and says(turns[at])]
    return tuple(valid_points), len(numbers) - len(valid_points)


def says(turn: Turn) -> bool:
    """Whether a turn is a message with text."""
    return turn.act == "message" and bool(clean(turn.text).strip())


def _step(point: str) -> int:
    """Return n of `every:n`, 0 for anything else."""
    text = point.strip()
    return _point_number(text.removeprefix(EVERY)) if text.startswith(EVERY) else 0


def _point_numbers(point: str) -> tuple[int, ...]:
    """Return the numbers of a list, ascending and without duplicates; () for anything else."""
    numbers = [_point_number(part) for part in point.split(",")]
    return tuple(sorted(set(numbers))) if all(numbers) and len(numbers) <= MOST else ()


def _point_number(text: str) -> int:
    """Return a number from 1, 0 for anything else."""
    digits = text.strip()
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) <= 6 else 0


# Shared parts of the three predictions of a next turn: settings, prompt sections, batches, and parsing.
#
# Either nothing of people's next turn is given, or one half of it is shown and the other half predicted.

NUMBER, SPEAKER, MESSAGE = "dialogue_id", "next_speaker", "next_message"
SPEAKERS, OBJECTIVE, PROFILES, DIALOGUE = "SPEAKERS", "OBJECTIVE", "PROFILES", "DIALOGUE"
GIVEN_SPEAKER, GIVEN_MESSAGE = "NEXT SPEAKER", "NEXT MESSAGE"
UNKNOWN_SPEAKER = "unknown_speaker"
SETTINGS = (
    Setting("point", LAST, f"Where the next turn is predicted: {FORM}.", varies=True),
    Setting(
        "window", 0, "How many turns before the point are shown; 0 is all.", low=0, high=10_000, varies=True
    ),
    Setting("batch", 1, "How many dialogues share one call.", low=1, high=20),
    Setting("objective", False, "Show what the conversation is for, from the metadata.", varies=True),
    Setting("profiles", False, "Show the participants' roles and profiles.", varies=True),
    Setting("allow_new_speakers", False, "Keep a turn by somebody who is not listed, with a flag."),
)


class Prediction(Generator):
    """Predicts a next turn, or the half of it named in `asks`; the other half is in `condition`.

    One system does all three tasks: tables join the rows in which the system was given a half.
    """

    identity = "mpceval_prediction"
    produces = "static"
    settings = SETTINGS
    asks: ClassVar[tuple[str, ...]] = (SPEAKER, MESSAGE)

    def checked(self, settings: Settings) -> None:
        """Refuse invalid points, and a batch of dialogues with several points each."""
        point = str(settings["point"])
        check_points(point)
        if self.together(settings) > 1 and not is_single(point):
            raise WrongSettings(
                f"batch: dialogues share a call only where each has one point, and {point!r} may be several; "
                "set batch to 1, or point to last."
            )

    def why_not(self, dialogue: Dialogue, settings: Settings) -> str:
        """Return why nothing can be predicted: no such point, or the material to show is missing."""
        points, _ = prediction_points(str(settings["point"]), dialogue.turns)
        if not points:
            return f"nothing is said by people at the point {settings['point']}, after another turn"
        if settings["objective"] and not cocoeval_continuation.metadata_lines(
            dialogue, cocoeval_continuation.OBJECTIVE
        ):
            return f"its metadata have no {cocoeval_continuation.join_or(cocoeval_continuation.OBJECTIVE)}"
        if settings["profiles"] and not any(
            participant.profile or participant.role for participant in dialogue.participants
        ):
            return "none of its participants has a profile"
        return ""

    def begin(self, dialogue: Dialogue, settings: Settings) -> State:
        """Return the points, the turns visible before them, and people's turns at them."""
        points, left_out = prediction_points(str(settings["point"]), dialogue.turns)
        window = int(settings["window"])
        first = max(0, points[0] - window) if window and points else 0
        window_turns = dialogue.turns[first : points[-1] + 1] if points else ()
        cast = Cast.of(dialogue)
        return {
            "cast": cast.as_json(),
            "turns": StoredTurns(window_turns).as_json(),
            "first": first,
            "points": list(points),
            "window": window,
            "objective": cocoeval_continuation.metadata_lines(dialogue, cocoeval_continuation.OBJECTIVE)
            if settings["objective"]
            else [],
            "profiles": cast.people(dialogue) if settings["profiles"] else [],
            "new_speakers": bool(settings["allow_new_speakers"]),
            "flags": [f"points_left_out: {left_out}"] if left_out else [],
            "answers": [],
        }

    def request(self, state: State) -> Sequence[Prompt] | Done:
        """Return one prompt per point, or the predicted turns."""
        if not state["answers"]:
            return [self._prompt([(state, point)]) for point in state["points"]]
        turns = []
        for point, (speaker_id, text) in zip(state["points"], state["answers"], strict=True):
            own = _own(state, point)
            turns.append(
                Turn(
                    speaker_id if SPEAKER in self.asks else own.speaker,
                    text if MESSAGE in self.asks else own.text,
                    at=point,
                )
            )
        people = tuple(replace(_own(state, point), at=point) for point in state["points"])
        return Done(turns=tuple(turns), people=people, flags=tuple(state["flags"]))

    def check(self, state: State, part: int, reply: str) -> None:
        """Raise Unparseable for a reply about one point without the requested format."""
        self._read(state, state["points"][part], reply)

    def receive(self, state: State, replies: Sequence[Reply]) -> State:
        """Return the state with the predictions of all points."""
        answers, flags = [], list(state["flags"])
        for point, reply in zip(state["points"], replies, strict=True):
            speaker_id, text, is_new = self._read(state, point, reply.text)
            answers.append([speaker_id, text])
            flags += [f"{UNKNOWN_SPEAKER}: after {point} turns"] if is_new else []
        return {**state, "answers": answers, "flags": flags}

    def pretend(self, state: State) -> Sequence[str]:
        """Return the last speaker's name and a message of about the mean length, for each point."""
        texts = [turn.text for turn in StoredTurns.from_json(state["turns"]).turns] or ["yes"]
        words = max(1, sum(len(text.split()) for text in texts) // len(texts))
        replies = []
        for point in state["points"]:
            names = Cast.from_json(state["cast"]).known_at(point).shown_names()
            values = {NUMBER: "1", SPEAKER: names[0], MESSAGE: " ".join(["word"] * words)}
            replies.append(
                json.dumps([{name: values[name] for name in (NUMBER, *self.asks)}], ensure_ascii=False)
            )
        return replies

    def together(self, settings: Settings) -> int:
        """Return the size of a batch."""
        return int(settings["batch"])

    def shared(self, states: Sequence[State]) -> Prompt:
        """Return the prompt for several dialogues, numbered from 1 in their order."""
        return self._prompt([(state, state["points"][0]) for state in states])

    def apart(self, states: Sequence[State], reply: str) -> Sequence[str | None]:
        """Return each dialogue's own object as a reply; None where its number is missing or repeated.

        Raises Unparseable for anything but a list of numbered objects, and for an unknown number.
        """
        entries_by_number: dict[int, list[Mapping[str, Any]]] = {
            number: [] for number in range(1, len(states) + 1)
        }
        for place, entry in enumerate(array(reply)):
            entries_by_number[_number(entry, place, len(states))].append(entry)
        return [
            json.dumps([{**entries[0], NUMBER: "1"}], ensure_ascii=False) if len(entries) == 1 else None
            for entries in entries_by_number.values()
        ]

    def name(self, model: str, condition: Mapping[str, Value]) -> str:
        """Return the model with the settings that are not defaults, such as `m1 window 8 profiles`."""
        parts = [model, *(f"{half} given" for half in self.condition)]
        for setting in self.settings:
            if setting.varies and (value := condition[setting.name]) != setting.default:
                parts.append(setting.name if value is True else f"{setting.name} {value}")
        return " ".join(parts)

    def _prompt(self, state_points: Sequence[tuple[State, int]]) -> Prompt:
        sections = [
            self._section(number, *state_point) for number, state_point in enumerate(state_points, start=1)
        ]
        may_be_new = all(state["new_speakers"] for state, _ in state_points)
        values = {
            "dialogues": "\n\n".join(sections),
            "count": "one object"
            if len(state_points) == 1
            else f"{len(state_points)} objects, one for each conversation",
            "speaker_rule": NEW if may_be_new else LISTED_SPEAKERS,
        }
        return filled(
            self.key,
            self.version,
            values,
            list_schema("predictions", dict.fromkeys((NUMBER, *self.asks), TEXT)),
        )

    def _section(self, number: int, state: State, point: int) -> str:
        cast = Cast.from_json(state["cast"]).known_at(point)
        seen = StoredTurns.from_json(state["turns"]).turns[: point - state["first"]]
        visible = seen[-state["window"] :] if state["window"] else seen
        left_out = point - len(visible)
        heading = f"Conversation {number}"
        blocks = [
            f"{heading}, without its first {left_out:,} turns" if left_out else heading,
            quote(f"{SPEAKERS} {number}", cast.shown_names()),
            *([quote(f"{OBJECTIVE} {number}", state["objective"])] if state["objective"] else []),
            *([quote(f"{PROFILES} {number}", state["profiles"])] if state["profiles"] else []),
            quote(f"{DIALOGUE} {number}", cast.transcript(visible)),
        ]
        own = _own(state, point)
        if SPEAKER not in self.asks:
            blocks.append(
                quote(f"{GIVEN_SPEAKER} {number}", [Cast.from_json(state["cast"]).name_of(own.speaker)])
            )
        if MESSAGE not in self.asks:
            blocks.append(quote(f"{GIVEN_MESSAGE} {number}", cast.spoken(own.text)))
        return "\n\n".join(blocks)

    def _read(self, state: State, point: int, reply: str) -> tuple[str, str, bool]:
        """Return speaker and message ('' for the given half), and whether the speaker is unlisted."""
        entries = array(reply)
        if len(entries) != 1:
            raise Unparseable(f"the reply has {len(entries):,} objects, not one")
        _number(entries[0], 0, 1)
        entry = fields(entries[0], self.asks, "the object")
        only(entry, (NUMBER, *self.asks), "the object")
        text = message(entry[MESSAGE], MESSAGE) if MESSAGE in self.asks else ""
        if SPEAKER not in self.asks:
            return "", text, False
        name = speaker(entry[SPEAKER], SPEAKER)
        member = Cast.from_json(state["cast"]).known_at(point).find(name)
        if member is None and not state["new_speakers"]:
            raise Unparseable(f"unknown speaker {name[:60]!r}")
        return member.id if member else name, text, member is None


LISTED_SPEAKERS = "exactly as it stands under SPEAKERS; nobody else speaks"
NEW = "as it stands under SPEAKERS, or, where somebody new joins in, the name of that person"


def _own(state: State, point: int) -> Turn:
    """Return people's own turn at a point."""
    return StoredTurns.from_json([state["turns"][point - state["first"]]]).turns[0]


def _number(entry: Any, place: int, most: int) -> int:
    """Return the number of an entry's dialogue; raise Unparseable for a missing or unknown one."""
    where = f"object {place + 1} of the reply"
    value = fields(entry, (NUMBER,), where)[NUMBER]
    numbers = {str(number): number for number in range(1, most + 1)}
    if isinstance(value, bool) or not isinstance(value, int | str) or str(value) not in numbers:
        raise Unparseable(
            f"{where}: {NUMBER} {str(value)[:40]!r} is not the number of a dialogue that was sent"
        )
    return numbers[str(value)]


# MPCEval: the next speaker and that speaker's message, at fixed points of a dialogue.


class NextMessage(Prediction):
    """Predicts the next speaker and the message."""

    key = "mpceval_next_message"
    title = "Who speaks next, and what that person says"


# MPCEval: the next speaker alone; the message is shown.


class SpeakerGivenContent(Prediction):
    """Predicts the speaker of the next message, which is given."""

    key = "mpceval_speaker_given_content"
    title = "Who says the next message, which is given"
    condition = {"content": "given"}
    asks = (SPEAKER,)


# MPCEval: the next message alone; its speaker is shown.


class ContentGivenSpeaker(Prediction):
    """Predicts the message of the next speaker, who is given."""

    key = "mpceval_content_given_speaker"
    title = "What the next speaker says, who is given"
    condition = {"speaker": "given"}
    asks = (MESSAGE,)
