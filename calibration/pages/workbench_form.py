"""The forms of the workbench: opening a bench, and the text and settings of a draft."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django import forms

from jobs.endpoints.parameters import PARAMETERS
from jobs.errors import JobError
from jobs.models import Endpoint
from jobs.pages.parameter_fields import WithParameters
from judges.drafts import benches
from judges.drafts.beginning import options_of, parent_of, text_of
from judges.drafts.worked_examples import USUAL, picked
from judges.errors import JudgeError
from judges.models import Bench
from judges.pages.bound_fields import NEED, need_fields, needs_of, scheme_choices
from judges.pages.prompt_forms import EditorForm, judges_to_disagree_with
from judges.prompt_versions.finding import Version
from judges.prompt_versions.picking import MOST_SHOWN, RULES, BadKeys
from judges.protocols import PROTOCOLS, Asking, Wording
from judges.protocols.g_eval import PROBABILITIES, SAMPLES
from judges.protocols.rubric import EXPECTED, JSON, LINE
from judges.rating.needs import drafts_of
from judges.rating.plans import LEAST_BUDGET, MOST_SAMPLES

HOW_A_RUBRIC_ASKS = {
    JSON: "all questions at once, each answer explained (json)",
    LINE: "one question a call, the value alone (line)",
    EXPECTED: "one question a call, the value expected under the tokens' probabilities (expected)",
    PROBABILITIES: "G-Eval: the score expected under the tokens' probabilities (probabilities)",
    SAMPLES: "G-Eval: the mean of twenty samples (samples)",
}


class BenchForm(forms.Form):
    """A new bench."""

    name = forms.CharField(max_length=100, help_text="How you find it again.")
    protocol = forms.ChoiceField(
        label="What is judged",
        help_text="The protocol says which questions are answered, and about what.",
    )
    scheme = forms.ChoiceField(
        required=False,
        label="Whose questions, for a rubric or G-Eval",
        help_text="The other protocols have their own.",
    )
    variant = forms.ChoiceField(
        required=False,
        label="How a rubric or G-Eval asks",
        choices=list(HOW_A_RUBRIC_ASKS.items()),
        help_text="Drafts of the bench may ask otherwise where that answers the same questions.",
    )
    include_self = forms.BooleanField(
        required=False,
        label="Dialogues' own turns, too",
        help_text="Of dialogues that have continuations; of all others they are there anyway.",
    )
    seed = forms.IntegerField(min_value=0, initial=0, help_text="Decides which dev items come first.")

    def __init__(self, *args: Any, has_campaign: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        asking = [one for one in PROTOCOLS.values() if isinstance(one, Asking)]
        own = [("", "the campaign's own")] if has_campaign else scheme_choices()[:1]
        _choose(self, "protocol", [(one.key, f"{one.title} ({one.key})") for one in asking])
        _choose(self, "scheme", [*own, *scheme_choices()[1:]])

    def clean(self) -> dict[str, Any]:
        """Leave out how a rubric asks where another protocol was chosen."""
        data = super().clean() or {}
        found = PROTOCOLS.get(data.get("protocol", ""))
        if found is not None and (not found.takes_scheme or data.get("variant") not in found.variants):
            data["variant"] = ""
        return data


class WithExamples(forms.Form):
    """Fields that pick a draft's worked examples anew: those of `prompts` without a corpus."""

    examples_rule = forms.ChoiceField(
        required=False,
        label="Pick",
        choices=[("", "no others"), *((key, title[0].upper() + title[1:]) for key, title in RULES.items())],
        help_text="From dev of this bench's corpus alone; they take the place of those that it has.",
    )
    examples_n = forms.IntegerField(
        required=False, min_value=1, max_value=MOST_SHOWN, initial=USUAL, label="Examples in a call"
    )
    examples_keys = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 3, "class": "code", "spellcheck": "false"}),
        label="Items, if you pick them by hand",
        help_text="Their keys, one a line, such as dialogue/continuation/3.",
    )
    examples_judge = forms.ChoiceField(
        required=False, label="Whose disagreement, if you take the most disagreed"
    )
    examples_seed = forms.IntegerField(
        required=False, min_value=0, max_value=2**31 - 1, initial=0, label="Seed of what is drawn"
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _choose(self, "examples_judge", judges_to_disagree_with())

    def examples(self) -> list[forms.BoundField]:
        """Return the fields."""
        return [self[name] for name in self.fields if name.startswith("examples_")]

    def examples_told(self) -> bool:
        """Whether examples are to be picked."""
        return "examples_rule" in self.fields and bool(self["examples_rule"].value())

    def told_examples(self) -> dict[str, Any]:
        """Return how they are to be picked, as `worked_examples.picked` takes it."""
        data = self.cleaned_data
        if "examples_rule" not in self.fields:
            return {}
        keys = [key for line in data["examples_keys"].splitlines() if (key := line.strip())]
        rest = {name: data[f"examples_{name}"] for name in ("rule", "n", "judge", "seed")}
        return rest | {"items": keys}

    def refuse(self, error: JobError) -> None:
        """Put what cannot be done beside what it is about."""
        self.add_error("examples_keys" if isinstance(error, BadKeys) else None, str(error))


class DraftForm(WithExamples, WithParameters, EditorForm):
    """A draft: the editor of prompts, where it is asked, and how. `begin` is what it was begun from."""

    begin = forms.CharField(widget=forms.HiddenInput, required=False)
    variant = forms.ChoiceField(required=False)
    endpoint = forms.ModelChoiceField(Endpoint.objects.filter(active=True), empty_label="Choose an endpoint")
    samples = forms.IntegerField(
        min_value=1, max_value=MOST_SAMPLES, initial=1, help_text="How often each item is asked."
    )
    budget = forms.IntegerField(
        required=False, min_value=LEAST_BUDGET, max_value=2**31 - 1, label="Most characters of a prompt"
    )

    def __init__(self, *args: Any, bench: Bench, begin: str, **kwargs: Any) -> None:
        self.bench = bench
        begun, known = text_of(bench, begin), benches.variants(bench)
        super().__init__(*args, base=replace(begun, variant=_variant(args, begun, known)), **kwargs)
        del self.fields["note"]
        _choose(self, "variant", [(one, one.replace("_", " ") or "as always") for one in known])
        if len(known) < 2:
            self.fields["variant"].widget = forms.HiddenInput()
        self.protocol = benches.protocol_of(bench, self.base.variant)
        drafts = drafts_of(bench.corpus, self.protocol) if self.protocol.needs else ()
        self.fields.update(need_fields(self.protocol, drafts))
        if self.protocol.needs:  # what others answered cannot be shown in examples
            for name in [name for name in self.fields if name.startswith("examples_")]:
                del self.fields[name]

    def needs(self) -> list[forms.BoundField]:
        """Return the fields that say whose answers it reads: the steps before this text."""
        return [self[name] for name in self.fields if name.startswith(NEED)]

    def parts(self) -> tuple[str, ...]:
        """Return what the text is sent for in a call each; nothing where one call asks everything."""
        found = self.protocol.parts(self.base.variant)
        return found if len(found) > 1 else ()

    def wording(self) -> Wording:
        """Return the text as it was entered; a form of reply that the variant has not is its first."""
        found = super().wording()
        return found if found.form in self.protocol.forms_of(self.base.variant) else replace(found, form="")

    def draft(self) -> dict[str, Any]:
        """Return what `judges.drafts.actions.write` takes beside bench and person."""
        data = self.cleaned_data
        sent = {name: data[name] for name in PARAMETERS if name in data}
        return {
            "wording": picked(self.bench, data["variant"], self.wording(), self.told_examples()),
            "variant": data["variant"],
            "endpoint": data["endpoint"],
            "options": options_of(sent | {"budget": data["budget"], "needs": needs_of(data)}),
            "parent": parent_of(self.bench, data["begin"]),
        }


def _choose(form: forms.Form, name: str, choices: list[tuple[str, str]]) -> None:
    field = form.fields[name]
    assert isinstance(field, forms.ChoiceField)
    field.choices = choices


def _variant(args: tuple[Any, ...], begun: Version, known: list[str]) -> str:
    """Return the variant that a form speaks of: the one that was sent, else that of what it begins from."""
    sent: Mapping[str, Any] = args[0] if args and args[0] else {}
    wanted = sent.get("variant", begun.variant)
    if begun.variant not in known:
        raise JudgeError(f"{begun.ref} asks as {begun.variant}; this bench as {' or '.join(known)}.")
    return wanted if wanted in known else begun.variant
