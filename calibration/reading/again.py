"""Answers that a rater gave again: the same question on the same item in another campaign or on a repeat.

Statistics read one answer of a rater to an item; how alike its answers are is read here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from annotation.models import Label, LabelCount, Occasion
from calibration.reading.census import Census
from calibration.reading.ratings import CHUNK, Place, recorded
from calibration.reading.scope import STATISTICS_READ, Scope
from calibration.reading.subjects import Subject, rater_names
from calibration.statistics import Record

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
