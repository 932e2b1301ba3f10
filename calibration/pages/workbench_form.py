"""The forms of the workbench: opening a bench, and the text and settings of a draft."""

from __future__ import annotations

from typing import Any

from django import forms

from jobs.models import Endpoint
from judges.drafts import benches
from judges.errors import JudgeError
from judges.models import Bench, Draft, PromptVersion
from judges.prompt_versions import finding, texts
from judges.prompt_versions.finding import Version
from judges.protocols import PROTOCOLS, Asking, Wording
from judges.protocols.wording import LONGEST
from judges.rating.plans import LEAST_BUDGET, MOST_SAMPLES

OPTIONS = ("temperature", "max_tokens", "budget")
"""What a draft passes on to its judge."""


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
            (key, f"{one.title} ({key})") for key, one in PROTOCOLS.items() if isinstance(one, Asking)
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
    endpoint = forms.ModelChoiceField(Endpoint.objects.filter(active=True))
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
            "options": {name: data[name] for name in OPTIONS},
            "parent": parent_of(self.bench, data["base"]),
        }


def begun_from(bench: Bench, ref: str) -> dict[str, Any]:
    """Return the form's beginning: a draft of the bench (`draft-3`), a version (`name@2`), or Concord's own.

    Raises JudgeError for what there is none of, and for a version of another protocol.
    """
    draft = _draft(bench, ref)
    if draft is not None:
        settings = {"variant": draft.variant, "endpoint": draft.endpoint_id, "samples": draft.samples}
        return _text(texts.wording_of(draft.text)) | settings | draft.options | {"base": ref}
    version = _version(bench, ref)
    return _text(version.wording) | {"variant": version.variant, "base": version.ref}


def base_of(bench: Bench, ref: str) -> Wording:
    """Return the text that a draft was begun from."""
    draft = _draft(bench, ref)
    return texts.wording_of(draft.text) if draft else _version(bench, ref).wording


def parent_of(bench: Bench, ref: str) -> str:
    """Return the version that a draft descends from."""
    draft = _draft(bench, ref)
    if draft is not None:
        return draft.kept or draft.parent
    return _version(bench, ref).ref


def versions_for(bench: Bench) -> list[Version]:
    """Return the versions that a draft of a bench may begin from: Concord's, then one's own, newest first."""
    rows = PromptVersion.objects.select_related("prompt__scheme_version__scheme", "text").filter(
        prompt__protocol=bench.protocol, prompt__archived=False
    )
    own = [finding.version_of(row) for row in rows.order_by("prompt__name", "-number")]
    return [*(one for one in finding.built_in() if one.protocol == bench.protocol), *own]


def _text(wording: Wording) -> dict[str, Any]:
    return {"system": wording.system, "user": wording.user, "form": wording.form}


def _draft(bench: Bench, ref: str) -> Draft | None:
    number = ref.removeprefix("draft-")
    if ref == number:
        return None
    known = number.isdecimal() and number.isascii() and len(number) < 10
    rows = bench.drafts.select_related("text", "endpoint")
    found = rows.filter(number=int(number)).first() if known else None
    if found is None:
        raise JudgeError(f"This bench has no {ref!r}.")
    return found


def _version(bench: Bench, ref: str) -> Version:
    if not ref:
        protocol = benches.asking(bench.protocol)
        return next(one for one in finding.built_in() if one.protocol == protocol.key)
    version = finding.find(ref)
    if version.protocol != bench.protocol:
        raise JudgeError(f"{version.ref} is a prompt for {version.protocol}, not for {bench.protocol}.")
    return version
