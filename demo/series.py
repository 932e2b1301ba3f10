"""The series of the demo: from its script and what is known of it to a long dialogue.

`demo/sources/series/` holds the script as it was written, in the form that the import `longform` reads, and
beside it a YAML file: the people, their other names, the facts that are said, by the words that say them, and
a quiz. `python -m demo.build` makes the corpus.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from annotation.formats import Source, longform
from annotation.records import Dialogue, Participant, Turn
from annotation.scripts import stored
from annotation.scripts.records import Fact, NameMap, Question, Script, Status

SOURCES = Path(__file__).parent / "sources" / "series"
SET = "series"
"""The name of the corpus's file."""
TITLE = "stairs-only"
"""The name of the files of the series."""
ACCEPTED: Status = "accepted"

Record = dict[str, Any]
Quotes = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Talk:
    """The turns of a script, found by the words that they hold."""

    turns: tuple[Turn, ...]

    def saying(self, session: str, words: str) -> int:
        """Return the position of the one turn of a session that has these words; raise ValueError."""
        places = [
            place for place, turn in enumerate(self.turns) if turn.session == session and words in turn.text
        ]
        if len(places) != 1:
            raise ValueError(f"{len(places)} turns of {session} say {words!r}")
        return places[0]

    def quoted(self, quotes: Quotes) -> tuple[int, ...]:
        """Return the positions of all turns that are quoted by session, each once, in order."""
        places = {self.saying(session, words) for session, several in quotes.items() for words in several}
        return tuple(sorted(places))


@cache
def source(title: str = TITLE) -> Record:
    """Return what stands beside a script, as it is written."""
    told: Record = yaml.safe_load((SOURCES / f"{title}.yaml").read_text(encoding="utf-8"))
    return told


def dialogue(title: str = TITLE) -> Dialogue:
    """Return the series as one long dialogue, with its facts and quiz questions, all of them accepted."""
    told = source(title)
    script = _script(title, told)
    talk = Talk(script.turns)
    return replace(
        script,
        facts=tuple(_fact(row, talk) for row in told["facts"]),
        questions=tuple(_question(row, talk) for row in told["questions"]),
    )


def lines(title: str = TITLE) -> str:
    """Return the corpus file's content."""
    return line(dialogue(title))


def line(script: Dialogue) -> str:
    """Return a long dialogue as a line of the native format."""
    return json.dumps(native(script), ensure_ascii=False) + "\n"


def native(script: Dialogue) -> Record:
    """Return a long dialogue in the native format."""
    head = {"id": script.id, "kind": stored.KIND, "language": script.language, "summary": script.summary}
    return {
        **head,
        "metadata": dict(script.metadata),
        "participants": [_person(person) for person in script.participants],
        **(stored.script_json(script.script) or {}),
        "turns": [_turn(turn) for turn in script.turns],
        "facts": [_entry(fact, stored.fact_json(fact)) for fact in script.facts],
        "questions": [_entry(asked, stored.question_json(asked)) for asked in script.questions],
        **({"question_sets": sets} if (sets := [*map(stored.set_json, script.question_sets)]) else {}),
    }


def _script(title: str, told: Record) -> Dialogue:
    """Return the script with its people under their ids, as the import of plain text reads it."""
    people = told["participants"]
    ids = {person["name"]: key for key, person in people.items()}
    settings = {longform.MAIN: people[told["main"]]["name"], longform.KEY: told["id"]}
    (read,) = longform.read(Source(SOURCES / f"{title}.script.txt", settings=settings))
    plain = read.record
    assert isinstance(plain, Dialogue)
    assert plain.script is not None
    return Dialogue(
        id=told["id"],
        language="en",
        summary=told["summary"],
        metadata={"title": told["title"]},
        participants=tuple(_participant(key, person) for key, person in people.items()),
        turns=tuple(replace(turn, speaker=ids[turn.speaker]) for turn in plain.turns),
        script=Script(
            main=told["main"],
            sessions=tuple(
                replace(session, present=tuple(ids[name] for name in session.present))
                for session in plain.script.sessions
            ),
            names=tuple(map(_names, told["names"])),
        ),
    )


def _participant(key: str, person: Record) -> Participant:
    return Participant(
        id=key,
        name=person["name"],
        role=person["role"],
        profile=tuple(person["profile"]),
        aliases=tuple(person["aliases"]),
        extra={"gender": person["gender"]},
    )


def _names(row: Record) -> NameMap:
    return NameMap(row["kind"], row["version"], tuple(row["words"].items()), tuple(row["kept"]))


def _fact(row: Record, talk: Talk) -> Fact:
    return Fact(
        id=row["id"],
        head=row["head"],
        relation=row["relation"],
        tail=row["tail"],
        session=row["session"],
        turns=(talk.saying(row["session"], row["said"]),),
        status=ACCEPTED,
    )


def _question(row: Record, talk: Talk) -> Question:
    return Question(
        id=row["id"],
        source="quiz",
        text=row["text"],
        choices=tuple(row["choices"]),
        answer=row["answer"],
        evidence=tuple(row["evidence"]),
        evidence_all=row.get("all", False),
        evidence_turns=talk.quoted(row["evidence"]),
        dated=row.get("dated", False),
        styles=row["styles"],
        status=ACCEPTED,
    )


def _person(person: Participant) -> Record:
    several: Mapping[str, Iterable[str]] = {"profile": person.profile, "aliases": person.aliases}
    return {
        "id": person.id,
        "name": person.name,
        "role": person.role,
        **{name: list(values) for name, values in several.items()},
        "extra": dict(person.extra),
    }


def _turn(turn: Turn) -> Record:
    return {"speaker": turn.speaker, "text": turn.text, "session": turn.session}


def _entry(record: Fact | Question, content: Record) -> Record:
    return {"id": record.id, **content, "status": record.status}
