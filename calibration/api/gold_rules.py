"""The rules of gold as the API shows and takes them, built from the one table."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rest_framework import serializers

from calibration.gold.rules import Option, Rule, known_options
from calibration.gold.rules.words import help_line


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
    told = help_line(name, option)
    if not option.is_number:
        return serializers.ChoiceField(choices=list(option.choices), required=False, help_text=told)
    low, high = option.low, option.high
    if isinstance(option.default, int):
        assert low is not None
        assert high is not None
        return serializers.IntegerField(
            min_value=int(low), max_value=int(high), required=False, help_text=told
        )
    return serializers.FloatField(min_value=low, max_value=high, required=False, help_text=told)


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
