"""What annotators would see: a campaign's first tasks, and a scheme's questions beside an example.

Only reads: no task, assignment, draft or label is made.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from annotation.campaigns import tasks
from annotation.kinds.answer import ANSWER
from annotation.kinds.decision import DECISION
from annotation.kinds.fact import FACT
from annotation.kinds.question import QUESTION
from annotation.kinds.table import KINDS
from annotation.models import Campaign, Continuation, Corpus, Item
from annotation.scheme_versions.store import questionnaire_from, questionnaire_of
from annotation.schemes.base import SchemeDefinition
from annotation.text.views import DEFAULT
from annotation.work.screens import Screen, compare, compose, load_place
from annotation.work.transcripts import Head, Member, Row

# A short dialogue, written for previews: two people plan a trip, and a system goes on for one of them.

PEOPLE = [
    {"id": "ana", "name": "Ana", "role": "traveller", "profile": ["I am afraid of flying."]},
    {"id": "ben", "name": "Ben", "role": "travel agent", "profile": ["I like to find the cheapest way."]},
]
BEFORE = (
    ("ana", "Hello! I need to be in Vienna on Friday, and I would rather not fly."),
    ("ben", "Then a night train may be the thing. Where do you start?"),
    ("ana", "From Hamburg. I could leave on Thursday after work."),
)
AFTER = (
    ("ben", "There is a sleeper at 20:10 that arrives at 8:40. A seat is 49 euros, a bed 99."),
    ("ana", "A bed, please. Is breakfast included?"),
    ("ben", "It is. And as you like flying, there is also a plane at 7:15 for 39 euros."),
)

OTHERWISE = (
    AFTER[0][1],
    "You could fly at 7:15 for 39 euros.",
    "There are night trains on most days. I would look at one of them.",
)
"""What the system might say next, for schemes that compare."""


SESSIONS = [{"id": "s1", "date": {"year": 2024, "month": 5, "day": 3}}]
RECORDS: dict[str, dict[str, Any]] = {
    FACT.key: {"head": "Ana", "relation": "hometown", "tail": "Hamburg", "session": "s1", "turns": [2]},
    QUESTION.key: {
        "text": "Where does Ana have to be on Friday?",
        "choices": ["Hamburg", "Vienna", "Berlin", "Prague"],
        "answer": "Vienna",
        "evidence": ["s1"],
        "evidence_turns": [0],
    },
}
"""What schemes about facts and questions are tried on: the first turns as a session of a script."""


REPLY = {
    "key": "B",
    "answer": "Vienna",
    "choices": RECORDS[QUESTION.key]["choices"],
    "session": 1,
    "evidence": [1],
}
ANSWERED = (
    Row(False, 0, "ben", "Where do you have to be on Friday?", True, 3, None),
    Row(False, 1, "ana", "In Vienna, and not by plane.", False, 3, 1, {"extra": {"answer": REPLY}}),
)
"""A question and a reply, for schemes about answers."""


def _session() -> list[Row]:
    """Return the first turns, as those of a session."""
    return [
        Row(True, number, *turn, False, None, None, {"session": "s1"}) for number, turn in enumerate(BEFORE)
    ]


def _scripted(head: Head, kind: str) -> Head:
    record = json.dumps(RECORDS[kind]) if kind in RECORDS else None
    script = json.dumps({"main": "ana", "sessions": SESSIONS})
    return head._replace(item=1, kind=kind, script=script, record=record)


def _said(text: str) -> Member:
    return Member("rollout", True, (Row(False, 0, "ben", text, False, None, None),))


def screen(definition: SchemeDefinition, tagged: bool = True) -> Screen:
    """Return the sample as the work screen of a scheme shows it; items are numbered from 1."""
    kind = KINDS[definition.item_kind]
    all_turns = definition.unit == "continuation"
    head = Head(
        item=None if all_turns else len(AFTER),
        turn=None if all_turns or not kind.has_turn else len(AFTER) - 1,
        continuation=0,
        mode="rollout",
        dialogue=0,
        participants=json.dumps(PEOPLE),
        metadata=json.dumps({"goal": "find a way to Vienna"}),
        summary="",
        agenda=None,
        language="en",
        shows=json.dumps(DEFAULT),
        systems=[],
        conditions="[]",
        whole=kind.shows == "whole",
    )
    if kind.key == ANSWER.key:
        return compose(0, _scripted(head, kind.key), [*_session(), *ANSWERED])
    if kind.has_record:
        return compose(0, _scripted(head, kind.key), _session())
    own = [Row(True, number, *turn, False, None, None) for number, turn in enumerate(BEFORE)]
    if kind.members:
        return compare(0, head, own, [_said(text) for text in OTHERWISE[: kind.members[0]]])
    turns = [Row(False, number, *turn, False, None, number + 1) for number, turn in enumerate(AFTER)]
    made = compose(0, head, [*own, *turns], tagged)
    if kind.key == DECISION.key:
        return replace(made, named=tuple((str(person["id"]), str(person["name"])) for person in PEOPLE))
    return made.with_whole(len(AFTER) + 1) if definition.is_mixed else made


FIRST = 20
"""Tasks of a campaign that can be looked through."""


def places(campaign: Campaign) -> list[tuple[int, int | None]]:
    """Return where a campaign's first tasks are, in the order in which they are given out."""
    return tasks.first(campaign, FIRST)


def of_campaign(campaign: Campaign, place: tuple[int, int | None]) -> Screen:
    """Return the screen of one of its places, with what the campaign chose to show."""
    plan = questionnaire_of(campaign.scheme_version_id)
    return load_place(*place, campaign.shows, plan.is_tagged, plan.item_kinds)


def of_scheme(definition: SchemeDefinition, corpus: Corpus | None) -> Screen:
    """Return a screen on which a scheme's questions can be asked: from a corpus, else a built-in sample.

    A corpus without anything that the scheme asks about gives the sample, too.
    """
    plan = questionnaire_from(definition)
    found = _example(definition, corpus) if corpus is not None else None
    if found is None:
        return screen(definition, plan.is_tagged)
    return load_place(*found, DEFAULT, plan.is_tagged, plan.item_kinds)


def _example(definition: SchemeDefinition, corpus: Corpus) -> tuple[int, int | None] | None:
    """Return a corpus's first place for a scheme; the last turn of its continuation, where it asks about one.

    What a system continued comes before dialogues that are rated as they are.
    """
    refused = [mode for mode in Continuation.Mode.values if definition.refusal(mode)]
    items = Item.objects.filter(corpus=corpus, training=False, kind=definition.item_kind)
    items = items.exclude(continuation__mode__in=refused)
    first = items.exclude(continuation__key="self").order_by("pk").first() or items.order_by("pk").first()
    if first is None:
        return None
    if definition.unit == "continuation":
        return first.continuation_id, None
    if KINDS[definition.item_kind].has_turn:
        last = items.filter(continuation=first.continuation_id).order_by("-turn__position").first()
        first = last or first
    return first.continuation_id, first.pk
