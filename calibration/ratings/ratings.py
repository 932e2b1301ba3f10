"""Labels as ratings for statistics: the questions compared, and each rater's answers."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import Count, Max, Q, QuerySet

from annotation.corpora import comparisons, splits
from annotation.models import Continuation, Corpus, Item, Label, LabelCount, Occasion
from annotation.models.corpora import ITEM_PARTS
from annotation.schemes.definitions import RANKING, UNSCALED
from annotation.text.references import item_key, key_of_item
from calibration.errors import DefinitionError
from calibration.ratings.definitions import (
    TURN,
    AnsweredBy,
    Definition,
    Levels,
    Missing,
    ScaleMap,
    StudyQuestion,
)
from calibration.ratings.designs import NO_DESIGN, Design, design_of
from calibration.ratings.scope import STATISTICS_READ, Census, QuestionInfo, RaterInfo, Scope
from calibration.statistics import Ratings, ratings_from_records
from calibration.statistics.core.ratings import Record, Samples, as_number

# Subjects of a study: each question with the other questions that answer it.

# Questions known to ask the same thing on different scales: one table.
#
# Maps the people's question and the question that also answers it to their scale map. A study may declare
# another map; beyond this table, only identical questions of another version are linked automatically.

RANK = ScaleMap("rank")
SAME = ScaleMap("identity")
EXPECTED = ("rubric_expected:", "g_eval:")
"""Prefixes of the schemes of expected scores (`judges.protocols.rubric`)."""

COUNTERPARTS: Mapping[tuple[str, str, str, str], ScaleMap] = {
    # scheme, question, other scheme, other question
    ("fed_dialogue", "overall", "fed_gpt4", "ovr"): RANK,
    ("fed_dialogue", "coherent", "fed_gpt4", "coh"): RANK,
    ("fed_dialogue", "diverse", "fed_gpt4", "div"): RANK,
    ("fed_dialogue", "informative", "fed_gpt4", "inf"): RANK,
    ("comperdial_turn", "overall", "original_simple", "overall"): SAME,
    ("comperdial_turn", "overall", "original_detail", "engagingness"): RANK,
    ("comperdial_dialogue", "overall", "cpdscore_dialogue", "turn_score"): SAME,
    ("comperdial_dialogue", "overall", "cpdscore_dialogue", "final"): SAME,
}


def counterpart(scheme: str, question: str, other_scheme: str, other_question: str) -> ScaleMap | None:
    """Return the map by which the other question answers this one, or None if the table has none.

    Schemes are given by key, without version. Expected scores of a scheme's questions answer these questions.
    """
    if question == other_question and other_scheme in [f"{start}{scheme}" for start in EXPECTED]:
        return SAME
    return COUNTERPARTS.get((scheme, question, other_scheme, other_question))


TEXT = "text"
HUMAN, JUDGE, METRIC = "human", "judge", "metric"


@dataclass(frozen=True, slots=True)
class Link:
    """A question whose answers count as answers to the subject, through a map."""

    question: QuestionInfo
    map: ScaleMap


@dataclass(frozen=True, slots=True)
class Subject:
    """A question, and the other questions that answer it.

    `links` are about the same kind of item; `across` about the other kind, and count only above turn level.
    `missing` is how a turn without an answer affects a mean of the question's own answers.
    """

    question: QuestionInfo
    links: tuple[Link, ...] = ()
    across: tuple[Link, ...] = ()
    missing: Missing = "skip"

    @property
    def question_ids(self) -> list[int]:
        """Ids of all questions whose labels are read."""
        return [self.question.id, *(link.question.id for link in self.links)]


def subjects_of(definition: Definition, counted: Census) -> list[Subject]:
    """Return the subjects of a definition. Raises DefinitionError for questions or raters without labels.

    Rankings are left out: they are read only as preferences (`calibration.ratings.votes`).
    """
    counted = _limited(counted, definition.raters)
    if definition.questions:
        return [
            _declared(question, counted, definition.levels)
            for question in definition.questions
            if find_question(question.question, counted).level != RANKING
        ]
    return automatic(counted)


def automatic(counted: Census) -> list[Subject]:
    """Return every question with two or more raters, with its known links.

    Questions answered only by metrics are no subjects: metrics join people's and judges' questions about the
    same kind of item, by rank, or with the same categories if both are nominal.
    """
    answered = [q for q in counted.questions.values() if q.level not in UNSCALED]
    subjects = []
    for question in answered:
        raters = counted.raters_of(question.id)
        links = _known_links(question, answered, counted)
        linked = {r.id for link in links for r in counted.raters_of(link.question.id)}
        if any(r.kind != METRIC for r in raters) and len({r.id for r in raters} | linked) >= 2:
            subjects.append(Subject(question, links))
    used = {
        link.question.id for s in subjects for link in s.links if not _only_metrics(link.question, counted)
    }
    return [s for s in subjects if s.question.id not in used or _has_people(s.question, counted)]


def _limited(counted: Census, names: Sequence[str]) -> Census:
    """Return the census without the raters that a definition leaves out."""
    if not names:
        return counted
    rater_ids = {rater.name: rater.id for rater in counted.raters.values()}
    if unknown := [name for name in names if name not in rater_ids]:
        raise DefinitionError(
            f"no rater {unknown[0]!r} has labels here; there are {', '.join(sorted(rater_ids))}"
        )
    keep = {rater_ids[name] for name in names}
    return replace(counted, counts={pair: n for pair, n in counted.counts.items() if pair[1] in keep})


def _declared(study_question: StudyQuestion, counted: Census, levels: Levels | None) -> Subject:
    question = find_question(study_question.question, counted)
    if question.level == TEXT:
        raise DefinitionError(
            f"{study_question.question} is answered in free text, which has no agreement statistics"
        )
    links = [_link_of_subjects(link, counted) for link in study_question.answered_by]
    across = [link for link in links if link.question.item_kind != question.item_kind]
    _check_levels(question, across, levels)
    links = [link for link in links if link not in across]
    if levels is not None:
        linked_ids = {link.question.id for link in (*links, *across)}
        links += [link for link in known_links(question, counted) if link.question.id not in linked_ids]
    return Subject(question, tuple(links), tuple(across), study_question.missing)


def _link_of_subjects(link: AnsweredBy, counted: Census) -> Link:
    return Link(find_question(link.question, counted), link.map)


def _check_levels(question: QuestionInfo, across: Sequence[Link], levels: Levels | None) -> None:
    """Raise DefinitionError for items of two kinds, which are comparable only as means above turn level."""
    if levels is not None and levels.levels == (TURN,) and question.item_kind != TURN:
        raise DefinitionError(f"{question.ref} is about whole dialogues, which have no turn level")
    for link in across:
        if levels is None:
            raise DefinitionError(
                f"{link.question.ref} is about {link.question.item_kind} items, {question.ref} is not: "
                "they meet in a study with level dialogue or system"
            )
        if TURN in levels.levels:
            raise DefinitionError(
                f"{link.question.ref} is about {link.question.item_kind} items, {question.ref} is not: they "
                "cannot meet at turn level, only at level dialogue and system"
            )


def find_question(ref: str, counted: Census) -> QuestionInfo:
    """Return the question with this reference. Raises DefinitionError if it has no labels."""
    question = counted.by_ref(ref) or _only_version(ref, counted)
    if question is None:
        available = ", ".join(q.ref for q in counted.questions.values()) or "none"
        raise DefinitionError(f"no labels answer {ref!r} here; questions with labels: {available}")
    return question


def _only_version(ref: str, counted: Census) -> QuestionInfo | None:
    """Return the question for `scheme/key` without a version, if only one version has labels."""
    matching = [q for q in counted.questions.values() if f"{q.scheme.rsplit('@', 1)[0]}/{q.key}" == ref]
    return matching[0] if len(matching) == 1 else None


def known_links(question: QuestionInfo, counted: Census) -> tuple[Link, ...]:
    """Return the questions known to ask the same: other versions, counterparts, and metrics."""
    return _known_links(question, [q for q in counted.questions.values() if q.level not in UNSCALED], counted)


def _known_links(question: QuestionInfo, others: Sequence[QuestionInfo], counted: Census) -> tuple[Link, ...]:
    links = []
    for other in others:
        if other.id == question.id or other.item_kind != question.item_kind:
            continue
        scale_map = _known_map(question, other, counted)
        if scale_map is not None:
            links.append(Link(other, scale_map))
    return tuple(links)


def _known_map(question: QuestionInfo, other: QuestionInfo, counted: Census) -> ScaleMap | None:
    scheme, other_scheme = question.scheme.rsplit("@", 1)[0], other.scheme.rsplit("@", 1)[0]
    same_scale = (question.level, question.values) == (other.level, other.values)
    if scheme == other_scheme and question.key == other.key and same_scale:
        return ScaleMap("identity") if other.ref < question.ref else None
    if _only_metrics(other, counted):
        if _only_metrics(question, counted):
            return None
        if "nominal" in (question.level, other.level):
            same = question.level == other.level and set(question.values) == set(other.values)
            return ScaleMap("identity") if same else None
        return ScaleMap("rank")
    return counterpart(scheme, question.key, other_scheme, other.key)


def _only_metrics(question: QuestionInfo, counted: Census) -> bool:
    return all(rater.kind == METRIC for rater in counted.raters_of(question.id))


def _has_people(question: QuestionInfo, counted: Census) -> bool:
    return any(rater.kind in ("human", "key") for rater in counted.raters_of(question.id))


def rater_names(subject: Subject, counted: Census) -> dict[tuple[int, int], RaterInfo]:
    """Return the rater per (question, rater), with its name in the statistics.

    A rater who answers through two linked questions is named with the question's key.
    """
    question_ids = set(subject.question_ids)
    pairs = [pair for pair in counted.counts if pair[0] in question_ids]
    times: dict[int, int] = {}
    for _, rater in pairs:
        times[rater] = times.get(rater, 0) + 1
    infos = {}
    for question, rater in pairs:
        info = counted.raters[rater]
        if times[rater] > 1 and question != subject.question.id:
            info = replace(info, name=f"{info.name}: {counted.questions[question].key}")
        infos[question, rater] = info
    return infos


# Labels in the form that the statistics library reads: one query per question, plain tuples.

CHUNK = 20_000


class Place(NamedTuple):
    """Place of an item: its key, its cluster, its system and its continuation's key."""

    key: str
    cluster: str
    system: str
    continuation: str


@dataclass(frozen=True)
class SubjectData:
    """A subject's answers, with remarks from reading them.

    `off_scale` names the raters whose answers are on another scale; `repeated` counts answers that a rater
    gave again to the same item in another campaign (the first is kept); `digest` is the SHA-256 of the
    answers, independent of the reading order. `ends` are the lowest and highest value of the other scales,
    for raters whose scale declares them. `unanswered` are answers missing because a judge's call failed:
    records without a value, not included in `records`. `design` says how the items that people answered
    were drawn.
    """

    subject: Subject
    records: tuple[Record, ...]
    raters: tuple[RaterInfo, ...]
    off_scale: frozenset[str]
    repeated: int
    digest: str
    ends: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    unanswered: tuple[Record, ...] = ()
    design: Design = NO_DESIGN

    @cached_property
    def has_unrated(self) -> bool:
        """Whether people answered some of the items, and a judge, or a metric naming categories, others."""
        judging = (JUDGE, METRIC) if self.subject.question.level == "nominal" else (JUDGE,)
        rated = {r.item for r in self.records if r.kind == HUMAN and r.value is not None}
        return bool(rated) and any(
            r.kind in judging and r.item not in rated and r.value is not None for r in self.records
        )

    def ratings(self, samples: Samples | None = None) -> Ratings:
        """Return the items x raters matrix. Raises RatingError if an answer is off its scale."""
        question = self.subject.question
        return ratings_from_records(
            self.records,
            level=question.measured,
            values=question.values or None,
            positive=1 if question.positive is None else question.positive,
            samples=samples,
            off_scale=self.off_scale,
        ).with_weights(self.design.weights, self.design.outside)


def places(scope: Scope, kinds: Iterable[str], clusters: frozenset[str] | None = None) -> dict[int, Place]:
    """Return the places of labelled items of some kinds, by item id; only those in `clusters`, if given.

    Items without a label, nearly all of a large corpus, are left out because no caller needs them.
    """
    labelled = scope.labels().order_by().values("item_id")
    return placed(Item.objects.filter(corpus=scope.corpus, kind__in=set(kinds), pk__in=labelled), clusters)


def placed(items: QuerySet[Item], clusters: frozenset[str] | None) -> dict[int, Place]:
    """Return the places of items, by item id; only those in `clusters`, if given."""
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
    by_item, compared = {}, []
    for pk, dialogue, own, position, cluster, system, comparing, kind, record in rows.iterator(
        chunk_size=CHUNK
    ):
        if clusters is None or cluster in clusters:
            key = key_of_item(dialogue, own, position, kind, record)
            by_item[pk] = Place(
                key, cluster, system, item_key(dialogue, own, None) if record is None else key
            )
            compared += [pk] if comparing is not None else []
    for pk, key in (comparisons.keys_of(compared) if compared else {}).items():
        by_item[pk] = Place(key, by_item[pk].cluster, "", key)
    return by_item


def load(
    scope: Scope,
    subject: Subject,
    counted: Census,
    where: Mapping[int, Place],
    raters: frozenset[str] = frozenset(),
) -> SubjectData:
    """Read a subject's labels on the items of `where`, in one query; only those of `raters`, if given."""
    infos = rater_names(subject, counted)
    if raters:
        infos = {pair: info for pair, info in infos.items() if counted.raters[pair[1]].name in raters}
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
        place, info = where.get(item), infos.get((question, rater))
        if place is None or info is None:
            continue
        answer = (item, question, rater, sample)
        if answer in records:
            repeated += 1
            continue
        if number is not None and question in maps:
            number = maps[question].apply(number)
        records[answer] = recorded(place, info, sample, number if text is None else text)
    records_read = tuple(records.values())
    answered_items, unanswerable_items = (
        {
            key[0]
            for key, record in records.items()
            if record.kind == HUMAN and (record.value is None) == is_missing
        }
        for is_missing in (False, True)
    )
    keys = {pk: place.key for pk, place in where.items()}
    design = design_of(scope, subject.question_ids, keys, answered_items, unanswerable_items)
    present = {(question, rater) for _, question, rater, _ in records}
    return SubjectData(
        subject=subject,
        records=records_read,
        raters=tuple(info for pair, info in infos.items() if pair in present),
        off_scale=frozenset(infos[pair].name for pair in present if not _on_scale(subject, pair[0])),
        repeated=repeated,
        digest=_digest(subject, records_read, design),
        ends={
            infos[pair].name: ends
            for pair in present
            if (link := _link(subject, pair[0])) is not None and (ends := _ends(link)) is not None
        },
        design=design,
    )


def recorded(place: Place, rater: RaterInfo, sample: int, value: float | str | None) -> Record:
    """Return an answer as a record for statistics."""
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
    """Return the mapped ends of a link's scale; None if it declares no numbers."""
    numbers = [number for value in link.question.values if (number := as_number(value)) is not None]
    if len(numbers) < 2 or len(numbers) < len(link.question.values):
        return None
    low, high = link.map.apply(min(numbers)), link.map.apply(max(numbers))
    return (low, high) if low < high else None


def _digest(subject: Subject, records: Iterable[Record], design: Design) -> str:
    links = [(link.question.ref, link.map.as_dict()) for link in subject.links]
    head = repr((subject.question.ref, subject.question.level, subject.question.values, links))
    lines = sorted(
        f"{r.item}\t{r.cluster}\t{r.kind}\t{r.rater}\t{r.sample}\t{r.value!r}\t{r.identified}\t{r.system}"
        for r in records
    )
    if design != NO_DESIGN:
        lines.append(repr((design.as_dict(), sorted(design.weights.items()), sorted(design.outside))))
    return hashlib.sha256("\n".join([head, *lines]).encode()).hexdigest()


# Answers per rater, compared or not.

# Repeated answers of a rater: the same question on the same item in another campaign or as a repeat.
#
# Statistics use one answer per rater and item; the repeats read here measure a rater's self-agreement.

OCCASIONS = (*STATISTICS_READ, Occasion.REPEAT)
"""Occasions with genuine answers; training, checks and adjudication serve other purposes."""


def again(
    scope: Scope,
    subject: Subject,
    counted: Census,
    where: Mapping[int, Place],
    raters: frozenset[str] = frozenset(),
) -> tuple[Record, ...]:
    """Return the first and second answer (`sample` 0 and 1) of raters who answered an item twice, by item.

    People of a campaign may have answered its items elsewhere in the corpus. Only labels of raters with
    answers on several occasions are read.
    """
    several = _on_several_occasions(scope, subject)
    infos = {
        pair: info
        for pair, info in rater_names(subject, counted).items()
        if pair in several and (not raters or counted.raters[pair[1]].name in raters)
    }
    if not infos:
        return ()
    rows = (
        Label.objects.filter(
            scope.subset.of_days("created_at"),
            item__corpus=scope.corpus,
            item__training=scope.training,
            superseded_at__isnull=True,
            occasion__in={*OCCASIONS, *scope.occasions},
            question__in={question for question, _ in infos},
            rater__in={rater for _, rater in infos},
            sample=0,
            missing="",
        )
        .order_by("created_at", "pk")
        .values_list("item_id", "question_id", "rater_id", "number", "text")
    )
    maps = {link.question.id: link.map for link in subject.links}
    answers: dict[tuple[int, int, int], list[Record]] = {}
    for item, question, rater, number, text in rows.iterator(chunk_size=CHUNK):
        info, place = infos.get((question, rater)), where.get(item)
        if info is None or place is None:
            continue
        if number is not None and question in maps:
            number = maps[question].apply(number)
        own_answers = answers.setdefault((item, question, rater), [])
        own_answers.append(recorded(place, info, len(own_answers), number if text is None else text))
    twice = [own_answers[:2] for own_answers in answers.values() if len(own_answers) > 1]
    return tuple(replace(record, sample=n) for own_answers in twice for n, record in enumerate(own_answers))


def _on_several_occasions(scope: Scope, subject: Subject) -> set[tuple[int, int]]:
    """Return (question, rater) pairs with labels on two occasions or in two campaigns, from counts."""
    rows = (
        LabelCount.objects.filter(
            corpus=scope.corpus,
            training=scope.training,
            question__in=subject.question_ids,
            occasion__in={*OCCASIONS, *scope.occasions},
        )
        .values_list("question_id", "rater_id", "occasion", "campaign_id")
        .distinct()
    )
    seen: dict[tuple[int, int], int] = {}
    for question, rater, _, _ in rows:
        seen[question, rater] = seen.get((question, rater), 0) + 1
    return {pair for pair, places in seen.items() if places > 1}


# Length of rated texts in characters and words, which may drive a judge's answers without reading.

_WORDS = "cardinality(array_remove(regexp_split_to_array(u.text, '\\s+'), ''))"
_LENGTHS = f"""
SELECT i.id, coalesce(sum(length(u.text)), 0), coalesce(sum({_WORDS}), 0)
  FROM annotation_item i
  JOIN annotation_turn u ON u.id = i.turn_id
                         OR (i.turn_id IS NULL AND u.continuation_id = i.continuation_id AND NOT u.given)
 WHERE i.id = ANY(%s)
 GROUP BY i.id
"""  # noqa: S608  (words of ours)
BATCH = 20_000


def lengths(items: Collection[int]) -> dict[int, tuple[int, int]]:
    """Return the characters and words of items, by id.

    For a turn, its text counts; for a continuation, its turns except given ones.
    """
    sizes: dict[int, tuple[int, int]] = {}
    for batch in _batches(sorted(items)):
        with connection.cursor() as cursor:
            cursor.execute(_LENGTHS, [batch])
            sizes |= {item: (int(many), int(words)) for item, many, words in cursor.fetchall()}
    return sizes


def _batches(ids: list[int]) -> Iterable[list[int]]:
    return (ids[start : start + BATCH] for start in range(0, len(ids), BATCH))


def conditions(corpus: Corpus, continuations: Collection[str]) -> dict[str, dict[str, Any]]:
    """Return the conditions of those of these continuations that have any, by the continuation's key."""
    rows = (
        Continuation.objects.filter(dialogue__corpus=corpus)
        .exclude(condition={})
        .values_list("dialogue__key", "key", "condition")
    )
    by_key = (
        (item_key(dialogue, own, None), condition)
        for dialogue, own, condition in rows.iterator(chunk_size=CHUNK)
    )
    return {key: condition for key, condition in by_key if key in continuations}


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """Number of items of a question that a rater answered, and of answers missing with a reason."""

    ref: str
    title: str
    n: int
    missing: int
    samples: int


@dataclass(frozen=True, slots=True)
class Answered:
    """A rater's answers, compared or not."""

    name: str
    kind: str
    identified: bool
    simulated: bool
    questions: tuple[AnsweredQuestion, ...] = ()


def answered(
    scope: Scope, counted: Census, clusters: Collection[str] | None = None, names: Collection[str] = ()
) -> list[Answered]:
    """Return, per rater, its questions with the numbers of answered items and of missing answers.

    Only items in `clusters` and raters in `names` count, if given.
    """
    labels = scope.labels()
    if clusters is not None:
        labels = labels.filter(splits.within(clusters, "item__"))
    rows = (
        labels.values("rater_id", "question_id")
        .annotate(
            n=Count("item_id", distinct=True, filter=Q(missing="")),
            gone=Count("pk", filter=~Q(missing="")),
            samples=Max("sample"),
        )
        .order_by("rater_id", "question_id")
        .values_list("rater_id", "question_id", "n", "gone", "samples")
    )
    by_rater: dict[int, Answered] = {}
    order = list(counted.questions)
    for rater, question, n, gone, samples in sorted(rows, key=lambda row: (row[0], order.index(row[1]))):
        info = counted.raters[rater]
        if names and info.name not in names:
            continue
        previous = by_rater.get(rater) or Answered(info.name, info.kind, info.identified, info.simulated)
        question_info = counted.questions[question]
        counts = AnsweredQuestion(question_info.ref, question_info.title, n, gone, samples + 1)
        by_rater[rater] = replace(previous, questions=(*previous.questions, counts))
    return list(by_rater.values())
