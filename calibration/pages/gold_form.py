"""The form of new gold labels: its rules and their options come from the one table."""

from __future__ import annotations

import json
from typing import Any

from django import forms

from annotation.models import SchemeVersion
from annotation.schemes.base import UNSCALED
from calibration.errors import GoldRuleError
from calibration.gold.reading import default_rule_of
from calibration.gold.rules import RULES, Option, Rule, known_options, rules_with, words
from calibration.reading.census import Census


def _line(rule: Rule) -> str:
    """Return a rule as the form offers it: what it chooses, for which questions, from which raters."""
    whom = "" if rule.raters_needed == "any" else f"; raters: {rule.raters_needed}"
    split = "; the corpus is split" if rule.learns_on_dev is True else ""
    return f"{rule.title}: {rule.explanation}. Takes {rule.needs}{whom}{split}."


class GoldForm(forms.Form):
    """Which questions, by which rule, from whose answers."""

    scheme = forms.ChoiceField(label="Questions of")
    rule = forms.ChoiceField(
        choices=lambda: [(rule.key, _line(rule)) for rule in RULES.values()],
        widget=forms.RadioSelect,
        initial="majority",
    )
    raters = forms.MultipleChoiceField(
        required=False, widget=forms.CheckboxSelectMultiple, help_text="None ticked: all people."
    )

    def __init__(self, *args: Any, counted: Census, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        asked = [
            q
            for q in counted.questions.values()
            if q.level not in UNSCALED and not q.scheme.startswith("metric:")
        ]
        if asked:
            self.fields["rule"].initial = default_rule_of(counted, asked[0].scheme)
        schemes = {q.scheme: f"{q.scheme_title} ({q.scheme})" for q in asked}
        for name, choices in (
            ("scheme", list(schemes.items())),
            (
                "raters",
                [(r.name, f"{r.name} ({r.kind})") for r in counted.raters.values() if r.kind != "metric"],
            ),
        ):
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)
            field.choices = choices
        for name, option in known_options().items():
            self.fields[name] = _field(name, option)

    def rule_options(self) -> list[dict[str, Any]]:
        """Return the fields of the rules' options, each with the rules that have it."""
        return [
            {"field": self[name], "rules": " ".join(rule.key for rule in rules_with(name))}
            for name in known_options()
        ]

    def version(self) -> SchemeVersion:
        """Return the scheme version chosen."""
        key, number = self.cleaned_data["scheme"].rsplit("@", 1)
        return SchemeVersion.objects.select_related("scheme").get(scheme__key=key, version=int(number))

    def choice(self) -> str:
        """Return what was chosen, so that a confirmation is of just this."""
        chosen = (self.cleaned_data[name] for name in ("scheme", "rule", "raters"))
        return json.dumps([*chosen, self.options()], sort_keys=True)

    def clean(self) -> dict[str, Any]:
        """Check the options of the rule chosen; those of other rules do not matter."""
        if rule := RULES.get(self.cleaned_data.get("rule", "")):
            for name in rule.options:
                if given := self.cleaned_data.get(name):
                    try:
                        rule.options[name].read(name, given)
                    except GoldRuleError as error:
                        self.add_error(name, str(error))
        return self.cleaned_data

    def options(self) -> dict[str, str]:
        """Return the options of the rule chosen; what was left empty is its default."""
        own = RULES[self.cleaned_data["rule"]].options
        return {name: self.cleaned_data[name] for name in own if self.cleaned_data[name]}


def _field(name: str, option: Option) -> forms.Field:
    """Return the field of an option. What is written in it is checked by the rule that is chosen."""
    how: dict[str, Any] = {"label": words.label(name), "required": False, "initial": option.default}
    if not option.is_number:
        return forms.ChoiceField(choices=list(option.choices.items()), help_text=option.help, **how)
    step = "1" if isinstance(option.default, int) else "any"
    limits = {"min": f"{option.low:g}", "max": f"{option.high:.15g}", "step": step}
    return forms.CharField(
        max_length=40,
        widget=forms.NumberInput(attrs=limits),
        help_text=f"{option.help} From {words.limits(option)}.",
        **how,
    )
