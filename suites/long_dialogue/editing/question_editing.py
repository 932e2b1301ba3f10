"""Changes to facts and questions, by hand and from the results of reviews."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from annotation.corpora.rows import participant_record
from annotation.errors import QuestionsRefused
from annotation.formats.fields import NAME_LIMIT
from annotation.models import Label, Turn
from annotation.models.corpora import Corpus, Dialogue
from annotation.models.records import Record
from annotation.records import SELF
from annotation.script_records import FACT, Fact, Question, fact_json, question_json
from annotation.text.views import one_line
from annotation.text.words import fold
from config.models import Event
from suites.long_dialogue.editing import question_records, question_relations
from suites.long_dialogue.editing.import_records import NewRecord, make_records
from suites.long_dialogue.editing.question_records import Reviewed, asked_before
from suites.long_dialogue.editing.question_relations import table_of
from suites.long_dialogue.scripts.graph import PERSON
from suites.long_dialogue.scripts.sessions import People

# Keys of records created by people: numbered, and derived from the record that they supersede.

_VERSION = re.compile(r"(.*)\.(\d+)")
PREFIXES = {"fact": "f", "question": "q"}


def next_key(record: Record) -> str:
    """Return the first free key for a record's successor: `f1.2` after `f1`, `f1.3` after `f1.2`."""
    versioned = _VERSION.fullmatch(record.key)
    stem, number = (versioned[1], int(versioned[2])) if versioned else (record.key, 1)
    return _free(record.dialogue_id, record.kind, f"{stem}.", number + 1)


def new_key(dialogue: Dialogue, kind: str) -> str:
    """Return the first free key for a record created by hand, such as `f-hand-1`."""
    return _free(dialogue.pk, kind, f"{PREFIXES[kind]}-hand-", 1)


def _free(dialogue: int, kind: str, stem: str, number: int) -> str:
    used_keys = set(
        Record.objects.filter(dialogue=dialogue, kind=kind, key__startswith=stem).values_list(
            "key", flat=True
        )
    )
    while f"{stem}{number}" in used_keys:
        number += 1
    return f"{stem}{number}"


# Results of reviews: drafts are accepted, rejected, or superseded by a corrected record.

ACCEPTED, CORRECTED, REJECTED, UNDECIDED = DECISIONS = ("accepted", "corrected", "rejected", "undecided")


@dataclass(frozen=True, slots=True)
class Applied:
    """Results of reviews: the reviewed drafts, and the number of unreviewed ones."""

    kind: str
    reviewed: tuple[Reviewed, ...]
    unreviewed: int

    @property
    def counts(self) -> dict[str, int]:
        """Number of drafts that are, or would be, accepted, corrected, rejected, and left undecided."""
        counted: Counter[str] = Counter(reviewed.outcome.decision for reviewed in self.reviewed)
        return {decision: counted[decision] for decision in DECISIONS}

    @property
    def undecided(self) -> list[tuple[str, int]]:
        """Reasons for undecided drafts, each with its count, the most frequent first."""
        open_ = (
            reviewed.outcome.reason for reviewed in self.reviewed if reviewed.outcome.decision == UNDECIDED
        )
        return Counter(open_).most_common()

    def as_json(self) -> dict[str, Any]:
        """Return the results as JSON data."""
        reasons = [{"reason": reason, "n": n} for reason, n in self.undecided]
        return {"kind": self.kind, **self.counts, "unreviewed": self.unreviewed, "reasons": reasons}


def preview_reviews(corpus: Corpus, kind: str) -> Applied:
    """Return the results that applying the reviews of a kind would have now; changes nothing."""
    return Applied(
        kind,
        tuple(question_records.reviews_of_corpus(corpus, kind)),
        question_records.unreviewed(corpus, kind),
    )


@transaction.atomic
def apply_reviews(*, corpus: Corpus, kind: str, by: User | None) -> Applied:
    """Apply the reviews of a corpus's drafts of a kind; return the results.

    Undecided records stay drafts, so a second call changes only those decided since.
    """
    corpus = Corpus.objects.select_for_update(no_key=True).get(pk=corpus.pk)
    list(Record.objects.select_for_update().filter(corpus=corpus, kind=kind, status="draft").order_by("pk"))
    done = preview_reviews(corpus, kind)
    for decision in (ACCEPTED, REJECTED):
        those = [reviewed.record.pk for reviewed in done.reviewed if reviewed.outcome.decision == decision]
        Record.objects.filter(pk__in=those).update(status=decision)
    _correct(corpus, by, [reviewed for reviewed in done.reviewed if reviewed.outcome.decision == CORRECTED])
    if any(done.counts[decision] for decision in (ACCEPTED, CORRECTED)):
        question_relations.mark_stale(corpus, f"reviews of {kind}s were taken over")
    if any(done.counts[decision] for decision in (ACCEPTED, CORRECTED, REJECTED)):
        detail = {"kind": kind, **done.counts}
        Event.objects.create(by=by, verb="apply reviews", subject=corpus.name, detail=detail)
    return done


def _correct(corpus: Corpus, by: User | None, those: Sequence[Reviewed]) -> None:
    """Create the records that supersede corrected drafts."""
    for reviewed in those:
        content = reviewed.outcome.content
        assert content is not None
        corrected = fact_json(content) if reviewed.record.kind == FACT else question_json(content)
        provenance = {
            "by": "review",
            "of": reviewed.record.key,
            "reviewers": reviewed.reviewers,
            "adjudicated": reviewed.adjudicated,
            "before": reviewed.record.provenance,
        }
        supersede(record=reviewed.record, content=corrected, provenance=provenance, by=by)


def supersede(
    *, record: Record, content: dict[str, Any], provenance: dict[str, Any], by: User | None
) -> Record:
    """Create an accepted record that supersedes another one, in the current transaction; return it."""
    row = NewRecord(record.dialogue_id, record.kind, next_key(record), content, ACCEPTED, record.set_id)
    (new_id,) = make_records(corpus=record.corpus, rows=[row], provenance=provenance)
    Record.objects.filter(pk=new_id).update(created_by=by)
    Record.objects.filter(pk=record.pk).update(status=CORRECTED, superseded_by=new_id)
    return Record.objects.get(pk=new_id)


# Validation of facts and quiz questions, with an error for each field.

TEXT_LIMIT = 2_000
CHOICES = 4


def checked_content(
    dialogue: Dialogue, kind: str, values: Mapping[str, Any], before: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return a record's content in stored form. Raises QuestionsRefused, with the invalid field.

    `before` is the previous content: fields that people do not edit (wordings, turns of the evidence) stay.
    """
    return _fact(dialogue, values) if kind == FACT else _question(dialogue, values, before or {})


def _fact(dialogue: Dialogue, values: Mapping[str, Any]) -> dict[str, Any]:
    """Fields: `head, relation, tail, session, turns` (numbers from 1)."""
    table = table_of(dialogue.corpus)
    names = {fold(key): key for key in table}
    relation = names.get(fold(_text(values, "relation", NAME_LIMIT)))
    if relation is None:
        raise QuestionsRefused(
            f"There is no relation {str(values.get('relation'))[:60]!r}: choose one of the table.",
            field="relation",
        )
    people = People(map(participant_record, dialogue.participants))
    ends = {}
    for name, kind in (("head", table[relation].head), ("tail", table[relation].tail)):
        text = _text(values, name, NAME_LIMIT)
        ends[name] = (people.name(text) or text) if kind == PERSON else text
    if fold(ends["head"]) == fold(ends["tail"]):
        raise QuestionsRefused("Head and tail are the same.", field="tail")
    (session,) = _sessions(dialogue, [str(values.get("session") or "")], "session")
    turns = _turns(dialogue, values.get("turns") or (), session)
    return fact_json(Fact("", ends["head"], relation, ends["tail"], session, turns))


def _question(dialogue: Dialogue, values: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """Fields: `text, answer, choices, evidence, evidence_all`."""
    text, answer = _text(values, "text", TEXT_LIMIT), _text(values, "answer", TEXT_LIMIT)
    if not text.endswith("?"):
        raise QuestionsRefused("A question ends with a question mark.", field="text")
    choices = tuple(one_line(str(choice)) for choice in values.get("choices") or () if str(choice).strip())
    if len(choices) != CHOICES or len({fold(choice) for choice in choices}) != CHOICES:
        raise QuestionsRefused(f"Give {CHOICES} different choices.", field="choices")
    if answer not in choices:
        raise QuestionsRefused("The answer is one of the choices.", field="answer")
    evidence = _sessions(dialogue, list(map(str, values.get("evidence") or ())), "evidence")
    question = Question(
        id="",
        source="quiz",
        text=text,
        choices=choices,
        answer=answer,
        evidence=evidence,
        evidence_all=bool(values.get("evidence_all")) and len(evidence) > 1,
        evidence_turns=tuple(before.get("evidence_turns") or ())
        if before.get("evidence") == list(evidence)
        else (),
        dated=bool(before.get("dated")),
        styles=dict(before.get("styles") or {}) if before.get("text") == text else {},
    )
    return question_json(question)


def _text(values: Mapping[str, Any], name: str, limit: int) -> str:
    text = one_line(str(values.get(name) or "").replace("\0", ""))
    if not text:
        raise QuestionsRefused("It is needed.", field=name)
    if len(text) > limit:
        raise QuestionsRefused(f"At most {limit:,} characters.", field=name)
    return text


def _sessions(dialogue: Dialogue, names: Sequence[str], field: str) -> tuple[str, ...]:
    """Return ids of sessions in the script's order; names may be ids or session numbers."""
    ids = [session["id"] for session in (dialogue.script or {}).get("sessions", ())]
    numbers = {str(number): name for number, name in enumerate(ids, start=1)}
    session_ids = []
    for name in filter(None, map(str.strip, names)):
        session_id = name if name in ids else numbers.get(name)
        if session_id is None:
            raise QuestionsRefused(f"There is no session {name[:60]!r}.", field=field)
        session_ids.append(session_id)
    if not session_ids:
        raise QuestionsRefused("Say in which session.", field=field)
    return tuple(sorted(set(session_ids), key=ids.index))


def _turns(dialogue: Dialogue, numbers: Sequence[Any], session: str) -> tuple[int, ...]:
    """Return positions of turns, given by number; each must belong to the session."""
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
    session_turns = set(own.values_list("position", flat=True))
    for place in places:
        if place not in session_turns:
            raise QuestionsRefused(f"Turn {place + 1} is not one of session {session[:60]}.", field="turns")
    return tuple(places)


# Facts and quiz questions by hand: created, changed, accepted and rejected without review, and logged.

DECIDED = (ACCEPTED, REJECTED)


@transaction.atomic
def add(
    *, dialogue: Dialogue, kind: str, content: Mapping[str, Any], accepted: bool = False, by: User | None
) -> Record:
    """Create a fact or a quiz question, as a draft or accepted at once. Raises QuestionsRefused."""
    cleaned = checked_content(dialogue, kind, content)
    status = ACCEPTED if accepted else "draft"
    row = NewRecord(dialogue.pk, kind, new_key(dialogue, kind), cleaned, status)
    (record_id,) = make_records(corpus=dialogue.corpus, rows=[row], provenance={"by": "hand"})
    Record.objects.filter(pk=record_id).update(created_by=by)
    record = Record.objects.get(pk=record_id)
    if accepted:
        question_relations.mark_stale(dialogue.corpus, f"{kind} {record.key} was written")
    _log(by, f"add {kind}", record, accepted=accepted)
    return record


@transaction.atomic
def change(*, record: Record, content: Mapping[str, Any], by: User | None) -> Record:
    """Change a fact or a quiz question by hand, and return the current record.

    A draft is updated in place if nobody reviewed it and no used set contains it; any other record is
    superseded by an accepted one. Raises QuestionsRefused.
    """
    record = (
        Record.objects.select_for_update(of=("self",)).select_related("dialogue__corpus").get(pk=record.pk)
    )
    _must_stand(record)
    cleaned = checked_content(record.dialogue, record.kind, content, before=record.content)
    if cleaned == record.content:
        return record
    before = record.content
    is_free = not (Label.objects.filter(item__record=record).exists() or asked_before([record]))
    if record.status == "draft" and is_free:
        record.content = cleaned
        record.save(update_fields=["content"])
        changed = record
    else:
        provenance = {"by": "hand", "of": record.key, "before": record.provenance}
        changed = supersede(record=record, content=cleaned, provenance=provenance, by=by)
        question_relations.mark_stale(record.dialogue.corpus, f"{record.kind} {record.key} was changed")
    _log(by, f"change {record.kind}", changed, before=before, after=cleaned)
    return changed


@transaction.atomic
def decide(*, corpus: Corpus, records: Sequence[int], status: str, by: User | None) -> int:
    """Accept or reject records outside question sets without review; return how many changed.

    `records` are their ids. Raises QuestionsRefused for any other status.
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
    verb = "was" if len(those) == 1 else "were"
    kinds = f"{those[0].kind}{'s' if len(those) > 1 else ''}"
    question_relations.mark_stale(corpus, f"{len(those):,} {kinds} {verb} {status} without review")
    detail = {"status": status, "records": len(those), "keys": [record.key for record in those[:100]]}
    Event.objects.create(by=by, verb="decide without review", subject=corpus.name, detail=detail)
    return len(those)


@transaction.atomic
def accept_drafts(*, corpus: Corpus, kind: str, by: User | None) -> int:
    """Accept all unreviewed drafts of a kind; return their number."""
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
