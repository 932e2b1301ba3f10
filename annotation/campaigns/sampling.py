"""Which dialogues a campaign that asks about some of its corpus draws: by seed, and stratum by stratum.

Each stratum gives its share of the sample, by largest remainder; in a stratum the dialogues with the lowest
MD5 of seed and key are drawn. So the seed and the ids in the files alone decide. The sample is kept when the
campaign first opens, and never drawn again.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db import connection

from annotation.campaigns import choice, differing, reviewed
from annotation.corpora import splits
from annotation.corpora.reading import showable
from annotation.errors import CampaignRefused
from annotation.models import Campaign, Corpus, SampledDialogue
from annotation.text.views import METADATA

SYSTEM, PART = "system", "part"
NAMED = {SYSTEM: "the systems that answered", PART: "dev and test"}

ELIGIBLE = """
SELECT d.id, {stratum}
  FROM annotation_dialogue d
 WHERE d.corpus_id = %(corpus)s AND EXISTS (
   SELECT 1 FROM annotation_continuation c WHERE c.dialogue_id = d.id AND {chosen} AND {asked}
      AND EXISTS (SELECT 1 FROM annotation_item i WHERE i.continuation_id = c.id AND i.kind = %(kind)s
                   AND {record} AND (%(items)s::bigint[] IS NULL OR i.id = ANY(%(items)s::bigint[]))))
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
"""The stratum of a continuation, which has one system."""


class Drawn(NamedTuple):
    """A sample: the stratum of each dialogue drawn, by id, and whether it was kept, as at opening."""

    strata: dict[int, str]
    kept: bool

    def by_stratum(self) -> list[tuple[str, int]]:
        """Return how many were drawn of each stratum, by name."""
        return sorted(Counter(self.strata.values()).items())


def choices(corpus: Corpus) -> list[tuple[str, str]]:
    """Return by what a sample of a corpus can be drawn, as (name, title)."""
    fields = [(name, title) for name, title in showable(corpus) if name.startswith(METADATA)]
    part = [(PART, NAMED[PART].capitalize())] if splits.lock_of(corpus) else []
    return [("", "Nothing: from all dialogues alike"), (SYSTEM, NAMED[SYSTEM].capitalize()), *part, *fields]


def refusal(corpus: Corpus, stratum: str) -> str:
    """Return why a sample of a corpus cannot be drawn by this, '' where it can."""
    if stratum == PART and splits.lock_of(corpus) is None:
        return (
            f"{corpus.name} has no split into dev and test to draw by. Draw one on the corpus's page first."
        )
    if stratum in ("", *NAMED) or (stratum.startswith(METADATA) and len(stratum) > len(METADATA)):
        return ""
    return f"A sample is drawn by system, part or {METADATA}FIELD, not by “{stratum}”."


def stratum_sql(source: str) -> str:
    """Return the SQL of the stratum of a continuation `c` of a dialogue `d`: its system, part or field."""
    return OF_CONTINUATION.get(source, OF_METADATA)


def stratum_values(campaign: Campaign, source: str) -> dict[str, Any]:
    """Return the values that the SQL of a stratum needs."""
    split = splits.lock_of(campaign.corpus) if source == PART else None
    return {"split": split.pk if split else None, "field": source.removeprefix(METADATA)}


def drawn(campaign: Campaign) -> Drawn | None:
    """Return the sample that was kept, else what would be drawn now; None where all are asked about.

    Raises CampaignRefused where there are fewer dialogues than should be drawn.
    """
    if campaign.sample_dialogues is None:
        return None
    if kept := dict(campaign.sampled.values_list("dialogue_id", "stratum")):
        return Drawn(kept, kept=True)
    strata: dict[str, list[int]] = defaultdict(list)
    for dialogue, stratum in _eligible(campaign):
        strata[stratum or ""].append(dialogue)
    sizes = {name: len(found) for name, found in strata.items()}
    if (total := sum(sizes.values())) < campaign.sample_dialogues:
        raise CampaignRefused(
            f"{campaign.sample_dialogues:,} dialogues are to be drawn, but only {total:,} can be rated. "
            "Draw fewer, or ask about all of them."
        )
    shares = allocate(sizes, campaign.sample_dialogues)
    chosen = {dialogue: name for name, found in strata.items() for dialogue in found[: shares[name]]}
    return Drawn(chosen, kept=False)


def keep(campaign: Campaign, who: User) -> None:
    """Draw the sample and keep it; what was kept stays. A split that it is drawn by is fixed."""
    differing.keep(campaign)
    reviewed.keep(campaign)
    found = drawn(campaign)
    if found is None or found.kept:
        return
    SampledDialogue.objects.bulk_create(
        (
            SampledDialogue(campaign=campaign, dialogue_id=pk, stratum=name)
            for pk, name in found.strata.items()
        ),
        batch_size=5_000,
    )
    if campaign.sample_by == PART and (split := splits.lock_of(campaign.corpus)):
        splits.fix(split=split, by=who)


def items(campaign: Campaign) -> list[int] | None:
    """Return the ids of the items that are asked about, kept or as they would be now; None for all."""
    return differing.items(campaign) if campaign.sample_records is None else reviewed.items(campaign)


def dialogues(campaign: Campaign) -> list[int] | None:
    """Return the ids of the sample, kept or as it would be drawn now; None for all of the corpus."""
    try:
        found = drawn(campaign)
    except CampaignRefused:
        return []  # opening says so
    return differing.dialogues(campaign) if found is None else sorted(found.strata)


def told(campaign: Campaign) -> dict[str, Any] | None:
    """Return what pages and programs say of a sample, None where all dialogues are asked about.

    `dialogues` and, by stratum, `strata` are how many were drawn, or would be if it opened now (`kept`);
    `refusal` says why none can be. `items` is on how many of them judge and people are `apart`, None where
    that does not matter.
    """
    apart = differing.items(campaign)
    if campaign.sample_dialogues is None and apart is None:
        return _records_told(campaign)
    by = NAMED.get(campaign.sample_by, campaign.sample_by.removeprefix(METADATA))
    facts = {"dialogues": 0, "by": by, "strata": [], "kept": False, "refusal": ""}
    facts |= {"items": None if apart is None else len(apart), "apart": campaign.sample_apart}
    if apart == []:
        return facts | {"refusal": differing.nothing(campaign)}
    if campaign.sample_dialogues is None:
        kept = campaign.state != Campaign.State.DRAFT
        return facts | {"dialogues": len(differing.dialogues(campaign) or ()), "kept": kept}
    try:
        found = drawn(campaign)
    except CampaignRefused as error:
        return facts | {"refusal": str(error)}
    assert found is not None
    strata = [{"stratum": name, "dialogues": n} for name, n in found.by_stratum()]
    return facts | {"dialogues": len(found.strata), "strata": strata if by else [], "kept": found.kept}


def _records_told(campaign: Campaign) -> dict[str, Any] | None:
    """Return what is said of a sample of facts or questions, None where there is none."""
    drawn = reviewed.items(campaign)
    if drawn is None:
        return None
    kept = campaign.state != Campaign.State.DRAFT
    lacks = not kept and len(drawn) < (campaign.sample_records or 0)
    refused = f"there are {len(drawn):,} of {campaign.sample_records:,}" if lacks else ""
    facts = {"dialogues": 0, "by": "", "strata": [], "kept": kept, "refusal": refused}
    return facts | {"items": len(drawn), "apart": None, "records": len(drawn)}


def allocate(sizes: Mapping[str, int], n: int) -> dict[str, int]:
    """Return how many of `n` each stratum gives, in proportion to its size, by largest remainder.

    Equal remainders go by name. `n` is at most the sum of the sizes; no stratum gives more than it has.
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
    pieces = {"chosen": choice.CHOSEN, "asked": choice.ASKED}
    record = reviewed.CHOSEN
    if by == SYSTEM:
        stratum = stratum.format(**pieces)
    split = splits.lock_of(campaign.corpus) if by == PART else None
    more: dict[str, Any] = {"split": split.pk if split else None, "field": by.removeprefix(METADATA)}
    more["items"] = items(campaign)
    told = choice.values(campaign) | reviewed.values(campaign) | more
    with connection.cursor() as cursor:
        cursor.execute(ELIGIBLE.format(stratum=stratum, record=record, **pieces), told)
        return list(cursor.fetchall())
