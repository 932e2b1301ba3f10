"""The forms of prompts."""

from __future__ import annotations

from typing import Any

from django import forms

from annotation.corpora.parts import TRAINING
from annotation.models import Corpus
from annotation.text.yaml_tree import MOST_BYTES
from jobs.endpoints.parameter_inputs import WithParameters, given_parameters
from jobs.models import Endpoint
from judges.errors import JudgeError
from judges.pages.forms import NEED, need_fields, needs_of, scheme_field
from judges.prompt_versions import actions, picking
from judges.prompt_versions.listing import Version
from judges.prompt_versions.picking import MOST_SHOWN, RULES, BadKeys, NoSplit, Pick
from judges.protocols import PROTOCOLS, Asking, Variable, Wording
from judges.rating.needs import machines
from judges.rating.plans import LEAST_BUDGET, Judge

_CODE = {"class": "code", "spellcheck": "false"}


def _text(label: str, rows: int, *, required: bool, told: str) -> forms.CharField:
    widget = forms.Textarea(attrs={"rows": rows, **_CODE})
    return forms.CharField(label=label, required=required, strip=False, widget=widget, help_text=told)


class EditorForm(forms.Form):
    """A prompt's text: what is saved as a version. Also what a draft of it is shown from."""

    system = _text("System part", 8, required=False, told="What the model is told first.")
    user = _text("User part", 18, required=False, told="What it is then asked. A dollar sign is written $$.")
    form = forms.ChoiceField(required=False, label="Form of the reply")
    keep_examples = forms.BooleanField(required=False, initial=True, label="Keep the worked examples")
    note = forms.CharField(
        required=False,
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 2}),
        label="Note",
        help_text="Why this version: what it is to do better.",
    )

    def __init__(self, *args: Any, base: Version, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.base = base
        protocol = PROTOCOLS[base.protocol]
        assert isinstance(protocol, Asking)
        self.protocol = protocol
        if len(known := protocol.forms_of(base.variant)) > 1:
            field = self.fields["form"]
            assert isinstance(field, forms.ChoiceField)
            field.choices = [(form, form or known[0] or "usual") for form in known]
        else:
            del self.fields["form"]
        if not base.wording.examples:
            del self.fields["keep_examples"]

    def clean_system(self) -> str:
        """Return the system part with plain line ends."""
        return _plain(self.cleaned_data["system"])

    def clean_user(self) -> str:
        """Return the user part with plain line ends."""
        return _plain(self.cleaned_data["user"])

    def clean(self) -> dict[str, Any]:
        """Put each fault of the text beside its part."""
        data = super().clean() or {}
        if "system" in data and "user" in data:
            wording = self.wording()
            for fault in wording.faults(self.protocol.known_variables(self.base.variant)):
                self.add_error(fault.part if fault.part in ("system", "user") else "user", fault.told)
            try:
                picking.refuse_test_items(wording)
            except JudgeError as error:
                self.add_error("keep_examples" if "keep_examples" in self.fields else None, str(error))
        return data

    def wording(self) -> Wording:
        """Return the text as it was entered."""
        data, before = self.cleaned_data, self.base.wording
        kept = data.get("keep_examples", False)
        return Wording(
            data["system"],
            data["user"],
            data.get("form", before.form),
            before.examples if kept else (),
            before.picking if kept else {},
        )

    def variables(self) -> list[Variable]:
        """Return the variables that the text may name, the required ones first."""
        known = self.protocol.known_variables(self.base.variant).values()
        return sorted(known, key=lambda one: (not one.required, one.name))


class NewPromptForm(EditorForm):
    """A prompt of one's own, begun with another one's text."""

    name = forms.CharField(
        max_length=99, help_text="Letters, digits, spaces and . _ + -; judges are named after it."
    )
    description = forms.CharField(
        required=False, max_length=2000, widget=forms.Textarea(attrs={"rows": 2}), help_text="What it is for."
    )
    field_order = ["name", "description"]

    def clean_name(self) -> str:
        """Return a name that is free, so that what is wrong with it stands beside it with all the rest."""
        try:
            return actions.free_name(self.cleaned_data["name"])
        except JudgeError as error:
            raise forms.ValidationError(str(error)) from None


def _plain(text: str) -> str:
    """Return a text as it was written: forms send two characters for the end of a line."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


class ExamplesForm(forms.Form):
    """How worked examples for a version are picked."""

    corpus = forms.ModelChoiceField(
        Corpus.objects.order_by("name"),
        empty_label="Choose a corpus",
        help_text="Examples come from the dev part of its split.",
    )
    part = forms.ChoiceField(
        choices=[("", "dev"), (TRAINING, "training")],
        required=False,
        help_text="A benchmark’s training dialogues are in no split.",
    )
    rule = forms.ChoiceField(
        choices=[(key, title[0].upper() + title[1:]) for key, title in RULES.items()], label="How"
    )
    n = forms.IntegerField(
        min_value=1, max_value=MOST_SHOWN, initial=4, label="Examples in a call", required=False
    )
    keys = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 4, **_CODE}),
        label="Items, if you pick them by hand",
        help_text="Their keys, one a line, such as dialogue/continuation/3.",
    )
    judge = forms.ChoiceField(
        required=False,
        label="Whose disagreement, if you take the most disagreed",
        help_text="Between people, or between a judge and the people.",
    )
    seed = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=2**31 - 1,
        initial=0,
        help_text="Decides what is drawn: the same seed draws the same examples.",
    )
    whole = forms.BooleanField(
        required=False,
        label="This corpus has no split, and all of it is for development",
        help_text="Without a split nothing keeps its examples out of a test.",
    )
    note = forms.CharField(required=False, max_length=2000, help_text="Why these examples.")

    def __init__(self, *args: Any, version: Version, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if PROTOCOLS[version.protocol].takes_scheme:
            self.fields["scheme"] = scheme_field(version)
            self.order_fields(["corpus", "part", "scheme"])
        field = self.fields["judge"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = judges_to_disagree_with()

    def chosen(self) -> Pick:
        """Return what was chosen."""
        data = self.cleaned_data
        return Pick(
            data["corpus"],
            data["rule"],
            data["n"] or 4,
            tuple(key for line in data["keys"].splitlines() if (key := line.strip())),
            data["judge"],
            data["seed"] or 0,
            data["whole"],
            data.get("scheme", ""),
            data["part"],
        )

    def refuse(self, error: JudgeError) -> None:
        """Put what cannot be picked beside what it is about."""
        beside = {BadKeys: "keys", NoSplit: "whole"}.get(type(error))
        self.add_error(beside, str(error))


def judges_to_disagree_with() -> list[tuple[str, str]]:
    """Return whose disagreement with people the most disagreed examples may show: people's, or a judge's."""
    judges = [(rater.fingerprint, rater.name) for rater in machines() if rater.kind == "judge"]
    return [("", "between people"), *judges]


class RequestForm(WithParameters):
    """About which item, and by whom, a request of a version is to be shown."""

    corpus = forms.ModelChoiceField(Corpus.objects.order_by("name"))
    item = forms.CharField(
        required=False,
        max_length=1000,
        label="Item",
        help_text="Its key, such as dialogue/continuation/3. Empty: any item of dev.",
    )
    endpoint = forms.ModelChoiceField(
        Endpoint.objects.filter(active=True).order_by("name"), required=False, empty_label="none yet"
    )
    budget = forms.IntegerField(
        required=False, min_value=LEAST_BUDGET, max_value=2**31 - 1, label="Most characters of a prompt"
    )

    def __init__(self, *args: Any, version: Version, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.protocol = PROTOCOLS[version.protocol]
        if self.protocol.takes_scheme:
            self.fields["scheme"] = scheme_field(version)
        self.fields.update(need_fields(self.protocol))
        self.order_fields(["corpus", "scheme", "item"])

    def bound(self) -> list[forms.BoundField]:
        """Return the fields of what the protocol is bound to: a scheme, other raters."""
        return [self[name] for name in self.fields if name == "scheme" or name.startswith(NEED)]

    def judge(self, version: Version) -> Judge:
        """Return the judge whose request is shown."""
        data = self.cleaned_data
        return Judge(
            prompt=version.ref,
            endpoint=data["endpoint"],
            parameters=given_parameters(self),
            budget=data["budget"],
            scheme=data.get("scheme", ""),
            needs=needs_of(data),
        )


class ImportForm(forms.Form):
    """A prompt's file."""

    file = forms.FileField(help_text="As exported: .yaml with all versions, or .md with one.")
    name = forms.CharField(
        required=False, max_length=99, label="Under another name", help_text="Empty: its own name."
    )

    def clean_file(self) -> bytes:
        """Return the file's content."""
        given = self.cleaned_data["file"]
        if given.size > MOST_BYTES:
            raise forms.ValidationError(f"The file has more than {MOST_BYTES >> 20} MiB.")
        content: bytes = given.read()
        return content
