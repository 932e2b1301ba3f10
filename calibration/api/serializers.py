"""What calibration's API takes and gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from rest_framework import serializers
from rest_framework.fields import empty
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.corpora_serializers import TrainingPart, exclude_field
from annotation.api.people import Text
from annotation.corpora.exclusion import LONGEST
from annotation.corpora.splits import LONGEST_PURPOSE
from annotation.models import Corpus
from annotation.models.campaigns import Campaign
from annotation.scheme_store import find
from calibration.exports.downloads import LONG, SHAPES
from calibration.exports.parts import PARTS
from calibration.exports.transcripts import MOST_CHOSEN
from calibration.gold.rules import MEANING, Option, Rule, help_line, known_options, rule_choices
from calibration.models import Export, Gold
from calibration.reports.kinds import MOST_RESAMPLES, MOST_SEED
from calibration.statistics import Result
from calibration.statistics.core.engine import FLAGS, STATUSES
from config import api
from jobs.models.job import Job

# The rules of gold as the API shows and takes them, built from the one table.


class GoldOptionsSerializer(serializers.Serializer[Any]):
    """Options of the rules, each for the rules that have it; what is left out is its default."""

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Return a field for each option there is."""
        return {name: _option_field(name, option) for name, option in known_options().items()}

    def to_internal_value(self, data: Any) -> Any:
        """Refuse options that no rule has."""
        if isinstance(data, dict) and (unknown := set(data) - set(self.fields)):
            raise serializers.ValidationError({str(min(unknown, key=str)): ["No rule has such an option."]})
        return super().to_internal_value(data)


def _option_field(name: str, option: Option) -> serializers.Field[Any, Any, Any, Any]:
    help_text = help_line(name, option)
    if not option.is_number:
        return serializers.ChoiceField(choices=list(option.choices), required=False, help_text=help_text)
    low, high = option.low, option.high
    if isinstance(option.default, int):
        assert low is not None
        assert high is not None
        return serializers.IntegerField(
            min_value=int(low), max_value=int(high), required=False, help_text=help_text
        )
    return serializers.FloatField(min_value=low, max_value=high, required=False, help_text=help_text)


class GoldOptionSerializer(serializers.Serializer[Any]):
    """An option of a rule: one of several words, or a number from `low` to `high`."""

    name = serializers.CharField()
    help = serializers.CharField()
    default = serializers.JSONField()
    choices = serializers.DictField(child=serializers.CharField())
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)


class GoldRuleSerializer(serializers.Serializer[Any]):
    """A rule by which gold labels are chosen, and for which questions and raters it is."""

    key = serializers.CharField()
    title = serializers.CharField()
    explanation = serializers.CharField()
    support = serializers.CharField()
    levels = serializers.ListField(child=serializers.CharField())
    raters = serializers.CharField()
    needs_split = serializers.BooleanField()
    options = GoldOptionSerializer(many=True)


def rule_out(rule: Rule) -> dict[str, Any]:
    """Return a rule as the API shows it."""
    return {
        "key": rule.key,
        "title": rule.title,
        "explanation": rule.explanation,
        "support": rule.support,
        "levels": sorted(rule.levels),
        "raters": rule.raters_needed,
        "needs_split": rule.learns_on_dev is True,
        "options": [{"name": name} | asdict(option) for name, option in rule.options.items()],
    }


# One statistic as routes tell it: a value never without its interval, its counts and where it came from.


ResultSerializer = api.serializer_of(
    Result,
    "Result",
    "A statistic; `value` is null exactly when `status` is not ok, and `reason` says why.",
    status=serializers.ChoiceField(choices=STATUSES),
    flags=serializers.ListField(child=serializers.ChoiceField(choices=list(FLAGS))),
)


# Queries of reports: the part, the labels, the resampling, and the purpose of a look at test.


class ReportQuerySerializer(api.QuerySerializer):
    """The part of a report, the dialogues that it leaves out, and the resampling of its intervals."""

    part = serializers.ChoiceField(required=False, choices=PARTS)
    resamples = serializers.IntegerField(required=False, min_value=0, max_value=MOST_RESAMPLES)
    seed = serializers.IntegerField(required=False, min_value=0, max_value=MOST_SEED)
    exclude = serializers.CharField(
        required=False,
        max_length=LONGEST,
        help_text="Leave out dialogues by people's answers, such as `objection>=1`, as of now.",
    )


class LabelsQuerySerializer(ReportQuerySerializer):
    """The labels that a report is about, and the resampling of its intervals."""

    campaign = serializers.PrimaryKeyRelatedField(
        required=False, queryset=Campaign.objects.select_related("corpus", "scheme_version__scheme")
    )


class PurposeSerializer(serializers.Serializer[Any]):
    """For what test is opened."""

    purpose = Text(max_length=LONGEST_PURPOSE)


class OpensTestSerializer(PurposeSerializer):
    """That test is read, and for what it is opened."""

    part = serializers.ChoiceField(required=False, choices=["test"])


def compute_report(
    request: Request,
    read: Callable[[api.Data], Any],
    compute: Callable[..., Any],
    compute_on_test: Callable[..., Any],
) -> Any:
    """Compute the report of a request; by POST on test, where the look is logged with its purpose."""
    params, by = api.data(request), api.user(request)
    if request.method != "POST":
        return compute(query=read(params), by=by)
    purpose = params.pop("purpose")
    return compute_on_test(query=read(params | {"part": "test"}), by=by, purpose=purpose)


class PlaceSerializer(serializers.Serializer[Any]):
    """A corpus, or a campaign of one."""

    corpus = serializers.PrimaryKeyRelatedField(queryset=Corpus.objects.all(), required=False)
    campaign = serializers.PrimaryKeyRelatedField(
        queryset=Campaign.objects.select_related("corpus"), required=False, allow_null=True
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Take the corpus from the campaign where only that is named."""
        if attrs.get("campaign") and not attrs.get("corpus"):
            attrs["corpus"] = attrs["campaign"].corpus
        if not attrs.get("corpus"):
            raise serializers.ValidationError({"corpus": "Name a corpus or a campaign."})
        if attrs.get("campaign") and attrs["campaign"].corpus != attrs["corpus"]:
            raise serializers.ValidationError({"corpus": "The campaign is about another corpus."})
        return attrs


class SchemeVersionField(serializers.RegexField):
    """A version of a scheme, as `key@version`."""

    def __init__(self, **options: Any) -> None:
        super().__init__(r"^.+@[0-9]{1,9}$", max_length=200, **options)

    def run_validation(self, data: Any = empty) -> Any:
        """Return the version; refuse one that does not exist."""
        ref = super().run_validation(data)
        if (version := find(ref)) is None:
            raise serializers.ValidationError(f"There is no scheme {ref}.")
        return version


class ReportJobSerializer(serializers.Serializer[Any]):
    """A report in the making: the job that computes it."""

    id = serializers.IntegerField()
    state = serializers.ChoiceField(choices=["queued", "running", "done", "failed", "cancelled"])
    done = serializers.IntegerField()
    total = serializers.IntegerField()
    error = serializers.CharField()


PENDING: dict[int, Any] = {202: ReportJobSerializer}
"""The answer of an operation whose report is not yet computed."""


def pending(job: Job) -> Response:
    """Answer with the job that computes a report."""
    return Response(ReportJobSerializer(job).data, status=202)


class ExportPartSerializer(serializers.Serializer[Any]):
    """Which part of the corpus is taken out, and what for where that is test. Training only where named."""

    part = serializers.ChoiceField(choices=PARTS, default="")
    purpose = Text(max_length=LONGEST_PURPOSE, default="")
    exclude = exclude_field()

    def validate_purpose(self, purpose: str) -> str:
        """Refuse a purpose that nothing is opened for."""
        if purpose and self.initial_data.get("part") not in ("test", "all"):
            raise serializers.ValidationError("A purpose is for part test or all: no other is opened.")
        return purpose


class LabelExportSerializer(PlaceSerializer, ExportPartSerializer):
    """A corpus or campaign, and the part of it that is taken out."""


class LabelOrNoteExportSerializer(LabelExportSerializer):
    """A corpus or campaign, the part of it that is taken out, whether notes are, and the shape of labels."""

    notes = serializers.BooleanField(default=False)
    shape = serializers.ChoiceField(choices=list(SHAPES), default=LONG)


class PackageExportSerializer(LabelExportSerializer):
    """What a package is made of; `question` names questions as `scheme@version/key`, all where left out."""

    question = serializers.ListField(
        child=serializers.CharField(max_length=300), default=list, max_length=100
    )


class TranscriptExportSerializer(LabelExportSerializer):
    """Which continuations (all that were tagged, where left out), and whose tags (people's)."""

    continuation = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=2**63 - 1),
        default=list,
        max_length=MOST_CHOSEN,
    )
    rater = serializers.ListField(
        child=serializers.CharField(max_length=300), default=list, max_length=MOST_CHOSEN
    )


class QuestionRuleSerializer(serializers.Serializer[Any]):
    """The rule of one question, with its options."""

    rule = serializers.ChoiceField(choices=[])
    options = GoldOptionsSerializer(default=dict)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["rule"].choices = rule_choices()  # type: ignore[attr-defined]


class NewGoldSerializer(PlaceSerializer):
    """How gold labels are to be chosen."""

    part = TrainingPart(help_text="training, which is left out where it is not named")
    exclude = exclude_field()
    scheme = SchemeVersionField(source="scheme_version", help_text="key@version")
    rule = serializers.ChoiceField(choices=[], default="", help_text=f"left out: {MEANING}")
    options = GoldOptionsSerializer(default=dict)
    rules = serializers.DictField(
        child=QuestionRuleSerializer(), default=dict, help_text="questions with a rule of their own, by key"
    )
    raters = serializers.ListField(child=serializers.CharField(), default=list)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["rule"].choices = rule_choices()  # type: ignore[attr-defined]


class GoldSerializer(serializers.ModelSerializer[Gold]):
    """A derivation of gold labels."""

    part = serializers.CharField(
        read_only=True, help_text="training where it is of training dialogues alone; empty: all but these"
    )
    scheme = serializers.SerializerMethodField()
    n = serializers.SerializerMethodField(help_text="items with a value, each question by itself")
    without = serializers.IntegerField(read_only=True, help_text="items that stay without a value")

    class Meta:
        model = Gold
        fields = [
            *("id", "corpus", "campaign", "part", "scheme", "rule", "options", "n", "without", "inputs_hash"),
            "created_at",
        ]

    def get_n(self, gold: Gold) -> int:
        """Return how many items have a value."""
        return gold.n - gold.without

    def get_scheme(self, gold: Gold) -> str:
        """Return key@version."""
        return f"{gold.scheme_version.scheme.key}@{gold.scheme_version.version}"


class GoldCountsSerializer(serializers.Serializer[Any]):
    """The items that would have a value, and those that would not."""

    n = serializers.IntegerField(allow_null=True, help_text="items that would have a value")
    without = serializers.IntegerField(allow_null=True, help_text="items that would stay without one")
    ties = serializers.IntegerField(allow_null=True, help_text="of these, because answers tie")
    reasons = serializers.DictField(
        child=serializers.IntegerField(), help_text="items without a value by the reason"
    )
    unknown = serializers.CharField(allow_blank=True, help_text="what the numbers do not include, and why")


class QuestionPreviewSerializer(GoldCountsSerializer):
    """What its rule would choose for one question."""

    question = serializers.CharField()
    rule = serializers.CharField()
    left_out = serializers.CharField(allow_blank=True, help_text="why the rule does not fit the question")


class GoldPreviewSerializer(GoldCountsSerializer):
    """What the rules would choose. Nothing is kept."""

    questions = QuestionPreviewSerializer(many=True)


class ExportSerializer(serializers.ModelSerializer[Export]):
    """A download that was completed."""

    class Meta:
        model = Export
        fields = [
            *("id", "what", "corpus", "campaign", "gold", "part", "format", "rows", "sha256", "created_at"),
            "excluded",
        ]
