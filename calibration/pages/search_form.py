"""The form that starts a search."""

from __future__ import annotations

from typing import Any

from django import forms

from calibration.searches.actions import BOUNDS
from jobs.models import Endpoint
from jobs.pages.parameter_fields import WithParameters
from judges.drafts import benches
from judges.drafts.beginning import versions_for
from judges.models import Bench
from judges.pages.bound_fields import NEED, need_fields, needs_of
from judges.prompt_versions import finding


def _number(name: str, initial: int, label: str, told: str) -> forms.IntegerField:
    least, most = BOUNDS[name]
    return forms.IntegerField(min_value=least, max_value=most, initial=initial, label=label, help_text=told)


class SearchForm(forms.Form):
    """From which text, by which models, within which bounds."""

    begin = forms.ChoiceField(label="Begin with")
    name = forms.CharField(
        required=False,
        max_length=99,
        label="Proposals go into the prompt",
        help_text="Empty: the prompt it begins with. A text that comes with Concord needs a new name here.",
    )
    endpoint = forms.ModelChoiceField(Endpoint.objects.filter(active=True), label="The judge is asked at")
    improver = forms.ModelChoiceField(
        Endpoint.objects.filter(active=True),
        label="Proposals are asked for at",
        help_text="A model that writes well; it is shown some of the dialogues.",
    )
    rounds = _number("rounds", 8, "Proposals at most", "Each is one request to the improving model.")
    few = _number("few", 5, "Cases shown for a proposal", "The farthest apart come first.")
    most_calls = _number("most_calls", 1000, "Calls at most", "Of both models, all in all.")
    most_cost = forms.DecimalField(
        required=False,
        min_value=0,
        max_digits=12,
        decimal_places=4,
        label="Cost at most",
        help_text="In the endpoints' currency; needs their prices.",
    )
    seed = forms.IntegerField(min_value=0, max_value=2**31 - 1, initial=0, help_text="Draws the parts.")

    def __init__(self, *args: Any, bench: Bench, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["begin"]
        assert isinstance(field, forms.ChoiceField)
        self.fields.update(need_fields(benches.protocol_of(bench)))
        usable = [one for one in versions_for(bench) if one.row is None or not one.row.is_open]
        field.choices = [(one.ref, one.ref) for one in usable]

    def chosen(self) -> dict[str, Any]:
        """Return what `calibration.searches.actions.start` takes beside bench and person."""
        data = {name: value for name, value in self.cleaned_data.items() if not name.startswith(NEED)}
        options = {"needs": needs_of(self.cleaned_data)}
        return data | {"version": finding.find(data.pop("begin")), "options": options}


class JudgeParametersForm(WithParameters):
    """The sampling parameters of the judge whose text is searched for."""


class ImproverForm(WithParameters):
    """The sampling parameters of the model that proposes."""
