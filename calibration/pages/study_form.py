"""The form of a new study. Left as it comes, it is the automatic study under a name of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

from django import forms

from annotation.schemes.base import UNSCALED
from calibration.errors import MapError
from calibration.pages.level_fields import LevelFields
from calibration.preferences.reading import comparing
from calibration.reading.census import Census
from calibration.reading.definitions import DEFAULT_STATISTICS, EPSILON
from calibration.reading.scale_maps import ScaleMap
from calibration.statistics.core.base import Family
from calibration.statistics.panels import RULES
from calibration.statistics.preferences.fitting import MODELS
from calibration.statistics.preferences.votes import BOTH_BAD_POLICIES
from calibration.statistics.table import described

TEXT = "text"
CHOICES = ("ties", "both_bad", "anchor")
"""The fields that say how votes on pairs and rankings are read."""
MAPS = [("rank", "order only"), ("identity", "same scale"), ("linear", "linear, with ranges")]


def _families() -> list[tuple[str, list[tuple[str, str]]]]:
    """Return every statistic that a study may ask for, in groups of where it applies."""
    groups: dict[str, list[tuple[str, str]]] = {family: [] for family in get_args(Family)}
    for key, statistic in described().items():
        groups[statistic.family].append((key, statistic.title))
    return list(groups.items())


class StudyForm(LevelFields):
    """Name, questions, raters, a map between two questions, statistics, and how intervals are made."""

    name = forms.CharField(
        max_length=120, label="Name", help_text="For example: does the judge agree with us?"
    )
    questions = forms.MultipleChoiceField(
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="None ticked: every question that two raters or more answered.",
    )
    raters = forms.MultipleChoiceField(
        required=False, widget=forms.CheckboxSelectMultiple, help_text="None ticked: all."
    )
    answering = forms.ChoiceField(
        required=False,
        label="This question of other raters",
        help_text="For a judge that answered another question, or on another scale; at levels dialogue and "
        "system also for labels of turns beside labels of whole dialogues.",
    )
    answered = forms.ChoiceField(required=False, label="answers this one")
    map = forms.ChoiceField(choices=MAPS, label="and their scales meet by", initial="rank")
    ranges = forms.RegexField(
        regex=r"^\s*\S+\s+to\s+\S+\s*=\s*\S+\s+to\s+\S+\s*$",
        required=False,
        help_text="For linear: 1 to 5 = 0 to 4",
        error_messages={"invalid": "Write the two ranges as: 1 to 5 = 0 to 4"},
    )
    statistics = forms.MultipleChoiceField(required=False, widget=forms.CheckboxSelectMultiple)
    samples = forms.ChoiceField(
        required=False,
        choices=[
            ("", "by scale: mean where ordered, else first"),
            ("mean", "mean"),
            ("first", "first"),
            ("separate", "separate raters"),
        ],
        label="Repeated answers of one rater",
    )
    interval = forms.ChoiceField(choices=[("percentile", "percentile"), ("bca", "BCa")])
    resamples = forms.IntegerField(min_value=0, max_value=20_000, initial=2000)
    seed = forms.IntegerField(min_value=0, max_value=2**32 - 1, initial=0)
    confidence = forms.FloatField(min_value=0.5, max_value=0.999, initial=0.95, label="Confidence level")
    epsilon = forms.FloatField(
        min_value=0,
        max_value=1,
        initial=EPSILON,
        required=False,
        label="Margin ε of the alternative annotator test",
        help_text="What a judge may do worse by and still pass: 0.2 beside experts, 0.15 beside trained "
        "people, 0.1 beside a crowd.",
    )

    panel = forms.ChoiceField(
        required=False,
        choices=[("", "none"), *((rule, rule) for rule in RULES)],
        label="Answers of several judges become one by",
        help_text="Weighted: by agreement with people on dev. A tie is no answer. More than one panel: by "
        "definition, with the command or the API.",
    )
    members = forms.MultipleChoiceField(
        required=False, widget=forms.CheckboxSelectMultiple, help_text="None ticked: all judges."
    )
    least = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=1000,
        label="Members who must answer",
        help_text="Left empty: more than half.",
    )
    leave_out = forms.BooleanField(
        required=False, label="Leave out the people who were left out of gold, in the campaigns concerned"
    )
    ties = forms.ChoiceField(required=False, choices=list(MODELS.items()), label="To strengths, a tie is")
    both_bad = forms.ChoiceField(
        required=False, choices=list(BOTH_BAD_POLICIES.items()), label="To win rates and strengths"
    )
    anchor = forms.CharField(
        required=False,
        max_length=300,
        label="System whose strength is 1000",
        help_text="Left empty: the mean of all.",
    )
    no_baselines = forms.BooleanField(required=False, label="Leave out the baselines that judges stand above")

    def __init__(self, *args: Any, counted: Census, conditions: Sequence[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.offer([rater.name for rater in counted.raters.values()], conditions)
        known = [q for q in counted.questions.values() if q.level != TEXT]
        asked = [(q.ref, f"{q.title} ({q.scheme_title})") for q in known]
        scaled = {q.ref for q in known if q.level not in UNSCALED}
        self._choices("questions", asked)
        questions = [(ref, title) for ref, title in asked if ref in scaled]
        if not comparing(counted):
            for name in CHOICES:
                del self.fields[name]
        self._choices("answering", [("", "none"), *questions])
        self._choices("answered", [("", "none"), *questions])
        self._choices("raters", [(r.name, f"{r.name} ({r.kind})") for r in counted.raters.values()])
        judges = [(r.name, r.name) for r in counted.raters.values() if r.kind == "judge"]
        self._choices("members", judges)
        self._choices("statistics", _families())
        self.fields["statistics"].initial = list(DEFAULT_STATISTICS)

    def _choices(self, name: str, choices: Sequence[tuple[str, Any]]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        field.choices = choices

    def clean(self) -> dict[str, Any]:
        """Refuse half a link between questions, and a linear map without its ranges."""
        data: dict[str, Any] = super().clean() or {}
        if bool(data.get("answering")) != bool(data.get("answered")):
            self.add_error("answering", "Choose both questions of the link, or neither.")
        if data.get("answering") and data.get("answering") == data.get("answered"):
            self.add_error("answering", "Choose two different questions.")
        if (data.get("members") or data.get("least")) and not data.get("panel"):
            self.add_error("panel", "Choose the rule of the panel whose members these are.")
        if len(data.get("members") or []) == 1:
            self.add_error("members", "A panel has two members or more.")
        if data.get("members") and (data.get("least") or 0) > len(data["members"]):
            self.add_error("least", f"There are only {len(data['members'])} members.")
        if data.get("answering") and data.get("map") == "linear" and "ranges" not in self.errors:
            try:
                self._map(data)
            except MapError as error:
                self.add_error("ranges", str(error))
        return data

    @staticmethod
    def _map(data: dict[str, Any]) -> ScaleMap:
        if data["map"] != "linear":
            return ScaleMap(data["map"])
        sides = [side.split(" to ") for side in (data.get("ranges") or "").split("=")]
        try:
            (a, b), (c, d) = [[float(end) for end in side] for side in sides]
        except ValueError as error:
            raise MapError("Write the two ranges as: 1 to 5 = 0 to 4") from error
        return ScaleMap.parse({"kind": "linear", "from": [a, b], "to": [c, d]})

    def definition(self) -> dict[str, Any]:
        """Return the study's definition; what was left as it comes is left out."""
        data = self.cleaned_data
        written: dict[str, Any] = {}
        if data["questions"] or data["answering"]:
            written["questions"] = self._questions()
        for key in ("raters", "samples", "statistics"):
            if data[key]:
                written[key] = data[key]
        if data["epsilon"] is not None:
            written["epsilon"] = data["epsilon"]
        if data["panel"]:
            panel = {"rule": data["panel"], "members": data["members"], "least": data["least"] or 0}
            written["panels"] = [panel]
        if data["no_baselines"]:
            written["baselines"] = False
        if data["leave_out"]:
            written["leave_out"] = True
        if "ties" in self.fields:
            written["preferences"] = {name: data[name] for name in CHOICES}
        rest = {key: data[key] for key in ("resamples", "seed", "confidence", "interval")}
        return written | rest | self.levels_written()

    def _questions(self) -> list[dict[str, Any]]:
        data = self.cleaned_data
        refs = list(data["questions"])
        if data["answered"] and data["answered"] not in refs:
            refs.append(data["answered"])
        link = (
            {"question": data["answering"], "map": self._map(data).as_dict()} if data["answering"] else None
        )
        missing = {"missing": data["missing"]} if data["levels"] and data["missing"] else {}
        return [
            {"question": ref, "answered_by": [link] if link and ref == data["answered"] else []} | missing
            for ref in refs
        ]
