"""The researcher's pages of productions: the list, and one with its steps and replies."""

from __future__ import annotations

import json
from typing import Any

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET

from annotation.models.corpora import Corpus
from annotation.pages.campaigns import choose
from config.files import row_id
from config.permissions import researcher_only, user_of
from jobs.endpoints.parameter_inputs import WithParameters, given_parameters
from jobs.errors import JobError
from jobs.models import Endpoint, Job, Run
from jobs.runs import CAPS
from judges.pages.forms import cap_fields, check_mode, mode_field, offer_parts
from judges.pages.runs import ROOM, sync_endpoints
from judges.runs.lookup import split_for
from judges.runs.selection import settings_of
from suites.continuation import access
from suites.continuation.errors import SystemsError
from suites.continuation.generators import GENERATORS, Generator, Setting, WrongSettings
from suites.continuation.models import Production
from suites.continuation.productions import actions
from suites.continuation.productions.actions import MOST_TRIALS, estimate
from suites.continuation.productions.dialogues import Dialogues
from suites.continuation.productions.plans import LONGEST_NAME, Generation

# The form of generation, made from a generator's settings.

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
        own = {f"{SETTING}{setting.name}": setting_field(setting) for setting in generator.settings}
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
        condition: dict[str, str] = {}
        for line in filter(None, map(str.strip, self.cleaned_data["condition"].splitlines())):
            key, equals, value = line.partition("=")
            if not equals or key.strip() in condition:
                raise forms.ValidationError(f"{line[:60]!r} is not key=value, or its key is given twice.")
            condition[key.strip()] = value.strip()
        return condition

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
        return [self[f"{SETTING}{setting.name}"] for setting in self.generator.settings]

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
        """Return the chosen dialogues; raise SystemsError for a selection that cannot be."""
        values = self.cleaned_data if data is None else data
        part = values.get("part", "")
        return Dialogues(
            self.corpus,
            split_for(self.corpus, part),
            part,
            values.get("min_turns") or 0,
            values.get("max_turns") or 0,
            values.get("first") or 0,
        )


def setting_field(setting: Setting) -> forms.Field:
    """Return the field of a setting."""
    shared: dict[str, Any] = {"label": setting.name.replace("_", " ").capitalize(), "help_text": setting.help}
    shared |= {"initial": setting.default, "required": False}
    if isinstance(setting.default, bool):
        return forms.BooleanField(**shared)
    if setting.choices:
        choices = [(str(choice), str(choice).replace("_", " ")) for choice in setting.choices]
        return forms.ChoiceField(choices=choices, **shared)
    if isinstance(setting.default, int):
        return forms.IntegerField(min_value=setting.low, max_value=setting.high, **shared)
    return forms.CharField(max_length=2000, **shared)


# The researcher's page that starts generation.


@researcher_only
def generate(request: HttpRequest) -> HttpResponse:
    """Researchers: choose a corpus, then a generator, then its settings; see what it takes; start."""
    sync_endpoints(request)
    corpus = Corpus.objects.filter(pk=row_id(request.GET.get("corpus", "")) or 0).first()
    if corpus is None:
        return choose(
            request,
            title="Generate: for which dialogues?",
            lead="A model writes what comes next in a corpus's dialogues; people and judges then rate it.",
            back=("runs", "Judges and metrics"),
            room="runs",
            campaigns=False,
        )
    generator = GENERATORS.get(request.GET.get("generator", ""))
    if generator is None:
        writers = [candidate for candidate in GENERATORS.values() if candidate.produces != "text"]
        return render(request, "continuation/choose.html", {"corpus": corpus, "generators": writers, **ROOM})
    form = GenerateForm(request.POST or None, generator=generator, corpus=corpus)
    context: dict[str, Any] = {"corpus": corpus, "generator": generator, "form": form, **ROOM}
    if request.method == "POST" and form.is_valid() and (response := _go_on(request, form, context)):
        return response
    return render(request, "continuation/generate.html", context, status=422 if form.errors else 200)


def _go_on(request: HttpRequest, form: GenerateForm, context: dict[str, Any]) -> HttpResponse | None:
    """Show what it takes, and start once that was seen; None where something does not fit."""
    trials = form.cleaned_data["trials"]
    try:
        if "confirmed" not in request.POST:
            generation_estimate = estimate(form.generation().plan(), form.dialogues(), trials)
            form_values = [
                (name, value)
                for name, values in request.POST.lists()
                if name != "csrfmiddlewaretoken"
                for value in values
            ]
            return render(
                request,
                "continuation/confirm.html",
                context | {"estimate": generation_estimate, "told": form_values},
            )
        started = actions.start_job(
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


# How far productions are.


def counts(rows: QuerySet[Production]) -> dict[str, int]:
    """Return how many productions are in each status, and in `all`."""
    totals = dict.fromkeys(Production.Status.values, 0)
    for row in rows.order_by().values("status").annotate(n=Count("pk")):
        totals[row["status"]] = row["n"]
    return totals | {"all": sum(totals.values())}


@require_GET
@researcher_only
def production_list(request: HttpRequest) -> HttpResponse:
    """Researchers: what is or was written, latest first; of one run, or in one status, where asked."""
    run = Run.objects.filter(pk=row_id(request.GET.get("run", "")) or 0, kind="generate").first()
    rows = Production.objects.select_related("writer", "dialogue__corpus", "continuation")
    rows = rows.filter(run=run) if run else rows
    counted = counts(rows)
    status = request.GET.get("status", "")
    rows = rows.filter(status=status) if status in Production.Status.values else rows
    order = "id" if run else "-id"
    page = Paginator(rows.order_by(order), 50).get_page(request.GET.get("page"))
    query = "".join(
        f"{name}={value}&" for name, value in (("run", run.pk if run else ""), ("status", status)) if value
    )
    context = {"run": run, "page": page, "counts": counted, "status": status, "query": query, **ROOM}
    return render(request, "continuation/productions.html", context)


@require_GET
@researcher_only
def production_page(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: one production, what it wrote, and the replies that led there."""
    production = access.production(pk)
    links = production.links.select_related("call").order_by("step", "part")
    page = Paginator(links, 50).get_page(request.GET.get("page"))
    result_text = (
        "" if production.result is None else json.dumps(production.result, indent=2, ensure_ascii=False)
    )
    context = {"production": production, "page": page, "told": result_text, "query": "", **ROOM}
    return render(request, "continuation/production.html", context)
