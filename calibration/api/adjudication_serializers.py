"""What programs send about adjudication."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from annotation.models import Campaign, Corpus
from calibration.adjudication.actions import MOST_SEED
from calibration.adjudication.deciding import LONGEST_REASON
from calibration.adjudication.reading import STATES
from calibration.adjudication.rules import TITLES


class PlanSerializer(serializers.Serializer[Any]):
    """What a round is about: a corpus or a campaign, a scheme (`key@version`), rules with bounds, a seed."""

    corpus = serializers.PrimaryKeyRelatedField(queryset=Corpus.objects.all(), required=False)
    campaign = serializers.PrimaryKeyRelatedField(
        queryset=Campaign.objects.select_related("corpus"), required=False, allow_null=True
    )
    scheme = serializers.RegexField(r"^.+@[0-9]{1,9}$", max_length=200)
    rules = serializers.DictField(child=serializers.JSONField(allow_null=True))
    seed = serializers.IntegerField(min_value=0, max_value=MOST_SEED, required=False, default=0)
    takes_locked = serializers.BooleanField(required=False, default=False)

    def validate(self, attrs: Any) -> Any:
        """Ask for one of corpus and campaign; a campaign names its corpus."""
        corpus, campaign = attrs.get("corpus"), attrs.get("campaign")
        if campaign is None and corpus is None:
            raise serializers.ValidationError({"corpus": ["Name a corpus or a campaign."]})
        if campaign is not None and corpus not in (None, campaign.corpus):
            raise serializers.ValidationError({"corpus": ["The campaign is of another corpus."]})
        return attrs | {"corpus": corpus or campaign.corpus, "campaign": campaign}


class RoundSerializer(PlanSerializer):
    """A round to begin: its plan, its name, who decides and what they see."""

    name = serializers.CharField(max_length=120)
    adjudicators = serializers.ChoiceField(choices=[1, 2], required=False, default=1)
    own_items = serializers.BooleanField(required=False, default=False)
    shows_names = serializers.BooleanField(required=False, default=False)
    shows_systems = serializers.BooleanField(required=False, default=False)
    lease_minutes = serializers.IntegerField(min_value=1, max_value=1440, required=False, default=30)


class ChangeRoundSerializer(serializers.Serializer[Any]):
    """What to do with a round."""

    verb = serializers.ChoiceField(choices=["top-up", "close", "reopen"])


class CasesSerializer(serializers.Serializer[Any]):
    """Which cases of a round are listed."""

    state = serializers.ChoiceField(choices=list(STATES), required=False, default="")
    rule = serializers.ChoiceField(choices=list(TITLES), required=False, default="")


class DecideSerializer(serializers.Serializer[Any]):
    """A decision: an answer on the question's scale, or `cannot`; always with a reason."""

    answer = serializers.JSONField(required=False, allow_null=True, default=None)
    cannot = serializers.BooleanField(required=False, default=False)
    reason = serializers.CharField(max_length=LONGEST_REASON)


class CaseDraftSerializer(serializers.Serializer[Any]):
    """A draft: `version` grows with every change, `client` names who writes, `based_on` what it has seen."""

    version = serializers.IntegerField(min_value=1, max_value=2**53 - 1)
    client = serializers.CharField(max_length=64, required=False, allow_blank=True, default="")
    based_on = serializers.IntegerField(min_value=0, max_value=2**53 - 1, required=False, allow_null=True)
    answer = serializers.JSONField(required=False, allow_null=True)
    cannot = serializers.BooleanField(required=False, default=False)
    reason = serializers.CharField(max_length=LONGEST_REASON, required=False, allow_blank=True, default="")


class WhySerializer(serializers.Serializer[Any]):
    """Why a case is passed on, or a decision withdrawn."""

    reason = serializers.CharField(max_length=LONGEST_REASON)


class DecisionsFileSerializer(serializers.Serializer[Any]):
    """Decisions made elsewhere: the text of a CSV or JSONL file."""

    form = serializers.ChoiceField(choices=["csv", "jsonl"])
    content = serializers.CharField(max_length=20_000_000, trim_whitespace=False)
