"""The form of a new round of adjudication: rules with their bounds, who decides, and what they are shown."""

from __future__ import annotations

from typing import Any

from django import forms

from annotation.models import Campaign, Corpus, SchemeVersion
from calibration.adjudication.actions import MOST_SEED, Plan
from calibration.adjudication.material import locked_clusters, questions_with_answers, raters_scope
from calibration.adjudication.settings import CONFIDENCE_RULES, MOST_CONTROL
from calibration.gold.rules import RULES
from calibration.reading.census import census

SWITCHES = ("no_majority", "flagged", "commented", "marked", "everything")
BOUNDS = ("spread", "judge_apart", "confidence")
HOW = ("adjudicators", "own_items", "shows_names", "shows_systems", "lease_minutes")


class AdjudicationForm(forms.Form):
    """What a round is about, by which rules its cases are picked, and how they are decided on."""

    name = forms.CharField(max_length=120)
    scheme = forms.ChoiceField(label="Questions of")
    questions = forms.MultipleChoiceField(
        required=False, widget=forms.CheckboxSelectMultiple, help_text="None ticked: all of the scheme."
    )
    no_majority = forms.BooleanField(
        required=False, initial=True, label="No answer has more than half of the people"
    )
    spread = forms.FloatField(
        required=False,
        label="People’s answers lie at least this far apart",
        help_text="In units of the scale, for questions whose answers have an order. Empty: off.",
    )
    flagged = forms.BooleanField(required=False, label="An annotator flagged the task")
    commented = forms.BooleanField(required=False, label="An annotator left a comment on the task")
    judge = forms.ChoiceField(required=False, label="This judge says otherwise than the people")
    judge_apart = forms.FloatField(
        required=False,
        label="… by at least",
        help_text="From the people’s mean, in units of the scale; categories: another than the majority.",
    )
    confidence_rule = forms.ChoiceField(
        required=False,
        label="By this rule of gold labels",
        choices=[(key, RULES[key].title) for key in CONFIDENCE_RULES],
    )
    confidence = forms.FloatField(
        required=False, label="… the answer is at most so sure", help_text="0 to 1. Empty: off."
    )
    marked = forms.BooleanField(required=False, label="Marked for adjudication on a page of disagreements")
    everything = forms.BooleanField(required=False, label="Everything that people answered")
    combine = forms.ChoiceField(
        label="An item is a case where",
        choices=[("any", "one of the rules picks it"), ("all", "all of the rules pick it")],
    )
    control = forms.IntegerField(
        min_value=0,
        max_value=MOST_CONTROL,
        initial=0,
        label="For control, per question",
        help_text="Items on which all people agree, drawn by the seed: are they wrong together?",
    )
    seed = forms.IntegerField(min_value=0, max_value=MOST_SEED, initial=0)
    adjudicators = forms.ChoiceField(
        label="Each case is decided by", choices=[("1", "one adjudicator"), ("2", "two, who must agree")]
    )
    lease_minutes = forms.IntegerField(
        min_value=1, max_value=1440, initial=30, label="Minutes that a case is held for"
    )
    own_items = forms.BooleanField(
        required=False, label="Adjudicators may decide on items that they rated themselves"
    )
    shows_names = forms.BooleanField(required=False, label="Adjudicators see who answered")
    shows_systems = forms.BooleanField(required=False, label="Adjudicators see which system is rated")
    takes_locked = forms.BooleanField(
        required=False,
        label="Also the test part, which nobody has opened",
        help_text="Judges neither pick nor are shown there, and agreement leaves it out.",
    )

    def __init__(self, *args: Any, corpus: Corpus, campaign: Campaign | None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.corpus, self.campaign = corpus, campaign
        asked = questions_with_answers(corpus, campaign)
        counted = census(raters_scope(corpus, campaign))
        self._offer("scheme", {q.scheme: f"{q.scheme_title} ({q.scheme})" for q in asked})
        several = len({q.scheme for q in asked}) > 1
        self._offer("questions", {q.ref: f"{q.scheme}: {q.key}" if several else q.key for q in asked})
        judges = {r.name: r.name for r in counted.raters.values() if r.kind == "judge"}
        self._offer("judge", {"": "none", **judges})
        if not judges:
            del self.fields["judge"], self.fields["judge_apart"]
        if not locked_clusters(corpus):
            del self.fields["takes_locked"]
        if "name" not in self.data:
            self.initial["name"] = f"{(campaign or corpus).name}, adjudication"[:120]

    def _offer(self, name: str, choices: dict[str, str]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        field.choices = list(choices.items())

    @property
    def groups(self) -> list[tuple[str, list[forms.BoundField]]]:
        """The fields under their headings; the questions, which are several to tick, stand apart."""
        named = {
            "Which items": (*SWITCHES[:1], "spread", "flagged", "commented", "judge", "judge_apart")
            + ("confidence_rule", "confidence", "marked", "everything", "combine", "control", "seed"),
            "Who decides, and what they see": (*HOW, "takes_locked"),
        }
        return [
            (heading, [self[name] for name in names if name in self.fields])
            for heading, names in named.items()
        ]

    def plan(self) -> Plan:
        """Return what the round is to be about."""
        told = self.cleaned_data
        key, number = told["scheme"].rsplit("@", 1)
        version = SchemeVersion.objects.select_related("scheme").get(scheme__key=key, version=int(number))
        rules: dict[str, Any] = {name: told[name] for name in SWITCHES if told.get(name)}
        rules |= {name: told[name] for name in BOUNDS if told.get(name) is not None}
        rules |= {name: told[name] for name in ("judge", "combine", "control") if told.get(name)}
        rules |= {"confidence_rule": told["confidence_rule"]} if told.get("confidence") is not None else {}
        if told["questions"]:
            rules["questions"] = [ref.removeprefix(f"{told['scheme']}/") for ref in told["questions"]]
        return Plan(self.corpus, self.campaign, version, rules, told["seed"], bool(told.get("takes_locked")))

    def how(self) -> dict[str, Any]:
        """Return how its cases are decided on."""
        told = self.cleaned_data
        return {name: told[name] for name in HOW} | {"adjudicators": int(told["adjudicators"])}
