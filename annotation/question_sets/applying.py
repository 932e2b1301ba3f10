"""Taking over what reviews came to: drafts are accepted, rejected, or superseded by what puts them right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from annotation.importing.script_records import make_records
from annotation.models import Corpus, Record
from annotation.question_sets import reviews, staleness
from annotation.question_sets.keys import next_key
from annotation.question_sets.reviews import Reviewed
from annotation.scripts.records import FACT
from annotation.scripts.stored import fact_json, question_json
from config.models import Event

ACCEPTED, CORRECTED, REJECTED, UNDECIDED = STANDINGS = ("accepted", "corrected", "rejected", "undecided")


@dataclass(frozen=True, slots=True)
class Applied:
    """What taking over comes to: the reviewed drafts, and how many nobody has reviewed."""

    kind: str
    reviewed: tuple[Reviewed, ...]
    unreviewed: int

    @property
    def counts(self) -> dict[str, int]:
        """How many drafts were, or would be, accepted, corrected, rejected, and how many stay undecided."""
        counted: Counter[str] = Counter(reviewed.outcome.standing for reviewed in self.reviewed)
        return {standing: counted[standing] for standing in STANDINGS}

    @property
    def undecided(self) -> list[tuple[str, int]]:
        """Why drafts stay undecided, each reason with how many, the most frequent first."""
        open_ = (one.outcome.reason for one in self.reviewed if one.outcome.standing == UNDECIDED)
        return Counter(open_).most_common()

    def as_json(self) -> dict[str, Any]:
        """Return it for a program to read."""
        reasons = [{"reason": reason, "n": n} for reason, n in self.undecided]
        return {"kind": self.kind, **self.counts, "unreviewed": self.unreviewed, "reasons": reasons}


def preview(corpus: Corpus, kind: str) -> Applied:
    """Return what taking over the reviews of a kind would come to now; nothing is changed."""
    return Applied(kind, tuple(reviews.of_corpus(corpus, kind)), reviews.unreviewed(corpus, kind))


@transaction.atomic
def apply(*, corpus: Corpus, kind: str, by: User | None) -> Applied:
    """Take over what the reviews of a corpus's drafts of a kind came to; return what was done.

    What is undecided stays a draft, so that the same again changes nothing but what was decided since.
    """
    corpus = Corpus.objects.select_for_update(no_key=True).get(pk=corpus.pk)
    list(Record.objects.select_for_update().filter(corpus=corpus, kind=kind, status="draft").order_by("pk"))
    done = preview(corpus, kind)
    for standing in (ACCEPTED, REJECTED):
        those = [one.record.pk for one in done.reviewed if one.outcome.standing == standing]
        Record.objects.filter(pk__in=those).update(status=standing)
    _correct(corpus, by, [one for one in done.reviewed if one.outcome.standing == CORRECTED])
    if any(done.counts[standing] for standing in (ACCEPTED, CORRECTED)):
        staleness.mark(corpus, f"reviews of {kind}s were taken over")
    if any(done.counts[standing] for standing in (ACCEPTED, CORRECTED, REJECTED)):
        detail = {"kind": kind, **done.counts}
        Event.objects.create(by=by, verb="apply reviews", subject=corpus.name, detail=detail)
    return done


def _correct(corpus: Corpus, by: User | None, those: Sequence[Reviewed]) -> None:
    """Make the records that supersede what was put right."""
    for one in those:
        content = one.outcome.content
        assert content is not None
        told = fact_json(content) if one.record.kind == FACT else question_json(content)
        provenance = {
            "by": "review",
            "of": one.record.key,
            "reviewers": one.reviewers,
            "adjudicated": one.adjudicated,
            "before": one.record.provenance,
        }
        supersede(record=one.record, content=told, provenance=provenance, by=by)


def supersede(
    *, record: Record, content: dict[str, Any], provenance: dict[str, Any], by: User | None
) -> Record:
    """Make an accepted record that supersedes another one, in the current transaction; return it."""
    row = (record.dialogue_id, record.kind, next_key(record), content, ACCEPTED, record.set_id)
    (made,) = make_records(corpus=record.corpus, rows=[row], provenance=provenance)
    Record.objects.filter(pk=made).update(created_by=by)
    Record.objects.filter(pk=record.pk).update(status=CORRECTED, superseded_by=made)
    return Record.objects.get(pk=made)
