"""Researchers' page that starts runs: choose judges and metrics, write a prompt, review the cost, start."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse

from annotation.models import Campaign, Corpus
from config.files import row_id
from config.permissions import researcher_only, user_of
from jobs.errors import JobError
from jobs.models import Job, Run
from judges.errors import JudgeError
from judges.pages.forms import NewRunForm, judge_choices
from judges.pages.prompts import NewPromptForm
from judges.pages.runs import sync_endpoints
from judges.prompts import prompt_actions, requests, versions
from judges.prompts.requests import Request
from judges.protocols import Asking
from judges.runs.estimates import Forecast, SetEstimate, estimate_set, planned_metrics
from judges.runs.lookup import language_warning
from judges.runs.run_actions import start_judge, start_metrics
from judges.runs.run_sets import start_run_set
from judges.runs.selection import PlannedJudge, judge_needs_opening, settings_of

Target = tuple[Corpus, Campaign | None]
ENTERED = "judges-entered"
"""What a session holds of the form while somebody adds an endpoint for it."""
FIRST_BASE = "rubric"
"""Protocol whose text a new prompt starts from, unless another one is chosen."""


@researcher_only
def new_run(request: HttpRequest) -> HttpResponse:
    """Researchers: choose judges and metrics for a corpus or a campaign; `?judge=` chooses one beforehand."""
    sync_endpoints(request)
    target = _target_of(request)
    if target is None:
        return redirect("corpora")
    corpus, campaign = target
    about: dict[str, Any] = {"corpus": corpus, "campaign": campaign}
    if request.method != "POST":
        return _resumed(request, about)
    if "add-endpoint" in request.POST:
        request.session[ENTERED] = {_place(about): dict(request.POST.lists())}
        return redirect(f"{reverse('endpoints')}?next={quote(request.get_full_path())}")
    if "prompt-write" in request.POST:
        return _write_prompt(request, about)
    if "change" in request.POST:
        form = _as_entered(request.POST, request, about)
        return _judges(request, about, form, _unsaved_prompt(request.POST, about))
    form = _form(request, about, request.POST)
    if form.is_valid() and (response := _review_or_start(request, about, form)):
        return response
    return _judges(request, about, form, _unsaved_prompt(request.POST, about))


def _resumed(request: HttpRequest, about: dict[str, Any]) -> HttpResponse:
    """Show the form: empty, or as it was left to add an endpoint, which is then chosen."""
    entered = QueryDict(mutable=True)
    for name, values in request.session.pop(ENTERED, {}).get(_place(about), {}).items():
        entered.setlist(name, values)
    endpoints = request.GET.getlist("endpoint")
    if not entered:
        initial = {"judge": request.GET.getlist("judge")} | ({"endpoint": endpoints} if endpoints else {})
        return _judges(request, about, _form(request, about, initial=initial))
    if endpoints:
        entered.setlist("judge-endpoint", endpoints)
    return _judges(request, about, _as_entered(entered, request, about), _unsaved_prompt(entered, about))


def _place(about: dict[str, Any]) -> str:
    """Return the key of what is entered about a corpus or campaign."""
    return f"{about['corpus'].pk}/{about['campaign'].pk if about['campaign'] else ''}"


def _target_of(request: HttpRequest) -> Target | None:
    """Return the corpus, and the campaign if one was chosen."""
    corpus, campaign = request.GET.get("corpus", ""), request.GET.get("campaign", "")
    if (number := row_id(campaign)) is not None:
        rows = Campaign.objects.select_related("corpus", "scheme_version__scheme")
        campaign_row = rows.filter(pk=number).first()
        return (campaign_row.corpus, campaign_row) if campaign_row else None
    corpus_row = Corpus.objects.filter(pk=row_id(corpus) or 0).first()
    return (corpus_row, None) if corpus_row else None


def _judges(
    request: HttpRequest, about: dict[str, Any], form: NewRunForm, prompt: PromptForm | None = None
) -> HttpResponse:
    """Show the form of judges, with the editor of a new prompt: folded, unless it is being written."""
    editor = prompt or PromptForm(prefix="prompt", base=_first_base(), corpus=about["corpus"])
    context = about | {
        "judge": form,
        "prompt": editor,
        "is_writing": prompt is not None,
        "language_warning": language_warning(about["corpus"]),
    }
    is_wrong = bool(form.errors or editor.errors)
    status = 422 if is_wrong and not request.headers.get("HX-Request") else 200
    return render(request, "judges/new.html", context, status=status)


def _form(
    request: HttpRequest, about: dict[str, Any], data: QueryDict | None = None, **options: Any
) -> NewRunForm:
    return NewRunForm(data, person=user_of(request), prefix="judge", **about, **options)


def _as_entered(
    posted: QueryDict, request: HttpRequest, about: dict[str, Any], judges: Sequence[str] = ()
) -> NewRunForm:
    """Return the form with what was entered, unchecked, and further judges chosen."""
    bound = _form(request, about, posted)
    entered: dict[str, Any] = {name: bound[name].data for name in bound.fields}
    if not entered["endpoint"]:  # the page sends none while no chosen judge asks a model
        del entered["endpoint"]
    return _form(request, about, initial=entered | {"judge": [*entered["judge"], *judges]})


# A new prompt, written beside the choice of judges.


class PromptForm(NewPromptForm):
    """A new prompt for a run: the text of another, changed. `base` chooses that other one."""

    use_required_attribute = False
    start = forms.ChoiceField(label="Start from the text of", required=False)
    loaded = forms.CharField(widget=forms.HiddenInput, required=False)

    def __init__(self, *args: Any, base: versions.Version, corpus: Corpus, **kwargs: Any) -> None:
        text = {"system": base.wording.system, "user": base.wording.user, "form": base.wording.form}
        name = prompt_actions.suggested_name(f"{corpus.name} judge")
        initial = {"name": name, "start": base.ref, "loaded": base.ref, **text} | kwargs.pop("initial", {})
        super().__init__(*args, base=base, initial=initial, **kwargs)
        start = self.fields["start"]
        assert isinstance(start, forms.ChoiceField)
        start.choices = [(ref, label) for ref, label in _bases().items()]


def _bases() -> dict[str, str]:
    """Return the references of the texts that a new prompt can start from, with their names on pages."""
    names = {}
    for choice in judge_choices():
        if choice.version:
            names[choice.version.ref] = choice.label
        elif isinstance(choice.protocol, Asking):
            file = choice.protocol.prompt_file(choice.variant)
            names[f"{file}@{choice.protocol.version}"] = choice.label
    return names


def _first_base() -> versions.Version:
    return next(version for version in versions.built_in() if version.protocol == FIRST_BASE)


def _write_prompt(request: HttpRequest, about: dict[str, Any]) -> HttpResponse:
    """Save a new prompt and choose it, or load the text that it starts from; nothing else entered is lost."""
    posted = request.POST
    ref = posted.get("prompt-start", "")
    base = versions.find(ref) if ref in _bases() else _first_base()
    if posted["prompt-write"] != "save" or base.ref != posted.get("prompt-loaded"):
        editor = PromptForm(prefix="prompt", base=base, corpus=about["corpus"], initial=_prompt_name(posted))
        return _judges(request, about, _as_entered(posted, request, about), editor)
    editor = PromptForm(posted, prefix="prompt", base=base, corpus=about["corpus"])
    if editor.is_valid():
        data = editor.cleaned_data
        try:
            saved = prompt_actions.copy(
                by=user_of(request),
                version=base,
                name=data["name"],
                description=data["description"],
                wording=editor.wording(),
                note=data["note"],
            )
        except JudgeError as error:
            editor.add_error("name", str(error))
        else:
            messages.success(request, f"The prompt {saved.prompt.name} is saved and chosen.")
            ref = f"{saved.prompt.name}@{saved.number}"
            return _judges(request, about, _as_entered(posted, request, about, [ref]))
    return _judges(request, about, _as_entered(posted, request, about), editor)


def _unsaved_prompt(posted: QueryDict, about: dict[str, Any]) -> PromptForm | None:
    """Return the editor with a text that was changed and not saved; None where there is none."""
    ref = posted.get("prompt-loaded", "")
    if ref not in _bases():
        return None
    editor = PromptForm(posted, prefix="prompt", base=versions.find(ref), corpus=about["corpus"])
    entered = {name: editor[name].data for name in editor.fields}
    if all(
        (entered[part] or "").split() == getattr(editor.base.wording, part).split()
        for part in ("system", "user")
    ):
        return None
    return PromptForm(prefix="prompt", base=editor.base, corpus=about["corpus"], initial=entered)


def _prompt_name(posted: QueryDict) -> dict[str, str]:
    return {"name": str(posted["prompt-name"])} if posted.get("prompt-name") else {}


# Review of the judges before anything is sent, with a request to look at.


@dataclass(frozen=True, slots=True)
class RequestExample:
    """The requests of one of the judges about an item, or why there is none; `choices`: judges to look at."""

    choices: list[tuple[int, str]]
    current: int
    item: str
    requests: list[Request]
    error: str = ""


def _review_or_start(request: HttpRequest, about: dict[str, Any], form: NewRunForm) -> HttpResponse | None:
    """Start the judges, after a review if any asks a model or cannot answer everything; None if refused."""
    by, opening = user_of(request), form.cleaned_data.get("open_test", "")
    try:
        planned, metrics = form.planned(), form.selected_metrics()
        for row in planned:
            if not opening and (refusal := judge_needs_opening(row.judge, row.selection)):
                form.add_error("open_test", refusal)
                return None
        if "confirmed" not in request.POST:
            asking = planned_metrics(metrics, form.selection(), by)
            together = estimate_set([*planned, *asking], form.cleaned_data["mode"], by)
            if any(forecast.estimate or forecast.unanswered for forecast in together.forecasts):
                local = [key for key in metrics if key not in {row.key for row in asking}]
                return _review(request, about, together, local)
        settings, name = settings_of(form.cleaned_data), form.cleaned_data["set_name"]
        if len(metrics) + len(planned) > 1 or name:
            run_set = start_run_set(
                by=by,
                planned=planned,
                metrics=metrics,
                selection=form.selection(),
                name=name,
                settings=settings,
                open_test=opening,
            )
            return redirect("run-set", run_set.pk)
        if metrics:
            selection = form.selection()
            runs = start_metrics(by=by, keys=metrics, selection=selection, settings=settings)
            return _started(request, runs[0])
        (row,) = planned
        return _started(
            request,
            start_judge(
                by=by, judge=row.judge, selection=row.selection, settings=settings, open_test=opening
            ),
        )
    except JobError as error:
        form.add_error(None, str(error))
        return None


def _review(
    request: HttpRequest, about: dict[str, Any], together: SetEstimate, metrics: Sequence[str]
) -> HttpResponse:
    aside = ("csrfmiddlewaretoken", "confirmed", "look", "item")
    entered = [
        (name, value) for name, values in request.POST.lists() if name not in aside for value in values
    ]
    forecasts = together.forecasts
    estimates = [forecast.estimate for forecast in forecasts if forecast.estimate]
    receivers = {
        row.endpoint: row for row in sorted(estimates, key=lambda row: row.dialogues if row.sends else 0)
    }
    context = about | {
        "forecasts": forecasts,
        "metrics": metrics,
        "n_runs": len(forecasts) + len(metrics),
        "receivers": list(receivers.values()),
        "together": together,
        "entered": entered,
        "unsaved": _unsaved_prompt(request.POST, about),
        "example": _example(request, forecasts, about["campaign"]),
        "counted": requests.COUNTED,
    }
    return render(request, "judges/confirm.html", context)


def _example(
    request: HttpRequest, forecasts: Sequence[Forecast], campaign: Campaign | None
) -> RequestExample | None:
    """Return a request of the judge at the place `look` about an item, by default about any item of dev."""
    judges = {
        place: forecast.planned
        for place, forecast in enumerate(forecasts)
        if forecast.estimate and isinstance(forecast.planned, PlannedJudge)
    }
    if not judges:
        return None
    choices = [(place, planned.label) for place, planned in judges.items()]
    place = row_id(request.POST.get("look", ""))
    current = place if place is not None and place in judges else choices[0][0]
    planned, key = judges[current], request.POST.get("item", "").strip()
    try:
        protocol = planned.judge.asks(campaign)
        assert isinstance(protocol, Asking)
        item = requests.item_or_any(planned.selection.corpus, key, protocol.covers)
        previews = requests.requests(planned.judge, item, campaign, later=user_of(request))
    except JobError as error:
        return RequestExample(choices, current, key, [], str(error))
    return RequestExample(choices, current, key or item.key, previews)


def _started(request: HttpRequest, started: Run | Job) -> HttpResponse:
    """Redirect to the started run, or to the job that starts it."""
    if isinstance(started, Job):
        messages.info(request, "The run is being prepared and then starts; it appears under Judges.")
        return redirect("jobs")
    return redirect("run", started.pk)
