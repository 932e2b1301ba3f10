"""The part of a study's form that asks for levels above items."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms

from calibration.reading.levels import LEVELS
from calibration.statistics.analysis import MEAN_OF_PEOPLE

LEVEL_NAMES = {
    "turn": "turns",
    "dialogue": "dialogues: the mean of a continuation’s turns, or its label",
    "system": "systems: the mean over all turns, or all dialogues, of a system",
}
ATTRIBUTES = [("model", "model"), ("protocol", "protocol"), ("kind", "kind of rater")]
WRITTEN = ("unit", "system_score", "p", "heading", "best_per", "reference", "by")


class LevelFields(forms.Form):
    """At which levels a study correlates, of what, and how its table is arranged."""

    levels = forms.MultipleChoiceField(
        required=False,
        choices=[(level, LEVEL_NAMES[level]) for level in LEVELS],
        widget=forms.CheckboxSelectMultiple,
        help_text="None ticked: agreement on the items alone.",
    )
    reference = forms.ChoiceField(required=False, label="Correlate with")
    unit = forms.ChoiceField(
        required=False,
        choices=[
            ("continuation", "a continuation"),
            ("dialogue_system", "all continuations of one system for one dialogue"),
        ],
        label="A dialogue’s score belongs to",
    )
    missing = forms.ChoiceField(
        required=False,
        choices=[
            ("skip", "leave out the turn"),
            ("whole", "leave out the continuation"),
        ],
        label="Where a turn has no value",
    )
    system_score = forms.ChoiceField(
        required=False,
        choices=[
            ("all_turns", "mean over all its turns, or dialogues"),
            ("mean_of_dialogues", "mean over the means of its dialogues"),
        ],
        label="A system’s score",
    )
    by = forms.MultipleChoiceField(
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="Ticked, each combination with the system counts as a system of its own.",
    )
    p = forms.ChoiceField(
        required=False,
        choices=[
            ("clustered", "by exchanging systems and dialogues"),
            ("item", "the usual test, as papers print it"),
        ],
        label="p-values",
    )
    shared_dialogues = forms.BooleanField(
        required=False, label="Only the dialogues that all systems answered"
    )
    row_samples = forms.MultipleChoiceField(
        required=False,
        choices=[("first", "the first answer"), ("mean", "the mean of all answers")],
        widget=forms.CheckboxSelectMultiple,
        help_text="Both ticked: a judge asked several times has a row for each.",
    )
    heading = forms.ChoiceField(
        required=False, choices=[("source", "what scores come from"), *ATTRIBUTES], label="Group rows by"
    )
    best_per = forms.ChoiceField(
        required=False, choices=[("", "none"), *ATTRIBUTES], label="Underline the best for each"
    )

    def offer(self, raters: Iterable[str], conditions: Iterable[str]) -> None:
        """Offer the raters and the conditions that there are."""
        self._offer("reference", [(MEAN_OF_PEOPLE, "the mean of all people"), *((n, n) for n in raters)])
        self._offer("by", [(key, key) for key in conditions])

    def _offer(self, name: str, choices: list[tuple[str, str]]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        field.choices = choices

    def clean(self) -> dict[str, Any]:
        """Refuse a policy of missing turns for questions that are not named."""
        data: dict[str, Any] = super().clean() or {}
        named = data.get("questions") or data.get("answered")
        if data.get("levels") and data.get("missing") == "whole" and not named:
            self.add_error("missing", "Tick the questions that this is for.")
        return data

    def levels_written(self) -> dict[str, Any]:
        """Return the keys of the definition; none where no level is ticked."""
        data = self.cleaned_data
        if not data["levels"]:
            return {}
        written = {key: data[key] for key in WRITTEN if data[key]}
        if data["row_samples"]:
            written["samples"] = data["row_samples"]
        if data["shared_dialogues"]:
            written["shared_dialogues"] = True
        return {"level": data["levels"]} | written
