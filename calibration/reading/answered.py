"""What each rater answered, whether or not anything could be compared with it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from django.db import connection
from django.db.models import Count, Max, Q

from annotation.corpora import splits
from annotation.models import Label, LabelCount, Occasion
from calibration.reading.census import Census
from calibration.reading.ratings import CHUNK, Place, recorded
from calibration.reading.scope import STATISTICS_READ, Scope
from calibration.reading.subjects import Subject, rater_names
from calibration.statistics import Record

# Answers that a rater gave again: the same question on the same item in another campaign or on a repeat.
#
# Statistics read one answer of a rater to an item; how alike its answers are is read here.

OCCASIONS = (*STATISTICS_READ, Occasion.REPEAT)
"""Where a rater may answer in earnest; training, checks and adjudication ask something else of it."""


def again(
    scope: Scope,
    subject: Subject,
    counted: Census,
    where: Mapping[int, Place],
    raters: frozenset[str] = frozenset(),
) -> tuple[Record, ...]:
    """Return the first and second answer (`sample` 0 and 1) of whoever answered an item twice, by item.

    A campaign's people may have answered its items elsewhere in the corpus, too. Only the labels of raters
    who have answered on several occasions are read.
    """
    several = _on_several_occasions(scope, subject)
    named = {
        pair: info
        for pair, info in rater_names(subject, counted).items()
        if pair in several and (not raters or counted.raters[pair[1]].name in raters)
    }
    if not named:
        return ()
    rows = (
        Label.objects.filter(
            item__corpus=scope.corpus,
            item__training=scope.training,
            superseded_at__isnull=True,
            occasion__in={*OCCASIONS, *scope.occasions},
            question__in={question for question, _ in named},
            rater__in={rater for _, rater in named},
            sample=0,
            missing="",
        )
        .order_by("created_at", "pk")
        .values_list("item_id", "question_id", "rater_id", "number", "text")
    )
    maps = {link.question.id: link.map for link in subject.links}
    answers: dict[tuple[int, int, int], list[Record]] = {}
    for item, question, rater, number, text in rows.iterator(chunk_size=CHUNK):
        info, place = named.get((question, rater)), where.get(item)
        if info is None or place is None:
            continue
        if number is not None and question in maps:
            number = maps[question].apply(number)
        given = answers.setdefault((item, question, rater), [])
        given.append(recorded(place, info, len(given), number if text is None else text))
    twice = [given[:2] for given in answers.values() if len(given) > 1]
    return tuple(replace(record, sample=n) for given in twice for n, record in enumerate(given))


def _on_several_occasions(scope: Scope, subject: Subject) -> set[tuple[int, int]]:
    """Return the (question, rater) pairs with labels on two occasions or in two campaigns, by the counts."""
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


# How long what is rated is: characters and words, which a judge may follow without reading.

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


def lengths(where: Mapping[int, Place]) -> dict[str, tuple[int, int]]:
    """Return the characters and words of items by their keys: of a turn's text, or of a continuation's turns
    that are not given."""
    found: dict[str, tuple[int, int]] = {}
    for batch in _batches(sorted(where)):
        with connection.cursor() as cursor:
            cursor.execute(_LENGTHS, [batch])
            found |= {where[item].key: (int(many), int(words)) for item, many, words in cursor.fetchall()}
    return found


def _batches(ids: list[int]) -> Iterable[list[int]]:
    return (ids[start : start + BATCH] for start in range(0, len(ids), BATCH))


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """How many items of a question a rater answered, and how many answers are missing with a reason."""

    ref: str
    title: str
    n: int
    missing: int
    samples: int


@dataclass(frozen=True, slots=True)
class Answered:
    """What a rater answered, whether or not anything could be compared with it."""

    name: str
    kind: str
    identified: bool
    simulated: bool
    questions: tuple[AnsweredQuestion, ...] = ()


def answered(
    scope: Scope, counted: Census, clusters: Collection[str] | None = None, names: Collection[str] = ()
) -> list[Answered]:
    """Return per rater its questions, each with the numbers of items answered and of missing answers.

    Only items in `clusters` and raters in `names` count, where these are given.
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
    found: dict[int, Answered] = {}
    order = list(counted.questions)
    for rater, question, n, gone, samples in sorted(rows, key=lambda row: (row[0], order.index(row[1]))):
        info = counted.raters[rater]
        if names and info.name not in names:
            continue
        told = found.get(rater) or Answered(info.name, info.kind, info.identified, info.simulated)
        asked = counted.questions[question]
        here = AnsweredQuestion(asked.ref, asked.title, n, gone, samples + 1)
        found[rater] = replace(told, questions=(*told.questions, here))
    return list(found.values())
