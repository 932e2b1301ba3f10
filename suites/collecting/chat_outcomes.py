"""What a finished conversation becomes: a continuation, and comparisons of the replies of an arena."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from annotation import records, scheme_store
from annotation.corpora import comparisons, continuing
from annotation.models import (
    Continuation,
    ContinuationAuthor,
    Item,
    ItemMember,
    Occasion,
    SchemeVersion,
    System,
    Task,
)
from annotation.schemes import SCHEMES
from annotation.schemes.definitions import FIRST, SECOND
from annotation.work import labels
from suites.collecting.chat_systems import ARENA
from suites.collecting.models import Chat, ChatPlan, ChatReply, ChatSystem

PREFERENCE = "preference"
"""Scheme and question of the comparisons: which of two replies is better, all in all."""


def write(chat: Chat, plan: ChatPlan) -> None:
    """Write a finished conversation to its continuation: turns with times, people by pseudonym.

    With systems, people's turns are given, and each choice of an arena becomes a comparison.
    """
    part = chat.task.continuation
    turns = _turns(chat, plan)
    if plan.has_systems:
        _set_system(part, chat)
    continuing.fill(continuation=part, turns=turns)
    _add_authors(part, chat)
    version = chat.campaign.scheme_version
    if version.unit == SchemeVersion.Unit.ITEM:
        item = Item.objects.get(continuation=part, kind=version.item_kind)
        Task.objects.filter(pk=chat.task_id).update(item=item)
    if plan.partner == ChatPlan.Partner.ARENA:
        _compare(chat, turns)


def _add_authors(part: Continuation, chat: Chat) -> None:
    """Note who wrote turns of a continuation: nobody is assigned what they wrote."""
    people = chat.seats.filter(user__isnull=False).order_by("number").values_list("user", flat=True)
    ContinuationAuthor.objects.bulk_create(
        ContinuationAuthor(continuation=part, user_id=person) for person in people
    )


def _turns(chat: Chat, plan: ChatPlan) -> list[records.Turn]:
    """Return a conversation's turns as records; those of an arena say which system wrote each."""
    dialogue = chat.task.continuation.dialogue
    seats = {seat.pk: seat for seat in chat.seats.all()}
    people = [seat.user_id for seat in seats.values() if seat.user_id is not None]
    names = labels.pseudonyms_of_people(people, dialogue.corpus_id)
    systems = {reply.number: reply.system.system.name for reply in _replies(chat) if reply.is_picked}
    turns = []
    for message in chat.messages.all():
        seat = seats[message.seat_id]
        extra = {} if seat.user_id is None else {"annotator": names[seat.user_id]}
        if seat.is_system and plan.partner == ChatPlan.Partner.ARENA:
            extra = {"system": systems[message.number]}
        speaker = dialogue.participants[seat.number - 1]["id"]
        turn = records.Turn(speaker=speaker, text=message.text, time=_time(message.at), extra=extra)
        turns.append(replace(turn, given=plan.has_systems and not seat.is_system))
    return turns


def _replies(chat: Chat) -> Sequence[ChatReply]:
    return list(chat.replies.select_related("system__system").order_by("number", "place"))


def _time(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds")


def _set_system(part: Continuation, chat: Chat) -> None:
    """Name the system and the condition of a continuation that was made before these were drawn."""
    systems = list(chat.systems.select_related("system").order_by("pk"))
    if len(systems) == 1:
        part.system, part.condition = systems[0].system, condition_of(systems[0])
    else:
        part.system, _ = System.objects.get_or_create(corpus=chat.campaign.corpus, name=ARENA)
        part.condition = {}
    part.save(update_fields=["system", "condition"])


def condition_of(system: ChatSystem) -> dict[str, Any]:
    """Return the condition of a system's continuations: its model, and the sampling parameters by name."""
    plain: Mapping[str, Any] = {
        name: value
        for name, value in system.spec["parameters"].items()
        if isinstance(value, str | int | float | bool)
    }
    return {"model": system.spec["model"], **plain}


def _compare(chat: Chat, turns: Sequence[records.Turn]) -> None:
    """Make a comparison of each choice: two continuations with what was said before as given turns.

    The label is of the person who chose; `shown` has the order in which they saw the replies.
    """
    part, seat = chat.task.continuation, chat.seats.get(is_system=False)
    before = [replace(turn, given=True) for turn in turns]
    pairs: dict[int, list[tuple[ChatReply, Continuation]]] = {}
    for reply in _replies(chat):
        own = records.Turn(speaker=turns[reply.number - 1].speaker, text=reply.text, time=_time(reply.at))
        row = _continuation(part, reply, (*before[: reply.number - 1], own))
        _add_authors(row, chat)
        pairs.setdefault(reply.number, []).append((reply, row))
    members = {
        number: [(row.pk, row.turns.get(given=False).pk) for _, row in pair] for number, pair in pairs.items()
    }
    comparisons.make(corpus=chat.campaign.corpus, sets=list(members.values()))
    if seat.user is None:
        return
    question = scheme_store.store(definition=SCHEMES[PREFERENCE]).questions.get(key=PREFERENCE)
    answers = []
    for number, pair in pairs.items():
        item = Item.objects.get(compared=comparisons.compared(members[number]))
        places = dict(ItemMember.objects.filter(item=item).values_list("continuation", "number"))
        picked = next(places[row.pk] for reply, row in pair if reply.is_picked)
        order = tuple(places[row.pk] for _, row in pair)
        answers.append(labels.Answer(item, question, SECOND if picked else FIRST, shown=order))
    labels.record(rater=labels.rater_of_person(user=seat.user), answers=answers, occasion=Occasion.MAIN)


def _continuation(part: Continuation, reply: ChatReply, turns: tuple[records.Turn, ...]) -> Continuation:
    record = records.Continuation(
        id=f"{part.key}-{reply.number}-{reply.place}",
        system=reply.system.system.name,
        turns=turns,
        condition=condition_of(reply.system),
    )
    return continuing.add(dialogue=part.dialogue, system=reply.system.system, record=record)
