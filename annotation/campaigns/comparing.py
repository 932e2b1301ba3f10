"""Selection of comparisons for a campaign whose scheme is about pairs or rankings.

Comparisons are selected while the campaign is a draft, again after each change, and created where the corpus
lacks them. Draws depend only on the seed and the ids in the files. A dialogue's own turns are never compared.
"""

from __future__ import annotations

import hashlib
import math
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from django.db import connection

from annotation.campaigns.choice import SELECTION, values
from annotation.campaigns.settings import MOST_COMPARISONS, refuse
from annotation.corpora import comparisons
from annotation.corpora.comparisons import Members
from annotation.corpora.splits import TRAINING
from annotation.kinds import COMPARING
from annotation.models import ComparedItem, Item, SchemeVersion
from annotation.models.campaigns import Campaign
from annotation.scheme_store import questionnaire_of

# Responses of several systems to the same point of a dialogue, for campaigns that show them side by side.
#
# A task then has all these responses, with the same questions on each; a point with one response is an
# ordinary task. The sets are stored as the campaign's compared items: the corpus's pairs or rankings of the
# same responses.

MOST_RESPONSES = 10
"""Maximum number of responses on one screen."""

RESPONSES = f"""
SELECT d.id, d.key, u.at, c.mode, c.id, u.id
  FROM annotation_dialogue d
  JOIN annotation_continuation c ON c.dialogue_id = d.id
  JOIN annotation_turn u ON u.continuation_id = c.id AND NOT u.given
 WHERE d.corpus_id = %(corpus)s AND {SELECTION}
 ORDER BY d.key COLLATE "C", u.at, c.id, u.position
"""  # noqa: S608  (a condition of ours)


def chosen_responses(campaign: Campaign) -> list[Members]:
    """Return the sets of responses to show side by side, each response as (continuation id, turn id).

    Raises CampaignRefused where the campaign cannot show responses side by side.
    """
    _check(campaign)
    groups: dict[tuple[int, str, int], list[tuple[int, int | None]]] = defaultdict(list)
    with connection.cursor() as cursor:
        cursor.execute(RESPONSES, values(campaign))
        for dialogue, key, at, mode, continuation, turn in cursor.fetchall():
            if mode != "static":
                refuse(
                    "side_by_side",
                    f"Only responses to fixed points stand side by side, but {key} has continuations whose "
                    "turns follow each other (rollouts): choose other systems, or show one at a time.",
                )
            groups[dialogue, key, at].append((continuation, turn))
    for (_, key, at), members in groups.items():
        if len(members) > MOST_RESPONSES:
            refuse(
                "side_by_side",
                f"{key} has {len(members)} responses to its point {at}; at most {MOST_RESPONSES} stand "
                "side by side: choose fewer systems.",
            )
    sets: list[Members] = [members for members in groups.values() if len(members) > 1]
    if not sets:
        refuse("side_by_side", "No point of a dialogue has several responses: show one at a time.")
    return sets


def _check(campaign: Campaign) -> None:
    """Refuse schemes and settings that do not fit a screen with several responses."""
    plan = questionnaire_of(campaign.scheme_version_id)
    if plan.item_kinds != ("turn",) or plan.unit != SchemeVersion.Unit.ITEM:
        refuse(
            "side_by_side",
            f"Responses stand side by side where a scheme asks about one turn at a time; {plan.title} does "
            "not.",
        )
    if plan.takes_evidence:
        refuse(
            "side_by_side",
            f"{plan.title} asks what an answer points at, which is asked of one response at a time.",
        )
    if campaign.groups_by == "system":
        refuse("side_by_side", "Groups cannot be by system where a task shows several systems' responses.")
    if campaign.key_tasks.exists():
        refuse(
            "side_by_side",
            "Training, tests and checks show one response at a time: retire their tasks first, or show all "
            "so.",
        )


MEMBERS = """
SELECT d.id, u.at, s.id, c.id, u.id, concord_member_rank(d.key, c.key, u.position)
  FROM annotation_dialogue d
  JOIN annotation_continuation c ON c.dialogue_id = d.id AND c.key <> 'self'
  JOIN annotation_system s ON s.id = c.system_id
  LEFT JOIN annotation_turn u ON u.continuation_id = c.id AND NOT u.given AND {turns}
 WHERE d.corpus_id = %(corpus)s AND (d.part = 'training') = %(training)s
   AND (%(systems)s::bigint[] = '{{}}' OR s.id = ANY(%(systems)s::bigint[]))
   AND {wanted} AND EXISTS (SELECT 1 FROM annotation_item i WHERE i.continuation_id = c.id)
 ORDER BY d.key COLLATE "C", u.at NULLS FIRST, 6
"""
STATIC, FIRST = "c.mode = 'static'", "u.position = 0"
QUERIES = {
    "auto": (STATIC, "(u.id IS NOT NULL OR c.mode = 'rollout')"),
    "turns": (f"({STATIC} OR {FIRST})", "u.id IS NOT NULL"),
    "whole": ("false", "true"),
}
"""By the setting `compared`: conditions on the turns and the rows that are members."""

EXISTING_COMPARISONS = """
SELECT i.id, array_agg(c.system_id),
       string_agg(concord_member_rank(d.key, c.key, u.position), '+' ORDER BY m.number)
  FROM annotation_item i
  JOIN annotation_itemmember m ON m.item_id = i.id
  JOIN annotation_continuation c ON c.id = m.continuation_id
  JOIN annotation_dialogue d ON d.id = c.dialogue_id
  LEFT JOIN annotation_turn u ON u.id = m.turn_id
 WHERE i.corpus_id = %(corpus)s AND i.training = %(training)s AND i.kind = %(kind)s GROUP BY i.id
"""


class Candidate(NamedTuple):
    """A possible member: the ids of its system, continuation and turn, and its rank for draws."""

    system: int
    continuation: int
    turn: int | None
    rank: str


def compares(campaign: Campaign) -> bool:
    """Whether a campaign's scheme is about comparisons."""
    return campaign.scheme_version.item_kind in COMPARING


def choose(campaign: Campaign) -> int:
    """Select a draft's comparisons, create missing ones, and return their number.

    Where responses stand side by side, their sets (`chosen_responses`) are the comparisons. Raises
    CampaignRefused where there is nothing to compare, or too many comparisons without a number to draw.
    """
    campaign.compared_items.all().delete()
    if campaign.side_by_side:
        sets = chosen_responses(campaign)
        return _keep(campaign, _make_items(campaign, sets))
    if not compares(campaign):
        return 0
    if campaign.compares == Campaign.Compares.THERE:
        items = _existing_items(campaign)
    else:
        items = _make_items(campaign, _select_sets(campaign))
    if not items:
        refuse("compares", _nothing(campaign))
    return _keep(campaign, items)


def _make_items(campaign: Campaign, sets: Sequence[comparisons.Members]) -> list[int]:
    """Return the items that compare each set of members; create missing ones."""
    comparisons.make(corpus=campaign.corpus, sets=sets)
    compared_keys = {comparisons.compared(members) for members in sets}
    return list(Item.objects.filter(compared__in=compared_keys).values_list("pk", flat=True))


def _keep(campaign: Campaign, items: Sequence[int]) -> int:
    ComparedItem.objects.bulk_create(
        (ComparedItem(campaign=campaign, item_id=item) for item in items), batch_size=5_000
    )
    return len(items)


def _nothing(campaign: Campaign) -> str:
    if campaign.compares == Campaign.Compares.THERE:
        plural = campaign.scheme_version.item_kind + "s"
        return f"{campaign.corpus.name} has no {plural} of the chosen systems yet: have them made."
    return "Nothing here can be compared: no dialogue has as many of the chosen systems, at one point of it."


def _existing_items(campaign: Campaign) -> list[int]:
    systems = set(campaign.systems.values_list("pk", flat=True))
    with connection.cursor() as cursor:
        kind = campaign.scheme_version.item_kind
        training = campaign.part == TRAINING
        cursor.execute(
            EXISTING_COMPARISONS, {"corpus": campaign.corpus_id, "kind": kind, "training": training}
        )
        ranked_items = [
            (item, rank) for item, of, rank in cursor.fetchall() if not systems or set(of) <= systems
        ]
    ranked_items.sort(key=lambda ranked_item: _draw_key(campaign, ranked_item[1]))
    return [item for item, _ in ranked_items][: campaign.most_comparisons or MOST_COMPARISONS]


def _select_sets(campaign: Campaign) -> list[comparisons.Members]:
    """Return the sets of members that the campaign compares, all of them or a drawn number."""
    size = 2 if campaign.scheme_version.item_kind == "pair" else campaign.ranked
    groups = [group for group in _groups(campaign) if len(group) >= size]
    most = campaign.most_comparisons
    total = sum(math.comb(len(group), size) for group in groups)
    if total > MOST_COMPARISONS and most is None:
        refuse("most_comparisons", f"That makes {total:,} comparisons: say how many of them are drawn.")
    if total <= MOST_COMPARISONS:
        every = [
            members for group in groups for members in combinations(group, size) if _fits(campaign, members)
        ]
        every.sort(
            key=lambda members: _draw_key(campaign, "+".join(sorted(member.rank for member in members)))
        )
        sample: Iterable[Sequence[Candidate]] = every[:most]
    else:
        sample = _random(campaign, groups, size, most or MOST_COMPARISONS)
    return [[(candidate.continuation, candidate.turn) for candidate in members] for members in sample]


def _fits(campaign: Campaign, members: Sequence[Candidate]) -> bool:
    """Whether all members are of different systems, with the baseline among them if there is one."""
    systems = {member.system for member in members}
    if campaign.compares == Campaign.Compares.BASELINE and campaign.baseline_id not in systems:
        return False
    return len(systems) == len(members)


def _random(
    campaign: Campaign, groups: list[list[Candidate]], size: int, most: int
) -> Iterator[Sequence[Candidate]]:
    """Yield different random sets of members; a dialogue (or point) is weighted by its number of sets."""
    draw = random.Random(campaign.seed)
    weights = [math.comb(len(group), size) for group in groups]
    seen: set[frozenset[Candidate]] = set()
    for _ in range(20 * most):
        if len(seen) == most:
            return
        members = draw.sample(draw.choices(groups, weights)[0], size)
        if frozenset(members) not in seen and _fits(campaign, members):
            seen.add(frozenset(members))
            yield members


def _groups(campaign: Campaign) -> list[list[Candidate]]:
    """Return groups of comparable candidates: of the same dialogue and, for responses, the same point."""
    turns, condition = QUERIES[campaign.compared]
    systems = list(campaign.systems.values_list("pk", flat=True))
    groups: dict[tuple[int, int | None, bool], list[Candidate]] = defaultdict(list)
    with connection.cursor() as cursor:
        query = MEMBERS.format(turns=turns, wanted=condition)
        training = campaign.part == TRAINING
        cursor.execute(query, {"corpus": campaign.corpus_id, "systems": systems, "training": training})
        for dialogue, at, system, continuation, turn, rank in cursor.fetchall():
            groups[dialogue, at, turn is None].append(Candidate(system, continuation, turn, rank))
    return list(groups.values())


def _draw_key(campaign: Campaign, rank: str) -> str:
    return hashlib.md5(f"{campaign.seed}:compared:{rank}".encode(), usedforsecurity=False).hexdigest()


def describe(campaign: Campaign) -> dict[str, Any] | None:
    """Describe a campaign's comparisons for pages and the API; None where it has none."""
    if not compares(campaign):
        return None
    return {"comparisons": campaign.compared_items.count(), "baseline": str(campaign.baseline or "")}
