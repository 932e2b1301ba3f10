"""Compact constructors of small scripts: the speakers of each session, and the facts told there."""

from __future__ import annotations

from collections.abc import Sequence

from annotation.records import Dialogue, Participant, Turn
from annotation.script_records import Date, Fact, Question, Script, Session

MAIN = "mia"


def script(
    sessions: Sequence[tuple[str, str]], facts: Sequence[Fact] = (), questions: Sequence[Question] = ()
) -> Dialogue:
    """Return a script of (date, speakers) sessions, such as ("1995-05", "mbm"); m is the main character."""
    people = {"m": MAIN, "a": "ana", "b": "ben", "c": "cara"}
    turns = [
        Turn(people[initial], f"Turn {place}.", session=f"s{number:03}")
        for number, (_, said) in enumerate(sessions, start=1)
        for place, initial in enumerate(said)
    ]
    return Dialogue(
        id="script",
        turns=tuple(turns),
        participants=tuple(Participant(person, person.title()) for person in people.values()),
        script=Script(
            MAIN,
            tuple(
                Session(f"s{number:03}", Date.read(date))
                for number, (date, _) in enumerate(sessions, start=1)
            ),
        ),
        facts=tuple(facts),
        questions=tuple(questions),
    )


def said(text: str, number: int, *turns: int, key: str = "", status: str = "accepted") -> Fact:
    """Return a fact such as "Ana, boss, Ben", said in a session."""
    head, relation, tail = text.split(", ")
    return Fact(key or f"{text}@{number}", head, relation, tail, f"s{number:03}", turns, status)  # type: ignore[arg-type]


FILLERS = tuple(
    said(f"{head}, {relation}, {tail}", 1, key=f"filler {relation} {head}")
    for relation, tails in (
        ("boss", "Pia Quin Rosa Sven"),
        ("mother", "Tess Uma Vera Wanda"),
        ("roommate", "Xena Yuri Zoe Olaf"),
        ("job", "cook pilot nurse baker"),
    )
    for head, tail in zip(["Kit", "Lea", "Max", "Nora"], tails.split(), strict=True)
)
"""Facts about others, which supply wrong answers."""
