"""Labels as the statistics library reads them: one query a question, plain tuples all the way."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from django.db.models import QuerySet

from annotation.corpora import comparisons
from annotation.models import Item
from annotation.models.corpora import ITEM_PARTS
from annotation.text.references import item_key, key_of_item
from calibration.reading.census import Census, RaterInfo
from calibration.reading.scope import Scope
from calibration.reading.subjects import Link, Subject, rater_names
from calibration.statistics import Ratings, Record, ratings_from_records
from calibration.statistics.core.types import Samples, as_number

CHUNK = 20_000


class Place(NamedTuple):
    """Where an item is: its key, its cluster, its system and its continuation's key."""

    key: str
    cluster: str
    system: str
    continuation: str


@dataclass(frozen=True)
class SubjectData:
    """A subject's answers, and what was noticed on the way.

    `off_scale` names the raters whose answers are on another scale; `repeated` counts answers that one rater
    gave to the same item again in another campaign, of which the first is kept; `digest` is the SHA-256 of
    the answers, whatever the order in which they were read. `ends` are the lowest and highest value of the
    scales of those who answer on another one, where they declare one. `unanswered` are the answers that
    failed calls of judges did not give: records without a value, which are no part of `records`.
    """

    subject: Subject
    records: tuple[Record, ...]
    raters: tuple[RaterInfo, ...]
    off_scale: frozenset[str]
    repeated: int
    digest: str
    ends: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    unanswered: tuple[Record, ...] = ()

    def ratings(self, samples: Samples | None = None) -> Ratings:
        """Return the items x raters matrix. Raises RatingError where an answer is off its scale."""
        question = self.subject.question
        return ratings_from_records(
            self.records,
            level=question.measured,
            values=question.values or None,
            positive=1 if question.positive is None else question.positive,
            samples=samples,
            off_scale=self.off_scale,
        )


def places(scope: Scope, kinds: Iterable[str], clusters: frozenset[str] | None = None) -> dict[int, Place]:
    """Return where the items of some kinds that have labels are, by item id; in `clusters` where given.

    Items without a label are left out: of a large corpus they are nearly all, and nobody asks for them.
    """
    labelled = scope.labels().order_by().values("item_id")
    return placed(Item.objects.filter(corpus=scope.corpus, kind__in=set(kinds), pk__in=labelled), clusters)


def placed(items: QuerySet[Item], clusters: frozenset[str] | None) -> dict[int, Place]:
    """Return where items are, by item id; those in `clusters` where given."""
    rows = (
        items.annotate(**{name: part for name, part in ITEM_PARTS.items() if name != "cluster"})
        .annotate(item_cluster=ITEM_PARTS["cluster"])
        .values_list(
            "pk",
            "dialogue_key",
            "continuation_key",
            "position",
            "item_cluster",
            "system_name",
            "compared",
            "kind",
            "record_key",
        )
    )
    found, compared = {}, []
    for pk, dialogue, own, position, cluster, system, comparing, kind, record in rows.iterator(
        chunk_size=CHUNK
    ):
        if clusters is None or cluster in clusters:
            key = key_of_item(dialogue, own, position, kind, record)
            found[pk] = Place(key, cluster, system, item_key(dialogue, own, None) if record is None else key)
            compared += [pk] if comparing is not None else []
    for pk, key in (comparisons.keys_of(compared) if compared else {}).items():
        found[pk] = Place(key, found[pk].cluster, "", key)
    return found


def load(
    scope: Scope,
    subject: Subject,
    counted: Census,
    where: Mapping[int, Place],
    raters: frozenset[str] = frozenset(),
) -> SubjectData:
    """Read a subject's labels on the items of `where`, in one query; only of `raters` where some are."""
    named = rater_names(subject, counted)
    if raters:
        named = {pair: info for pair, info in named.items() if counted.raters[pair[1]].name in raters}
    rows = (
        scope.labels()
        .filter(question__in=subject.question_ids)
        .order_by("pk")
        .values_list("item_id", "question_id", "rater_id", "sample", "number", "text")
    )
    maps = {link.question.id: link.map for link in subject.links}
    records: dict[tuple[int, int, int, int], Record] = {}
    repeated = 0
    for item, question, rater, sample, number, text in rows.iterator(chunk_size=CHUNK):
        place, info = where.get(item), named.get((question, rater))
        if place is None or info is None:
            continue
        answer = (item, question, rater, sample)
        if answer in records:
            repeated += 1
            continue
        if number is not None and question in maps:
            number = maps[question].apply(number)
        records[answer] = recorded(place, info, sample, number if text is None else text)
    kept = tuple(records.values())
    present = {(question, rater) for _, question, rater, _ in records}
    return SubjectData(
        subject=subject,
        records=kept,
        raters=tuple(info for pair, info in named.items() if pair in present),
        off_scale=frozenset(named[pair].name for pair in present if not _on_scale(subject, pair[0])),
        repeated=repeated,
        digest=_digest(subject, kept),
        ends={
            named[pair].name: ends
            for pair in present
            if (link := _link(subject, pair[0])) is not None and (ends := _ends(link)) is not None
        },
    )


def recorded(place: Place, rater: RaterInfo, sample: int, value: float | str | None) -> Record:
    """Return an answer as statistics read it."""
    return Record(
        item=place.key,
        rater=rater.name,
        value=value,
        cluster=place.cluster,
        kind=rater.kind,
        identified=rater.identified,
        sample=sample,
        system=place.system,
        continuation=place.continuation,
    )


def _on_scale(subject: Subject, question: int) -> bool:
    """Whether answers to a question are on the subject's own scale."""
    link = _link(subject, question)
    return link is None or link.map.on_scale(link.question.values, subject.question.values)


def _link(subject: Subject, question: int) -> Link | None:
    return next((link for link in subject.links if link.question.id == question), None)


def _ends(link: Link) -> tuple[float, float] | None:
    """Return the ends of a link's scale as its answers are read; None where it declares no numbers."""
    numbers = [number for value in link.question.values if (number := as_number(value)) is not None]
    if len(numbers) < 2 or len(numbers) < len(link.question.values):
        return None
    low, high = link.map.apply(min(numbers)), link.map.apply(max(numbers))
    return (low, high) if low < high else None


def _digest(subject: Subject, records: Iterable[Record]) -> str:
    links = [(link.question.ref, link.map.as_dict()) for link in subject.links]
    head = repr((subject.question.ref, subject.question.level, subject.question.values, links))
    lines = sorted(
        f"{r.item}\t{r.cluster}\t{r.kind}\t{r.rater}\t{r.sample}\t{r.value!r}\t{r.identified}"
        for r in records
    )
    return hashlib.sha256("\n".join([head, *lines]).encode()).hexdigest()
