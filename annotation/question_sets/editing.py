"""Facts and quiz questions by hand: written, changed, accepted and rejected without review, and logged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from annotation.errors import QuestionsRefused
from annotation.importing.script_records import make_records
from annotation.models import Corpus, Dialogue, Label, Record
from annotation.question_sets import checks, staleness
from annotation.question_sets.applying import ACCEPTED, REJECTED, supersede
from annotation.question_sets.keys import new_key
from annotation.question_sets.reading import asked_before
from config.models import Event

DECIDED = (ACCEPTED, REJECTED)


@transaction.atomic
def add(
    *, dialogue: Dialogue, kind: str, content: Mapping[str, Any], accepted: bool = False, by: User | None
) -> Record:
    """Write a fact or a quiz question by hand, as a draft or accepted at once. Raises QuestionsRefused."""
    told = checks.content(dialogue, kind, content)
    row = (dialogue.pk, kind, new_key(dialogue, kind), told, ACCEPTED if accepted else "draft", None)
    (made,) = make_records(corpus=dialogue.corpus, rows=[row], provenance={"by": "hand"})
    Record.objects.filter(pk=made).update(created_by=by)
    record = Record.objects.get(pk=made)
    if accepted:
        staleness.mark(dialogue.corpus, f"{kind} {record.key} was written")
    _log(by, f"add {kind}", record, accepted=accepted)
    return record


@transaction.atomic
def change(*, record: Record, content: Mapping[str, Any], by: User | None) -> Record:
    """Put a fact or a quiz question right by hand, and return what it is now.

    A draft that nobody reviewed and no used set asks is rewritten; another one is superseded by a record that
    is accepted. Raises QuestionsRefused.
    """
    record = (
        Record.objects.select_for_update(of=("self",)).select_related("dialogue__corpus").get(pk=record.pk)
    )
    _must_stand(record)
    told = checks.content(record.dialogue, record.kind, content, before=record.content)
    if told == record.content:
        return record
    before = record.content
    is_free = not (Label.objects.filter(item__record=record).exists() or asked_before([record]))
    if record.status == "draft" and is_free:
        record.content = told
        record.save(update_fields=["content"])
        changed = record
    else:
        provenance = {"by": "hand", "of": record.key, "before": record.provenance}
        changed = supersede(record=record, content=told, provenance=provenance, by=by)
        staleness.mark(record.dialogue.corpus, f"{record.kind} {record.key} was changed")
    _log(by, f"change {record.kind}", changed, before=before, after=told)
    return changed


@transaction.atomic
def decide(*, corpus: Corpus, records: Sequence[int], status: str, by: User | None) -> int:
    """Accept or reject facts and quiz questions of one's own without review; return how many changed.

    `records` are their ids. Raises QuestionsRefused for a status that is neither.
    """
    if status not in DECIDED:
        raise QuestionsRefused(f"Without review they are {' or '.join(DECIDED)}.", field="status")
    rows = Record.objects.select_for_update().filter(
        pk__in=records, corpus=corpus, set=None, superseded_by=None
    )
    those = list(rows.exclude(status=status).order_by("pk"))
    if not those:
        return 0
    Record.objects.filter(pk__in=[record.pk for record in those]).update(status=status)
    told = "was" if len(those) == 1 else "were"
    kinds = f"{those[0].kind}{'s' if len(those) > 1 else ''}"
    staleness.mark(corpus, f"{len(those):,} {kinds} {told} {status} without review")
    detail = {"status": status, "records": len(those), "keys": [record.key for record in those[:100]]}
    Event.objects.create(by=by, verb="decide without review", subject=corpus.name, detail=detail)
    return len(those)


@transaction.atomic
def accept_drafts(*, corpus: Corpus, kind: str, by: User | None) -> int:
    """Accept all drafts of a kind that nobody reviewed; return how many."""
    rows = Record.objects.filter(corpus=corpus, kind=kind, status="draft", set=None, superseded_by=None)
    drafts = rows.exclude(item__labels__isnull=False)
    return decide(corpus=corpus, records=list(drafts.values_list("pk", flat=True)), status=ACCEPTED, by=by)


def _must_stand(record: Record) -> None:
    if record.superseded_by_id is not None:
        raise QuestionsRefused(f"The {record.kind} {record.key} was superseded: change what took its place.")
    if record.set_id is not None:
        raise QuestionsRefused("A question that a set made follows its facts: change these.")


def _log(by: User | None, verb: str, record: Record, **detail: Any) -> None:
    subject = f"{record.kind} {record.key} of {record.dialogue.key} in {record.corpus.name}"[:300]
    Event.objects.create(by=by, verb=verb, subject=subject, detail=detail)
