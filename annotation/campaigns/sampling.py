"""Sampling of a campaign's dialogues by seed and stratum, task order, and balance of strata.

Each stratum gives its share of the sample, by largest remainder; in a stratum the dialogues with the lowest
MD5 of seed and key are drawn. So the sample depends only on the seed and the ids in the files. It is stored
when the campaign first opens, and never drawn again.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db import connection
from django.db.models import Q, Sum

from annotation.campaigns import choice, review_queue, reviewed
from annotation.corpora import splits
from annotation.corpora.queries import showable
from annotation.errors import CampaignRefused
from annotation.kinds import COMPARING
from annotation.models import Item, LabelCount, Rater, SampledDialogue, SampledItem, StratumShare
from annotation.models.campaigns import Campaign
from annotation.models.corpora import Corpus
from annotation.text.views import METADATA

# Order of a campaign's tasks: sort keys, and the disagreement of raters on an item (`apart`).
#
# `apart` lies in [0, 1] and is the mean over the campaign's questions (by key and level; without texts). On a
# scale it is the distance between the judge's mean and the people's mean, as a share of the scale on which
# each answered; for categories, the share of people who differ from the judge. Where nobody has answered an
# item, or no judge is named, it is the disagreement among the judges: their range, or the share of judges who
# differ from the mode.

Order = Campaign.Order

SHUFFLED = "md5(%(seed)s || ':' || d.key || <own>), d.key, <own>, i.position, c.key"
NUMBER = r"""CASE WHEN d.metadata ->> %(order_field)s ~ '^\s*[-+]?\d{1,15}(\.\d{1,15})?([eE][-+]?\d\d?)?\s*$'
  THEN (d.metadata ->> %(order_field)s)::float8 END"""
SORTED = {
    Order.FIXED: "d.id, <together>, i.position, c.id",
    Order.PRIORITY: f"{NUMBER} DESC NULLS LAST, {SHUFFLED}",
    Order.INFORMATIVE: f"coalesce(a.apart, w.apart, s.apart) DESC NULLS LAST, {SHUFFLED}",
}
"""Sort keys of tasks by order; `d`, `c` and `i` are their dialogue, continuation and item.

Turns of a continuation stay together; where responses are shown side by side, those of a dialogue do.
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
"""Common table expression `apart`: the disagreement of raters by item, without a locked test part."""

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
    """Return the common table expression `apart` (item_id, apart), without WITH.

    Its parameters are those of `choice.values` and `order_values`. With `people_only`, it has only items
    that people have answered.
    """
    return APART.replace("%(people_only)s", "true" if people_only else "false")


def sorted_by(campaign: Campaign) -> str:
    """Return the sort keys of a campaign's tasks, as SQL."""
    order = SORTED.get(Order(campaign.task_order), SHUFFLED)
    own, together = ("''", "0::bigint") if campaign.side_by_side else ("'/' || c.key", "c.id")
    return order.replace("<own>", own).replace("<together>", together)


def reads_answers(campaign: Campaign) -> bool:
    """Whether the order depends on answers, so that it needs `apart`."""
    return campaign.task_order == Order.INFORMATIVE


def order_values(campaign: Campaign) -> dict[str, Any]:
    """Return the parameters of orders and `apart`, beside those of `choice.values`."""
    closed = splits.unopened(campaign.corpus).values_list("cluster", flat=True)
    return {
        "order_field": campaign.order_by.removeprefix(METADATA),
        "judge": campaign.apart_judge,
        "version": campaign.scheme_version_id,
        "closed": list(closed),
    }


def order_fields(corpus: Corpus) -> list[tuple[str, str]]:
    """Return a corpus's metadata fields that can define the order by priority, as (name, title)."""
    return [(name, title) for name, title in showable(corpus) if name.startswith(METADATA)]


def order_judges(corpus: Corpus) -> dict[str, str]:
    """Return the names of the judges with labels of a corpus, sorted, each with its name on pages."""
    counted = LabelCount.objects.filter(corpus=corpus).order_by().values("rater").annotate(many=Sum("n"))
    answered = counted.filter(many__gt=0).values("rater")
    judges = Rater.objects.filter(kind=Rater.Kind.JUDGE, pk__in=answered).order_by("name")
    return {judge.name: judge.title for judge in judges}


def order_refusal(campaign: Campaign) -> tuple[str, str] | None:
    """Return an invalid setting of a campaign's order and the reason; None where all are valid."""
    if campaign.task_order != Order.PRIORITY and campaign.order_by:
        return "order_by", "Only the order by priority is by a field: choose “priority”, or no field."
    if campaign.task_order == Order.PRIORITY and (why := _not_numbered(campaign)):
        return "order_by", why
    judge = campaign.apart_judge
    if judge and judge not in (judges := order_judges(campaign.corpus)):
        hint = f"Those that have: {', '.join(judges)[:500]}." if judges else "Run one over it first."
        return "apart_judge", f"No judge “{judge[:120]}” has answered about {campaign.corpus.name}. {hint}"
    return None


def _not_numbered(campaign: Campaign) -> str:
    by, corpus = campaign.order_by, campaign.corpus
    if not by.startswith(METADATA) or by == METADATA:
        return f"Say by which field of the dialogues: {METADATA}FIELD, not “{by}”."
    with connection.cursor() as cursor:
        cursor.execute(HAS_NUMBER, {"corpus": corpus.pk, "order_field": by.removeprefix(METADATA)})
        row = cursor.fetchone()
    return "" if row else f"No dialogue of {corpus.name} has a number as {by.removeprefix(METADATA)}."


# Sample of the items on which a judge and people differ by at least a share of the scale.
#
# The difference is the same as in the order by disagreement (`apart`). Like a sample of dialogues, this
# sample is stored when the campaign first opens, and never drawn again. A continuation that is rated as a
# whole is included where one of its items is in the sample.

DIFFERING = """
WITH <apart> SELECT p.item_id FROM apart p
  JOIN annotation_item i ON i.id = p.item_id
  JOIN annotation_continuation c ON c.id = i.continuation_id
  JOIN annotation_dialogue d ON d.id = c.dialogue_id
 WHERE p.apart >= %(least)s - 1e-9 AND <chosen> AND <asked> AND <speaker>
   AND (NOT %(compares)s OR EXISTS (SELECT 1 FROM annotation_compareditem x
                                     WHERE x.campaign_id = %(campaign)s AND x.item_id = i.id))
 ORDER BY p.item_id
"""


def differing_items(campaign: Campaign) -> list[int] | None:
    """Return the ids of the differing items, stored or as of now; None where there is no such sample.

    A draft's ids are cached on the instance while its settings stay the same.
    """
    if campaign.sample_apart is None:
        return None
    stored = list(SampledItem.objects.filter(campaign=campaign).values_list("item_id", flat=True))
    if stored or campaign.state != Campaign.State.DRAFT:
        return stored
    about = (
        *(campaign.apart_judge, campaign.sample_apart, campaign.scheme_version_id, campaign.corpus_id),
        tuple(campaign.speakers),
    )
    cached: dict[object, list[int]] = campaign.__dict__.setdefault("_differing", {})
    if about not in cached:
        cached[about] = _differing(campaign)
    return cached[about]


def dialogues_of_items(item_ids: list[int] | None) -> list[int] | None:
    """Return the ids of the dialogues with some items; None for None, where there is no such sample."""
    if item_ids is None:
        return None
    rows = Item.objects.filter(pk__in=item_ids).order_by("continuation__dialogue").distinct()
    return list(rows.values_list("continuation__dialogue", flat=True))


def keep_differing(campaign: Campaign) -> None:
    """Store the items on which judge and people differ now; raise CampaignRefused where there are none."""
    item_ids = differing_items(campaign)
    if item_ids is None:
        return
    if not item_ids:
        raise CampaignRefused(nothing(campaign))
    SampledItem.objects.bulk_create(
        (SampledItem(campaign=campaign, item_id=pk) for pk in item_ids),
        batch_size=5_000,
        ignore_conflicts=True,
    )


def nothing(campaign: Campaign) -> str:
    """Return the refusal of a campaign without differing items."""
    return (
        f"On nothing that can be rated here are {campaign.apart_judge} and people {campaign.sample_apart:g} "
        "of the scale apart. Ask about smaller differences, or first have both rate a part of it."
    )


def _differing(campaign: Campaign) -> list[int]:
    query = DIFFERING.replace("<apart>", apart(people_only=True))
    query = query.replace("<chosen>", choice.SELECTION).replace("<asked>", choice.MODE_ALLOWED)
    query = query.replace("<speaker>", choice.BY_SPEAKERS)
    parameters = choice.values(campaign) | order_values(campaign) | {"least": campaign.sample_apart}
    with connection.cursor() as cursor:
        cursor.execute(query, parameters)
        return [pk for (pk,) in cursor.fetchall()]


SYSTEM, PART = "system", "part"
STRATUM_TITLES = {SYSTEM: "the systems that answered", PART: "dev and test"}

ELIGIBLE = """
SELECT d.id, {stratum}
  FROM annotation_dialogue d
 WHERE d.corpus_id = %(corpus)s AND EXISTS (
   SELECT 1 FROM annotation_continuation c WHERE c.dialogue_id = d.id AND {chosen} AND {asked}
      AND EXISTS (SELECT 1 FROM annotation_item i WHERE i.continuation_id = c.id AND i.kind = %(kind)s
                   AND {record} AND {speaker}
                   AND (%(items)s::bigint[] IS NULL OR i.id = ANY(%(items)s::bigint[]))))
 ORDER BY md5(%(seed)s || ':sample:' || d.key), d.key
"""

OF_SYSTEMS = """(SELECT string_agg(DISTINCT s.name, ', ' ORDER BY s.name) FROM annotation_continuation c
   JOIN annotation_system s ON s.id = c.system_id WHERE c.dialogue_id = d.id AND {chosen} AND {asked})"""
OF_PART = """coalesce((SELECT p.part FROM annotation_splitcluster p
   WHERE p.split_id = %(split)s AND p.cluster = d.cluster), '')"""
OF_METADATA = "coalesce(d.metadata ->> %(field)s, '')"


OF_CONTINUATION = {
    "": "NULL",
    SYSTEM: "(SELECT y.name FROM annotation_system y WHERE y.id = c.system_id)",
    PART: OF_PART,
}
"""SQL of a continuation's stratum, by source; a continuation has one system."""


class Sample(NamedTuple):
    """A sample: the stratum of each drawn dialogue, by id, and whether the sample is stored."""

    strata: dict[int, str]
    is_stored: bool

    def by_stratum(self) -> list[tuple[str, int]]:
        """Return the number of drawn dialogues of each stratum, sorted by name."""
        return sorted(Counter(self.strata.values()).items())


def choices(corpus: Corpus) -> list[tuple[str, str]]:
    """Return the possible strata for a sample of a corpus, as (name, title)."""
    fields = [(name, title) for name, title in showable(corpus) if name.startswith(METADATA)]
    part = [(PART, STRATUM_TITLES[PART].capitalize())] if splits.lock_of(corpus) else []
    return [
        ("", "Nothing: from all dialogues alike"),
        (SYSTEM, STRATUM_TITLES[SYSTEM].capitalize()),
        *part,
        *fields,
    ]


def refusal(corpus: Corpus, stratum: str) -> str:
    """Return why a corpus cannot be sampled by a kind of strata, '' where it can."""
    if stratum == PART and splits.lock_of(corpus) is None:
        return (
            f"{corpus.name} has no split into dev and test to draw by. Draw one on the corpus's page first."
        )
    if stratum in ("", *STRATUM_TITLES) or (stratum.startswith(METADATA) and len(stratum) > len(METADATA)):
        return ""
    return f"A sample is drawn by system, part or {METADATA}FIELD, not by “{stratum}”."


def stratum_sql(source: str) -> str:
    """Return the SQL of the stratum of a continuation `c` of a dialogue `d`: its system, part or field."""
    return OF_CONTINUATION.get(source, OF_METADATA)


def stratum_values(campaign: Campaign, source: str) -> dict[str, Any]:
    """Return the parameters of `stratum_sql`."""
    split = splits.lock_of(campaign.corpus) if source == PART else None
    return {"split": split.pk if split else None, "field": source.removeprefix(METADATA)}


def draw_sample(campaign: Campaign) -> Sample | None:
    """Return the stored sample, else the sample as drawn now; None where all dialogues are included.

    Raises CampaignRefused where there are fewer dialogues than the number to draw.
    """
    if campaign.sample_dialogues is None:
        return None
    if stored := dict(campaign.sampled.values_list("dialogue_id", "stratum")):
        return Sample(stored, is_stored=True)
    strata: dict[str, list[int]] = defaultdict(list)
    for dialogue, stratum in _eligible(campaign):
        strata[stratum or ""].append(dialogue)
    sizes = {name: len(ids) for name, ids in strata.items()}
    if (total := sum(sizes.values())) < campaign.sample_dialogues:
        raise CampaignRefused(
            f"{campaign.sample_dialogues:,} dialogues are to be drawn, but only {total:,} can be rated. "
            "Draw fewer, or ask about all of them."
        )
    shares = allocate(sizes, campaign.sample_dialogues)
    stratum_by_dialogue = {dialogue: name for name, ids in strata.items() for dialogue in ids[: shares[name]]}
    return Sample(stratum_by_dialogue, is_stored=False)


def keep(campaign: Campaign, opened_by: User) -> None:
    """Draw and store the sample; a stored sample stays. A split that defines the strata is fixed."""
    keep_differing(campaign)
    reviewed.keep(campaign)
    review_queue.keep(campaign)
    sample = draw_sample(campaign)
    if sample is None or sample.is_stored:
        return
    SampledDialogue.objects.bulk_create(
        (
            SampledDialogue(campaign=campaign, dialogue_id=pk, stratum=name)
            for pk, name in sample.strata.items()
        ),
        batch_size=5_000,
    )
    if campaign.sample_by == PART and (split := splits.lock_of(campaign.corpus)):
        splits.fix(split=split, by=opened_by)


def items(campaign: Campaign) -> list[int] | None:
    """Return the ids of the sampled items, stored or as of now; None for all items."""
    if campaign.review is not None:
        return review_queue.items(campaign)
    return differing_items(campaign) if campaign.sample_records is None else reviewed.items(campaign)


def inclusion(campaign: Campaign) -> dict[int, tuple[float, str]] | None:
    """Return the probability and the stratum of each item drawn for a campaign, by item id.

    A probability lies above 0 and is at most 1. None where the items were not drawn with known probabilities.
    """
    rows = SampledItem.objects.filter(campaign=campaign).values_list("item_id", "probability", "stratum")
    by_item = {item: (p, stratum) for item, p, stratum in rows if p is not None}
    return by_item or None


def dialogues(campaign: Campaign) -> list[int] | None:
    """Return the ids of the sampled dialogues, stored or as drawn now; None for the whole corpus."""
    try:
        sample = draw_sample(campaign)
    except CampaignRefused:
        return []  # opening the campaign shows the refusal
    if sample is not None:
        return sorted(sample.strata)
    is_review = campaign.review is not None
    return dialogues_of_items(review_queue.items(campaign) if is_review else differing_items(campaign))


def describe(campaign: Campaign) -> dict[str, Any] | None:
    """Describe a campaign's sample for pages and the API; None where all dialogues are included.

    `dialogues` and `strata` are the numbers of drawn dialogues, in total and by stratum, stored (`kept`) or
    as drawn now; `refusal` is why no sample can be drawn. `items` is the number of items on which judge and
    people are at least `apart`, None without that condition. For a review queue see `review_queue.describe`.
    """
    if campaign.review is not None:
        facts = review_queue.describe(campaign)
        return facts | {"dialogues": len(dialogues_of_items(review_queue.items(campaign)) or ())}
    apart = differing_items(campaign)
    if campaign.sample_dialogues is None and apart is None:
        return _describe_records(campaign)
    by = STRATUM_TITLES.get(campaign.sample_by, campaign.sample_by.removeprefix(METADATA))
    facts = {"dialogues": 0, "by": by, "strata": [], "kept": False, "refusal": ""}
    facts |= {"items": None if apart is None else len(apart), "apart": campaign.sample_apart}
    if apart == []:
        return facts | {"refusal": nothing(campaign)}
    if campaign.sample_dialogues is None:
        is_kept = campaign.state != Campaign.State.DRAFT
        return facts | {"dialogues": len(dialogues_of_items(apart) or ()), "kept": is_kept}
    try:
        sample = draw_sample(campaign)
    except CampaignRefused as error:
        return facts | {"refusal": str(error)}
    assert sample is not None
    strata = [{"stratum": name, "dialogues": n} for name, n in sample.by_stratum()]
    return facts | {"dialogues": len(sample.strata), "strata": strata if by else [], "kept": sample.is_stored}


def _describe_records(campaign: Campaign) -> dict[str, Any] | None:
    """Describe a sample of facts or questions; None where there is none."""
    sample = reviewed.items(campaign)
    if sample is None:
        return None
    is_kept = campaign.state != Campaign.State.DRAFT
    lacks = not is_kept and len(sample) < (campaign.sample_records or 0)
    refused = f"there are {len(sample):,} of {campaign.sample_records:,}" if lacks else ""
    facts = {"dialogues": 0, "by": "", "strata": [], "kept": is_kept, "refusal": refused}
    return facts | {"items": len(sample), "apart": None, "records": len(sample)}


def allocate(sizes: Mapping[str, int], n: int) -> dict[str, int]:
    """Divide `n` among strata in proportion to their sizes, by largest remainder.

    Ties of remainders go by name. `n` is at most the sum of the sizes; no stratum gets more than its size.
    """
    total = sum(sizes.values())
    shares = {name: n * size // total for name, size in sizes.items()}
    by_remainder = sorted(sizes, key=lambda name: (-(n * sizes[name] % total), name))
    for name in by_remainder[: n - sum(shares.values())]:
        shares[name] += 1
    return shares


def _eligible(campaign: Campaign) -> list[tuple[int, str | None]]:
    by = campaign.sample_by
    stratum = {"": "''", SYSTEM: OF_SYSTEMS, PART: OF_PART}.get(by, OF_METADATA)
    pieces = {"chosen": choice.SELECTION, "asked": choice.MODE_ALLOWED}
    item = {"record": reviewed.RECORD_SELECTION, "speaker": choice.BY_SPEAKERS}
    if by == SYSTEM:
        stratum = stratum.format(**pieces)
    split = splits.lock_of(campaign.corpus) if by == PART else None
    more: dict[str, Any] = {"split": split.pk if split else None, "field": by.removeprefix(METADATA)}
    more["items"] = items(campaign)
    parameters = choice.values(campaign) | reviewed.values(campaign) | more
    with connection.cursor() as cursor:
        cursor.execute(ELIGIBLE.format(stratum=stratum, **item, **pieces), parameters)
        return list(cursor.fetchall())


# Strata balanced over annotators: each slot stores its stratum, so that a claim only compares numbers.

MOST_STRATA = 100
"""Maximum number of strata for balancing; a claim looks at each of them."""

STRATA = """
SELECT DISTINCT coalesce({stratum}, '') AS name
  FROM annotation_task t
  JOIN annotation_continuation c ON c.id = t.continuation_id
  JOIN annotation_dialogue d ON d.id = c.dialogue_id
 WHERE t.campaign_id = %(campaign)s AND t.position >= 0
 LIMIT %(most)s
"""
MAKE = """
INSERT INTO annotation_balancestratum (campaign_id, name)
SELECT %(campaign)s, name FROM ({strata}) AS there ON CONFLICT DO NOTHING
"""
SET = """
UPDATE annotation_slot s SET stratum_id = b.id
  FROM annotation_task t
  JOIN annotation_continuation c ON c.id = t.continuation_id
  JOIN annotation_dialogue d ON d.id = c.dialogue_id
  JOIN annotation_balancestratum b ON b.campaign_id = t.campaign_id AND b.name = coalesce({stratum}, '')
 WHERE s.task_id = t.id AND s.campaign_id = %(campaign)s AND s.stratum_id IS NULL
"""


def apply(campaign: Campaign) -> None:
    """Set the stratum of each slot without one; raise CampaignRefused for too many strata."""
    if not campaign.balance_by:
        return
    stratum = stratum_sql(campaign.balance_by)
    values: dict[str, Any] = stratum_values(campaign, campaign.balance_by)
    values |= {"campaign": campaign.pk, "most": MOST_STRATA + 1}
    with connection.cursor() as cursor:
        cursor.execute(MAKE.format(strata=STRATA.format(stratum=stratum)), values)
        if campaign.balanced.count() > MOST_STRATA:
            by = campaign.balance_by.removeprefix(METADATA)
            raise CampaignRefused(
                f"There are more than {MOST_STRATA} values of {by}: nobody's work can be balanced over so "
                "many. Balance by something with fewer values."
            )
        cursor.execute(SET.format(stratum=stratum), values)


def balance_refusal(campaign: Campaign) -> tuple[str, str] | None:
    """Return the setting that prevents balancing and the reason; None where nothing does."""
    by = campaign.balance_by
    if not by:
        return None
    if why := refusal(campaign.corpus, by):
        why = why.replace("A sample is drawn", "Work is balanced")
        return "balance_by", why.replace("to draw by", "to balance by")
    if by == SYSTEM and (campaign.side_by_side or campaign.scheme_version.item_kind in COMPARING):
        return "balance_by", "A task shows several systems: work cannot be balanced by system."
    if campaign.task_order == Campaign.Order.OWN:
        return (
            "balance_by",
            "Work is balanced in one order for all: choose another order than one's own, or no strata.",
        )
    return None


def shares(campaign: Campaign) -> list[dict[str, int]]:
    """Return each annotator's number of tasks by stratum, most tasks first, without names."""
    rows = StratumShare.objects.filter(Q(stratum__campaign=campaign), done__gt=0)
    done_by_person: dict[int, dict[str, int]] = {}
    for user, stratum, done in rows.order_by("stratum__name").values_list("user", "stratum__name", "done"):
        done_by_person.setdefault(user, {})[stratum] = done
    return sorted(done_by_person.values(), key=lambda done: (-sum(done.values()), sorted(done.items())))
