"""Long dialogues in plain text: dated sessions, each with a heading, and one line per turn.

    == s01 | 1994-09-22 | kitchen ==
    Ana: I finally bought the boots.
    Ben: (laughs) Again?

A file is one dialogue, with the file's name as its id. Directions in brackets are dropped, or kept in the
text with the setting `keep_directions`. `docs/long_dialogue/scripts.md` describes the format.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from annotation.formats.corpus_format import Format, Head, SourceRecord
from annotation.formats.fields import ID_LIMIT, NAME_LIMIT, decode_text
from annotation.formats.source import ImportProblem, Source
from annotation.records import Dialogue, Participant, Turn
from annotation.script_records import Date, Script, Session
from suites.long_dialogue.scripts.sessions import backwards

# Lines of a long dialogue in plain text: headings of sessions, speech, and directions.
#
# `docs/long_dialogue/scripts.md` describes the format.

HEADING = re.compile(r"={2,}(?P<parts>[^=].*?)={2,}")
BEGINS = re.compile(r"={2,}")
BAR = re.compile(r"\s*[|｜]\s*")
PART = re.compile(r"(?P<name>place|episode|scene|season|present)\s*[:：]\s*(?P<value>.*)", re.IGNORECASE)
SPOKEN_LINE = re.compile(r"(?P<name>[^:：]*)[:：](?P<text>.*)", re.DOTALL)
CLOCK = re.compile(r"\d[:：]\d")
DIRECTION = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|（[^（）]*）|【[^【】]*】")
SPACE = re.compile(r"\s+")
BEFORE_SIGN = re.compile(r"\s+([,.;:!?…，。；：！？])")
LIST_SEPARATOR = re.compile(r"\s*[,;、，；]\s*")
NAME = 60
"""Maximum length of a speaker's name, in characters."""
FORM = "a session begins with a line such as “== s01 | 1994-09-22 | kitchen ==”"
NEITHER = "is neither a heading of a session, nor “Name: text”, nor a direction in brackets"


@dataclass(frozen=True, slots=True)
class SpokenLine:
    """A line of speech: the speaker, the text without directions, and the directions in order.

    `marked` is the text with its directions in place.
    """

    speaker: str
    text: str
    marked: str
    directions: tuple[str, ...]


def is_heading(line: str) -> bool:
    """Whether a line is meant as the heading of a session."""
    return BEGINS.match(line) is not None


def read_heading(line: str) -> Session:
    """Parse the heading `== id | date | place | episode: ... ==` of a session; raise ImportProblem."""
    match = HEADING.fullmatch(line)
    if match is None:
        raise ImportProblem(f"the heading does not end with ==: {FORM}")
    key, *rest = BAR.split(match["parts"].strip())
    if not key or len(key) > NAME_LIMIT:
        raise ImportProblem(f"the id of a session has 1 to {NAME_LIMIT} characters: {FORM}")
    if not rest or not rest[0]:
        raise ImportProblem(f"the session {key!r} has no date: {FORM}")
    try:
        date = Date.read(rest[0])
    except ValueError as error:
        raise ImportProblem(f"the session {key!r} has no date: {error}") from None
    parts = _parts(key, rest[1:])
    present = parts.pop("present", "")
    names = dict.fromkeys(name for name in LIST_SEPARATOR.split(present) if name)
    return Session(id=key, date=date, present=tuple(names), **parts)


def _parts(key: str, rest: list[str]) -> dict[str, str]:
    """Return the further parts of a heading, by name; the unnamed part is the place."""
    parts: dict[str, str] = {}
    for part in filter(None, rest):
        match = PART.fullmatch(part)
        name, value = (match["name"].lower(), match["value"].strip()) if match else ("place", part)
        if name in parts:
            raise ImportProblem(
                f"the session {key!r} has {name} twice: after id, date and place, parts are named "
                "episode: ..., scene: ..., season: ... or present: Ana, Ben"
            )
        if name != "present" and len(value) > NAME_LIMIT:
            raise ImportProblem(f"{name} is longer than {NAME_LIMIT} characters")
        parts[name] = value
    return parts


def is_direction(line: str) -> bool:
    """Whether a line consists of directions in brackets only."""
    return not bare(line)


def bare(text: str) -> str:
    """Return a text without its directions in brackets, including nested ones."""
    before = ""
    while before != text:
        before, text = text, DIRECTION.sub(" ", text)
    return BEFORE_SIGN.sub(r"\1", SPACE.sub(" ", text)).strip()


def directions(text: str) -> tuple[str, ...]:
    """Return the outermost directions of a text, with their brackets, in order."""
    places: list[tuple[int, int]] = []
    hidden, before = text, ""
    while before != hidden:
        before = hidden
        places.extend(match.span() for match in DIRECTION.finditer(hidden))
        hidden = DIRECTION.sub(lambda match: " " * len(match[0]), hidden)
    outer = [span for span in places if not any(a < span[0] and span[1] < b for a, b in places)]
    return tuple(text[first:last] for first, last in sorted(outer))


def read_line(line: str) -> SpokenLine:
    """Parse a line `Name: text`; raise ImportProblem for any other line.

    Brackets after the name, as in `Ben (laughs): Again?`, are directions too.
    """
    head = _name(line)
    if head is None:
        raise ImportProblem(NEITHER)
    name, text = line[: head - 1], line[head:]
    speaker, before = bare(name), directions(name)
    if not speaker or len(speaker) > NAME or not any(letter.isalnum() for letter in speaker):
        raise ImportProblem(f"{NEITHER}: a name has 1 to {NAME} characters")
    marked = SPACE.sub(" ", " ".join([*before, text.strip()])).strip()
    return SpokenLine(speaker, bare(text), marked, (*before, *directions(text)))


def _name(line: str) -> int | None:
    """Return the position of the text after the name: behind the first colon outside brackets."""
    hidden, before = line, ""
    while before != hidden:
        before, hidden = hidden, DIRECTION.sub(lambda match: "_" * len(match[0]), hidden)
    match = SPOKEN_LINE.fullmatch(hidden)
    if match is None:
        return None
    colon = match.end("name")
    return None if CLOCK.match(hidden, max(colon - 1, 0)) else colon + 1


MAIN, KEEP, KEY = "main", "keep_directions", "dialogue"
EVERYBODY = frozenset(("all", "everyone", "everybody", "both", "others", "大家", "所有人", "众人", "全体"))
"""Speakers that are no single person, in any case."""
TOGETHER = re.compile(r"\s*(?:[,&/+、，]|\band\b|和)\s*", re.IGNORECASE)
MAX_PLACES = 5
"""Maximum number of places that a note lists."""


@dataclass(slots=True)
class _Reader:
    """Content of a file's lines so far, and the line on which each session begins."""

    source: Source
    keep: bool
    sessions: list[Session] = field(default_factory=list)
    lines: dict[str, int] = field(default_factory=dict)
    turns: list[Turn] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    silent: dict[str, dict[str, None]] = field(default_factory=dict)
    dropped: int = 0
    wordless: int = 0

    def take(self, number: int, line: str) -> None:
        """Process a line; raise ImportProblem for an invalid one."""
        if is_heading(line):
            self._open(read_heading(line), number)
        elif is_direction(line):
            self._direct(line)
        else:
            self._say(line)

    def _open(self, session: Session, number: int) -> None:
        first = self.lines.setdefault(session.id, number)
        if first != number:
            raise ImportProblem(f"the session {session.id!r} is there twice, first on line {first}")
        self.waiting.clear()
        self.sessions.append(session)

    def _direct(self, line: str) -> None:
        """Process a line of directions only; with `keep`, append it to the turn above it in its session."""
        if not self.sessions:
            return
        self.dropped += len(directions(line))
        if not self.keep:
            return
        if self.turns and self.turns[-1].session == self.sessions[-1].id:
            self.turns[-1] = replace(self.turns[-1], text=f"{self.turns[-1].text} {line}")
        else:
            self.waiting.append(line)

    def _say(self, line: str) -> None:
        spoken = read_line(line)
        if not self.sessions:
            raise ImportProblem("stands before the first heading of a session")
        session = self.sessions[-1].id
        self.dropped += len(spoken.directions)
        text = " ".join([*self.waiting, spoken.marked]) if self.keep else spoken.text
        if not text:
            self.wordless += 1
            self.silent.setdefault(session, {})[spoken.speaker] = None
            return
        self.waiting.clear()
        self.turns.append(Turn(spoken.speaker, text, session=session))

    def present(self, together: dict[str, tuple[str, ...]]) -> tuple[Session, ...]:
        """Return the sessions with people present without a turn: from wordless lines, or joint speakers."""
        beside = {key: dict(names) for key, names in self.silent.items()}
        for turn in self.turns:
            if turn.speaker in together:
                beside.setdefault(turn.session, {}).update(dict.fromkeys(together[turn.speaker]))
        return tuple(
            replace(session, present=tuple(dict.fromkeys((*session.present, *beside[session.id]))))
            if session.id in beside
            else session
            for session in self.sessions
        )


def read(source: Source) -> Iterator[SourceRecord]:
    """Yield the one dialogue of the file."""
    reader = _Reader(source, keep=bool(source.settings.get(KEEP)))
    for number, content in source.raw_lines():
        try:
            if line := decode_text(content).strip():
                reader.take(number, line)
        except ImportProblem as problem:
            source.report(problem.placed(line=number))
    if source.faults is not None and source.faults.problems:
        return
    if not reader.turns:
        raise ImportProblem("has no turns" if reader.sessions else "has no sessions")
    record = _dialogue(reader)
    source.notes.extend(_notes(reader, record))
    yield SourceRecord(record)


def _dialogue(reader: _Reader) -> Dialogue:
    source = reader.source
    counts = Counter(turn.speaker for turn in reader.turns)
    together = {name: parts for name in counts if (parts := _together(name, counts))}
    sessions = reader.present(together)
    collective = tuple(name for name in counts if name.casefold() in EVERYBODY or name in together)
    people = [*counts, *(name for session in sessions for name in session.present)]
    main = named_main(source, counts, tuple(dict.fromkeys(people)), collective)
    return Dialogue(
        id=dialogue_id(source),
        turns=tuple(reader.turns),
        participants=tuple(Participant(name, name=name) for name in dict.fromkeys(people)),
        script=Script(main=main, sessions=sessions, collective=tuple(dict.fromkeys(("all", *collective)))),
    )


def _together(name: str, counts: Counter[str]) -> tuple[str, ...]:
    """Return the speakers joined in a name such as `Ana and Ben`, each of whom also speaks alone."""
    parts = tuple(TOGETHER.split(name))
    return parts if len(parts) > 1 and all(part in counts for part in parts) else ()


def dialogue_id(source: Source) -> str:
    """Return the id of a file's only dialogue: that of the setting, else the file's name."""
    key = str(source.settings.get(KEY, "")) or Path(source.name).stem
    if not key or len(key) > ID_LIMIT:
        raise ImportProblem(f"the dialogue's id has 1 to {ID_LIMIT} characters: name it", field=KEY)
    return key


def named_main(
    source: Source, counts: Counter[str], people: tuple[str, ...], collective: tuple[str, ...], own: str = ""
) -> str:
    """Return the main character: the requested one, else `own`, else the most frequent speaker, with a note.

    Raises ImportProblem for a name that neither speaks nor is present.
    """
    requested = str(source.settings.get(MAIN, ""))
    persons = {name: counts[name] for name in people if name not in collective}
    if requested:
        matching = [name for name in persons if name == requested] or [
            name for name in persons if name.casefold() == requested.casefold()
        ]
        if len(matching) == 1:
            return matching[0]
        most = sorted(persons, key=lambda name: -persons[name])[:12]
        raise ImportProblem(f"{requested!r} neither speaks nor is present ({', '.join(most)} do)", field=MAIN)
    if not persons:
        raise ImportProblem("nobody but everybody speaks: there is no main character", field=MAIN)
    main = own or max(persons, key=lambda name: persons[name])
    why = "as the published file has it" if own else f"who has the most turns ({persons[main]})"
    source.notes.append(f"the main character is {main}, {why}: the setting {MAIN} names another")
    return main


def _notes(reader: _Reader, record: Dialogue) -> Iterator[str]:
    assert record.script is not None
    if reader.dropped and not reader.keep:
        yield f"directions in brackets that are dropped: {reader.dropped}"
    if reader.wordless:
        yield f"lines without words, left out; who they name is present: {reader.wordless}"
    places = {key: f"{key} on line {line}" for key, line in reader.lines.items()}
    yield from run_backwards(record.script.sessions, places)
    spoken = {turn.session for turn in reader.turns}
    empty = [session.id for session in record.script.sessions if session.id not in spoken]
    if empty:
        empty_sessions = ", ".join(f"{key} (line {reader.lines[key]})" for key in empty[:MAX_PLACES])
        yield f"sessions without a turn: {len(empty)}, {empty_sessions}"


def run_backwards(sessions: Sequence[Session], places: Mapping[str, str]) -> Iterator[str]:
    """Yield notes on dates that run backwards, with the places of both sessions in the file."""
    late = list(backwards(sessions))
    for earlier, later in late[:MAX_PLACES]:
        yield (
            f"dates run backwards: {places[later.id]} is of {later.date}, "
            f"but {places[earlier.id]} before it of {earlier.date}"
        )
    if len(late) > MAX_PLACES:
        yield f"dates run backwards in {len(late) - MAX_PLACES} further places"


def _looks_like(head: Head) -> bool:
    for line in head.text.splitlines():
        if (line := line.strip()) and not is_direction(line):
            return HEADING.fullmatch(line) is not None and ("|" in line or "｜" in line)
    return False


FORMAT = Format(
    key="longform",
    title="A long dialogue of dated sessions, in plain text",
    hint="“== s01 | 1994-09-22 | kitchen ==” begins a session, then “Name: text”, a line a turn.",
    read=read,
    looks_like=_looks_like,
    settings=(MAIN, KEEP, KEY),
)


FORMATS = {FORMAT.key: FORMAT}
