"""Facts, questions and their uses for pages and programs, with reviewers' answers about them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from annotation.models import Campaign, Dialogue, QuestionSet, Use
from annotation.models.corpora import Corpus
from annotation.models.labels import Label
from annotation.models.records import Record
from annotation.script_records import (
    FACT,
    LETTERS,
    QUESTION,
    STATUSES,
    UNKNOWN,
    Fact,
    Question,
    date_record,
    fact_record,
    parted,
    question_record,
)
from suites.long_dialogue.editing import question_figures
from suites.long_dialogue.editing.question_relations import table_of
from suites.long_dialogue.schemes import FACT as FACT_REVIEW
from suites.long_dialogue.schemes import QUIZ as QUIZ_REVIEW
from suites.long_dialogue.scripts.reviewing import Outcome, fact_outcome, quiz_outcome
from suites.long_dialogue.scripts.sessions import Sessions
from suites.review_labels import answers_by
from suites.reviews import SubjectAnswers

# Reviewers' answers about drafts of facts and quiz questions, and the resulting decisions.

SCHEMES = {FACT: FACT_REVIEW.key, QUESTION: QUIZ_REVIEW.key}
"""Scheme that reviews each kind of record."""
Answers = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A draft with the outcome of its reviews, and the number of its reviewers."""

    record: Record
    outcome: Outcome[Any]
    reviewers: int
    adjudicated: bool


def reviews_of_corpus(corpus: Corpus, kind: str) -> list[Reviewed]:
    """Return the outcomes of the reviews of a corpus's drafts, in the order of the drafts.

    Unreviewed drafts are not included.
    """
    drafts = _drafts(corpus, kind)
    answers_by_record = _answers(drafts, SCHEMES[kind])
    results: list[Reviewed] = []
    for dialogue in {
        record.dialogue_id: record.dialogue for record in drafts if record.pk in answers_by_record
    }.values():
        own = [
            record
            for record in drafts
            if record.dialogue_id == dialogue.pk and record.pk in answers_by_record
        ]
        results += _of_script(corpus, dialogue, own, answers_by_record)
    place = {record.pk: number for number, record in enumerate(drafts)}
    return sorted(results, key=lambda reviewed: place[reviewed.record.pk])


def unreviewed(corpus: Corpus, kind: str) -> int:
    """Return the number of unreviewed drafts."""
    drafts = _drafts(corpus, kind)
    return len(drafts) - len(_answers(drafts, SCHEMES[kind]))


def _drafts(corpus: Corpus, kind: str) -> list[Record]:
    rows = Record.objects.filter(corpus=corpus, kind=kind, status="draft", superseded_by=None, set=None)
    return list(rows.select_related("dialogue").order_by("dialogue__key", "pk"))


def _of_script(
    corpus: Corpus,
    dialogue: Dialogue,
    drafts: Iterable[Record],
    answers_by_record: Mapping[int, SubjectAnswers],
) -> Iterator[Reviewed]:
    sessions, table = Sessions(question_figures.without_texts(dialogue)), table_of(corpus)
    for record in drafts:
        draft_answers = answers_by_record[record.pk]
        reviews = draft_answers.reviews()
        if draft_answers.contested:
            outcome: Outcome[Any] = Outcome("undecided", reason=draft_answers.contested)
        elif record.kind == FACT:
            fact: Fact = fact_record(record.key, record.content, record.status)
            outcome = fact_outcome(fact, reviews, sessions, table)
        else:
            question: Question = question_record(record.key, record.content, record.status)
            outcome = quiz_outcome(question, reviews, sessions)
        yield Reviewed(record, outcome, len(draft_answers.by_rater), bool(draft_answers.decided))


def _answers(drafts: Iterable[Record], scheme: str) -> dict[int, SubjectAnswers]:
    """Return people's answers by a scheme, by the id of the record that they concern."""
    return answers_by("record", scheme, item__record__in=[record.pk for record in drafts])


# Facts, questions and their uses for pages and programs, one page at a time.

# Descriptions of types of uses, and of the reasons to ask a question or not, shared by pages and docs.

TYPES = {
    "ans_wo_time": "quiz: the main character has heard the answer",
    "ans_w_time": "quiz, with a date in the text: the main character has heard the answer",
    "before_event_unans": "quiz: the answer is only told later",
    "dont_know_unans": "quiz: the main character was in none of the sessions that tell it",
    "dont_know_unans_time": "quiz, with a date: the main character was in none of the sessions that tell it",
    "undated": "a fact for ever, heard",
    "current": "a fact of the same date, heard",
    "past": "a fact of an earlier date, heard, and asked with its date",
    "future": "a fact that is said later, with a later date",
    "unheard": "a fact that was said where the main character was not there",
}
RULES = {
    "heard": "it was heard before",
    "all heard": "all that is needed was heard before",
    "both heard": "both facts were heard before",
    "not there": "the main character is in none of these sessions",
    "before the evidence": "these sessions come later",
    "said later": "it is said later, in this session",
    "not heard": "it was said in this session, without the main character",
    "partly there": "the main character is in some of the sessions that are all needed",
    "same session": "the evidence may lie on either side of the point where it is asked",
    "the date would tell": "a date in the future would give the key away",
    "dates overlap": "the dates overlap, so that neither is before the other",
    "said later on the same date": "it is said later, but on the same date",
    "dates against the order of sessions": "the dates run against the order of the sessions",
    "partly heard": "not all turns that say it were heard",
    "another fact may answer": "another fact of the same head and relation is known, and seems to answer",
}
DROPPED = {
    "ambiguous": "several answers at the same date, and the relation has one",
    "answer in text": "the answer stands in the text of the question",
    "too few distractors": "there are not three other answers of the kind",
    "unknown relation": "the relation is not in the table",
}


def describe_type(name: str) -> str:
    """Describe a type of use; a pair of hops is described hop by hop."""
    if name in TYPES:
        return TYPES[name]
    hops = [part for part in name.split("_") if part in TYPES]
    return "two facts, in their order: " + "; ".join(TYPES[part] for part in hops) if hops else name


def describe_rule(name: str) -> str:
    """Describe a rule in words."""
    return RULES.get(name, name)


def describe_dropped(name: str) -> str:
    """Describe the reason for dropped questions or facts in words."""
    return DROPPED.get(name, name)


RecordFilters = Mapping[str, str]
"""Filters of a list: status, relation, dialogue, text; for questions of a set also source, hops and type."""
CONTENT = ("head", "tail", "text", "answer")


def is_kept(question_set: QuestionSet) -> bool:
    """Whether a set never changes: a simulation used it, or people rated its questions."""
    return question_set.used_at is not None or Label.objects.filter(item__record__set=question_set).exists()


def find_question_set(corpus: Corpus | int, reference: str) -> QuestionSet | None:
    """Find a question set by NAME (its last version), NAME:VERSION or NAME@VERSION.

    Also finds an imported set whose full name is NAME@VERSION.
    """
    name, version = parted(reference)
    rows = QuestionSet.objects.filter(corpus=corpus).order_by("-version")
    if version is None:
        return rows.filter(name=name).first()
    as_in_a_file = rows.filter(name=f"{name}@{version}")
    return rows.filter(name=name, version=version).first() or as_in_a_file.first()


def called(question_set: QuestionSet) -> str:
    """Return a set's name in files and in its questions: `first`, or `first@2` for a later version."""
    return question_set.name if question_set.version == 1 else f"{question_set.name}@{question_set.version}"


def versioned_name(question_set: QuestionSet) -> str:
    """Return the name of a question set's version in conditions: NAME:VERSION."""
    return f"{question_set.name}:{question_set.version}"


def spellings(corpus: Corpus, name: str) -> set[str]:
    """Return all spellings of a question set that answers may use, given any of them."""
    if (question_set := find_question_set(corpus, name)) is None:
        return {name}
    return {
        name,
        versioned_name(question_set),
        called(question_set),
        f"{question_set.name}@{question_set.version}",
    }


def asked_before(records: Iterable[Record]) -> set[int]:
    """Return the ids of those questions that a used set asks; they never change."""
    uses = Use.objects.filter(question__in=records, set__used_at__isnull=False)
    return set(uses.values_list("question", flat=True).distinct())


def current_records(corpus: Corpus, kind: str) -> QuerySet[Record]:
    """Return a corpus's facts or quiz questions that are outside question sets and not superseded."""
    rows = Record.objects.filter(corpus=corpus, kind=kind, set=None, superseded_by=None)
    return rows.select_related("dialogue").order_by("dialogue__key", "pk")


def narrowed(rows: QuerySet[Record], filters: RecordFilters) -> QuerySet[Record]:
    """Filter records; empty filters are ignored."""
    if filters.get("status"):
        rows = rows.filter(status=filters["status"])
    if relation := filters.get("relation"):
        rows = rows.filter(Q(content__relation=relation) | Q(content__relations__contains=[relation]))
    if dialogue := filters.get("dialogue"):
        rows = rows.filter(dialogue__key=dialogue)
    if source := filters.get("source"):
        rows = rows.filter(content__source=source)
    if (hops := filters.get("hops", "")).isdecimal():
        rows = rows.filter(content__hops=int(hops))
    if text := filters.get("text"):
        holds = (Q(**{f"content__{name}__icontains": text}) for name in CONTENT)
        any_ = Q(key=text)
        for condition in holds:
            any_ |= condition
        rows = rows.filter(any_)
    return rows


def counts(corpus: Corpus, kind: str) -> dict[str, int]:
    """Return the number of facts or quiz questions by status, and in total as `all`."""
    rows = current_records(corpus, kind).order_by().values_list("status").annotate(n=Count("pk"))
    by_status = {status: 0 for status in STATUSES if status != "corrected"} | dict(rows)
    return by_status | {"all": sum(by_status.values())}


def questions_of(question_set: QuestionSet, filters: RecordFilters) -> QuerySet[Record]:
    """Return the questions of a set: its own, and those outside question sets."""
    uses = Use.objects.filter(set=question_set, question=OuterRef("pk"))
    if filters.get("type"):
        uses = uses.filter(type=filters["type"])
    if filters.get("answerable") in ("yes", "no"):
        uses = uses.filter(answerable=filters["answerable"] == "yes")
    rows = Record.objects.filter(Exists(uses), corpus=question_set.corpus_id, kind=QUESTION)
    return narrowed(rows.select_related("dialogue").order_by("pk"), filters)


def with_uses(question_set: QuestionSet, records: Iterable[Record]) -> list[dict[str, Any]]:
    """Return questions, each with the number of its uses, answerable or not, by type."""
    records = list(records)
    rows = Use.objects.filter(set=question_set, question__in=records).order_by("question", "type")
    types_by_record: dict[int, list[dict[str, Any]]] = {}
    for question, kind, n, right in rows.values_list("question", "type").annotate(
        n=Count("pk"), right=Count("pk", filter=Q(answerable=True))
    ):
        types_by_record.setdefault(question, []).append({"type": kind, "n": n, "answerable": right})
    return [
        {
            "record": record,
            "types": types_by_record.get(record.pk, []),
            "uses": sum(line["n"] for line in types_by_record.get(record.pk, [])),
            "answerable": sum(line["answerable"] for line in types_by_record.get(record.pk, [])),
        }
        for record in records
    ]


def types_of(question_set: QuestionSet) -> list[str]:
    """Return the types of a set's uses, as in its figures."""
    return sorted({row["type"] for row in question_set.figures.get("rows", ())})


def uses_of(question_set: QuestionSet, record: Record) -> QuerySet[Use]:
    """Return the uses of a question in a set, in the order of sessions."""
    return Use.objects.filter(set=question_set, question=record).order_by("session")


def describe_use(use: Use, record: Record, sessions: list[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a use as JSON data for pages and programs, given the sessions of its script."""
    session = sessions[use.session - 1]
    choices = record.content.get("choices") or []
    offered = [choices[int(place)] for place in use.order if int(place) < len(choices)]
    return {
        "session": use.session,
        "id": session["id"],
        "date": str(date_record(session["date"])),
        "answerable": use.answerable,
        "key": use.key,
        "right": "I don't know" if use.key == UNKNOWN else offered[LETTERS.index(use.key)],
        "choices": offered,
        "type": use.type,
        "type_told": describe_type(use.type),
        "why": [{"number": number, "id": sessions[number - 1]["id"]} for number in use.why],
        "rule": use.rule,
        "rule_told": describe_rule(use.rule),
        "since": use.since,
    }


def sessions_of(record: Record) -> list[Mapping[str, Any]]:
    """Return the sessions of a record's script; reads its dialogue, so select it in the query."""
    return list((record.dialogue.script or {}).get("sessions", ()))


def review_campaigns(corpus: Corpus, kind: str) -> QuerySet[Campaign]:
    """Return the campaigns that review a corpus's facts or questions, newest first."""
    rows = Campaign.objects.filter(corpus=corpus, scheme_version__scheme__key=SCHEMES[kind])
    return rows.filter(archived_at=None).order_by("-pk")
