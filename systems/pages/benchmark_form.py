"""The form by which a benchmark is asked for."""

from __future__ import annotations

from typing import Any

from django import forms

from annotation.models import Corpus
from jobs.models import Endpoint
from jobs.pages.parameter_fields import LinesField, WithParameters, given_parameters
from systems.making.actions import Source
from systems.making.orders import CUT, LARGEST_SEED, METADATA, MOST, SUMMARY, Order


class BenchmarkForm(WithParameters):
    """What a benchmark is made of, and how."""

    name = forms.CharField(max_length=100, label="Name", help_text="Of the new corpus.")
    corpora = forms.ModelMultipleChoiceField(
        Corpus.objects.order_by("name"),
        label="Made of",
        widget=forms.CheckboxSelectMultiple,
        help_text="Conversations of at least 60 turns with text can be cut.",
    )
    called = LinesField(
        required=False,
        label="What the sources are called",
        help_text="One a line: corpus = source. Without one, a source is called what its dialogues' metadata "
        "say under source, else what its corpus is called.",
    )
    per_source = forms.IntegerField(
        min_value=0, max_value=MOST, initial=50, label="Instances per source", help_text="For evaluation."
    )
    train = forms.IntegerField(
        min_value=0,
        max_value=MOST,
        initial=0,
        label="Instances for training",
        help_text="In all, of conversations that evaluation does not use.",
    )
    train_from = LinesField(
        required=False, label="Training from", help_text="Names of sources, one a line. Empty: all."
    )
    per_conversation = forms.IntegerField(
        min_value=1,
        max_value=MOST,
        initial=1,
        label="Most instances of one conversation",
        help_text="They start at least 60 turns apart and are one cluster.",
    )
    allow_fewer = forms.BooleanField(required=False, label="Take fewer where there are not enough")
    cut_seed = forms.IntegerField(
        min_value=0,
        max_value=LARGEST_SEED,
        initial=0,
        label="Seed of the cuts",
        help_text="The same seed makes the same cuts.",
    )
    endpoint = forms.ModelChoiceField(
        Endpoint.objects.filter(active=True),
        required=False,
        empty_label="Choose an endpoint",
        help_text="Where the model is asked. Conversations go there; before that you see what it takes.",
    )
    metadata = forms.BooleanField(
        required=False, initial=True, label="Have metadata written of each conversation"
    )
    summary = forms.BooleanField(
        required=False, initial=True, label="Have a summary written of what came before"
    )
    cleaning = forms.BooleanField(
        required=False,
        label="Clean the utterances first",
        help_text="For verbatim transcripts: fillers and false starts are taken out, nothing is put in.",
    )
    verbatim = LinesField(
        required=False, label="Clean only", help_text="Names of sources, one a line. Empty: all."
    )
    part_tokens = forms.IntegerField(
        min_value=200,
        max_value=10**7,
        initial=60_000,
        label="Longest part of a conversation",
        help_text="In tokens. Metadata of a longer one are written of parts that overlap, and then merged.",
    )

    MAIN = ("name", "corpora", "per_source", "endpoint")
    STEPS = ("metadata", "summary", "cleaning", "verbatim")
    MORE = ("called", "train", "train_from", "per_conversation", "allow_fewer", "cut_seed", "part_tokens")

    def main(self) -> list[forms.BoundField]:
        """Return the fields that everybody fills in."""
        return [self[name] for name in self.MAIN]

    def steps(self) -> list[forms.BoundField]:
        """Return the fields of what a model is asked for."""
        return [self[name] for name in self.STEPS]

    def more(self) -> list[forms.BoundField]:
        """Return the others."""
        return [self[name] for name in self.MORE]

    def more_told(self) -> bool:
        """Whether one of the others was changed, or is wrong."""
        return self.is_bound and any(name in self.changed_data or self[name].errors for name in self.MORE)

    def clean_called(self) -> dict[str, str]:
        """Return what sources are called by corpus."""
        found: dict[str, str] = {}
        for line in self.cleaned_data["called"]:
            corpus, equals, source = (part.strip() for part in line.rpartition("="))
            if not equals or not corpus or not source:
                raise forms.ValidationError(f"{line[:60]!r} is not corpus = source.")
            found[corpus] = source
        chosen = {corpus.name for corpus in self.cleaned_data.get("corpora", ())}
        if unknown := sorted(set(found) - chosen):
            raise forms.ValidationError(f"{unknown[0][:60]!r} is not one of the corpora that are chosen.")
        return found

    def sources(self) -> list[Source]:
        """Return the source corpora with what their sources are called."""
        called = self.cleaned_data["called"]
        return [(corpus, called.get(corpus.name, corpus.name)) for corpus in self.cleaned_data["corpora"]]

    def order(self) -> Order:
        """Return what is asked for."""
        data: dict[str, Any] = self.cleaned_data
        steps = [*([METADATA] if data["metadata"] else []), CUT, *([SUMMARY] if data["summary"] else [])]
        return Order(
            per_source=data["per_source"],
            train=data["train"],
            train_sources=tuple(data["train_from"]),
            per_conversation=data["per_conversation"],
            seed=data["cut_seed"],
            steps=tuple(steps),
            clean=data["cleaning"],
            verbatim=tuple(data["verbatim"]),
            part_tokens=data["part_tokens"],
            parameters=given_parameters(self),
            allow_fewer=data["allow_fewer"],
        )
