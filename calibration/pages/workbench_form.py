"""The forms of the workbench: opening a bench, and the text and settings of a draft."""

from __future__ import annotations

from typing import Any

from django import forms

from jobs.models import Endpoint
from judges.drafts import benches
from judges.drafts.beginning import base_of, options_of, parent_of
from judges.models import Bench
from judges.protocols import PROTOCOLS, Asking, Wording
from judges.protocols.wording import LONGEST
from judges.rating.plans import LEAST_BUDGET, MOST_SAMPLES


class BenchForm(forms.Form):
    """A new bench."""

    name = forms.CharField(max_length=100, help_text="How you find it again.")
    protocol = forms.ChoiceField(
        label="What is judged",
        help_text="The protocol says which questions are answered, and about what.",
    )
    seed = forms.IntegerField(min_value=0, initial=0, help_text="Decides which dev items come first.")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["protocol"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [
            (key, f"{one.title} ({key})")
            for key, one in PROTOCOLS.items()
            if isinstance(one, Asking) and not one.needs and not one.takes_scheme
        ]


class DraftForm(forms.Form):
    """A draft: the text, where it is asked, and how. `base` is what it was begun from."""

    base = forms.CharField(widget=forms.HiddenInput, required=False)
    system = forms.CharField(
        required=False, max_length=LONGEST, strip=False, widget=forms.Textarea(attrs={"rows": 8})
    )
    user = forms.CharField(max_length=LONGEST, strip=False, widget=forms.Textarea(attrs={"rows": 16}))
    form = forms.ChoiceField(required=False, label="Reply")
    variant = forms.ChoiceField(required=False)
    endpoint = forms.ModelChoiceField(Endpoint.objects.filter(active=True), empty_label="Choose an endpoint")
    samples = forms.IntegerField(
        min_value=1, max_value=MOST_SAMPLES, initial=1, help_text="How often each item is asked."
    )
    temperature = forms.FloatField(required=False, min_value=0, max_value=2, help_text="Sent only if given.")
    max_tokens = forms.IntegerField(
        required=False, min_value=1, label="Most tokens of a reply", help_text="Sent only if given."
    )
    budget = forms.IntegerField(required=False, min_value=LEAST_BUDGET, label="Most characters of a prompt")

    def __init__(self, *args: Any, bench: Bench, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.bench, protocol = bench, benches.asking(bench.protocol)
        for name, values in (("form", protocol.forms), ("variant", protocol.variants)):
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)
            field.choices = [(value, value.replace("_", " ") or "as always") for value in values]
            if len(values) < 2:
                field.widget = forms.HiddenInput()
                field.initial = values[0]

    def wording(self) -> Wording:
        """Return the text: line ends as a text file has them, and the worked examples of what it began as."""
        data = self.cleaned_data
        system, user = (data[name].replace("\r\n", "\n") for name in ("system", "user"))
        return Wording(system, user, data["form"], base_of(self.bench, data["base"]).examples)

    def draft(self) -> dict[str, Any]:
        """Return what `judges.drafts.actions.write` takes beside bench and person."""
        data = self.cleaned_data
        return {
            "wording": self.wording(),
            "variant": data["variant"],
            "endpoint": data["endpoint"],
            "options": options_of(data),
            "parent": parent_of(self.bench, data["base"]),
        }
