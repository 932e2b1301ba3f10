"""The series of the demo: from its script and annotations to a long dialogue.

`demo/sources/series/` holds the script as written, in the format of the import `longform`, and a YAML file:
the people, their other names, the stated facts with the words that state them, and a quiz. `python -m
demo.build` writes the corpus.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from annotation import script_records as records
from annotation.formats import Source
from annotation.records import Dialogue, Participant, Turn
from annotation.script_records import Fact, NameMap, Question, Script, Status
from suites.long_dialogue import longform
from suites.long_dialogue.scripts.making import make

SOURCES = Path(__file__).parent / "sources" / "series"
SET = "series"
"""Name of the corpus's file."""
TITLE = "stairs-only"
"""Name of the series' files."""
ACCEPTED: Status = "accepted"

Record = dict[str, Any]
Quotes = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Talk:
    """Turns of a script, found by words in them."""

    turns: tuple[Turn, ...]

    def saying(self, session: str, words: str) -> int:
        """Return the position of the one turn of a session with these words; raise ValueError."""
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
    """Return the YAML record of a series: people, facts and quiz."""
    record: Record = yaml.safe_load((SOURCES / f"{title}.yaml").read_text(encoding="utf-8"))
    return record


def dialogue(title: str = TITLE) -> Dialogue:
    """Return the series as one long dialogue, with its facts and quiz questions, all accepted."""
    record = source(title)
    script = _script(title, record)
    talk = Talk(script.turns)
    return replace(
        script,
        facts=tuple(_fact(row, talk) for row in record["facts"]),
        questions=tuple(_question(row, talk) for row in record["questions"]),
    )


def lines(title: str = TITLE) -> str:
    """Return the corpus file's content."""
    return line(dialogue(title))


def line(script: Dialogue) -> str:
    """Return a long dialogue as a line of the native format."""
    return json.dumps(native(script), ensure_ascii=False) + "\n"


def native(script: Dialogue) -> Record:
    """Return a long dialogue in the native format."""
    head = {"id": script.id, "kind": records.KIND, "language": script.language, "summary": script.summary}
    return {
        **head,
        "metadata": dict(script.metadata),
        "participants": [_person(person) for person in script.participants],
        **(records.script_json(script.script) or {}),
        "turns": [_turn(turn) for turn in script.turns],
        "facts": [_entry(fact, records.fact_json(fact)) for fact in script.facts],
        "questions": [_entry(question, records.question_json(question)) for question in script.questions],
        **({"question_sets": sets} if (sets := [*map(records.set_json, script.question_sets)]) else {}),
    }


def _script(title: str, record: Record) -> Dialogue:
    """Return the script with people replaced by their ids, as the plain-text import reads it."""
    people = record["participants"]
    ids = {person["name"]: key for key, person in people.items()}
    settings = {longform.MAIN: people[record["main"]]["name"], longform.KEY: record["id"]}
    (read,) = longform.read(Source(SOURCES / f"{title}.script.txt", settings=settings))
    plain = read.record
    assert isinstance(plain, Dialogue)
    assert plain.script is not None
    return Dialogue(
        id=record["id"],
        language="en",
        summary=record["summary"],
        metadata={"title": record["title"]},
        participants=tuple(_participant(key, person) for key, person in people.items()),
        turns=tuple(replace(turn, speaker=ids[turn.speaker]) for turn in plain.turns),
        script=Script(
            main=record["main"],
            sessions=tuple(
                replace(session, present=tuple(ids[name] for name in session.present))
                for session in plain.script.sessions
            ),
            names=tuple(map(_names, record["names"])),
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
    list_fields: Mapping[str, Iterable[str]] = {"profile": person.profile, "aliases": person.aliases}
    return {
        "id": person.id,
        "name": person.name,
        "role": person.role,
        **{name: list(values) for name, values in list_fields.items()},
        "extra": dict(person.extra),
    }


def _turn(turn: Turn) -> Record:
    return {"speaker": turn.speaker, "text": turn.text, "session": turn.session}


def _entry(record: Fact | Question, content: Record) -> Record:
    return {"id": record.id, **content, "status": record.status}


# The series with marks for the fake reader: every turn names in braces the questions that it answers.
#
# The marks are added to the turns and questions of the series when the corpus is loaded: `{evidence q17}` in
# a turn with the answer, `{evidence q17 1/2}` in one of two that are both needed, `{fact Ana | boss | Ben}`
# in a turn that states a fact, and `{answer q.17 ...}` in the question. Questions about facts are created
# beforehand, because a mark needs a question, and share the marks of their facts: `f12`, or `f12+f30` for two
# hops.

SUFFIX = "-marked"
"""Suffix of a marked dialogue's id."""
MARKED_TITLE = "with the answers marked for the fake model"
"""Addition to its title, so that nobody takes it for an original text."""
NAME = "marked"
"""Name of its question set."""
SEED = 0

Marks = Mapping[int, Sequence[str]]
"""Marks to append to turns, by position."""


def marked_dialogue(seed: int = SEED) -> Dialogue:
    """Return the marked series with its question set, of quiz questions and questions about facts."""
    plain = dialogue()
    question_set = make(plain, name=NAME, seed=seed)
    return marked(
        replace(
            plain, questions=(*plain.questions, *question_set.questions), question_sets=(question_set.set,)
        )
    )


def marked_lines() -> str:
    """Return the corpus file's content."""
    return line(marked_dialogue())


def unreviewed(seed: int = SEED) -> str:
    """Return a corpus file of the marked series before any work on it: without facts, and with a quiz whose
    answering sessions are unknown.
    """
    script = marked_dialogue(seed)
    quiz = (
        replace(question, evidence=(), evidence_all=False, evidence_turns=(), status="draft", styles={})
        for question in script.questions
        if question.source == "quiz" and not question.origin
    )
    return line(replace(script, facts=(), questions=tuple(quiz), question_sets=()))


def marked(script: Dialogue) -> Dialogue:
    """Return a script whose turns name the facts and questions that they answer, and whose questions hold
    their answers.

    Raises ValueError if a turn's mark could be confused with that of another session that also answers.
    """
    marks = _marks(script)
    return replace(
        script,
        id=f"{script.id}{SUFFIX}",
        metadata={**script.metadata, "title": f"{script.metadata.get('title', script.id)}, {MARKED_TITLE}"},
        turns=tuple(
            replace(turn, text=" ".join([turn.text, *marks.get(place, ())]))
            for place, turn in enumerate(script.turns)
        ),
        questions=tuple(map(_add_answer_marks, script.questions)),
    )


def key_of(question: Question) -> str:
    """Return the id in the marks of a question's evidence: that of its facts, else its own."""
    return "+".join(question.facts) or question.base or question.id


def _marks(script: Dialogue) -> Marks:
    marks: dict[int, dict[str, None]] = defaultdict(dict)
    for fact in script.facts:
        for place in fact.turns:
            marks[place][f"{{fact {fact.head} | {fact.relation} | {fact.tail}}}"] = None
    for question in script.questions:
        for place, mark in _evidence(question, script):
            marks[place][mark] = None
    return {place: tuple(several) for place, several in marks.items()}


def _evidence(question: Question, script: Dialogue) -> Iterator[tuple[int, str]]:
    """Yield the marks of a question's evidence with their positions.

    The turns of one session are needed together; turns of several sessions if all sessions are needed.
    """
    key = key_of(question)
    for places in _group_positions(question, script):
        for part, place in enumerate(places, start=1):
            yield place, f"{{evidence {key}{f' {part}/{len(places)}' if len(places) > 1 else ''}}}"


def _group_positions(question: Question, script: Dialogue) -> list[tuple[int, ...]]:
    if question.evidence_all:
        return [tuple(sorted(set(question.evidence_turns)))]
    by_session: dict[str, list[int]] = defaultdict(list)
    for place in sorted(set(question.evidence_turns)):
        by_session[script.turns[place].session].append(place)
    divided = [len(places) for places in by_session.values() if len(places) > 1]
    if len(set(divided)) < len(divided):
        raise ValueError(f"question {question.id!r}: marks of its sessions cannot be told apart")
    return [tuple(places) for places in by_session.values()]


def _add_answer_marks(question: Question) -> Question:
    """Return a question with its answer in its text and in every wording."""
    mark = f"{{answer {_dot_ids(key_of(question))} {question.answer}}}"
    return replace(
        question,
        text=_insert_before_end(question.text, mark),
        styles={style: _insert_before_end(text, mark) for style, text in question.styles.items()},
    )


def _dot_ids(key: str) -> str:
    """Return an id as in questions: with dots, so that no retriever finds the evidence by id."""
    return "+".join(f"{part[:1]}.{part[1:]}" for part in key.split("+"))


def _insert_before_end(text: str, mark: str) -> str:
    return f"{text[:-1]} {mark}{text[-1:]}"
