"""CoCoEval's continuations: a model writes the next turns of a multi-party conversation.

The design follows CoCoEval: metadata with hidden information, a summary of the earlier conversation, the last
30 turns; 30 more turns, written 1, 5 or 30 at a time; with or without a list of behaviours (its vanilla and
taxonomy prompts); the last five turns are repeated first. The wording is Concord's own, and the behaviours
are those of the scheme `cocoeval_behaviours`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import median
from typing import Any

from annotation.records import EVENTS, SELF, Continuation, Dialogue, Participant, Turn
from annotation.schemes.cocoeval import BEHAVIOUR_TAGS as SCHEME
from annotation.schemes.cocoeval import BEHAVIOURS
from annotation.text.context import Names, entries, entry_lines, happening, heading
from annotation.text.views import METADATA, Blind, View, clean, one_line
from annotation.text.words import fold, spaced, words
from jobs.prompt import Prompt, Unparseable, object_schema
from judges.protocols.protocol import Case
from judges.protocols.quoting import Seen, quote
from judges.protocols.replies import json_object
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
    filled,
)

# Inputs of a continuation: possible speakers, metadata as JSON, and the window of numbered turns.

FIRST_TURN = "first_turn"
BOOKKEEPING = (FIRST_TURN, "part", "source")
"""Metadata entries about the origin of a dialogue, not about the conversation."""
PEOPLE = "participants"
_MORE = "      "
_NOBODY = Blind()
"""Ids of participants are not system names."""


@dataclass(frozen=True, slots=True)
class Person:
    """A possible speaker: the participant's id, the name shown, and other names."""

    id: str
    shown_name: str
    also: tuple[str, ...] = ()

    def as_json(self) -> list[Any]:
        """Return the person as plain JSON."""
        return [self.id, self.shown_name, list(self.also)]


def people_of(dialogue: Dialogue) -> tuple[Person, ...]:
    """Return the possible speakers: the participants, or the speakers of the turns where none is declared."""
    declared = dialogue.participants or tuple(
        Participant(speaker) for speaker in dict.fromkeys(turn.speaker for turn in dialogue.turns)
    )
    people: list[Person] = []
    for number, person in enumerate(declared, start=1):
        shown_name = one_line(person.id) or f"Speaker {number}"
        while any(shown_name == other.shown_name for other in people):
            shown_name = f"{shown_name} ({number})"
        names = (person.name, *person.aliases)
        people.append(Person(person.id, shown_name, tuple(name for name in names if name.strip())))
    return tuple(people)


class Cast:
    """All possible speakers; finds them by id, name or alias."""

    def __init__(self, people: Iterable[Person]) -> None:
        self.people = tuple(people)
        self.names = Names([Participant(person.id, person.shown_name) for person in self.people], _NOBODY)

    @classmethod
    def from_json(cls, rows: Sequence[Sequence[Any]]) -> Cast:
        """Return a cast from rows of `Person.as_json`."""
        return cls(Person(pk, shown_name, tuple(also)) for pk, shown_name, also in rows)

    def find(self, speaker: str) -> tuple[Person | None, bool]:
        """Return the matching person, and whether the match is by name or alias.

        The person is None where nobody or several people match.
        """
        for person in self.people:
            if speaker in (person.shown_name, person.id):
                return person, False
        folded_name = fold(one_line(speaker))
        by_id = [
            candidate
            for candidate in self.people
            if folded_name in (fold(candidate.shown_name), fold(candidate.id))
        ]
        if by_id:
            return (by_id[0] if len(by_id) == 1 else None), False
        by_name = [candidate for candidate in self.people if folded_name in map(fold, candidate.also)]
        return (by_name[0] if len(by_name) == 1 else None), True


def metadata_json(dialogue: Dialogue, people: Sequence[Person]) -> str:
    """Return a conversation's metadata and people as indented JSON, without names of systems.

    The order of the stored keys does not matter.
    """
    view = View(systems=(dialogue.system,))
    metadata = {str(key): value for key, value in dialogue.metadata.items()}
    visible = {key: metadata[key] for key in metadata if key not in (*BOOKKEEPING, PEOPLE)}
    declared = {person.id: person for person in dialogue.participants}
    person_rows = [_person(person, declared.get(person.id), view) for person in people]
    return json.dumps({**_plain(visible, view), PEOPLE: person_rows}, indent=1, ensure_ascii=False)


def _person(person: Person, declared: Participant | None, view: View) -> dict[str, Any]:
    row: dict[str, Any] = {"id": person.shown_name}
    if declared is None:
        return row
    own = {
        "name": declared.name,
        "role": declared.role,
        "profile": list(declared.profile),
        "aliases": list(declared.aliases),
    }
    extra = _plain(dict(declared.extra), view)
    return row | {k: _plain(v, view) for k, v in own.items() if v} | {
        key: value for key, value in extra.items() if key not in {"id", *own}
    }  # fmt: skip


def _plain(value: Any, view: View) -> Any:
    """Return a value with clean texts and sorted keys, without entries that would name a system."""
    if isinstance(value, Mapping):
        visible = sorted((str(key), part) for key, part in value.items() if not view.withholds(str(key)))
        return {view.line(key): _plain(part, view) for key, part in visible}
    if isinstance(value, list | tuple):
        return [_plain(part, view) for part in value]
    return view.about(value) if isinstance(value, str) else value


def window_lines(turns: Sequence[Turn], first: int, names: Names) -> list[str]:
    """Return turns as lines, `[293] Ana: So it stays round?`, further lines of a text indented.

    `first` is the first turn's number. A heading precedes turns where session or date change.
    """
    lines: list[str] = []
    before: Turn | None = None
    for number, turn in enumerate(turns, start=first):
        above = heading(turn, before, one_line)
        head, *rest = happening(turn, names, clean(turn.text)).line().split("\n")
        lines += [f"== {above} =="] if above else []
        lines += [f"[{number}] {head}", *(f"{_MORE}{line}" for line in rest)]
        before = turn
    return lines


def first_number(dialogue: Dialogue) -> int:
    """Return the number of a dialogue's first turn in the conversation it was cut from, else 1."""
    first_turn = dialogue.metadata.get(FIRST_TURN)
    return (
        first_turn
        if isinstance(first_turn, int) and not isinstance(first_turn, bool) and first_turn >= 0
        else 1
    )


@cache
def behaviours_text() -> str:
    """Return the ten behaviours with definition and example, as in the scheme."""
    return "\n".join(_described(behaviour.key) for behaviour in BEHAVIOURS)


def _described(key: str) -> str:
    question = SCHEME.question(key)
    text = question.help
    return f"- {key} ({question.group.lower()}): {text['definition']} For example: {text['example']}"


# Replies of `cocoeval_continuation`: their format, and a strict parser.

GENERATED_TURNS = "generated_turns"
COPIES = ("previous_turns", "five_previous_turns")
"""Names for the list of copied turns: ours, and the paper's name for five."""
FIVE = 5
TURN_FIELDS = ("turn_number", "speaker", "content")
MANY_TIMES = 20
"""A turn longer than this multiple of the usual length is flagged."""
RENUMBERED, BY_NAME, OVERLONG, COPY_DIFFERS = "renumbered", "speaker_by_name", "overlong", "copy_differs"

Entry = dict[str, Any]


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """Requirements of a reply: the numbers of the turns, the possible speakers, and the turns to copy.

    `copies` are (number, speaker as shown, text) of the turns to repeat. `usual` is the median length in
    words per person, `in_all` the median over all turns.
    """

    first: int
    count: int
    cast: Cast
    copies: tuple[tuple[int, str, str], ...] = ()
    usual: Mapping[str, float] | None = None
    in_all: float = 0.0


@dataclass(frozen=True, slots=True)
class Read:
    """A parsed reply: (speaker's id, text) per turn, and flags."""

    turns: tuple[tuple[str, str], ...]
    flags: tuple[str, ...] = ()


def copies_name(count: int) -> str:
    """Return the name of the list of `count` copied turns."""
    return COPIES[count == FIVE]


def schema(copies: int) -> dict[str, Any]:
    """Return the JSON schema of a reply."""
    types = zip(TURN_FIELDS, ("integer", "string", "string"), strict=True)
    turn = object_schema({name: {"type": kind} for name, kind in types})
    names = [*([copies_name(copies)] if copies else []), GENERATED_TURNS]
    return object_schema({name: {"type": "array", "items": turn} for name in names})


def form(request: TurnRequest) -> str:
    """Return the format of a reply as shown in the prompt."""
    lists = [f'  "{GENERATED_TURNS}": [{_entry(request.first)}{", ..." if request.count > 1 else ""}]']
    if request.copies:
        more = ", ..." if len(request.copies) > 1 else ""
        lists.insert(0, f'  "{copies_name(len(request.copies))}": [{_entry(request.copies[0][0])}{more}]')
    return "{\n" + ",\n".join(lists) + "\n}"


def _entry(number: int) -> str:
    return f'{{"turn_number": {number}, "speaker": "...", "content": "..."}}'


def write_reply(request: TurnRequest, turns: Sequence[tuple[str, str]]) -> str:
    """Write a reply from (speaker as shown, text) of each turn."""
    lists: dict[str, list[Entry]] = {}
    if request.copies:
        lists[copies_name(len(request.copies))] = [_turn(*copied) for copied in request.copies]
    numbered = enumerate(turns, start=request.first)
    lists[GENERATED_TURNS] = [_turn(number, speaker, text) for number, (speaker, text) in numbered]
    return json.dumps(lists, ensure_ascii=False)


def _turn(number: int, speaker: str, text: str) -> Entry:
    return dict(zip(TURN_FIELDS, (number, speaker, text), strict=True))


def read(reply: str, request: TurnRequest) -> Read:
    """Return the turns of a reply; raise Unparseable where it does not have the requested format.

    Accepted with a flag: a shifted run of numbers, a speaker named other than by id, a text much longer than
    usual, and copies that differ.
    """
    data = json_object(reply)
    copied = _copied(data, bool(request.copies))
    if unknown := sorted(set(data) - {GENERATED_TURNS, *COPIES}):
        raise Unparseable(f"there is no field {unknown[0][:40]!r} in the form that was asked for")
    entries = _entries(data, request.count)
    flags = [*_renumbered(entries, request)]
    turns = []
    for number, entry in enumerate(entries, start=request.first):
        speaker, by_name = _speaker(entry, number, request.cast)
        text = _content(entry, number)
        flags += [f"{BY_NAME}: turn {number}"] if by_name else []
        flags += _overlong(text, number, speaker, request)
        turns.append((speaker, text))
    flags += _differing(copied, request)
    return Read(tuple(turns), tuple(flags))


def _copied(data: Mapping[str, Any], is_asked: bool) -> list[Any]:
    present = [name for name in COPIES if name in data]
    if len(present) > 1:
        raise Unparseable(f"the copied turns are there twice, as {' and as '.join(present)}")
    if not is_asked:
        if present:
            raise Unparseable(f"{present[0]}: no turns were to be copied")
        return []
    if not present or not isinstance(data[present[0]], list):
        raise Unparseable(f"the list {COPIES[1]} or {COPIES[0]} is missing")
    return list(data[present[0]])


def _entries(data: Mapping[str, Any], count: int) -> list[Entry]:
    value = data.get(GENERATED_TURNS)
    if not isinstance(value, list):
        raise Unparseable(f"the list {GENERATED_TURNS} is missing")
    if len(value) != count:
        raise Unparseable(f"{GENERATED_TURNS} has {len(value):,} turns, not {count}")
    for place, entry in enumerate(value):
        if not isinstance(entry, dict) or sorted(entry) != sorted(TURN_FIELDS):
            raise Unparseable(f"{GENERATED_TURNS}[{place}] is not an object of {', '.join(TURN_FIELDS)}")
    return value


def _renumbered(entries: Sequence[Entry], request: TurnRequest) -> list[str]:
    numbers = [entry["turn_number"] for entry in entries]
    for number in numbers:
        if not isinstance(number, int) or isinstance(number, bool):
            raise Unparseable(f"turn_number: {str(number)[:40]!r} is not a whole number")
    if numbers[0] == request.first and numbers == _run(request.first, request.count):
        return []
    if numbers != _run(numbers[0], request.count):
        number_list = ", ".join(str(number)[:40] for number in numbers[:10])
        raise Unparseable(f"the turns are numbered {number_list}, not {request.first} and on without gaps")
    return [f"{RENUMBERED}: turn {request.first} and on came as {str(numbers[0])[:40]} and on"]


def _run(first: int, count: int) -> list[int]:
    return list(range(first, first + count))


def _speaker(entry: Entry, number: int, cast: Cast) -> tuple[str, bool]:
    value = entry["speaker"]
    if not isinstance(value, str):
        raise Unparseable(f"turn {number}: the speaker is not a text")
    person, by_name = cast.find(value)
    if person is None:
        raise Unparseable(f"turn {number}: {value[:60]!r} is none, or not one alone, of the people listed")
    return person.id, by_name


def _content(entry: Entry, number: int) -> str:
    value = entry["content"]
    if not isinstance(value, str):
        raise Unparseable(f"turn {number}: the content is not a text")
    if not clean(value).strip():
        raise Unparseable(f"turn {number}: the content is empty")
    if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
        raise Unparseable(f"turn {number}: the content holds characters that are no text")
    return value


def _overlong(text: str, number: int, speaker: str, request: TurnRequest) -> list[str]:
    usual = (request.usual or {}).get(speaker, request.in_all)
    length = len(words(clean(text)))
    if not usual or length <= MANY_TIMES * usual:
        return []
    return [f"{OVERLONG}: turn {number} has {length:,} words, usual are {usual:g}"]


def _differing(copied: Sequence[Any], request: TurnRequest) -> list[str]:
    """Return a flag with the number of copied turns that differ in speaker or text, if any."""
    expected = [(_speaker_key(speaker, request.cast), spaced(text)) for _, speaker, text in request.copies]
    copies = [_read_copy(entry, request.cast) for entry in copied]
    same = sum(first == second for first, second in zip(expected, copies, strict=False))
    differ = max(len(expected), len(copies)) - same
    return (
        [f"{COPY_DIFFERS}: {differ} of {len(expected)} turns before turn {request.first}"] if differ else []
    )


def _read_copy(entry: Any, cast: Cast) -> tuple[str, str] | None:
    if not isinstance(entry, dict):
        return None
    speaker, content = entry.get("speaker"), entry.get("content")
    if not isinstance(speaker, str) or not isinstance(content, str):
        return None
    return _speaker_key(speaker, cast), spaced(clean(content))


def _speaker_key(speaker: str, cast: Cast) -> str:
    """Return a key for a speaker: the id of a listed person, else the folded name."""
    person, _ = cast.find(speaker)
    return f"id {person.id}" if person else f"called {fold(speaker)}"


# Topic and objective of a conversation, as lines to quote.

OBJECTIVE = ("objective", "task_goal", "goal", "task", "task_description")
"""Metadata entries that state the purpose of a conversation."""
TOPIC = ("topic", *OBJECTIVE)
"""Metadata entries that state the topic of a conversation."""


def metadata_lines(dialogue: Dialogue, names: Sequence[str]) -> list[str]:
    """Return metadata entries as lines, [] where none is present."""
    metadata: Mapping[str, Any] = {
        name: dialogue.metadata[name] for name in names if name in dialogue.metadata
    }
    return entry_lines(entries(metadata, View(systems=(dialogue.system,))))


def facts(dialogue: Dialogue) -> list[str]:
    """Return topic, objective, agenda and summary as lines."""
    view = View(shows=("agenda", "summary", *(METADATA + name for name in TOPIC)))
    return Seen(Case(dialogue, Continuation(SELF, dialogue.system, ()), view=view)).facts()


def join_or(names: Sequence[str]) -> str:
    """Join names in words: a, b or c."""
    return " or ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)


VANILLA, TAXONOMY = "vanilla", "taxonomy"
PROMPTS = 1
"""Version of the prompt texts."""
MOST = 300


class CocoevalContinuation(Generator):
    """Writes a rollout in `turns / turns_per_call` steps, each with the written turns in its window."""

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
        """Refuse turns per call that do not divide the turns, and more copies than visible turns."""
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
        """Refuse a conversation without turns with text, or without participants."""
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
        """Keep the possible speakers, the metadata and the window; earlier turns are not needed again."""
        people = people_of(dialogue)
        window = int(settings["window"])
        before = dialogue.turns[-window:]
        lengths = _lengths(dialogue.turns)
        return {
            "settings": {setting.name: settings[setting.name] for setting in self.settings},
            "people": [person.as_json() for person in people],
            "metadata": metadata_json(dialogue, people),
            "summary": clean(dialogue.summary).strip(),
            "usual": [[speaker, median(own_lengths)] for speaker, own_lengths in lengths.items()],
            "in_all": median([length for own_lengths in lengths.values() for length in own_lengths] or [0]),
            "first": first_number(dialogue) + len(dialogue.turns) - len(before),
            "before": StoredTurns(before).as_json(),
            "written": [],
            "flags": [],
        }

    def request(self, state: State) -> Sequence[Prompt] | Done:
        """Return the prompt of the next step, or the finished continuation."""
        if len(state["written"]) >= state["settings"]["turns"]:
            return Done(turns=_written_turns(state), flags=tuple(state["flags"]))
        request = _turn_request(state)
        turns, first = _window(state)
        settings = state["settings"]
        values = {
            "k": _turns_text(request.count),
            "asked": f"turns {request.first} to {request.first + request.count - 1}"
            if request.count > 1
            else f"turn {request.first}",
            "first": str(request.first),
            "form": form(request),
            "copying": _copying(len(request.copies)),
            "behaviours": behaviours_text(),
            "metadata": quote("METADATA", state["metadata"].split("\n")),
            "summary": quote("SUMMARY", state["summary"].split("\n") if state["summary"] else ()),
            "history": quote("HISTORY", window_lines(turns, first, request.cast.names)),
        }
        name = f"{self.key}_{settings['prompting']}"
        return [filled(name, PROMPTS, values, schema(len(request.copies)))]

    def receive(self, state: State, replies: Sequence[Reply]) -> State:
        """Add the turns of the reply."""
        answer = read(replies[0].text, _turn_request(state))
        return {
            **state,
            "written": [*state["written"], *([speaker, text] for speaker, text in answer.turns)],
            "flags": [*state["flags"], *answer.flags],
        }

    def pretend(self, state: State) -> Sequence[str]:
        """Repeat the turns of the window, so that lengths are those of people."""
        request, before = _turn_request(state), StoredTurns.from_json(state["before"]).turns
        people = request.cast.people
        turns = []
        for place in range(len(state["written"]), len(state["written"]) + request.count):
            text = clean(before[place % len(before)].text)
            turns.append((people[place % len(people)].shown_name, text if text.strip() else "…"))
        return [write_reply(request, turns)]

    def anew(self, reply: str) -> str:
        """Return the written turns, without the copied ones."""
        return json.dumps(json.loads(reply)[GENERATED_TURNS], ensure_ascii=False)

    def reply(self, state: State, turns: Sequence[Turn]) -> str:
        """Return the reply that gives these turns for the next step."""
        request = _turn_request(state)
        names = request.cast.names
        return write_reply(request, [(names.of(turn.speaker), clean(turn.text)) for turn in turns])


def _is_said(turn: Turn) -> bool:
    return turn.act not in EVENTS and bool(clean(turn.text).strip())


def _lengths(turns: Sequence[Turn]) -> dict[str, list[int]]:
    """Return the lengths in words of each speaker's turns."""
    lengths: dict[str, list[int]] = {}
    for turn in turns:
        if _is_said(turn):
            lengths.setdefault(turn.speaker, []).append(len(words(clean(turn.text))))
    return lengths


def _written_turns(state: State) -> tuple[Turn, ...]:
    return tuple(Turn(speaker, text) for speaker, text in state["written"])


def _window(state: State) -> tuple[tuple[Turn, ...], int]:
    """Return the visible turns, written ones last, and the number of the first of them."""
    turns = (*StoredTurns.from_json(state["before"]).turns, *_written_turns(state))
    window = turns[-state["settings"]["window"] :]
    return window, state["first"] + len(turns) - len(window)


def _turn_request(state: State) -> TurnRequest:
    settings = state["settings"]
    cast = Cast.from_json(state["people"])
    turns, first = _window(state)
    recent: list[tuple[int, Turn]] = []
    for number, turn in zip(range(first + len(turns) - 1, first - 1, -1), reversed(turns), strict=True):
        if len(recent) == settings["copy"]:
            break
        if _is_said(turn):
            recent.append((number, turn))
    copies = [(number, cast.names.of(turn.speaker), clean(turn.text)) for number, turn in reversed(recent)]
    return TurnRequest(
        first=first + len(turns),
        count=settings["turns_per_call"],
        cast=cast,
        copies=tuple(copies),
        usual=dict(state["usual"]),
        in_all=state["in_all"],
    )


def _turns_text(count: int) -> str:
    return "1 turn" if count == 1 else f"{count} turns"


def _copying(count: int) -> str:
    if not count:
        return ""
    phrase = "the last turn" if count == 1 else f"the last {count} turns"
    return f"{copies_name(count)}: {phrase} of HISTORY, repeated word for word.\n"


# Examples for fine-tuning: the generator's own prompts, with people's own turns as the reply.
#
# One example per window of as many turns as one call writes, with people's turns as the history. Every
# example is parsed with the generator's own reader before it is handed out.

Example = dict[str, Any]
"""A line of the file: `messages` of the roles system, user and assistant."""


class NotTaught(ValueError):
    """A conversation without possible examples; the message gives the reason in a few words."""


def why_not(dialogue: Dialogue, people: Sequence[Turn], settings: Settings) -> str:
    """Return why people's continuation of a dialogue gives no examples, '' where it does."""
    if reason := CocoevalContinuation().why_not(dialogue, settings):
        return reason
    if len(people) < int(settings["turns"]):
        return f"people's continuation has {len(people)} turns, not {settings['turns']}"
    if any(turn.act in EVENTS or not clean(turn.text).strip() for turn in people[: int(settings["turns"])]):
        return "a turn of people's continuation says nothing"
    return ""


def examples(dialogue: Dialogue, people: Sequence[Turn], settings: Settings) -> Iterator[Example]:
    """Yield the examples of one dialogue: turns / turns_per_call of them.

    `people` is people's own continuation; its first `turns` turns are used. Raises NotTaught, before the
    first example, where there can be none.
    """
    if reason := why_not(dialogue, people, settings):
        raise NotTaught(reason)
    example_list = list(_examples(dialogue, people[: int(settings["turns"])], settings))
    yield from example_list


def _examples(dialogue: Dialogue, people: Sequence[Turn], settings: Settings) -> Iterator[Example]:
    generator, per_call = CocoevalContinuation(), int(settings["turns_per_call"])
    state = generator.begin(dialogue, settings)
    for start in range(0, len(people), per_call):
        prompts = generator.request(state)
        assert not isinstance(prompts, Done)  # it ends after the last turn
        reply = generator.reply(state, people[start : start + per_call])
        try:
            state = generator.receive(state, [Reply(reply)])
        except Unparseable as refused:
            raise NotTaught(f"the reader refuses people's own turns: {refused}") from refused
        yield {"messages": [*prompts[0].messages(), {"role": "assistant", "content": reply}]}
    _check(generator.request(state), people)


def _check(read: Any, people: Sequence[Turn]) -> None:
    """Raise NotTaught unless the parsed turns equal people's turns."""
    expected = [(turn.speaker, clean(turn.text)) for turn in people]
    if not isinstance(read, Done) or [(turn.speaker, turn.text) for turn in read.turns] != expected:
        raise NotTaught("people's own turns are read back otherwise than they were said")
    if odd := [flag for flag in read.flags if not flag.startswith(OVERLONG)]:
        raise NotTaught(f"people's own turns are read back with the flag {odd[0]}")
