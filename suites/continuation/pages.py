"""Pages of productions, benchmarks and examples for fine-tuning. Researchers only."""

from __future__ import annotations

import json
from typing import Any

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import URLPattern, path, reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.corpora import exclusion
from annotation.corpora.splits import LONGEST_PURPOSE
from annotation.models.corpora import Corpus
from calibration.access import place_of
from calibration.errors import CalibrationError
from calibration.exports import downloads
from calibration.pages.exports import answer, exclude_of, place_query
from calibration.reports.wording import counted
from config.files import file_response, row_id
from config.listing import Column, Listing, natural
from config.permissions import researcher_only, user_of
from jobs import job_actions as jobs
from jobs.endpoints.parameter_inputs import LinesField, WithParameters, form_field, given_parameters
from jobs.errors import JobError
from jobs.models import Endpoint, Job, Run
from judges.pages.forms import ExclusionForm, RunForm, offer_parts
from judges.pages.runs import offer_endpoints, sync_endpoints
from judges.runs.selection import settings_of
from suites.continuation import access, tuning
from suites.continuation.benchmarks.metadata import PART_TOKENS
from suites.continuation.errors import SystemsError
from suites.continuation.generators import GENERATORS, Generator, Setting, WrongSettings
from suites.continuation.generators.cocoeval_continuation import CocoevalContinuation
from suites.continuation.models import Benchmark, Production
from suites.continuation.productions import benchmark_actions, production_actions
from suites.continuation.productions.benchmark_actions import TITLES, Source
from suites.continuation.productions.benchmark_steps import (
    CUT,
    METADATA,
    NUMBERS,
    SUMMARY,
    Order,
    export,
)
from suites.continuation.productions.dialogues import LIMITS, Dialogues, select_dialogues
from suites.continuation.productions.plans import LONGEST_NAME, Generation
from suites.continuation.productions.production_actions import TRIALS
from suites.continuation.schemes import SCHEME
from suites.pages import FieldGroup, estimate_lines, form_values

# The form of generation, made from a generator's settings.

SETTING = "setting_"
"""Prefix of the form fields of settings."""
SENT = "Sent to the model only where given, and then part of who the system is."
MORE_WRITTEN = "a model that thinks before it answers writes more."
CAPPED = "before the first call that could exceed one of these. Leave empty for no limit."


class GenerateForm(RunForm, ExclusionForm):
    """Generation to start: the model, the settings of the generator, and the dialogues of a corpus."""

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
    trials = form_field(TRIALS, required=True, initial=1)
    part = forms.ChoiceField(
        required=False,
        label="Part",
        help_text="Training is left out unless it is chosen.",
    )
    min_turns = form_field(LIMITS["min_turns"])
    max_turns = form_field(LIMITS["max_turns"])
    first = form_field(LIMITS["first"])
    use_cache = forms.BooleanField(
        required=False,
        initial=True,
        label="Take replies that are there",
        help_text="Where another run sent exactly the same to the same endpoint. Trials are never shared.",
    )

    def __init__(self, *args: Any, generator: Generator, corpus: Corpus, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.generator, self.corpus = generator, corpus
        self.fields.update(
            {f"{SETTING}{setting.name}": setting_field(setting) for setting in generator.settings}
        )
        offer_parts(self, corpus)
        self.offer_exclusion(corpus)

    def clean_condition(self) -> dict[str, str]:
        """Return the keys of the condition, read from lines of key=value."""
        condition: dict[str, str] = {}
        for line in filter(None, map(str.strip, self.cleaned_data["condition"].splitlines())):
            key, equals, value = line.partition("=")
            if not equals or key.strip() in condition:
                raise forms.ValidationError(f"{line[:60]!r} is not key=value, or its key is given twice.")
            condition[key.strip()] = value.strip()
        return condition

    def clean(self) -> dict[str, Any]:
        """Validate the settings against each other, and the selection."""
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

    def groups(self) -> list[FieldGroup]:
        """Return the fields as the page shows them."""
        settings = [f"{SETTING}{setting.name}" for setting in self.generator.settings]
        selection = [self[name] for name in ("part", *LIMITS, "exclude") if name in self.fields]
        is_selected = any(field.errors or field.value() for field in selection)
        caps = [*self.caps(), self["mode"], self["use_cache"]]
        return [
            FieldGroup([self[name] for name in ("endpoint", *settings, "trials", "name", "condition")]),
            FieldGroup(selection, "Which dialogues", is_open=is_selected),
            FieldGroup(self.parameters(), "Parameters", SENT, self.has_parameters()),
            FieldGroup(caps, "Limits", f"The run pauses {CAPPED}", self.has_caps()),
        ]

    def given_settings(self, data: dict[str, Any]) -> dict[str, Any]:
        """Return the settings that have a value."""
        values = {setting.name: data.get(f"{SETTING}{setting.name}") for setting in self.generator.settings}
        return {name: value for name, value in values.items() if value not in (None, "")}

    def generation(self) -> Generation:
        """Return the generation that the form describes."""
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
        """Return the selected dialogues; raise SystemsError for limits that exclude each other."""
        return select_dialogues(self.corpus, self.cleaned_data if data is None else data)


def setting_field(setting: Setting, **options: Any) -> forms.Field:
    """Return the form field of a setting; `options` replace its usual label, help text and so on."""
    shared: dict[str, Any] = {"label": setting.name.replace("_", " ").capitalize(), "help_text": setting.help}
    shared |= {"initial": setting.default, "required": False, **options}
    if isinstance(setting.default, bool):
        return forms.BooleanField(**shared)
    if setting.choices:
        choices = [(str(choice), str(choice).replace("_", " ")) for choice in setting.choices]
        return forms.ChoiceField(choices=choices, **shared)
    if isinstance(setting.default, int):
        return forms.IntegerField(min_value=setting.low, max_value=setting.high, **shared)
    return forms.CharField(max_length=2000, **shared)


# The page that starts generation.

PRODUCTS = {
    "rollout": "turns that follow the dialogue",
    "static": "responses at fixed points",
    "record": "drafts of facts or questions, to be reviewed",
}


@researcher_only
def generate(request: HttpRequest) -> HttpResponse:
    """Researchers: choose a corpus, a generator and its settings; review the cost; start."""
    sync_endpoints(request)
    corpus = Corpus.objects.filter(pk=row_id(request.GET.get("corpus", "")) or 0).first()
    if corpus is None:
        return redirect("corpora")
    generator = GENERATORS.get(request.GET.get("generator", ""))
    if generator is None:
        writers = [(row, PRODUCTS[row.produces]) for row in GENERATORS.values() if row.produces in PRODUCTS]
        return render(request, "continuation/choose.html", {"corpus": corpus, "generators": writers})
    form = GenerateForm(request.POST or None, generator=generator, corpus=corpus)
    offer_endpoints(request, form)
    context: dict[str, Any] = {"corpus": corpus, "generator": generator, "form": form}
    if (
        request.method == "POST"
        and form.is_valid()
        and (response := _confirm_generation(request, form, context))
    ):
        return response
    return render(request, "continuation/generate.html", context, status=422 if form.errors else 200)


def _confirm_generation(
    request: HttpRequest, form: GenerateForm, context: dict[str, Any]
) -> HttpResponse | None:
    """Show the cost, or start once it was confirmed; return None where the form has an error."""
    trials = form.cleaned_data["trials"]
    try:
        if "confirmed" not in request.POST:
            estimate = production_actions.estimate(form.generation().plan(), form.dialogues(), trials)
            context |= {
                "heading": "Review the cost",
                "lead": f"By {estimate.name}, for {form.corpus.name}.",
                "tab": "Generation",
                "back": (request.get_full_path(), "Change the settings"),
                "sent": "The text of these dialogues goes",
                "model": f"{estimate.endpoint}, model {estimate.model}",
                "estimate": estimate,
                "calls": "Calls, about" if estimate.about else "Calls",
                "left_out": [
                    f"Left out: {counted(n, 'dialogue')} ({why})." for why, n in estimate.left_out.items()
                ],
                "note": "Tokens are estimated from five of these dialogues, "
                f"{estimate.counted_by}; {MORE_WRITTEN}",
                "told": form_values(request),
            }
            return render(request, "continuation/confirm.html", context)
        started = production_actions.start_job(
            by=user_of(request),
            generation=form.generation(),
            dialogues=form.dialogues(),
            trials=trials,
            settings=settings_of(form.cleaned_data),
        )
    except JobError as error:
        form.add_error(None, str(error))
        return None
    if isinstance(started, Job):
        messages.info(request, "It is being prepared: see below. After that you find it among the runs.")
        return redirect("jobs")
    return redirect("run", started.pk)


# Progress of productions.


def counts(rows: QuerySet[Production]) -> dict[str, int]:
    """Count productions by status, after their number in all, which has no name."""
    totals = dict.fromkeys(Production.Status.values, 0)
    for row in rows.order_by().values("status").annotate(n=Count("pk")):
        totals[row["status"]] = row["n"]
    return {"": sum(totals.values())} | totals


PRODUCTIONS = Listing(
    Column("Dialogue", natural("dialogue__key")),
    Column("System", natural("writer__name")),
    Column("State", "status"),
    Column("Steps answered", "step", is_numeric=True),
    Column("What to know", "error"),
    search=("dialogue__key", "writer__name", "error"),
)


@require_GET
@researcher_only
def production_list(request: HttpRequest) -> HttpResponse:
    """Researchers: productions, latest first; of one run in order, or in one status, where selected."""
    run = Run.objects.filter(pk=row_id(request.GET.get("run", "")) or 0, kind="generate").first()
    rows = Production.objects.select_related("writer", "dialogue__corpus", "continuation")
    rows = rows.filter(run=run) if run else rows
    counted_rows = counts(rows)
    status = request.GET.get("status", "")
    rows = rows.filter(status=status) if status in Production.Status.values else rows
    order = "id" if run else "-id"
    page = PRODUCTIONS.page(request, rows.order_by(order))
    context = {"run": run, "page": page, "counts": counted_rows.items(), "status": status}
    return render(request, "continuation/productions.html", context)


@require_GET
@researcher_only
def production_page(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: a production with its result and the model's replies."""
    production = access.production(pk)
    links = production.links.select_related("call").order_by("step", "part")
    page = Paginator(links, 50).get_page(request.GET.get("page"))
    result_text = (
        "" if production.result is None else json.dumps(production.result, indent=2, ensure_ascii=False)
    )
    context = {
        "production": production,
        "settings": (production.condition | production.writer.spec["settings"]).items(),
        "page": page,
        "result_text": result_text,
    }
    return render(request, "continuation/production.html", context)


# The form of a benchmark.


class BenchmarkForm(WithParameters):
    """Order of a benchmark: its sources, its size, and its steps."""

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
    per_source = form_field(NUMBERS["per_source"], required=True, initial=50)
    train = form_field(NUMBERS["train"], required=True, initial=0)
    train_from = LinesField(
        required=False, label="Training from", help_text="Names of sources, one a line. Empty: all."
    )
    per_conversation = form_field(NUMBERS["per_conversation"], required=True, initial=1)
    allow_fewer = forms.BooleanField(required=False, label="Take fewer where there are not enough")
    cut_seed = form_field(NUMBERS["seed"], required=True, initial=0)
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
    part_tokens = setting_field(
        PART_TOKENS,
        required=True,
        label="Longest part of a conversation",
        help_text="In tokens. Metadata of a longer one are written of parts that overlap, and then merged.",
    )

    exclude = forms.CharField(
        required=False, max_length=exclusion.LONGEST, label=exclusion.LABEL, help_text=exclusion.HELP
    )

    MAIN = ("name", "corpora", "per_source", "endpoint", "metadata", "summary", "cleaning", "verbatim")
    MORE = (
        "called",
        "train",
        "train_from",
        "per_conversation",
        "allow_fewer",
        "cut_seed",
        "part_tokens",
        "exclude",
    )

    def groups(self) -> list[FieldGroup]:
        """Return the fields as the page shows them."""
        more = [self[name] for name in self.MORE]
        is_changed = self.is_bound and any(field.errors or field.name in self.changed_data for field in more)
        return [
            FieldGroup([self[name] for name in self.MAIN]),
            FieldGroup(more, "Training, sources, seed", is_open=is_changed),
            FieldGroup(
                self.parameters(), "Parameters", "Sent to the model only where given.", self.has_parameters()
            ),
        ]

    def clean_called(self) -> dict[str, str]:
        """Return the names of sources by corpus, read from lines of corpus = source."""
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
        """Return the source corpora with the names of their sources."""
        called = self.cleaned_data["called"]
        return [(corpus, called.get(corpus.name, corpus.name)) for corpus in self.cleaned_data["corpora"]]

    def order(self) -> Order:
        """Return the order that the form describes."""
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
            exclude=data["exclude"],
        )


BENCHMARKS = Listing(
    Column("Benchmark", natural("name")),
    Column("State"),
    Column("Made of"),
    Column("Instances", is_numeric=True),
    Column("By", "created_by__username"),
    Column("Asked for", "created_at", is_numeric=True),
    search=("name",),
    size=25,
)


@require_GET
@researcher_only
def benchmark_list(request: HttpRequest) -> HttpResponse:
    """Researchers: all benchmarks, latest first."""
    rows = Benchmark.objects.select_related("corpus", "created_by")
    page = BENCHMARKS.page(request, rows)
    active = any(benchmark.state == Benchmark.State.MAKING for benchmark in page)
    return render(request, "continuation/benchmarks.html", {"page": page, "active": active})


@researcher_only
def new_benchmark(request: HttpRequest) -> HttpResponse:
    """Researchers: describe a benchmark, review its cost, and start making it."""
    sync_endpoints(request)
    form = BenchmarkForm(request.POST or None)
    offer_endpoints(request, form)
    if request.method == "POST" and form.is_valid() and (response := _confirm_benchmark(request, form)):
        return response
    return render(
        request,
        "continuation/new_benchmark.html",
        {"form": form},
        status=422 if form.errors else 200,
    )


def _confirm_benchmark(request: HttpRequest, form: BenchmarkForm) -> HttpResponse | None:
    """Show the cost, or start once it was confirmed; return None where the form has an error."""
    data = form.cleaned_data
    try:
        if "confirmed" not in request.POST:
            estimate = benchmark_actions.estimate(form.sources(), form.order(), data["endpoint"])
            instances = counted(estimate.instances, "instance")
            context = {
                "heading": "Review the cost",
                "lead": f"{data['name']}: {instances} of {counted(estimate.conversations, 'conversation')}.",
                "back": (reverse("new-benchmark"), "Make a benchmark"),
                "sent": "The text of these conversations goes",
                "model": data["endpoint"] and f"{data['endpoint'].name}, model {data['endpoint'].model}",
                "estimate": estimate,
                "headings": ("To write", "Calls", "Tokens to read", "Tokens to write"),
                "lines": estimate_lines(estimate, TITLES, "productions"),
                "note": "Estimated from some of these conversations, four characters to a token; "
                f"{MORE_WRITTEN} What was answered before is not paid for again.",
                "told": form_values(request),
            }
            return render(request, "suites/confirm.html", context)
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
    """Researchers: the progress of a benchmark, or its figures and the results of its review."""
    benchmark = access.benchmark(pk)
    job = jobs.active_job(benchmark.kind, benchmark.subject)
    context: dict[str, Any] = {
        "benchmark": benchmark,
        "facts": _order_facts(benchmark),
        "excluded_by_source": benchmark_actions.excluded(benchmark),
        "steps": [
            (step["title"], step["done"], step["productions"], step["failed"], step["runs"])
            for step in benchmark_actions.steps_of(benchmark)
        ],
        "fake_model": benchmark_actions.is_fake(benchmark),
        "at": f"{TITLES.get(benchmark.step, '')}{', under way' if job else ''}",
        "scheme": SCHEME,
        "review": benchmark_actions.shares(benchmark.corpus) if benchmark.corpus else [],
    }
    return render(request, "continuation/benchmark.html", context)


def _order_facts(benchmark: Benchmark) -> list[tuple[str, Any]]:
    """Return how a benchmark was ordered."""
    order = Order.of(benchmark.order)
    trained = f", of {', '.join(order.train_sources)}" if order.train_sources else ""
    verbatim = f" of {', '.join(order.verbatim)}" if order.verbatim else ""
    endpoint = benchmark.endpoint
    return [
        ("Per source", f"{order.per_source:,}"),
        ("For training", f"{order.train:,}{trained}"),
        ("Most of one conversation", f"{order.per_conversation:,}"),
        ("Seed", order.seed),
        ("Steps", ", ".join([*([f"cleaning{verbatim}"] if order.clean else []), *order.steps])),
        ("Dialogues left out by", order.exclude),
        ("Endpoint", f"{endpoint.name}, model {endpoint.model}" if endpoint else ""),
        ("SHA-256", benchmark.sha256),
    ]


@require_GET
@researcher_only
def benchmark_file(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Researchers: the dialogues of a benchmark in the native format, one a line."""
    benchmark = access.benchmark(pk)
    if benchmark.corpus is None:
        raise Http404
    name = f"benchmark-{benchmark.pk}.jsonl"
    return file_response(export(benchmark.corpus), media_type="application/x-ndjson", name=name)


@require_POST
@researcher_only
def go_on_benchmark(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: try failed calls again, or continue without them."""
    return _act(request, pk, benchmark_actions.go_on, leave_out_failed="leave_out" in request.POST)


@require_POST
@researcher_only
def cancel_making(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: stop making a benchmark."""
    return _act(request, pk, benchmark_actions.cancel)


@require_POST
@researcher_only
def checked_benchmark(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: mark a benchmark as checked for offensive content."""
    return _act(request, pk, benchmark_actions.mark_checked)


def _act(request: HttpRequest, pk: int, act: Any, **more: Any) -> HttpResponse:
    try:
        act(by=user_of(request), benchmark=access.benchmark(pk), **more)
    except JobError as error:
        messages.error(request, str(error))
    return redirect("benchmark", pk)


# Examples for fine-tuning, as a download.


@require_http_methods(["GET", "POST"])
@researcher_only
def sft_file(request: HttpRequest) -> HttpResponse | StreamingHttpResponse:
    """Download the examples of a corpus; the test part of a split needs POST."""
    corpus, campaign = place_of(request)
    if corpus is None or campaign is not None:
        raise Http404
    params = request.POST if request.method == "POST" else request.GET
    names = [setting.name for setting in CocoevalContinuation.settings]
    values = {name: params[name][:100] for name in names if params.get(name)}
    purpose = request.POST.get("purpose", "").replace("\0", "")[:LONGEST_PURPOSE]
    try:
        settings = tuning.settings_of(values)
        selection, part = tuning.taken_for(
            corpus=corpus,
            part=params.get("part", "")[:20],
            purpose=purpose,
            exclude=exclude_of(request),
            by=user_of(request),
        )
    except CalibrationError as refused:
        messages.error(request, f"Not downloaded: {refused}.")
        return redirect(f"{reverse('exports')}?{place_query(corpus.pk, None)}")
    return answer(
        request,
        downloads.Order(tuning.SFT, corpus, None, selection, "jsonl", choice={"part": part, **settings}),
    )


urlpatterns: list[URLPattern] = [
    path("runs/generate/", generate, name="generate"),
    path("runs/productions/", production_list, name="productions"),
    path("runs/productions/<int:pk>/", production_page, name="production"),
    path("benchmarks/", benchmark_list, name="benchmarks"),
    path("benchmarks/new/", new_benchmark, name="new-benchmark"),
    path("benchmarks/<int:pk>/", benchmark_page, name="benchmark"),
    path("benchmarks/<int:pk>/file/", benchmark_file, name="benchmark-file"),
    path("benchmarks/<int:pk>/go-on/", go_on_benchmark, name="go-on-benchmark"),
    path("benchmarks/<int:pk>/cancel/", cancel_making, name="cancel-benchmark"),
    path("benchmarks/<int:pk>/checked/", checked_benchmark, name="checked-benchmark"),
    path("exports/sft.jsonl", sft_file, name="export-sft"),
]
