"""Writers of continuations, whole conversations, next turns and responses."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.schemes.cocoeval import BEHAVIOURS
from demo.fake_model.errors import OTHERS, Amounts, ErrorFileProblem, chances_of, number, one_chance
from demo.fake_model.requests import Request, Spoken, turns
from demo.fake_model.role import Answer, Role, Sampler
from demo.fake_model.roles.judges import SCORES

# Writer of continuations of a conversation, with behaviours planted at known rates.
#
# Its own keys in an error model:
#
# rates            expected turns with a behaviour per 30 written turns: an object by prompting and turns per
#                  call (`vanilla/30`), by prompting alone, or `*`, each with a number by behaviour
# overall          quality of a continuation as a whole, 1 to 10: an object by prompting and turns per call as
#                  above, each with a number by score (`consistency`, `collaborativeness`). It is planted in
#                  the last turn of a reply, one step higher or lower for some dialogues
# renumbered       chance that the numbers of a reply's turns are shifted by one
# speaker_by_name  chance that a reply gives speakers by name instead of id, if they have a name
# overlong         chance that a reply's first turn is far longer than usual
# copy_differs     chance that the last of the copied turns differs from the original

KEYS = tuple(behaviour.key for behaviour in BEHAVIOURS)
VANILLA, TAXONOMY = "vanilla", "taxonomy"
PER = 30
"""Rates are turns per this many turns."""
GENERATED, FIVE, SOME = "generated_turns", "five_previous_turns", "previous_turns"
MISTAKES = ("renumbered", "speaker_by_name", "overlong", "copy_differs")
_CONDITION = re.compile(rf"\*|(?:{VANILLA}|{TAXONOMY})(?:/\d{{1,3}})?")
_CONDITIONS = "vanilla/30 or the like, a prompting alone, or * is needed"
_TURNS_TO_WRITE = re.compile(r"^Write turns? (\d+)(?: to (\d+))?\.$", re.M)
_COPIED = re.compile(r"^previous_turns: the last (?:(\d+) turns|turn) of HISTORY", re.M)
_BEGINNINGS_CONTINUATION_WRITER = (
    "I think",
    "Well,",
    "Let me add that",
    "From where I sit",
    "If you ask me,",
    "Right, so",
    "To be fair,",
    "As far as I can tell",
)
_MIDDLES_CONTINUATION_WRITER = (
    "the plan for the spring",
    "what the others sent us",
    "the price of the whole thing",
    "the part that nobody tested",
    "the list from last week",
    "the room on the second floor",
    "the first draft",
    "whoever signs for it",
)
_ENDS_CONTINUATION_WRITER = (
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
    by_condition: dict[str, Amounts] = {}
    for condition, rates in value.items():
        if not _CONDITION.fullmatch(condition):
            raise ErrorFileProblem(f"{where}.{condition}: {_CONDITIONS}")
        if not isinstance(rates, dict) or not rates.keys() <= {*KEYS, OTHERS}:
            raise ErrorFileProblem(f"{where}.{condition}: a number by behaviour is needed: {', '.join(KEYS)}")
        by_condition[condition] = {
            key: number(rate, f"{where}.{condition}.{key}", 0.0, PER) for key, rate in rates.items()
        }
    return by_condition


def overall_of(value: Any, where: str) -> Rates:
    """Return the overall scores of a JSON value; raise ErrorFileProblem that names the key."""
    if not isinstance(value, dict):
        raise ErrorFileProblem(f"{where}: an object by prompting and turns per call is needed")
    by_condition: dict[str, Amounts] = {}
    for condition, scores in value.items():
        if not _CONDITION.fullmatch(condition):
            raise ErrorFileProblem(f"{where}.{condition}: {_CONDITIONS}")
        if not isinstance(scores, dict) or not scores.keys() <= set(SCORES):
            raise ErrorFileProblem(f"{where}.{condition}: a number by score is needed: {', '.join(SCORES)}")
        by_condition[condition] = {
            key: number(score, f"{where}.{condition}.{key}", 1.0, 10.0) for key, score in scores.items()
        }
    return by_condition


def chance_of(value: Any, where: str) -> float:
    """Return a chance of a JSON value; raise ErrorFileProblem that names the key."""
    return number(value, where, 0.0, 1.0)


def rate_of(rates: Rates, prompting: str, per_call: int, behaviour: str) -> float:
    """Return the expected turns with a behaviour per 30 turns: the most specific key of the rates counts."""
    for key in (f"{prompting}/{per_call}", prompting, OTHERS):
        amounts = rates.get(key, {})
        if behaviour in amounts or OTHERS in amounts:
            return amounts.get(behaviour, amounts.get(OTHERS, 0.0))
    return 0.0


def expected_turns(rates: Rates, prompting: str, per_call: int, behaviour: str, length: int = PER) -> float:
    """Return the expected number of turns of a continuation with a planted behaviour."""
    return rate_of(rates, prompting, per_call, behaviour) * length / PER


def expected_seen(
    planted: float, sensitivity: float = 1.0, specificity: float = 1.0, length: int = PER
) -> float:
    """Return the expected number of marked turns of a judge: planted * Se + (length - planted) * (1 - Sp)."""
    return planted * sensitivity + (length - planted) * (1 - specificity)


@dataclass(frozen=True)
class Task:
    """Task in a prompt: the turns to write, by whom, under which prompting, and their history."""

    first: int
    count: int
    prompting: str
    people: tuple[tuple[str, str], ...]
    history: tuple[Spoken, ...]
    copies: int
    copies_name: str

    @property
    def seen(self) -> str:
        """The history as one text, on which draws depend."""
        return "\n".join(f"[{turn.number}] {turn.full_text}" for turn in self.history)

    def speaker_of(self, turn: Spoken) -> str:
        """Return the speaker of a turn of the history, as shown."""
        head = turn.full_text.partition(":")[0]
        names = [name for name, _ in self.people if turn.full_text.startswith((f"{name}:", f"{name} ("))]
        return max(names, key=len) if names else head.partition(" (")[0]


def parse_task(request: Request) -> Task | None:
    """Return the continuation that a prompt requests, None if it requests none."""
    match = _TURNS_TO_WRITE.search(request.instruction)
    if match is None or GENERATED not in request.fields or not request.shows("HISTORY"):
        return None
    first, last = int(match[1]), int(match[2] or match[1])
    history = tuple(turn for turn in turns(request.block("HISTORY") or ()) if turn.number is not None)
    name = next((field for field in (FIVE, SOME) if field in request.fields), "")
    copy_match = _COPIED.search(request.instruction)
    some = int(copy_match[1] or 1) if copy_match else 0
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
    """Return the id and name of each possible speaker."""
    try:
        participants = json.loads("\n".join(request.block("METADATA") or ()))["participants"]
        return tuple((str(person["id"]), str(person.get("name") or person["id"])) for person in participants)
    except (ValueError, KeyError, TypeError):
        return ()


class ContinuationWriter(Role):
    """Writes the requested turns, by the people listed, with markers such as `{repetition}`."""

    key = "continuation_writer"
    title = "the next turns of a conversation"
    own_keys = {"rates": rates_of, "overall": overall_of, **dict.fromkeys(MISTAKES, chance_of)}

    def recognises(self, request: Request) -> bool:
        """Whether it asks for turns after a HISTORY, by people listed under METADATA."""
        task = parse_task(request)
        return task is not None and bool(task.people)

    def answer(self, request: Request, sampler: Sampler) -> Answer:
        """Return the copied and the written turns."""
        task = parse_task(request)
        if task is None or not task.people:
            return Answer({GENERATED: []})
        wrong = {name for name in MISTAKES if _errs(sampler, name, task)}
        reply: dict[str, Any] = {}
        if task.copies_name:
            reply[task.copies_name] = copy_turns(task, differs="copy_differs" in wrong)
        shift = int("renumbered" in wrong)
        names = dict(task.people) if "speaker_by_name" in wrong else {}
        last = task.speaker_of(task.history[-1]) if task.history else ""
        reply[GENERATED] = []
        for turn in range(task.first, task.first + task.count):
            last = next_speaker(task, sampler, turn, last)
            text = content(task, sampler, turn)
            if turn == task.first + task.count - 1:
                text += overall_markers(task, sampler)
            if "overlong" in wrong and turn == task.first:
                text = " ".join([text] * 200)
            reply[GENERATED].append(_turn_of_continuation_writer(turn + shift, names.get(last, last), text))
        return Answer(reply)


def copy_turns(task: Task, *, differs: bool = False) -> list[dict[str, Any]]:
    """Return the last turns of the history verbatim, or with another ending."""
    last_turns = [turn for turn in task.history if turn.text][-task.copies :]
    copies = [
        _turn_of_continuation_writer(turn.number or 0, task.speaker_of(turn), turn.text)
        for turn in last_turns
    ]
    if differs and copies:
        copies[-1]["content"] += " And so on."
    return copies


def next_speaker(task: Task, sampler: Sampler, turn: int, last: str) -> str:
    """Return the next speaker: anybody but the previous one, if there are several."""
    ids = [speaker_id for speaker_id, _ in task.people]
    others = [speaker_id for speaker_id in ids if speaker_id != last] or ids
    return others[int(sampler.draw(f"speaker {turn}", task.seen) * len(others))]


def content(task: Task, sampler: Sampler, turn: int) -> str:
    """Return the text of a turn, with a marker for the behaviours planted in it."""
    parts = [
        phrases[int(sampler.draw(f"part {n} {turn}", task.seen) * len(phrases))]
        for n, phrases in enumerate(
            (_BEGINNINGS_CONTINUATION_WRITER, _MIDDLES_CONTINUATION_WRITER, _ENDS_CONTINUATION_WRITER)
        )
    ]
    planted_keys = planted(task, sampler, turn)
    return " ".join([*parts, *([f"{{{' '.join(planted_keys)}}}"] if planted_keys else [])])


def overall_markers(task: Task, sampler: Sampler) -> str:
    """Return markers for the overall quality of the continuation; '' if the error model has none."""
    scores: Rates = sampler.errors.own.get("overall", {})
    keys = (f"{task.prompting}/{task.count}", task.prompting, OTHERS)
    amounts = next((scores[key] for key in keys if key in scores), {})
    markers = (
        f"{{{name} {min(max(round(score) + int(sampler.draw(name, task.seen) * 3) - 1, 1), 10)}}}"
        for name, score in amounts.items()
    )
    return "".join(f" {marker}" for marker in markers)


def planted(task: Task, sampler: Sampler, turn: int) -> list[str]:
    """Return the behaviours planted in a turn: one draw each."""
    rates: Rates = sampler.errors.own.get("rates", {})
    return [
        key
        for key in KEYS
        if sampler.draw(f"{key} {turn}", task.seen) < rate_of(rates, task.prompting, task.count, key) / PER
    ]


def _errs(sampler: Sampler, name: str, task: Task) -> bool:
    chance: float = sampler.errors.own.get(name, 0.0)
    return sampler.draw(f"{name} {task.first}", task.seen) < chance


def _turn_of_continuation_writer(number_: int, speaker: str, text: str) -> dict[str, Any]:
    return {"turn_number": number_, "speaker": speaker, "content": text}


# Writer of whole conversations, or of the next turn, that violates constraints at planted rates.
#
# Its own key in an error model: `violations`, an object with the chance, per constraint, that a conversation
# violates it. The chances are independent if at least three people are listed and there are enough turns:
# at least (min_each + 1) times the number of people, plus max_in_a_row + 2.

LISTED_SPEAKERS, COUNT, EVERYONE, IN_A_ROW, ADDRESSEE = (
    "listed_speakers",
    "turn_count",
    "everyone_speaks",
    "max_in_a_row",
    "addressee_named",
)
CONSTRAINTS = (LISTED_SPEAKERS, COUNT, EVERYONE, IN_A_ROW, ADDRESSEE)
STRANGER = "Somebody Else"
LIST = "conversation"
_EXACTLY = re.compile(r"exactly (\d+) turns?\b")
_ABOUT = re.compile(r"about (\d+) turns?: (?:at least (\d+))?(?: and )?(?:at most (\d+))?")
_ROW = re.compile(r"more than (\d+) turns? in a row")
_NUMBERED = re.compile(r"\[\d+\] ")
_BEGINNINGS_CONVERSATION_WRITER = (
    "I would say",
    "Let us be clear:",
    "As I see it,",
    "Well,",
    "To be honest,",
    "My point is that",
)
_MIDDLES_CONVERSATION_WRITER = (
    "the first part",
    "what we know so far",
    "the cost of it",
    "the next step",
    "the other side of it",
)
_ENDS_CONVERSATION_WRITER = (
    "matters most here.",
    "is still open.",
    "should not surprise us.",
    "deserves a closer look.",
    "can wait.",
)


@dataclass(frozen=True, slots=True)
class Constraints:
    """Constraints in a prompt: number of turns (with limits, 0 for none), and maximum turns in a row."""

    turns: int
    least: int = 0
    most: int = 0
    in_a_row: int = 0


def parse_constraints(instruction: str) -> Constraints:
    """Return the constraints in a prompt."""
    row = _ROW.search(instruction)
    in_a_row = int(row[1]) if row else 0
    if (about := _ABOUT.search(instruction)) is not None:
        return Constraints(int(about[1]), int(about[2] or 0), int(about[3] or 0), in_a_row)
    exactly = _EXACTLY.search(instruction)
    return Constraints(int(exactly[1]) if exactly else 1, in_a_row=in_a_row)


def speakers(names: Sequence[str], constraints: Constraints, violated: Collection[str]) -> list[str]:
    """Return the speaker of each turn: everybody in turn, except for the violated constraints.

    A turn too many (or too few, if only the minimum is limited); the last of the names never; the first one
    at the beginning once too often; somebody who is not listed in the last turn.
    """
    speaking = list(names[:-1]) if EVERYONE in violated and len(names) > 1 else list(names)
    row = constraints.in_a_row + 1 if IN_A_ROW in violated and constraints.in_a_row else 0
    number = _length(constraints) if COUNT in violated else constraints.turns
    order = [speaking[0]] * row + [speaking[(i + bool(row)) % len(speaking)] for i in range(number)]
    order = order[:number]
    if LISTED_SPEAKERS in violated:
        order[-1] = STRANGER
    return order


def expected_compliance(rates: Mapping[str, float]) -> dict[str, float]:
    """Return the expected share of conversations that keep each constraint."""
    return {name: 1 - rates.get(name, 0.0) for name in CONSTRAINTS}


def _length(constraints: Constraints) -> int:
    """Return a number of turns that violates the constraints."""
    if constraints.most or not constraints.least:
        return (constraints.most or constraints.turns) + 1
    return max(1, constraints.least - 1)


class ConversationWriter(Role):
    """Writes a conversation of everybody under CAST in turn, or only its next turn."""

    key = "conversation_writer"
    title = "a whole conversation, or its next turn"
    own_keys = {"violations": chances_of(CONSTRAINTS)}

    def recognises(self, request: Request) -> bool:
        """Whether it has a CAST, and asks for turns with speaker and message."""
        return (
            "CAST" in request.titles
            and '"speaker":' in request.instruction
            and '"message":' in request.instruction
        )

    def answer(self, request: Request, sampler: Sampler) -> Answer:
        """Return the list of turns, or one turn if one is requested."""
        about = _about(request)
        violated = violations(about, sampler)
        one_by_one = "Answer with one JSON object" in request.instruction
        constraints = parse_constraints(request.instruction)
        names = [line for line in request.block("CAST") or () if not line.startswith(" ")] or ["Ana"]
        order = speakers(names, constraints, violated - {COUNT} if one_by_one else violated)
        with_addressee = '"addressee":' in request.instruction
        turns = [
            _turn(at, name, names, about, sampler, with_addressee, ADDRESSEE in violated)
            for at, name in enumerate(order)
        ]
        if one_by_one:
            turn_count = sum(bool(_NUMBERED.match(line)) for line in request.block("NEW TURNS") or ())
            return Answer(turns[min(turn_count, len(turns) - 1)])
        return Answer(
            lines=[json.dumps(turns if request.schema is None else {LIST: turns}, ensure_ascii=False)]
        )


def violations(about: str, sampler: Sampler) -> set[str]:
    """Return the violated constraints of the conversation about a text: one draw each."""
    rates: Mapping[str, float] = sampler.errors.own.get("violations", {})
    return {name for name in CONSTRAINTS if sampler.draw(name, about) < rates.get(name, 0.0)}


def _about(request: Request) -> str:
    """Return the text on which draws depend: the parts of a prompt that stay the same from turn to turn."""
    return "\n".join("\n".join(request.block(title) or ()) for title in ("CAST", "TOPIC", "CONVERSATION"))


def _turn(
    at: int,
    speaker_name: str,
    names: Sequence[str],
    about: str,
    sampler: Sampler,
    with_addressee: bool,
    forgets: bool,
) -> dict[str, Any]:
    """Return a turn; every second one is addressed to all, the first to nobody if the addressee is
    forgotten.
    """
    parts = (_BEGINNINGS_CONVERSATION_WRITER, _MIDDLES_CONVERSATION_WRITER, _ENDS_CONVERSATION_WRITER)
    text = " ".join(
        phrases[int(sampler.draw(f"part {n} {at}", about) * len(phrases))] for n, phrases in enumerate(parts)
    )
    turn = {"speaker": speaker_name, "message": text}
    if with_addressee:
        other = next((name for name in names if name != speaker_name), "all")
        turn["addressee"] = "" if forgets and at == 0 else ("all" if at % 2 else other)
    return turn


# Predictor of the next turn of numbered conversations: the speaker, the message, or both.
#
# Its own keys in an error model:
#
# q          chance of the speaker of the most recent turn that is not by the last speaker (default 0.5);
#            else, or if there is none, one of the listed speakers, uniformly
# left_out   chance that a conversation is left out of the reply
# stranger   chance that the speaker is not one of those listed

NUMBER, SPEAKER, MESSAGE = "dialogue_id", "next_speaker", "next_message"
SPEAKER_LIST = "predictions"
Q = 0.5
STRANGE_SPEAKER = "Nobody Listed"
_TITLE = re.compile(r"DIALOGUE (\d+)")
_PRIVATE = re.compile(r"^\(private: .*?\) ")
_SPOKEN = re.compile(r"(?: \([^()]*\))?: (.*)")
_FIELD = re.compile(r'"(\w+)":')
_MARKER = re.compile(r"\{[^{}]*\}")
_OPENINGS = (
    "Yes,",
    "I am not so sure about",
    "Could we come back to",
    "That reminds me:",
    "Before we go on,",
    "So,",
)
_WORDS = 8


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation of a prompt: its number, possible speakers, and (speaker, text) of each turn."""

    number: int
    names: tuple[str, ...]
    spoken_turns: tuple[tuple[str, str], ...]

    @property
    def text(self) -> str:
        """The text on which draws depend."""
        return "\n".join(f"{speaker}: {text}" for speaker, text in self.spoken_turns)


def conversations(request: Request) -> list[Conversation]:
    """Return the conversations of a prompt, in their order."""
    numbers = [int(match[1]) for title in request.titles if (match := _TITLE.fullmatch(title))]
    read = []
    for each in numbers:
        names = tuple(request.block(f"SPEAKERS {each}") or ())
        lines = request.block(f"DIALOGUE {each}") or ()
        read.append(
            Conversation(each, names, tuple(filter(None, (parse_line(line, names) for line in lines))))
        )
    return read


def parse_line(line: str, names: Sequence[str]) -> tuple[str, str] | None:
    """Return (speaker, words) of a transcript line; None if it holds no speech."""
    bare = _PRIVATE.sub("", line)
    for name in sorted(names, key=len, reverse=True):
        if bare.startswith(name) and (match := _SPOKEN.match(bare[len(name) :])):
            return name, match[1]
    return None


def recent_other(speakers: Sequence[str]) -> str | None:
    """Return the speaker of the most recent turn that is not by the last speaker, None without one."""
    return next((speaker for speaker in reversed(speakers) if speaker != speakers[-1]), None)


def chances(speakers: Sequence[str], names: Sequence[str], q: float = Q) -> dict[str, float]:
    """Return the chance of each listed speaker to be named after turns by `speakers`."""
    recent = recent_other(speakers)
    own = q if recent in names else 0.0
    return {name: (1 - own) / len(names) + (own if name == recent else 0.0) for name in names}


def expected(likely: Mapping[str, float], values: Mapping[str, float]) -> float:
    """Return the expectation of a metric that has a value for each speaker:
    q · f(r) + (1 - q) / n · the sum of f over all n."""
    return sum(chance * values[name] for name, chance in likely.items())


def expected_square(likely: Mapping[str, float], values: Mapping[str, float]) -> float:
    """Return the expectation of the metric's square, for the variance."""
    return sum(chance * values[name] ** 2 for name, chance in likely.items())


class NextSpeaker(Role):
    """Answers with the speaker by the rule, and a message built from the last turn."""

    key = "next_speaker"
    title = "who speaks next, and what is said"
    own_keys = dict.fromkeys(("q", "left_out", "stranger"), one_chance)

    def recognises(self, request: Request) -> bool:
        """Whether it has numbered conversations with speakers, and asks for one half of a turn or both."""
        fields = set(_FIELD.findall(request.instruction))
        return NUMBER in fields and bool(fields & {SPEAKER, MESSAGE}) and "DIALOGUE 1" in request.titles

    def answer(self, request: Request, sampler: Sampler) -> Answer:
        """Return the list, in an object with one key if the request wants an object."""
        fields = [name for name in (SPEAKER, MESSAGE) if f'"{name}":' in request.instruction]
        rows = []
        for conversation in conversations(request):
            if sampler.draw("left_out", conversation.text) >= sampler.errors.own.get("left_out", 0.0):
                row = {SPEAKER: speaker(conversation, sampler), MESSAGE: message(conversation, sampler)}
                rows.append({NUMBER: str(conversation.number), **{name: row[name] for name in fields}})
        reply = rows if request.schema is None else {SPEAKER_LIST: rows}
        return Answer(lines=[json.dumps(reply, ensure_ascii=False)])


def speaker(conversation: Conversation, sampler: Sampler) -> str:
    """Return the next speaker, by one draw over the chances of all."""
    if sampler.draw("stranger", conversation.text) < sampler.errors.own.get("stranger", 0.0):
        return STRANGE_SPEAKER
    likely = chances(
        [name for name, _ in conversation.spoken_turns], conversation.names, sampler.errors.own.get("q", Q)
    )
    draw, total = sampler.draw("speaker", conversation.text), 0.0
    for name, chance in likely.items():
        total += chance
        if draw < total:
            return name
    return conversation.names[-1]


def message(conversation: Conversation, sampler: Sampler) -> str:
    """Return a message: an opening, and the first words of the last turn without its markers."""
    last = conversation.spoken_turns[-1][1] if conversation.spoken_turns else "what we are here for"
    words = _MARKER.sub("", last).split()[:_WORDS] or ["that"]
    opening = _OPENINGS[int(sampler.draw("message", conversation.text) * len(_OPENINGS))]
    return f"{opening} {' '.join(words)}"


# Writer of a response in the place of one of two people, with its quality planted in the response.
#
# Its own keys in an error model:
#
# quality    an object with the chance of each quality from 1 to 5, planted as `{quality 4}`; the remainder
#            to 1 is the chance of no marker
# overlong   chance that a response is a hundred times as long

RESPONSE = "response"
QUALITIES = ("1", "2", "3", "4", "5")
UNMARKED = 3.0
TIMES = 100
_BEGINNINGS = ("Oh nice,", "Really?", "I know what you mean,", "Me too,", "That sounds good,", "Hm,")
_MIDDLES = (
    "I often think about",
    "I grew up with",
    "my sister cannot stand",
    "I would love to try",
    "I gave up",
)
_ENDS = ("that kind of thing.", "something like it.", "it, every single day.", "the sea and all that.")


def _by_model(value: Any, where: str) -> Mapping[str, Mapping[str, float]]:
    """Return the chances of each quality by the name of the model that writes."""
    if not isinstance(value, dict):
        raise ErrorFileProblem(f"{where}: chances by the name of a model are needed")
    read = chances_of(QUALITIES)
    return {str(model): read(chances, f"{where}.{model}") for model, chances in value.items()}


class ResponseWriter(Role):
    """Writes one response to a CONVERSATION, as the person under YOUR PERSONA."""

    key = "response_writer"
    title = "one response in the place of a person"
    own_keys = {"quality": chances_of(QUALITIES), "quality_by_model": _by_model, "overlong": one_chance}

    def recognises(self, request: Request) -> bool:
        """Whether it has an own persona and a conversation, and asks for a response."""
        return {"YOUR PERSONA", "CONVERSATION"} <= set(request.titles) and request.fields == (RESPONSE,)

    def answer(self, request: Request, sampler: Sampler) -> Answer:
        """Return the response with its marker."""
        about = "\n".join((*(request.block("YOUR PERSONA") or ()), *(request.block("CONVERSATION") or ())))
        model = request.raw.get("model")
        own = sampler.errors.own.get("quality_by_model", {}).get(model)
        if own is not None:
            about = f"{model}\n{about}"
        parts = enumerate((_BEGINNINGS, _MIDDLES, _ENDS))
        text = " ".join(phrases[int(sampler.draw(f"part {n}", about) * len(phrases))] for n, phrases in parts)
        if sampler.draw("overlong", about) < sampler.errors.own.get("overlong", 0.0):
            text = " ".join([text] * TIMES)
        quality = planted_quality(about, sampler, own)
        return Answer({RESPONSE: f"{text} {{quality {quality}}}" if quality else text})


def planted_quality(about: str, sampler: Sampler, own: Mapping[str, float] | None = None) -> str:
    """Return the planted quality of a response, '' for none; `own` are the chances of this model alone."""
    rates: Mapping[str, float] = sampler.errors.own.get("quality", {}) if own is None else own
    draw, total = sampler.draw("quality", about), 0.0
    for quality in QUALITIES:
        total += rates.get(quality, 0.0)
        if draw < total:
            return quality
    return ""


def expected_quality(rates: Mapping[str, float]) -> float:
    """Return the expected quality of a response as read by a judge without errors: 3 without a marker."""
    marked = sum(float(quality) * chance for quality, chance in rates.items())
    return marked + UNMARKED * (1 - sum(rates.values()))
