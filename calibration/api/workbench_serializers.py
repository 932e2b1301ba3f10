"""What the workbench's API takes."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from calibration.models import Mark
from calibration.workbench.checks import CHECKS
from calibration.workbench.differences import DIRECTIONS
from jobs.api.parameter_fields import parameter_fields
from judges.drafts.worked_examples import USUAL
from judges.prompt_versions.picking import MOST_SHOWN, RULE_CHOICES
from judges.protocols.wording import LONGEST
from judges.rating.plans import LEAST_BUDGET, MOST_SAMPLES

Plain = serializers.Serializer[Any]


class NewBenchSerializer(Plain):
    """A bench over a corpus or a campaign, by name."""

    name = serializers.CharField(max_length=100)
    protocol = serializers.CharField(max_length=60)
    corpus = serializers.CharField(required=False, default="", allow_blank=True)
    campaign = serializers.CharField(required=False, default="", allow_blank=True)
    scheme = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        max_length=140,
        help_text="whose questions a rubric asks: key or key@version; over a campaign its own by default",
    )
    variant = serializers.CharField(
        required=False, default="", allow_blank=True, max_length=60, help_text="how a rubric asks (json)"
    )
    include_self = serializers.BooleanField(
        required=False, default=False, help_text="dialogues' own turns, too, where they have continuations"
    )
    seed = serializers.IntegerField(required=False, default=0, min_value=0, max_value=2**31 - 1)


class DraftExamplesSerializer(Plain):
    """How a draft's worked examples are picked, from dev of its bench, in place of those it has."""

    rule = serializers.ChoiceField(choices=RULE_CHOICES)
    n = serializers.IntegerField(required=False, default=USUAL, min_value=1, max_value=MOST_SHOWN)
    items = serializers.ListField(
        child=serializers.CharField(), required=False, default=list, max_length=MOST_SHOWN
    )
    judge = serializers.CharField(required=False, default="", allow_blank=True)
    seed = serializers.IntegerField(required=False, default=0, min_value=0, max_value=2**31 - 1)


class TrySerializer(Plain):
    """A draft and how many targets it is tried on (null: all of dev). `begin` is what it is begun from:
    `draft-3`, `name@2`, or nothing for what comes with Concord; parts left out are those of that text."""

    begin = serializers.CharField(required=False, default="", allow_blank=True, max_length=120)
    system = serializers.CharField(
        required=False, allow_blank=True, trim_whitespace=False, max_length=LONGEST
    )
    user = serializers.CharField(required=False, trim_whitespace=False, max_length=LONGEST)
    form = serializers.CharField(required=False, allow_blank=True, max_length=40)
    variant = serializers.CharField(required=False, allow_blank=True, max_length=60)
    endpoint = serializers.CharField(max_length=100, help_text="its name")
    needs = serializers.DictField(
        child=serializers.CharField(),
        required=False,
        default=dict,
        help_text="per role the judge or metric, by name or fingerprint, or the draft (BENCH/draft-3), that "
        "the protocol reads",
    )
    budget = serializers.IntegerField(
        required=False, allow_null=True, min_value=LEAST_BUDGET, max_value=10**9
    )
    examples = DraftExamplesSerializer(required=False, allow_null=True, default=None)
    targets = serializers.IntegerField(required=False, default=5, allow_null=True, min_value=1)
    samples = serializers.IntegerField(required=False, default=1, min_value=1, max_value=MOST_SAMPLES)
    estimate = serializers.BooleanField(
        required=False, default=False, help_text="only say what it takes; the draft is written all the same"
    )

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Return the fields above, and one for each sampling parameter."""
        return super().get_fields() | parameter_fields()


class KeepSerializer(Plain):
    """Under which name a draft is kept."""

    name = serializers.CharField(required=False, default="", allow_blank=True, max_length=100)
    note = serializers.CharField(required=False, default="", allow_blank=True, max_length=5000)


class MarkSerializer(Plain):
    """What is said of a disagreement. `adjudicate` also sends what is marked `people_wrong` on."""

    judged = serializers.CharField(max_length=40, help_text="draft-3 or judge-17")
    item = serializers.IntegerField(help_text="item_id of the disagreement")
    question = serializers.IntegerField(help_text="question_id of the disagreement")
    verdict = serializers.ChoiceField(choices=Mark.Verdict.choices)
    note = serializers.CharField(required=False, default="", allow_blank=True, max_length=5000)
    adjudicate = serializers.BooleanField(required=False, default=False)


class DifferencesSerializer(Plain):
    """Which disagreements are listed."""

    judged = serializers.CharField(required=False, default="", max_length=40)
    question = serializers.CharField(required=False, default="", help_text="its key")
    direction = serializers.ChoiceField(required=False, default="", choices=DIRECTIONS)
    system = serializers.CharField(required=False, default="")


class CheckSerializer(Plain):
    """A check of a draft that asks something."""

    draft = serializers.IntegerField()
    check_key = serializers.ChoiceField(choices=[key for key, one in CHECKS.items() if one.asks])
    estimate = serializers.BooleanField(required=False, default=False)
