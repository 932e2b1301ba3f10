"""Labels: their raters, pseudonyms, recording, and counts."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any, NamedTuple, TypeVar

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Max, Q, QuerySet, Sum
from django.utils import timezone

from annotation.models import Assignment, Import, Item, Label, LabelCount, Question, Turn, turn_numbers
from annotation.models.campaigns import Campaign
from annotation.models.corpora import Corpus
from annotation.models.labels import Rater
from annotation.records import Passage
from annotation.text import references
from annotation.work.checking import CheckedAnswer
from annotation.work.rater_names import free_short_names
from config import commands
from config.models import Event, Tally

# Raters: one per person, judge, metric or imported name.


def rater_of_person(*, user: User, simulated: bool = False) -> Rater:
    """Return the rater of an account, created at first use.

    A program may work under an account's name: its rater is then created as simulated, and reports say so.
    """
    existing = Rater.objects.filter(user=user).first()
    if existing:
        return existing
    rater, _ = Rater.objects.get_or_create(
        user=user,
        defaults={
            "kind": Rater.Kind.HUMAN,
            "name": user.get_username(),
            "spec": {"simulated": True} if simulated else {},
        },
    )
    return rater


def machine_rater(*, kind: str, name: str, spec: Mapping[str, Any], short_name: str = "") -> Rater:
    """Return the rater of a judge or metric spec: the same spec always gives the same rater.

    Where another spec already has the name, the beginning of the fingerprint is added to tell them apart. A
    new rater is shown by `short_name`, with its model or a number where another one has that.
    """
    fingerprint = spec_fingerprint(kind=kind, spec=spec)
    existing = Rater.objects.filter(fingerprint=fingerprint).first()
    if existing:
        return existing
    if Rater.objects.filter(corpus=None, kind=kind, name=name).exists():
        name = f"{name} #{fingerprint[:6]}"
    fields = {"kind": kind, "name": name, "spec": dict(spec)}
    for free_name in free_short_names(short_name, str(spec.get("model", ""))) if short_name else [""]:
        try:
            return Rater.objects.get_or_create(
                fingerprint=fingerprint, defaults=fields | {"short_name": free_name}
            )[0]
        except IntegrityError as error:
            if "rater_short_name_once" not in str(error):
                raise  # else another rater got the name at the same moment: the next one
    raise AssertionError("free names never end")


def imported_rater(
    *, corpus: Corpus, kind: str, name: str, identified: bool = True, simulated: bool = False
) -> Rater:
    """Return the rater that a file of a corpus names, created at first use.

    A simulated rater answers as a person would, but there is no person behind it: reports say so.
    """
    spec = {"simulated": True} if simulated else {}
    rater, _ = Rater.objects.get_or_create(
        corpus=corpus, kind=kind, name=name, defaults={"identified": identified, "spec": spec}
    )
    return rater


def spec_fingerprint(*, kind: str, spec: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a rater's kind and spec, with keys in a fixed order."""
    text = json.dumps([kind, spec], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


# Pseudonyms of people with an account in reports and exports: one per corpus, which never changes.
#
# A pseudonym is derived from a secret of the rater's own that never leaves the database. It reveals neither
# the person's name nor the order of accounts, nor that two corpora were rated by the same person. Raters
# named in a file keep the file's names: whoever has the file knows them.

LENGTH = 8
SHAPE = re.compile(r"person-[0-9a-f]{8}")


def pseudonym(rater: Rater, corpus: int) -> str:
    """Return a rater's pseudonym in reports and exports of a corpus: `person-` and eight hex digits."""
    digest = hashlib.sha256(f"{rater.secret}:{corpus}".encode()).hexdigest()
    return f"person-{digest[:LENGTH]}"


def name_of(rater: Rater, corpus: int) -> str:
    """Return a rater's name in a corpus: a pseudonym for people with an account, others unchanged."""
    return rater.name if rater.user_id is None else pseudonym(rater, corpus)


def title_of(rater: Rater, corpus: int) -> str:
    """Return a rater's name on a corpus's pages: as `name_of`, but the short name of a judge or metric."""
    return rater.title if rater.user_id is None else pseudonym(rater, corpus)


def pseudonyms_of_people(people: Iterable[int], corpus: int) -> dict[int, str]:
    """Return the pseudonyms of accounts in a corpus, by account; accounts without labels get one now."""
    account_ids = set(people)
    raters = {rater.user_id: rater for rater in Rater.objects.filter(user__in=account_ids)}
    lacking = account_ids - raters.keys()
    if lacking:
        raters |= {user.pk: rater_of_person(user=user) for user in User.objects.filter(pk__in=lacking)}
    return {pk: pseudonym(rater, corpus) for pk, rater in raters.items() if pk is not None}


def called(person: int, corpus: int) -> str:
    """Return the pseudonym of one account in a corpus."""
    return pseudonyms_of_people([person], corpus)[person]


def person_called(name: str, campaign: Campaign) -> User | None:
    """Return the person who worked or takes part in a campaign under a pseudonym; None for other names."""
    if not SHAPE.fullmatch(name):
        return None
    worked = campaign.assignments.order_by().values_list("user", flat=True).distinct()
    account_ids = {*worked, *campaign.members.values_list("user", flat=True)}
    called = pseudonyms_of_people(account_ids, campaign.corpus_id)
    pk = next((pk for pk, alias in called.items() if alias == name), None)
    return None if pk is None else User.objects.get(pk=pk)


def raters_by_pseudonym(names: Iterable[str], corpus: int) -> dict[str, Rater]:
    """Return the people with accounts who have one of these pseudonyms in a corpus, by pseudonym."""
    pseudonyms = {name for name in names if SHAPE.fullmatch(name)}
    if not pseudonyms:
        return {}
    people = Rater.objects.filter(user__isnull=False)
    return {name: rater for rater in people if (name := pseudonym(rater, corpus)) in pseudonyms}


def reveal(*, by: User, corpus: Corpus) -> list[dict[str, Any]]:
    """Return the people behind the pseudonyms of a corpus, by pseudonym; the request is logged.

    Each row has the `pseudonym` and the `username`.
    """
    people = Rater.objects.filter(user__isnull=False, labels__item__corpus=corpus).distinct()
    rows = [
        {"pseudonym": pseudonym(rater, corpus.pk), "username": rater.user.get_username()}
        for rater in people.select_related("user")
        if rater.user is not None
    ]
    detail = {"corpus": corpus.pk, "people": len(rows)}
    Event.objects.create(by=by, verb="reveal pseudonyms", subject=corpus.name, detail=detail)
    return sorted(rows, key=lambda row: row["pseudonym"])


# Counts of live labels, read from the totals kept by triggers (`LabelCount`), never by counting labels.

TALLY = Tally(
    table="annotation_labelcount",
    keys=("corpus_id", "question_id", "rater_id", "campaign_id", "occasion", "training"),
    sums=("n", "missing", "changes"),
    greatest=("last",),
)
compact = TALLY.compact


class Total(NamedTuple):
    """Number of live labels, how many are missing with a reason, and a value that changes with them."""

    n: int
    missing: int
    changes: int
    last: int


def count_labels(corpus: Corpus) -> int:
    """Count the live labels about a corpus, on all occasions."""
    return total_labels(LabelCount.objects.filter(corpus=corpus)).n


def total_labels(rows: QuerySet[LabelCount]) -> Total:
    """Sum label counts."""
    sums = rows.aggregate(n=Sum("n"), missing=Sum("missing"), changes=Sum("changes"), last=Max("last"))
    return Total(**{name: value or 0 for name, value in sums.items()})


def label_counts_by_pair(rows: QuerySet[LabelCount]) -> dict[tuple[int, int], tuple[int, int]]:
    """Return the numbers of labels and of missing ones per (question id, rater id), where there are any."""
    pairs = rows.order_by("question_id", "rater_id").values_list("question_id", "rater_id")
    summed = pairs.annotate(Sum("n"), Sum("missing"))
    return {(question, rater): (n, missing) for question, rater, n, missing in summed if n}


# Recording labels: the only way in which an answer enters the table.
#
# A first answer is inserted; an identical answer changes nothing; a different answer supersedes the live one.
# Bulk imports of new labels copy rows instead (`annotation.corpora.import_labels`); the same constraints hold
# there.

# Evidence of labels, with quoted words and turn numbers, for researchers' pages.

LONGEST = 200
Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Pointed:
    """A passage with its turn's number, as annotators count it, and its text (cut where long)."""

    passage: Passage
    number: int
    quote: str

    @property
    def is_whole(self) -> bool:
        """Whether the passage is a whole turn."""
        return self.passage.start is None

    def __str__(self) -> str:
        return f"{self.number}" if self.is_whole else f"{self.number} “{self.quote}”"

    def as_json(self) -> dict[str, Any]:
        """Return the passage as in files, with its turn's number and the words."""
        own = {name: getattr(self.passage, name) for name in references.FIELDS}
        return own | {"turn_number": self.number, "quote": self.quote}


def pointed(
    evidence_by_key: Mapping[Key, tuple[int, Iterable[Mapping[str, Any]]]],
) -> dict[Key, tuple[Pointed, ...]]:
    """Return the evidence of labels, by any key: each given as (id of its dialogue, stored evidence).

    Two queries, none where no label has evidence.
    """
    read = {
        key: (dialogue, references.read(evidence))
        for key, (dialogue, evidence) in evidence_by_key.items()
        if evidence
    }
    turns = _turns({(dialogue, passage) for dialogue, passages in read.values() for passage in passages})
    return {
        key: tuple(
            Pointed(passage, turn.number, _cut(references.quoted(passage, turn.text)))
            for passage in passages
            if (turn := turns.get((dialogue, passage.continuation, passage.turn)))
        )
        for key, (dialogue, passages) in read.items()
    }


def _turns(passages: set[tuple[int, Passage]]) -> dict[tuple[int, str, int], Any]:
    positions: dict[tuple[int, str], set[int]] = {}
    for dialogue, passage in passages:
        positions.setdefault((dialogue, passage.continuation), set()).add(passage.turn)
    if not positions:
        return {}
    places = [
        Q(continuation__dialogue=dialogue, continuation__key=key, position__in=numbers)
        for (dialogue, key), numbers in positions.items()
    ]
    rows = list(Turn.objects.filter(reduce(or_, places)).select_related("continuation"))
    turn_numbers.number(rows)
    return {(row.continuation.dialogue_id, row.continuation.key, row.position): row for row in rows}


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer to record. `value` is None exactly when `missing` gives a reason.

    An answer about a comparison refers to its members in the item's own order; `shown` are their numbers in
    the order in which the rater saw them. For an assignment it is known and can be omitted.
    """

    item: Item | int
    question: Question | int
    value: float | str | None
    missing: str = ""
    sample: int = 0
    explanation: str = ""
    shown: tuple[int, ...] | None = None
    evidence: tuple[Passage, ...] = ()

    @property
    def place(self) -> tuple[int, int, int]:
        """Place of the answer: (item id, question id, sample)."""
        item = self.item if isinstance(self.item, int) else self.item.pk
        question = self.question if isinstance(self.question, int) else self.question.pk
        return item, question, self.sample


@transaction.atomic
def record(
    *,
    rater: Rater,
    answers: Sequence[Answer],
    occasion: str,
    campaign: Campaign | None = None,
    assignment: Assignment | None = None,
    imported: Import | None = None,
    compared: bool = True,
) -> list[Label]:
    """Record a rater's answers and return the new labels.

    `compared` is false where an assignment showed several members in an order and the answers are about each
    one alone.

    Raises IntegrityError where an answer is off its question's scale or to a question for another kind of
    item, or where another transaction recorded the same place at the same moment; nothing is stored then.
    """
    live = _live(rater, answers, occasion, campaign)
    changed = [answer for answer in answers if not _same(live.get(answer.place), answer)]
    replaced = [live[answer.place].pk for answer in changed if answer.place in live]
    if replaced:
        Label.objects.filter(pk__in=replaced).update(superseded_at=timezone.now())
    return Label.objects.bulk_create(
        _label(
            rater, answer, occasion, campaign, assignment, imported, live.get(answer.place), compared=compared
        )
        for answer in changed
    )


INSERT = """
INSERT INTO annotation_label (item_id, question_id, number, text, rater_id, occasion, campaign_id,
                              assignment_id, shown, sample, missing, explanation, created_at)
SELECT new.item, new.question, new.number, new.text, %s, %s, %s, %s,
       (SELECT a.shown FROM annotation_assignment a WHERE a.id = %s), %s, '', '', now()
  FROM unnest(%s::bigint[], %s::bigint[], %s::float8[], %s::text[]) AS new (item, question, number, text)
"""

INSERT_WITH_EVIDENCE = (
    INSERT.replace("explanation, created_at)", "explanation, created_at, evidence)")
    .replace("now()", "now(), new.evidence::jsonb")
    .replace("%s::text[])", "%s::text[], %s::text[])")
    .replace("number, text)\n", "number, text, evidence)\n")
)
"""The same with evidence: a submit without any has no extra cost."""


def insert(
    *,
    rater: int,
    answers: Sequence[CheckedAnswer],
    occasion: str,
    campaign: int | None = None,
    assignment: int | None = None,
    sample: int = 0,
    compared: bool = True,
) -> None:
    """Insert checked answers, none of which can have a live predecessor, in one statement.

    The caller knows that the rater has not answered these before, as at a first submit; otherwise
    IntegrityError is raised, and nothing is stored. `compared` is as in `record`.
    """
    ordered = assignment if compared else None
    values = [answer.value for answer in answers]
    columns: list[list[Any]] = [
        [answer.item for answer in answers],
        [answer.question for answer in answers],
        [None if isinstance(value, str) else float(value) for value in values],
        [value if isinstance(value, str) else None for value in values],
    ]
    statement = INSERT
    if any(answer.evidence for answer in answers):
        statement = INSERT_WITH_EVIDENCE
        columns.append(
            [
                json.dumps(references.stored(answer.evidence)) if answer.evidence else None
                for answer in answers
            ]
        )
    with commands.cursor() as cursor:
        cursor.execute(statement, [rater, occasion, campaign, assignment, ordered, sample, *columns])


def _live(
    rater: Rater, answers: Sequence[Answer], occasion: str, campaign: Campaign | None
) -> dict[tuple[int, int, int], Label]:
    labels = Label.objects.select_for_update().filter(
        rater=rater,
        item__in={answer.place[0] for answer in answers},
        occasion=occasion,
        campaign=campaign,
        superseded_at__isnull=True,
    )
    return {(label.item_id, label.question_id, label.sample): label for label in labels}


def _same(label: Label | None, answer: Answer) -> bool:
    return (
        label is not None
        and label.value == answer.value
        and label.missing == answer.missing
        and label.explanation == answer.explanation
        and label.evidence == references.stored(answer.evidence)
    )


def _label(
    rater: Rater,
    answer: Answer,
    occasion: str,
    campaign: Campaign | None,
    assignment: Assignment | None,
    imported: Import | None,
    before: Label | None,
    *,
    compared: bool,
) -> Label:
    item, question, sample = answer.place
    number = None if answer.value is None or isinstance(answer.value, str) else float(answer.value)
    return Label(
        item_id=item,
        question_id=question,
        rater=rater,
        occasion=occasion,
        campaign=campaign,
        sample=sample,
        number=number,
        text=answer.value if isinstance(answer.value, str) else None,
        missing=answer.missing,
        explanation=answer.explanation,
        shown=_order_shown(answer, assignment if compared else None),
        evidence=references.stored(answer.evidence),
        assignment=assignment,
        imported=imported,
        supersedes=before,
    )


def _order_shown(answer: Answer, assignment: Assignment | None) -> list[int] | None:
    if assignment is not None:
        return assignment.shown
    return None if answer.shown is None else list(answer.shown)
