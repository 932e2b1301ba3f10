"""The researcher's pages of benchmarks: the list, asking for one, and one with its figures."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from annotation.models import Corpus
from config.files import file_response
from config.permissions import researcher_only, user_of
from jobs import actions as jobs
from jobs.endpoints.parameter_inputs import LinesField, WithParameters, given_parameters
from jobs.errors import JobError
from jobs.models import Endpoint
from judges.pages.runs import sync_endpoints
from suites.continuation import access
from suites.continuation.models import Benchmark
from suites.continuation.productions import benchmark_actions
from suites.continuation.productions.benchmark_actions import TITLES, Source, estimate, is_fake, steps_of
from suites.continuation.productions.benchmark_steps import (
    CUT,
    LARGEST_SEED,
    METADATA,
    MOST,
    SUMMARY,
    Order,
    export,
)
from suites.continuation.schemes import SCHEME

# The form by which a benchmark is asked for.


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
        source_names: dict[str, str] = {}
        for line in self.cleaned_data["called"]:
            corpus, equals, source = (part.strip() for part in line.rpartition("="))
            if not equals or not corpus or not source:
                raise forms.ValidationError(f"{line[:60]!r} is not corpus = source.")
            source_names[corpus] = source
        corpus_names = {corpus.name for corpus in self.cleaned_data.get("corpora", ())}
        if unknown := sorted(set(source_names) - corpus_names):
            raise forms.ValidationError(f"{unknown[0][:60]!r} is not one of the corpora that are chosen.")
        return source_names

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


ROOM = {"active_room": "corpora"}


@require_GET
@researcher_only
def benchmark_list(request: HttpRequest) -> HttpResponse:
    """Researchers: benchmarks that were made or are being made, latest first."""
    rows = Benchmark.objects.select_related("corpus", "created_by")
    page = Paginator(rows, 25).get_page(request.GET.get("page"))
    active = any(benchmark.state == Benchmark.State.MAKING for benchmark in page)
    return render(request, "continuation/benchmarks.html", {"page": page, "active": active, **ROOM})


@researcher_only
def new_benchmark(request: HttpRequest) -> HttpResponse:
    """Researchers: say what a benchmark is made of; see what it takes; start."""
    sync_endpoints(request)
    form = BenchmarkForm(request.POST or None)
    if request.method == "POST" and form.is_valid() and (response := _go_on(request, form)):
        return response
    return render(
        request, "continuation/new_benchmark.html", {"form": form, **ROOM}, status=422 if form.errors else 200
    )


def _go_on(request: HttpRequest, form: BenchmarkForm) -> HttpResponse | None:
    """Show what it takes, and start once that was seen; None where something does not fit."""
    data = form.cleaned_data
    try:
        if "confirmed" not in request.POST:
            making_estimate = estimate(form.sources(), form.order(), data["endpoint"])
            form_values = [
                (name, value)
                for name, values in request.POST.lists()
                if name != "csrfmiddlewaretoken"
                for value in values
            ]
            context = {
                "estimate": making_estimate,
                "told": form_values,
                "name": data["name"],
                "titles": TITLES,
                **ROOM,
            }
            context["steps"] = [(TITLES[step.step], step) for step in making_estimate.steps]
            return render(request, "continuation/confirm_benchmark.html", context)
        benchmark = benchmark_actions.start(
            by=user_of(request),
            name=data["name"],
            sources=form.sources(),
            order=form.order(),
            endpoint=data["endpoint"],
        )
    except JobError as error:
        form.add_error(None, str(error))
        return None
    return redirect("benchmark", benchmark.pk)


@require_GET
@researcher_only
def benchmark_page(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: how far a benchmark is, or its figures and what reviewers found."""
    benchmark = access.benchmark(pk)
    job = jobs.active_job(benchmark_actions.KIND, f"benchmark {benchmark.name}")
    context: dict[str, Any] = {
        "benchmark": benchmark,
        "order": Order.of(benchmark.order),
        "steps": steps_of(benchmark),
        "fake_model": is_fake(benchmark),
        "at": TITLES.get(benchmark.step, ""),
        "job": job,
        "scheme": SCHEME,
        "review": benchmark_actions.shares(benchmark.corpus) if benchmark.corpus else [],
        **ROOM,
    }
    return render(request, "continuation/benchmark.html", context)


@require_GET
@researcher_only
def benchmark_file(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Researchers: the dialogues of a benchmark, one a line, as they were written."""
    benchmark = access.benchmark(pk)
    if benchmark.corpus is None:
        raise Http404
    name = f"benchmark-{benchmark.pk}.jsonl"
    return file_response(export(benchmark.corpus), media_type="application/x-ndjson", name=name)


@require_POST
@researcher_only
def go_on(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: try again what failed, or go on without it."""
    return _act(request, pk, benchmark_actions.go_on, leave_out_failed="leave_out" in request.POST)


@require_POST
@researcher_only
def cancel_making(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: stop making a benchmark."""
    return _act(request, pk, benchmark_actions.cancel)


@require_POST
@researcher_only
def checked(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: say that a benchmark was checked for offensive content."""
    return _act(request, pk, benchmark_actions.mark_checked)


def _act(request: HttpRequest, pk: int, act: Any, **more: Any) -> HttpResponse:
    try:
        act(by=user_of(request), benchmark=access.benchmark(pk), **more)
    except JobError as error:
        messages.error(request, str(error))
    return redirect("benchmark", pk)
