"""In which order a campaign's tasks are: what they are sorted by, and how far raters are apart on an item.

How far they are apart lies between 0 and 1, the mean over the questions that the campaign asks (by key and
level; texts are left out). On a scale it is the distance between the judge's mean and the people's mean, as a
share of the scale that each answered on; of categories, the share of people who say otherwise than the judge.
Where nobody has answered an item, or no judge is named, it is that of the judges among themselves: from the
lowest to the highest, or the share that does not say what most say.
"""

from __future__ import annotations

from typing import Any

from django.db import connection
from django.db.models import Sum

from annotation.corpora import splits
from annotation.corpora.reading import showable
from annotation.models import Campaign, Corpus, LabelCount, Rater
from annotation.text.views import METADATA

Order = Campaign.Order

SHUFFLED = "md5(%(seed)s || ':' || d.key || <own>), d.key, <own>, i.position, c.key"
NUMBER = r"""CASE WHEN d.metadata ->> %(order_field)s ~ '^\s*[-+]?\d{1,15}(\.\d{1,15})?([eE][-+]?\d\d?)?\s*$'
  THEN (d.metadata ->> %(order_field)s)::float8 END"""
SORTED = {
    Order.FIXED: "d.id, <together>, i.position, c.id",
    Order.PRIORITY: f"{NUMBER} DESC NULLS LAST, {SHUFFLED}",
    Order.INFORMATIVE: f"coalesce(a.apart, w.apart, s.apart) DESC NULLS LAST, {SHUFFLED}",
}
"""What tasks are sorted by; `d`, `c` and `i` are their dialogue, continuation and item.

The turns of a continuation stay together; where responses stand side by side, those of a dialogue do.
"""

APART = """
told AS (
  SELECT l.item_id, w.id AS question, l.rater_id, r.kind = 'human' AS person,
         r.kind = 'judge' AND r.name = %(judge)s AS chosen,
         avg(CASE WHEN b.high > b.low THEN (l.number - b.low) / (b.high - b.low) ELSE 0 END)
           FILTER (WHERE l.number IS NOT NULL) AS place,
         mode() WITHIN GROUP (ORDER BY l.text) AS said
    FROM annotation_question w
    JOIN annotation_question q ON q.key = w.key AND q.level = w.level
    JOIN LATERAL (
      SELECT coalesce(q.minimum, (SELECT min(v::text::float8) FROM jsonb_array_elements(q.values) AS v
                                   WHERE jsonb_typeof(v) = 'number'),
               (SELECT min(x.number) FROM annotation_label x WHERE x.question_id = q.id)) AS low,
             coalesce(q.maximum, (SELECT max(v::text::float8) FROM jsonb_array_elements(q.values) AS v
                                   WHERE jsonb_typeof(v) = 'number'),
               (SELECT max(x.number) FROM annotation_label x WHERE x.question_id = q.id)) AS high
      OFFSET 0) b ON true
    JOIN annotation_label l ON l.question_id = q.id
    JOIN annotation_item i ON i.id = l.item_id AND i.corpus_id = %(corpus)s
     AND i.kind = coalesce(nullif(w.item_kind, ''), %(kind)s)
    JOIN annotation_continuation c ON c.id = i.continuation_id
    JOIN annotation_dialogue d ON d.id = c.dialogue_id
    JOIN annotation_rater r ON r.id = l.rater_id AND r.kind IN ('human', 'judge')
   WHERE w.version_id = %(version)s AND w.level <> 'text'
     AND l.superseded_at IS NULL AND l.missing = '' AND l.occasion IN ('imported', 'main')
     AND coalesce(i.cluster, d.cluster) <> ALL(%(closed)s::text[])
   GROUP BY 1, 2, 3, 4, 5),
met AS (
  SELECT item_id, question, bool_or(person) AND %(judge)s <> '' AS with_people,
         abs(avg(place) FILTER (WHERE chosen) - avg(place) FILTER (WHERE person)) AS away,
         max(place) FILTER (WHERE NOT person) - min(place) FILTER (WHERE NOT person) AS spread,
         count(*) FILTER (WHERE NOT person) AS others,
         max(said) FILTER (WHERE chosen) AS judged,
         array_agg(said) FILTER (WHERE person AND said IS NOT NULL) AS people,
         array_agg(said) FILTER (WHERE NOT person AND said IS NOT NULL) AS judges
    FROM told GROUP BY 1, 2),
apart AS (
  SELECT item_id, avg(CASE
    WHEN with_people THEN coalesce(away, CASE WHEN judged IS NOT NULL THEN
      (SELECT avg((one <> judged)::int) FROM unnest(people) AS one) END)
    WHEN others > 1 AND NOT %(people_only)s THEN coalesce(spread,
      (SELECT 1 - max(n) / sum(n)
         FROM (SELECT count(*) AS n FROM unnest(judges) AS one GROUP BY one) AS many))
    END)::float8 AS apart
    FROM met GROUP BY 1)
"""
"""How far raters are apart, by item: the common table `apart`. A locked test part is not read."""

WITH_APART = """
  LEFT JOIN apart a ON a.item_id = i.id
  LEFT JOIN (SELECT o.continuation_id, avg(p.apart) AS apart FROM apart p
               JOIN annotation_item o ON o.id = p.item_id GROUP BY 1) w
         ON i.id IS NULL AND w.continuation_id = c.id
  LEFT JOIN (SELECT m.item_id, avg(p.apart) AS apart FROM apart p
               JOIN annotation_item o ON o.id = p.item_id AND o.turn_id IS NOT NULL
               JOIN annotation_itemmember m ON m.turn_id = o.turn_id GROUP BY 1) s ON s.item_id = i.id
"""
HAS_NUMBER = f"""SELECT 1 FROM annotation_dialogue d WHERE d.corpus_id = %(corpus)s AND ({NUMBER}) IS NOT NULL
  LIMIT 1"""  # noqa: S608  (a condition of ours)


def apart(*, people_only: bool = False) -> str:
    """Return the common table `apart` (item_id, apart), without WITH; its values are those of `values`.

    With `people_only`, items that people have not answered are not in it.
    """
    return APART.replace("%(people_only)s", "true" if people_only else "false")


def sorted_by(campaign: Campaign) -> str:
    """Return what a campaign's tasks are sorted by."""
    order = SORTED.get(Order(campaign.task_order), SHUFFLED)
    own, together = ("''", "0::bigint") if campaign.side_by_side else ("'/' || c.key", "c.id")
    return order.replace("<own>", own).replace("<together>", together)


def reads_answers(campaign: Campaign) -> bool:
    """Whether the order depends on answers, so that it needs `apart`."""
    return campaign.task_order == Order.INFORMATIVE


def values(campaign: Campaign) -> dict[str, Any]:
    """Return the values that orders and `apart` need, beside those of `choice`."""
    closed = splits.unopened(campaign.corpus).values_list("cluster", flat=True)
    return {
        "order_field": campaign.order_by.removeprefix(METADATA),
        "judge": campaign.apart_judge,
        "version": campaign.scheme_version_id,
        "closed": list(closed),
    }


def fields(corpus: Corpus) -> list[tuple[str, str]]:
    """Return the entries of a corpus's metadata, by which tasks can be put in order, as (name, title)."""
    return [(name, title) for name, title in showable(corpus) if name.startswith(METADATA)]


def judges(corpus: Corpus) -> list[str]:
    """Return the names of the judges that have answered about a corpus, in order."""
    counted = LabelCount.objects.filter(corpus=corpus).order_by().values("rater").annotate(many=Sum("n"))
    answered = counted.filter(many__gt=0).values("rater")
    found = Rater.objects.filter(kind=Rater.Kind.JUDGE, pk__in=answered).order_by("name")
    return list(found.values_list("name", flat=True))


def refusal(campaign: Campaign) -> tuple[str, str] | None:
    """Return the setting of a campaign's order that makes no sense, and why; None where all do."""
    if campaign.task_order not in Order.values:
        return "task_order", f"The order of tasks is one of {', '.join(Order.values)}."
    if campaign.task_order != Order.PRIORITY and campaign.order_by:
        return "order_by", "Only the order by priority is by a field: choose “priority”, or no field."
    if campaign.task_order == Order.PRIORITY and (why := _not_numbered(campaign)):
        return "order_by", why
    judge = campaign.apart_judge
    if judge and judge not in (there := judges(campaign.corpus)):
        known = f"Those that have: {', '.join(there)[:500]}." if there else "Run one over it first."
        return "apart_judge", f"No judge “{judge[:120]}” has answered about {campaign.corpus.name}. {known}"
    return None


def _not_numbered(campaign: Campaign) -> str:
    by, corpus = campaign.order_by, campaign.corpus
    if not by.startswith(METADATA) or by == METADATA:
        return f"Say by which field of the dialogues: {METADATA}FIELD, not “{by}”."
    with connection.cursor() as cursor:
        cursor.execute(HAS_NUMBER, {"corpus": corpus.pk, "order_field": by.removeprefix(METADATA)})
        there = cursor.fetchone()
    return "" if there else f"No dialogue of {corpus.name} has a number as {by.removeprefix(METADATA)}."
