"""What a fact or a quiz question has to say before it is kept: each field, with what is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from annotation.errors import QuestionsRefused
from annotation.formats.fields import NAME_LIMIT
from annotation.importing.rows import participant_record
from annotation.models import Dialogue, Turn
from annotation.question_sets.relations import table_of
from annotation.records import SELF
from annotation.scripts.records import FACT, Fact, Question
from annotation.scripts.relations import PERSON
from annotation.scripts.sessions import People
from annotation.scripts.stored import fact_json, question_json
from annotation.text.cleaning import one_line
from annotation.text.tokens import fold

TEXT_LIMIT = 2_000
CHOICES = 4


def content(
    dialogue: Dialogue, kind: str, told: Mapping[str, Any], before: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return a record's content as it is kept. Raises QuestionsRefused, naming the field at fault.

    `before` is what it was: fields that nobody edits by hand (wordings, turns of the evidence) stay.
    """
    return _fact(dialogue, told) if kind == FACT else _question(dialogue, told, before or {})


def _fact(dialogue: Dialogue, told: Mapping[str, Any]) -> dict[str, Any]:
    """`head, relation, tail, session, turns` (numbers from 1)."""
    table = table_of(dialogue.corpus)
    names = {fold(key): key for key in table}
    relation = names.get(fold(_text(told, "relation", NAME_LIMIT)))
    if relation is None:
        raise QuestionsRefused(
            f"There is no relation {str(told.get('relation'))[:60]!r}: choose one of the table.",
            field="relation",
        )
    people = People(map(participant_record, dialogue.participants))
    ends = {}
    for name, kind in (("head", table[relation].head), ("tail", table[relation].tail)):
        text = _text(told, name, NAME_LIMIT)
        ends[name] = (people.name(text) or text) if kind == PERSON else text
    if fold(ends["head"]) == fold(ends["tail"]):
        raise QuestionsRefused("Head and tail are the same.", field="tail")
    (session,) = _sessions(dialogue, [str(told.get("session") or "")], "session")
    turns = _turns(dialogue, told.get("turns") or (), session)
    return fact_json(Fact("", ends["head"], relation, ends["tail"], session, turns))


def _question(dialogue: Dialogue, told: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """`text, answer, choices, evidence, evidence_all`."""
    text, answer = _text(told, "text", TEXT_LIMIT), _text(told, "answer", TEXT_LIMIT)
    if not text.endswith("?"):
        raise QuestionsRefused("A question ends with a question mark.", field="text")
    choices = tuple(one_line(str(choice)) for choice in told.get("choices") or () if str(choice).strip())
    if len(choices) != CHOICES or len({fold(choice) for choice in choices}) != CHOICES:
        raise QuestionsRefused(f"Give {CHOICES} different choices.", field="choices")
    if answer not in choices:
        raise QuestionsRefused("The answer is one of the choices.", field="answer")
    evidence = _sessions(dialogue, list(map(str, told.get("evidence") or ())), "evidence")
    made = Question(
        id="",
        source="quiz",
        text=text,
        choices=choices,
        answer=answer,
        evidence=evidence,
        evidence_all=bool(told.get("evidence_all")) and len(evidence) > 1,
        evidence_turns=tuple(before.get("evidence_turns") or ())
        if before.get("evidence") == list(evidence)
        else (),
        dated=bool(before.get("dated")),
        styles=dict(before.get("styles") or {}) if before.get("text") == text else {},
    )
    return question_json(made)


def _text(told: Mapping[str, Any], name: str, limit: int) -> str:
    text = one_line(str(told.get(name) or "").replace("\0", ""))
    if not text:
        raise QuestionsRefused("It is needed.", field=name)
    if len(text) > limit:
        raise QuestionsRefused(f"At most {limit:,} characters.", field=name)
    return text


def _sessions(dialogue: Dialogue, told: Sequence[str], field: str) -> tuple[str, ...]:
    """Return ids of sessions in the script's order; a session may be named by its number, too."""
    ids = [session["id"] for session in (dialogue.script or {}).get("sessions", ())]
    numbers = {str(number): name for number, name in enumerate(ids, start=1)}
    meant = []
    for name in filter(None, map(str.strip, told)):
        found = name if name in ids else numbers.get(name)
        if found is None:
            raise QuestionsRefused(f"There is no session {name[:60]!r}.", field=field)
        meant.append(found)
    if not meant:
        raise QuestionsRefused("Say in which session.", field=field)
    return tuple(sorted(set(meant), key=ids.index))


def _turns(dialogue: Dialogue, numbers: Sequence[Any], session: str) -> tuple[int, ...]:
    """Return positions of turns told by number; each has to be of the session."""
    try:
        places = sorted({int(number) - 1 for number in numbers})
    except (TypeError, ValueError):
        raise QuestionsRefused("Turns are told by their numbers.", field="turns") from None
    own = Turn.objects.filter(
        continuation__dialogue=dialogue,
        continuation__key=SELF,
        position__in=[place for place in places if 0 <= place < 2**31],
        extra__session=session,
    )
    there = set(own.values_list("position", flat=True))
    for place in places:
        if place not in there:
            raise QuestionsRefused(f"Turn {place + 1} is not one of session {session[:60]}.", field="turns")
    return tuple(places)
