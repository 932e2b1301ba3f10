"""Where a key may come from: a rater's answers, what was adjudicated, or gold labels."""

from __future__ import annotations

from django.contrib.auth.models import User

from annotation.models import Campaign, Label, LabelCount, Occasion, Rater
from annotation.work import check_actions
from annotation.work.check_actions import refuse
from annotation.work.check_stages import Value
from calibration.models import Gold, GoldLabel
from config.permissions import is_researcher

RATER, GOLD, ADJUDICATED = "rater:", "gold:", "adjudicated"
MOST_GOLDS = 50
HOW = "Say `rater:NAME`, `gold:NUMBER` or `adjudicated`."


def add(
    *, by: User, campaign: Campaign, occasion: str, source: str, most: int, tolerance: float = 0.0
) -> int:
    """Key up to `most` tasks of a campaign by a source; return how many. Raises CampaignRefused."""
    _must_be_open(campaign, source, by)
    rows, told = _rows(campaign, source)
    return check_actions.add_keys(
        by=by,
        campaign=campaign,
        occasion=occasion,
        rows=rows,
        most=most,
        source=told,
        tolerance=tolerance,
    )


def _must_be_open(campaign: Campaign, source: str, by: User) -> None:
    """Refuse a source beyond the campaign to who only looks after it: answers given elsewhere."""
    if not is_researcher(by) and source not in dict(_golds(campaign, by)):
        refuse("source", "Take keys from gold labels of this campaign: other answers are for researchers.")


def _rows(campaign: Campaign, source: str) -> tuple[list[tuple[int, str, Value]], str]:
    if source == ADJUDICATED:
        return check_actions.of_adjudication(campaign), "adjudicated"
    if source.startswith(RATER):
        name = source.removeprefix(RATER)
        return check_actions.of_rater(campaign, name), f"answers of {name}"
    if source.startswith(GOLD):
        number = source.removeprefix(GOLD)
        found = Gold.objects.filter(
            pk=int(number) if number.isascii() and number.isdecimal() and len(number) < 18 else 0,
            corpus=campaign.corpus_id,
        ).first()
        if found is None:
            refuse("source", f"There is no gold {number[:20]} of this corpus.")
        return _of_gold(found), f"gold {found.pk}"
    refuse("source", f"“{source[:80]}” is nowhere that a key can come from. {HOW}")


def _of_gold(gold: Gold) -> list[tuple[int, str, Value]]:
    labels = GoldLabel.objects.filter(gold=gold, reason="")
    return [
        (item, key, (text or "") if number is None else number)
        for item, key, number, text in labels.values_list("item_id", "question__key", "number", "text")
    ]


def _golds(campaign: Campaign, by: User) -> list[tuple[str, str]]:
    found = Gold.objects.filter(corpus=campaign.corpus_id)
    found = found if is_researcher(by) else found.filter(campaign=campaign)
    return [
        (f"{GOLD}{gold.pk}", f"gold {gold.pk} ({gold.rule}, {gold.n:,} labels)")
        for gold in found.order_by("-pk")[:MOST_GOLDS]
    ]


def offered(campaign: Campaign, viewer: User) -> list[tuple[str, str]]:
    """Return the sources that somebody may take keys of a campaign from, with their names for people.

    Who looks after the campaign without being a researcher sees its gold labels alone.
    """
    if not is_researcher(viewer):
        return _golds(campaign, viewer)
    found: list[tuple[str, str]] = []
    corpus = campaign.corpus_id
    told = LabelCount.objects.filter(corpus=corpus, occasion__in=["main", "imported"]).values("rater")
    raters = Rater.objects.filter(pk__in=told, kind__in=[Rater.Kind.KEY, Rater.Kind.HUMAN])
    for kind, name in raters.order_by("-kind", "name").values_list("kind", "name"):
        found.append((f"{RATER}{name}", f"{'answer key' if kind == 'key' else 'answers of'} {name}"))
    found += _golds(campaign, viewer)
    if Label.objects.filter(item__corpus=corpus, occasion=Occasion.ADJUDICATION).exists():
        found.append((ADJUDICATED, "what was adjudicated"))
    return found
