"""Where a key may come from: a rater's answers, what was adjudicated, or gold labels."""

from __future__ import annotations

from django.contrib.auth.models import User

from annotation.checks import actions, keys
from annotation.checks.keys import refuse
from annotation.checks.scoring import Value
from annotation.models import Campaign, Label, LabelCount, Occasion, Rater
from calibration.models import Gold, GoldLabel

RATER, GOLD, ADJUDICATED = "rater:", "gold:", "adjudicated"
HOW = "Say `rater:NAME`, `gold:NUMBER` or `adjudicated`."


def add(
    *, by: User, campaign: Campaign, occasion: str, source: str, most: int, tolerance: float = 0.0
) -> int:
    """Key up to `most` tasks of a campaign by a source; return how many. Raises CampaignRefused."""
    rows, told = _rows(campaign, source)
    return actions.add_keys(
        by=by,
        campaign=campaign,
        occasion=occasion,
        rows=rows,
        most=most,
        source=told,
        tolerance=tolerance,
    )


def _rows(campaign: Campaign, source: str) -> tuple[list[tuple[int, str, Value]], str]:
    if source == ADJUDICATED:
        return keys.of_adjudication(campaign), "adjudicated"
    if source.startswith(RATER):
        name = source.removeprefix(RATER)
        return keys.of_rater(campaign, name), f"answers of {name}"
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


def offered(campaign: Campaign) -> list[tuple[str, str]]:
    """Return the sources that a campaign may take keys from, with their names for people."""
    found: list[tuple[str, str]] = []
    corpus = campaign.corpus_id
    told = LabelCount.objects.filter(corpus=corpus, occasion__in=["main", "imported"]).values("rater")
    raters = Rater.objects.filter(pk__in=told, kind__in=[Rater.Kind.KEY, Rater.Kind.HUMAN])
    for kind, name in raters.order_by("-kind", "name").values_list("kind", "name"):
        found.append((f"{RATER}{name}", f"{'answer key' if kind == 'key' else 'answers of'} {name}"))
    for gold in Gold.objects.filter(corpus=corpus).order_by("-pk")[:50]:
        found.append((f"{GOLD}{gold.pk}", f"gold {gold.pk} ({gold.rule}, {gold.n:,} labels)"))
    if Label.objects.filter(item__corpus=corpus, occasion=Occasion.ADJUDICATION).exists():
        found.append((ADJUDICATED, "what was adjudicated"))
    return found
