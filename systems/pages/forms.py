"""The form of generation, made from a generator's settings."""

from __future__ import annotations

from typing import Any

from django import forms

from annotation.models import Corpus
from jobs.endpoints.parameter_inputs import WithParameters, given_parameters
from jobs.models import Endpoint
from jobs.runs import CAPS
from judges.pages.forms import cap_fields, check_mode, mode_field, offer_parts
from judges.runs.lookup import split_for
from systems.errors import SystemsError
from systems.generators import Generator, Setting, WrongSettings
from systems.producing.actions import MOST_TRIALS
from systems.producing.dialogues import Dialogues
from systems.producing.plans import LONGEST_NAME, Generation

SETTING = "setting_"
"""How the fields of settings are called, before the setting's name."""


class GenerateForm(WithParameters):
    """What writes, for which dialogues of a corpus, and how."""

    endpoint = forms.ModelChoiceField(
        Endpoint.objects.filter(active=True),
        empty_label="Choose an endpoint",
        help_text="Where the model is asked. Dialogues are sent there; before that you see what it takes.",
    )
    name = forms.CharField(
        required=False,
        max_length=LONGEST_NAME,
        label="Name of the system",
        help_text="Empty: the model and the settings that vary. A name is that of one system for good.",
    )
    condition = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        label="Keys of your own in the condition",
        help_text="One a line, such as mood=cheerful. Tables group by them.",
    )
    trials = forms.IntegerField(
        initial=1,
        min_value=1,
        max_value=MOST_TRIALS,
        help_text="How often each dialogue is written for. Trial 1 is sent the seed, trial 2 the next.",
    )
    part = forms.ChoiceField(
        required=False,
        label="Part",
        help_text="Training is left out unless it is chosen.",
    )
    min_turns = forms.IntegerField(required=False, min_value=0, label="Least turns of a dialogue")
    max_turns = forms.IntegerField(required=False, min_value=0, label="Most turns of a dialogue")
    first = forms.IntegerField(
        required=False,
        min_value=0,
        label="Only so many dialogues",
        help_text="The first ones by their ids, to try it out. Empty: all.",
    )
    use_cache = forms.BooleanField(
        required=False,
        initial=True,
        label="Take replies that are there",
        help_text="Where another run sent exactly the same to the same endpoint. Trials are never shared.",
    )

    def __init__(self, *args: Any, generator: Generator, corpus: Corpus, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.generator, self.corpus = generator, corpus
        own = {f"{SETTING}{one.name}": setting_field(one) for one in generator.settings}
        self.fields.update(own | cap_fields() | {"mode": mode_field()})
        offer_parts(self, corpus)

    def clean_mode(self) -> str:
        """Require an endpoint that takes batches, where it is asked in batches."""
        mode: str = self.cleaned_data["mode"]
        if "endpoint" in self.cleaned_data:
            check_mode(self.cleaned_data["endpoint"], mode)
        return mode

    def clean_condition(self) -> dict[str, str]:
        """Return the keys of the condition."""
        found: dict[str, str] = {}
        for line in filter(None, map(str.strip, self.cleaned_data["condition"].splitlines())):
            key, equals, value = line.partition("=")
            if not equals or key.strip() in found:
                raise forms.ValidationError(f"{line[:60]!r} is not key=value, or its key is given twice.")
            found[key.strip()] = value.strip()
        return found

    def clean(self) -> dict[str, Any]:
        """Check the settings together, and the selection."""
        data = super().clean() or {}
        try:
            self.generator.resolved(self.given_settings(data))
        except WrongSettings as error:
            name = SETTING + str(error).partition(":")[0].split(" ")[0]
            if name not in self.errors:
                self.add_error(name if name in self.fields else None, str(error))
        try:
            self.dialogues(data)
        except SystemsError as error:
            self.add_error("max_turns", str(error))
        return data

    def settings(self) -> list[forms.BoundField]:
        """Return the fields of the settings."""
        return [self[f"{SETTING}{one.name}"] for one in self.generator.settings]

    def caps(self) -> list[forms.BoundField]:
        """Return the fields of what the run may take."""
        return [self[name] for name in CAPS]

    def caps_told(self) -> bool:
        """Whether a cap is given or wrong."""
        return any(field.errors or field.value() for field in self.caps())

    def selection_fields(self) -> list[forms.BoundField]:
        """Return the fields of the selection."""
        return [self[name] for name in ("part", "min_turns", "max_turns", "first") if name in self.fields]

    def selection_told(self) -> bool:
        """Whether the selection is narrowed, or wrong."""
        return any(field.errors or field.value() for field in self.selection_fields())

    def given_settings(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return the settings that are given."""
        named = {one.name: data.get(f"{SETTING}{one.name}") for one in self.generator.settings}
        return {name: value for name, value in named.items() if value not in (None, "")}

    def chosen(self) -> Generation:
        """Return what was set up."""
        data = self.cleaned_data
        return Generation(
            self.generator.key,
            data["endpoint"],
            self.given_settings(data),
            given_parameters(self),
            data["name"],
            data["condition"],
        )

    def dialogues(self, data: dict[str, Any] | None = None) -> Dialogues:
        """Return the chosen dialogues; raise SystemsError for a selection that cannot be."""
        told = self.cleaned_data if data is None else data
        part = told.get("part", "")
        return Dialogues(
            self.corpus,
            split_for(self.corpus, part),
            part,
            told.get("min_turns") or 0,
            told.get("max_turns") or 0,
            told.get("first") or 0,
        )


def setting_field(one: Setting) -> forms.Field:
    """Return the field of a setting."""
    shared: dict[str, Any] = {"label": one.name.replace("_", " ").capitalize(), "help_text": one.help}
    shared |= {"initial": one.default, "required": False}
    if isinstance(one.default, bool):
        return forms.BooleanField(**shared)
    if one.choices:
        choices = [(str(choice), str(choice).replace("_", " ")) for choice in one.choices]
        return forms.ChoiceField(choices=choices, **shared)
    if isinstance(one.default, int):
        return forms.IntegerField(min_value=one.low, max_value=one.high, **shared)
    return forms.CharField(max_length=2000, **shared)
