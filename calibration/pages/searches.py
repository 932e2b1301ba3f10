"""Prompt searches of a bench: a model proposes texts, a person adopts one or none. Researchers only."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from calibration import access
from calibration.errors import CalibrationError
from calibration.models import COST
from calibration.workbench import searches
from calibration.workbench.searches import DEFAULTS, NUMBERS
from config.permissions import researcher_only, user_of
from jobs.endpoints.parameter_inputs import WithParameters, form_field, given_parameters
from jobs.errors import JobError
from jobs.models import Endpoint
from judges.drafts import benches
from judges.drafts.benches import versions_for
from judges.models import Bench
from judges.pages.forms import NEED, need_fields, needs_of
from judges.pages.runs import offer_endpoints, sync_endpoints
from judges.prompts import versions
from judges.prompts.prompt_actions import LONGEST_NAME

# Form that starts a search.


def _number(name: str) -> forms.Field:
    return form_field(NUMBERS[name], required=True, initial=DEFAULTS[name])


class SearchForm(forms.Form):
    """Settings of a search: its first text, its models, and its bounds."""

    begin = forms.ChoiceField(label="Begin with")
    name = forms.CharField(
        required=False,
        max_length=LONGEST_NAME,
        label="Proposals go into the prompt",
        help_text="Empty: the prompt it begins with. A text that comes with Concord needs a new name here.",
    )
    endpoint = forms.ModelChoiceField(Endpoint.objects.filter(active=True), label="The judge is asked at")
    improver = forms.ModelChoiceField(
        Endpoint.objects.filter(active=True),
        label="Proposals are asked for at",
        help_text="A model that writes well; it is shown some of the dialogues.",
    )
    rounds = _number("rounds")
    few = _number("few")
    most_calls = _number("most_calls")
    most_cost = forms.DecimalField(
        required=False,
        min_value=0,
        **COST,
        label="Cost at most",
        help_text="In the endpoints' currency; needs their prices.",
    )
    seed = _number("seed")

    def __init__(self, *args: Any, bench: Bench, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["begin"]
        assert isinstance(field, forms.ChoiceField)
        self.fields.update(need_fields(benches.protocol_of(bench)))
        usable = [
            version for version in versions_for(bench) if version.row is None or not version.row.is_open
        ]
        field.choices = [(version.ref, version.ref) for version in usable]

    def start_arguments(self) -> dict[str, Any]:
        """Return the arguments of `calibration.workbench.searches.start` besides bench and user."""
        data = {name: value for name, value in self.cleaned_data.items() if not name.startswith(NEED)}
        options = {"needs": needs_of(self.cleaned_data)}
        return data | {"version": versions.find(data.pop("begin")), "options": options}


class JudgeParametersForm(WithParameters):
    """Sampling parameters of the judge whose text is improved."""


class ImproverForm(WithParameters):
    """Sampling parameters of the improving model."""


@researcher_only
def bench_searches(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: the searches of a bench; POST starts one."""
    bench = access.bench(pk)
    sync_endpoints(request)
    form = SearchForm(request.POST or None, bench=bench)
    offer_endpoints(request, form)
    judge = JudgeParametersForm(request.POST or None, prefix="judge")
    improver = ImproverForm(request.POST or None, prefix="improver")
    if request.method == "POST" and all([form.is_valid(), judge.is_valid(), improver.is_valid()]):
        arguments = form.start_arguments()
        arguments["options"]["parameters"] = given_parameters(judge)
        sent = given_parameters(improver)
        try:
            search = searches.start(by=user_of(request), bench=bench, improver_parameters=sent, **arguments)
        except (CalibrationError, JobError) as error:
            form.add_error(None, str(error))
        else:
            return redirect("bench-search", pk, search.pk)
    bench_rows = bench.searches.select_related("prompt")
    forms = {"form": form, "judge": judge, "improver": improver}
    context = {"bench": bench, "searches": bench_rows, **forms}
    wrong = any(form_shown.errors for form_shown in forms.values())
    return render(request, "workbench/searches.html", context, status=422 if wrong else 200)


@require_GET
@researcher_only
def bench_search(request: HttpRequest, pk: int, search: int) -> HttpResponse:
    """Researchers: one search with its texts and their figures on the held-back dialogues."""
    bench = access.bench(pk)
    prompt_search = access.search(bench, search)
    context: dict[str, Any] = {"bench": bench, "search": prompt_search}
    try:
        context["shown"] = searches.state_of(prompt_search)
    except CalibrationError as error:
        messages.error(request, str(error))
    return render(request, "workbench/search.html", context)


@require_POST
@researcher_only
def search_act(request: HttpRequest, pk: int, search: int, verb: str) -> HttpResponse:
    """Researchers: cancel or resume a search, or adopt one of its proposals (`text`, its number)."""
    prompt_search = access.search(access.bench(pk), search)
    try:
        if verb == "adopt":
            text = access.search_text(prompt_search, request.POST.get("text", ""))
            searches.adopt(by=user_of(request), text=text)
        else:
            _verb(verb)(by=user_of(request), search=prompt_search)
    except (CalibrationError, JobError) as error:
        messages.error(request, str(error))
    return redirect("bench-search", pk, search)


def _verb(verb: str) -> Any:
    if verb not in searches.VERBS:
        raise Http404
    return searches.VERBS[verb]
