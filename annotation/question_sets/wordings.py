"""Wordings of questions by who asks: taken into the questions, and kept when a set is made anew."""

from __future__ import annotations

from collections.abc import Mapping

from django.contrib.auth.models import User
from django.db import transaction

from annotation.models import Dialogue, Label, QuestionSet, Record
from annotation.question_sets import staleness
from annotation.question_sets.applying import supersede
from annotation.question_sets.reading import asked_before, is_kept
from annotation.scripts.records import QUESTION
from config.models import Event

Styles = Mapping[str, str]
"""Texts by the id of who asks so, and `default`."""
Kept = Mapping[tuple[int, str], tuple[str, Styles]]
"""The text of a question, and its wordings, by dialogue and by key within its set."""


@transaction.atomic
def take(*, dialogue: Dialogue, styles: Mapping[str, Styles], by: User | None) -> dict[str, int]:
    """Give questions of a script the wordings told by their keys; return how many `worded` and `superseded`.

    A question that people answered about, or that a set asks which a simulation used, is superseded by one
    with the wordings. Questions that a set made stay as they are once it is kept (`used`), as do those that
    have the wordings already.
    """
    sets = {one.pk: one for one in dialogue.corpus.question_sets.select_for_update(no_key=True)}
    rows = Record.objects.select_for_update(of=("self",)).select_related("corpus")
    records = rows.filter(dialogue=dialogue, kind=QUESTION, key__in=list(styles), superseded_by=None)
    told = {"worded": 0, "superseded": 0, "used": 0}
    labelled = set(
        Label.objects.filter(item__record__in=records).values_list("item__record", flat=True).distinct()
    )
    asked = asked_before(records)
    kept = {number for number, one in sets.items() if is_kept(one)}
    for record in records.order_by("pk"):
        content = record.content | {"styles": dict(styles[record.key])}
        if content == record.content:
            continue
        if record.set_id in kept or (record.set_id is not None and record.pk in asked):
            told["used"] += 1
        elif record.pk in labelled or record.pk in asked:
            supersede(record=record, content=content, provenance={"by": "wording", "of": record.key}, by=by)
            told["superseded"] += 1
        else:
            Record.objects.filter(pk=record.pk).update(content=content)
            told["worded"] += 1
    if told["superseded"]:
        staleness.mark(dialogue.corpus, "quiz questions were given wordings")
    if told["worded"] or told["superseded"]:
        subject = f"{dialogue.key} in {dialogue.corpus.name}"[:300]
        Event.objects.create(by=by, verb="word questions", subject=subject, detail=told)
    return told


def kept_of(one: QuestionSet | None) -> Kept:
    """Return the wordings that a set's own questions have, for the set that takes its place."""
    if one is None:
        return {}
    rows = Record.objects.filter(set=one, superseded_by=None, content__has_key="styles")
    return {
        (dialogue, key.partition(":")[2]): (content["text"], content["styles"])
        for dialogue, key, content in rows.values_list("dialogue", "key", "content")
    }


def worded(kept: Kept, dialogue: int, key: str, text: str) -> Styles:
    """Return the wordings that a question had in the set before, where it asked the same."""
    before, styles = kept.get((dialogue, key.partition(":")[2]), ("", {}))
    return styles if before == text else {}
