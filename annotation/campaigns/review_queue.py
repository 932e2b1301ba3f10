"""Review queue of a campaign: the items drawn by judges' answers, stored when the campaign first opens.

The population are the items that the campaign can ask about, without a test part that nobody has opened.
Each belongs to one stratum (`annotation.campaigns.allocation`); items of a stratum without a sample are left
out, so that estimates do not speak of them. Drawing again gives the same items while the answers are the
same; the stored items, probabilities and sizes of strata never change.

The strata of items that were not drawn are not stored. They are those of the labels at the time of the draw,
because labels are only ever added or superseded; `drawn_from` reads them again and checks them against what
was stored.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

from django.db import connection
from django.utils import timezone

from annotation.campaigns import allocation, choice, reviewed
from annotation.campaigns.allocation import Deviation, Inclusion, QueueError, StratumSize, Value
from annotation.corpora import splits
from annotation.errors import CampaignRefused
from annotation.models import Campaign, Question, SampledItem
from annotation.text.references import item_key_sql, members_key_sql, record_key_sql

POPULATION = f"""
SELECT i.id, coalesce(i.cluster, d.cluster) = ANY(%(closed)s::text[]),
       CASE WHEN i.record_id IS NOT NULL THEN {record_key_sql("d.key", "i.kind", "w.key")}
            WHEN i.compared IS NOT NULL THEN {members_key_sql("i.id", "d.key")}
            ELSE {item_key_sql("d.key", "c.key", "u.position")} END
  FROM annotation_dialogue d
  JOIN annotation_continuation c ON c.dialogue_id = d.id
  JOIN annotation_item i ON i.continuation_id = c.id AND i.kind = %(kind)s
  LEFT JOIN annotation_turn u ON u.id = i.turn_id
  LEFT JOIN annotation_record w ON w.id = i.record_id
  LEFT JOIN annotation_import m ON m.id = d.imported_id
 WHERE d.corpus_id = %(corpus)s AND (m.created_at IS NULL OR m.created_at <= %(at)s::timestamptz)
   AND {choice.SELECTION} AND {choice.MODE_ALLOWED} AND {choice.BY_SPEAKERS}
   AND {reviewed.RECORD_SELECTION}
   AND (NOT %(compares)s OR EXISTS (SELECT 1 FROM annotation_compareditem x
                                     WHERE x.campaign_id = %(campaign)s AND x.item_id = i.id))
"""  # noqa: S608  (conditions of ours)
"""The items that could be drawn at a time: id, whether of an unopened test part, and key."""

ANSWERS = """
SELECT l.item_id, array_agg(l.number ORDER BY l.sample, l.id), array_agg(l.text ORDER BY l.sample, l.id)
  FROM annotation_label l
  JOIN annotation_rater r ON r.id = l.rater_id
   AND (r.kind = 'judge' AND r.name = ANY(%(judges)s::text[]) OR %(people)s AND r.kind = 'human')
  JOIN annotation_question q ON q.id = l.question_id AND q.key = %(question)s AND q.level = %(level)s
  JOIN annotation_item i ON i.id = l.item_id AND i.corpus_id = %(corpus)s AND i.kind = %(kind)s
 WHERE l.created_at <= %(at)s::timestamptz
   AND (l.superseded_at IS NULL OR l.superseded_at > %(at)s::timestamptz)
   AND l.missing = '' AND l.occasion IN ('imported', 'main')
 GROUP BY l.item_id, l.rater_id ORDER BY l.item_id, l.rater_id
"""
"""The samples of each judge, or of each person, about each item, as of a time."""


class DrawnItems(NamedTuple):
    """The sizes of the strata, the drawn items with probability and stratum, and the closed test items."""

    strata: list[StratumSize]
    by_item: dict[int, tuple[float, str]]
    unopened: int


def question_of(campaign: Campaign, key: str) -> Question | None:
    """Return the question of a campaign's scheme by whose answers items are drawn; None without one."""
    version = campaign.scheme_version
    kinds = ("", version.item_kind)
    return Question.objects.filter(version=version, key=key, item_kind__in=kinds).first()


def refusal(campaign: Campaign) -> str:
    """Return why a campaign's queue is not valid, '' where it is, or where there is none."""
    if campaign.review is None:
        return ""
    try:
        queue = allocation.parse(campaign.review)
        question = question_of(campaign, queue.question)
        if question is None:
            title = campaign.scheme_version.name
            return f"“{title}” has no question “{queue.question[:80]}” about what its tasks show."
        allocation.check_question(queue, question.level, question.values)
    except QueueError as error:
        return str(error)
    others = ("sample_dialogues", "sample_apart", "sample_records")
    if any(getattr(campaign, name) is not None for name in others):
        return "Draw by a judge's answers, or a sample of the dialogues: not both."
    if campaign.side_by_side:
        return "Items are drawn one by one: they cannot stand side by side."
    if campaign.scheme_version.questions.exclude(item_kind__in=("", campaign.scheme_version.item_kind)):
        return "Items of one kind are drawn: choose a scheme about turns, or about the whole, alone."
    return ""


def draw(campaign: Campaign) -> DrawnItems:
    """Draw a draft's queue from the answers of now. Raises QueueError where it cannot be drawn.

    The result is cached on the instance while its settings stay the same.
    """
    parameters = _parameters(campaign)
    parameters["closed"] = list(splits.unopened(campaign.corpus).values_list("cluster", flat=True))
    about = json.dumps([campaign.review, campaign.scheme_version_id, parameters], sort_keys=True, default=str)
    cached: dict[str, DrawnItems] = campaign.__dict__.setdefault("_review_queue", {})
    if about not in cached:
        cached[about] = _draw(campaign, parameters)
    return cached[about]


def _parameters(campaign: Campaign) -> dict[str, Any]:
    return choice.values(campaign) | reviewed.values(campaign) | {"at": "infinity"}


class _Population(NamedTuple):
    """A queue, its items' keys by stratum and id, the judges' answers, and the closed test items."""

    queue: allocation.Queue
    question: Question
    keys: dict[str, dict[int, str]]
    judged: dict[int, list[list[Value]]]
    unopened: int


def _population(campaign: Campaign, parameters: dict[str, Any]) -> _Population:
    """Read the items that could be drawn, and divide them into strata. Raises QueueError."""
    queue = allocation.parse(campaign.review)
    question = question_of(campaign, queue.question)
    if question is None:
        raise QueueError(f"There is no question “{queue.question[:80]}”.")
    parameters |= {"question": question.key, "level": question.level}
    with connection.cursor() as cursor:
        cursor.execute(POPULATION, parameters)
        population = cursor.fetchall()
    judged = _answers(parameters | {"judges": list(queue.judges), "people": False})
    if not any(pk in judged for pk, is_closed, _ in population if not is_closed):
        names = " or ".join(queue.judges)
        raise QueueError(f"Of what can be rated here, {names} answered “{question.key}” about nothing yet.")
    keys: dict[str, dict[int, str]] = {stratum.name: {} for stratum in queue.strata}
    for pk, is_closed, key in population:
        if not is_closed:
            stratum = allocation.stratum_of(queue, judged.get(pk, ()), question.level, question.positive)
            keys[stratum.name][pk] = key
    return _Population(queue, question, keys, judged, sum(is_closed for _, is_closed, _ in population))


def _draw(campaign: Campaign, parameters: dict[str, Any]) -> DrawnItems:
    queue, question, keys, judged, n_unopened = _population(campaign, parameters)

    def estimate() -> dict[str, Deviation]:
        people = _answers(parameters | {"judges": [], "people": True})
        pilot = (
            (name, judged[pk], [value for answers in people[pk] for value in answers])
            for name, items in keys.items()
            for pk in sorted(items)
            if pk in people and pk in judged
        )
        return allocation.deviations(queue, pilot, question.level)

    strata = allocation.sizes(queue, {name: len(items) for name, items in keys.items()}, estimate)
    by_item = {
        pk: (stratum.probability, stratum.name)
        for stratum in strata
        if stratum.probability is not None
        for pk in allocation.draw(keys[stratum.name], stratum.sample, campaign.seed)
    }
    return DrawnItems(strata, by_item, n_unopened)


def _answers(parameters: dict[str, Any]) -> dict[int, list[list[Value]]]:
    """Return the answers about each item: of each rater, its samples."""
    by_item: dict[int, list[list[Value]]] = {}
    with connection.cursor() as cursor:
        cursor.execute(ANSWERS, parameters)
        for item, numbers, texts in cursor.fetchall():
            pairs = zip(numbers, texts, strict=True)
            by_item.setdefault(item, []).append([text if n is None else n for n, text in pairs])
    return by_item


def items(campaign: Campaign) -> list[int]:
    """Return the ids of the drawn items, stored or as drawn now; none where they cannot be drawn."""
    if campaign.state != Campaign.State.DRAFT:
        return list(SampledItem.objects.filter(campaign=campaign).values_list("item_id", flat=True))
    try:
        return sorted(draw(campaign).by_item)
    except QueueError:
        return []  # opening the campaign shows the refusal


def keep(campaign: Campaign) -> None:
    """Store the queue of a campaign that opens: items with probability and stratum, and the strata's sizes.

    Raises CampaignRefused where it cannot be drawn.
    """
    if campaign.review is None:
        return
    try:
        drawn_items = draw(campaign)
    except QueueError as error:
        raise CampaignRefused(str(error)) from None
    SampledItem.objects.bulk_create(
        (
            SampledItem(campaign=campaign, item_id=pk, probability=probability, stratum=stratum)
            for pk, (probability, stratum) in sorted(drawn_items.by_item.items())
        ),
        batch_size=5_000,
    )
    campaign.review_strata = _sizes(drawn_items) | {"drawn_at": timezone.now().isoformat()}
    campaign.save(update_fields=["review_strata"])


def drawn_from(campaign: Campaign) -> Inclusion | None:
    """Return the probability and the stratum of every item that an opened campaign could draw, by item id.

    A probability lies above 0 and is at most 1; items of strata that are left out are absent. None where the
    strata can no longer be read as they were: the corpus or its labels were deleted in part, or an import
    added to dialogues. They are read from the labels of the time of the draw, and count only where every
    stratum has the stored size and drawing again gives exactly the stored items.
    """
    strata = campaign.review_strata
    return None if strata is None else _drawn_from(campaign.pk, strata["drawn_at"])


@lru_cache(maxsize=16)  # the past does not change, and a report asks for each of its questions
def _drawn_from(pk: int, drawn_at: str) -> Inclusion | None:
    campaign = Campaign.objects.select_related("corpus", "scheme_version__scheme").get(pk=pk)
    at = datetime.fromisoformat(drawn_at)
    try:
        keys = _population(campaign, _parameters(campaign) | {"at": at, "closed": _closed(campaign, at)}).keys
    except QueueError:
        return None
    strata = (campaign.review_strata or {})["strata"]
    if {name: len(items) for name, items in keys.items()} != {row["stratum"]: row["items"] for row in strata}:
        return None
    again = {
        (item, row["stratum"])
        for row in strata
        for item in allocation.draw(keys[row["stratum"]], row["sample"], campaign.seed)
    }
    if again != set(campaign.sampled_items.values_list("item_id", "stratum")):
        return None
    return {
        item: (row["probability"], row["stratum"])
        for row in strata
        if row["probability"] is not None
        for item in keys[row["stratum"]]
    }


def _closed(campaign: Campaign, at: datetime) -> list[str]:
    """Return the test clusters that nobody had opened at a time."""
    lock = splits.lock_of(campaign.corpus)
    if lock is None or lock.created_at > at or lock.looks.filter(at__lte=at).exists():
        return []
    return list(lock.clusters.filter(part="test").values_list("cluster", flat=True))


def describe(campaign: Campaign) -> dict[str, Any]:
    """Describe a campaign's queue, stored (`kept`) or as drawn now, for pages and the API.

    `strata` has for each stratum its `items`, the number drawn (`sample`), the `probability` of each (null:
    left out), and with Neyman allocation the standard deviation `sd` and what it is from (`sd_from`).
    `population` are the items of the strata that are drawn from, `left_out` those of the others, and
    `unopened` the items of a test part that nobody has opened. `refusal` is why nothing can be drawn.
    """
    is_kept = campaign.review_strata is not None
    facts: dict[str, Any] = {"dialogues": 0, "by": "judge", "kept": is_kept, "refusal": "", "apart": None}
    facts |= {"items": 0, "strata": [], "population": 0, "left_out": 0, "unopened": 0}
    try:
        sizes = campaign.review_strata or _sizes(draw(campaign))
    except QueueError as error:
        return facts | {"refusal": str(error)}
    strata = sizes["strata"]

    def total(count: str, is_included: Callable[[dict[str, Any]], bool]) -> int:
        return sum(row[count] for row in strata if is_included(row))

    return facts | {
        "items": total("sample", bool),
        "strata": strata,
        "population": total("items", lambda row: row["sample"] > 0),
        "left_out": total("items", lambda row: row["sample"] == 0),
        "unopened": sizes["unopened"],
    }


def _sizes(drawn_items: DrawnItems) -> dict[str, Any]:
    """Return the sizes of a queue's strata as they are stored."""
    strata = [
        {
            "stratum": row.name,
            "items": row.items,
            "sample": row.sample,
            "probability": row.probability,
            "sd": None if row.deviation is None else row.deviation.sd,
            "sd_from": "" if row.deviation is None else row.deviation.source,
        }
        for row in drawn_items.strata
    ]
    return {"strata": strata, "unopened": drawn_items.unopened}
