"""Pages of a campaign: its progress, its training, tests and checks, and an annotator's own agreement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.text import Truncator
from django.views.decorators.http import require_GET, require_POST

from annotation import access
from annotation.access import campaign_researcher_only
from annotation.errors import CampaignRefused
from annotation.models import Campaign, Item, KeyTask, turn_numbers
from annotation.models.checks import CheckPlan
from annotation.pages.campaign_form import setting_field
from annotation.scheme_store import Questionnaire, ScreenQuestion, questionnaire_of
from annotation.work import check_actions
from annotation.work.check_actions import ORDERED, SETTINGS, qualifying
from annotation.work.check_stages import Key, Place, worded
from annotation.work.labels import person_called
from annotation.work.screens import load_place
from annotation.work.submissions import REASON_LIMIT
from calibration import campaign_checks
from calibration.access import check_key, own_campaign
from calibration.campaign_checks import FORMS, render_results
from calibration.campaign_progress import (
    BY,
    OF_A_RATER,
    OF_ALL,
    Watch,
    choices,
    questions_with_statistics,
    watch,
)
from calibration.own_agreement import LEAST, own_agreement
from calibration.reports.figures import worded as figure_text
from calibration.statistics.rater_panel import FIGURES
from config.files import row_id
from config.permissions import user_of

# Training, test and checks of a campaign: settings, and results per annotator.

# Form of a campaign's training, test and checks, and fields of an answer key.

PERCENT = {name for name, setting in SETTINGS.items() if setting.is_share}
"""Settings that the form takes in percent."""


class ChecksForm(forms.Form):
    """Settings of a campaign's training, test and checks; proportions are entered in percent."""

    def __init__(
        self, *args: Any, plan: CheckPlan, managed: QuerySet[Campaign] | None = None, **more: Any
    ) -> None:
        """`managed` are the campaigns that may become the prerequisite, if they have a test."""
        initial = {name: getattr(plan, name) for name in SETTINGS}
        for name in PERCENT:
            initial[name] = None if initial[name] is None else f"{100 * initial[name]:g}"
        super().__init__(*args, **more | {"initial": initial})
        for name, setting in SETTINGS.items():
            label = setting.label.replace(", share", ", %")
            percent = {"min_value": 0, "max_value": 100, "label": label} if name in PERCENT else {}
            self.fields[name] = setting_field(setting, **percent)
        first = self.fields["prerequisite"]
        assert isinstance(first, forms.ModelChoiceField)
        others = Campaign.objects.none() if managed is None else managed.filter(pk__in=qualifying())
        first.queryset = Campaign.objects.filter(Q(pk__in=others) | Q(pk=plan.prerequisite_id)).exclude(
            pk=plan.campaign_id
        )
        first.empty_label = "None"

    def arguments(self) -> dict[str, Any]:
        """Return the form's values as arguments of `check_actions.set_up`."""
        values = dict(self.cleaned_data)
        for name in PERCENT & values.keys():
            values[name] = None if values[name] is None else values[name] / 100
        return values

    def refused(self, error: CampaignRefused) -> None:
        """Show a refusal at the field that caused it."""
        self.add_error(error.field if error.field in self.fields else None, str(error))


@dataclass(frozen=True)
class Choice:
    """A value that may count as right."""

    value: str
    text: str
    is_chosen: bool


@dataclass(frozen=True)
class Field:
    """Field of an answer key: the correct values of one question on one item."""

    name: str
    question: ScreenQuestion
    choices: tuple[Choice, ...]
    typed: str
    is_ordered: bool
    tolerance: str


@dataclass(frozen=True)
class Fields:
    """Fields of one item."""

    heading: str
    fields: tuple[Field, ...]


def fields_of(
    plan: Questionnaire, items: list[Item], answers: Mapping[Place, Key], posted: QueryDict | None
) -> list[Fields]:
    """Return the fields of a key, as stored or as posted."""
    several = len(items) > 1
    return [
        Fields(
            _heading(item) if several else "",
            tuple(
                _field(question, f"{item.public}-{question.key}", answers.get((item.pk, question.id)), posted)
                for question in plan.asked_about(item.kind)
                if question.level != "text"
            ),
        )
        for item in items
    ]


def _heading(item: Item) -> str:
    return f"Turn {getattr(item.turn, 'number', '')}" if item.turn else "The whole dialogue"


def _field(question: ScreenQuestion, name: str, key: Key | None, posted: QueryDict | None) -> Field:
    right = {_value_text(value) for value in key.values} if key else set()
    near = f"{key.tolerance:g}" if key and key.tolerance else ""
    if posted is not None:
        right, near = set(posted.getlist(name)), posted.get(f"{name}-near", "")
    choices = [Choice(_value_text(v), worded(question, v), _value_text(v) in right) for v in question.values]
    typed = "" if choices else ", ".join(sorted(right))
    return Field(name, question, tuple(choices), typed, question.level in ORDERED, near)


def _value_text(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def posted_answers(plan: Questionnaire, items: list[Item], posted: QueryDict) -> dict[Place, Key]:
    """Return a key as filled in; a question without a marked value is not checked.

    Raises CampaignRefused for a value that is not a number.
    """
    answers: dict[Place, Key] = {}
    for item in items:
        for question in plan.asked_about(item.kind):
            name = f"{item.public}-{question.key}"
            parts = [part.strip() for text in posted.getlist(name) for part in _parts(question, text)]
            values = [part for part in parts if part]
            if not values or question.level == "text":
                continue
            near = posted.get(f"{name}-near", "").strip()
            numbers = question.level != "nominal"
            answers[item.pk, question.id] = Key(
                tuple(_number(question, value) if numbers else value for value in values),
                _number(question, near) if near else 0.0,
            )
    return answers


def _parts(question: ScreenQuestion, text: str) -> list[str]:
    return [text] if question.values else text.split(",")


def _number(question: ScreenQuestion, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise CampaignRefused(f"“{question.wording}” takes numbers, not “{text[:40]}”.") from None


DONE = {
    "let-in": "may do the main work now",
    "pause": "gets no new tasks",
    "lift": "gets tasks again",
    "leave-out": "is left out of gold",
    "readmit": "is part of gold again",
}
VERBS = {
    "let-in": "Let in",
    "pause": "Pause",
    "lift": "Lift the pause",
    "leave-out": "Leave out of gold",
    "readmit": "Take back into gold",
}
NAMES = {"training": "training", "qualification": "test", "check": "hidden checks"}


@campaign_researcher_only
def checks(request: HttpRequest, campaign: int) -> HttpResponse:
    """Researchers: results of a campaign's annotators, its keys, and its settings (POST saves them)."""
    about = access.campaign(campaign)
    plan = CheckPlan.objects.filter(campaign=about).first()
    form = ChecksForm(
        request.POST or None,
        plan=plan or CheckPlan(campaign=about),
        managed=access.managed(user_of(request)),
    )
    if request.method == "POST" and form.is_valid():
        try:
            check_actions.set_up(by=user_of(request), campaign=about, **form.arguments())
        except CampaignRefused as error:
            form.refused(error)
        else:
            messages.success(request, "The checks are set up.")
            return redirect("campaign-checks", about.pk)
    keys = check_actions.list_keys(about)
    times_given = check_actions.times_given(about)
    context = {
        "campaign": about,
        "plan": plan,
        "form": form,
        "people": campaign_checks.people(about),
        "people_headings": ["Checks", "Right", "Lately", "Repeats", "Same answer"],
        "verbs": VERBS.items(),
        "consistency": campaign_checks.consistency(about),
        "keys": [
            (
                key,
                check_actions.about(key),
                NAMES[key.occasion],
                check_actions.in_words(key),
                times_given.get(key.task_id, 0),
            )
            for key in keys
        ],
        "sources": campaign_checks.offered(about, user_of(request)),
        "uses": [(name, NAMES[name]) for name in KeyTask.OCCASIONS],
        "most_keys": check_actions.MOST_AT_ONCE,
        "longest_reason": REASON_LIMIT,
    }
    return render(request, "calibration/checks.html", context, status=422 if form.errors else 200)


@require_POST
@campaign_researcher_only
def add_keys(request: HttpRequest, campaign: int) -> HttpResponse:
    """Researchers: create key tasks from known answers."""
    about = access.campaign(campaign)
    try:
        n_tasks = campaign_checks.add(
            by=user_of(request),
            campaign=about,
            occasion=request.POST.get("occasion", ""),
            source=request.POST.get("source", ""),
            most=row_id(request.POST.get("most", "")) or 0,
            tolerance=_float(request.POST.get("tolerance", "")),
        )
    except CampaignRefused as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"{n_tasks} task{'' if n_tasks == 1 else 's'} keyed.")
    return redirect("campaign-checks", about.pk)


@campaign_researcher_only
def new_key(request: HttpRequest, campaign: int) -> HttpResponse:
    """Researchers: answer a task as its key; `about` names the task, by default the next possible one."""
    target = access.campaign(campaign)
    about = request.POST.get("about") or request.GET.get("about", "")
    try:
        spot = check_actions.spot_named(target, about) if about else check_actions.next_spot(target)
    except CampaignRefused as error:
        messages.error(request, str(error))
        return redirect("campaign-checks", target.pk)
    if spot is None:
        messages.error(
            request,
            "Every task of the corpus is main work of this campaign, or has a key. Add dialogues that it "
            "does not ask about, or key tasks before the campaign opens.",
        )
        return redirect("campaign-checks", target.pk)
    return _key_page(request, target, spot, None)


@campaign_researcher_only
def key(request: HttpRequest, campaign: int, key: int) -> HttpResponse:
    """Researchers: view, correct or retire a key (`verb`)."""
    about = access.campaign(campaign)
    keyed_task = check_key(about, key)
    if request.method == "POST" and request.POST.get("verb") == "retire":
        check_actions.retire_key(by=user_of(request), key=keyed_task)
        messages.success(request, "The task is given to nobody any more.")
        return redirect("campaign-checks", about.pk)
    return _key_page(request, about, check_actions.spot_of(keyed_task), keyed_task)


def _key_page(
    request: HttpRequest, campaign: Campaign, spot: check_actions.Spot, keyed_task: KeyTask | None
) -> HttpResponse:
    plan = questionnaire_of(campaign.scheme_version_id)
    items = check_actions.items_at(campaign, spot)
    turn_numbers.number(item.turn for item in items)
    posted = request.POST if request.method == "POST" else None
    refusal = ""
    if posted is not None:
        try:
            _save(request, campaign, spot, keyed_task, posted_answers(plan, items, posted))
        except CampaignRefused as error:
            refusal = str(error)
        else:
            messages.success(request, "The key is saved.")
            return redirect("campaign-checks", campaign.pk)
    answers = check_actions.answers_of(keyed_task) if keyed_task else {}
    name = check_actions.item_name(items[0])
    about = name.rpartition("/")[0] if plan.is_multiple else name
    context = {
        "campaign": campaign,
        "key": keyed_task,
        "about": about,
        "title": f"Key of {about}" if keyed_task else "What is right here?",
        "lead": "Mark every value that counts as right; a question without a mark is not checked. "
        + (
            "Scores of checks by this key are recomputed when it changes."
            if keyed_task
            else "The task becomes no main work of this campaign."
        ),
        "use": NAMES[keyed_task.occasion] if keyed_task else "",
        "screen": load_place(*spot, campaign.shows, plan.is_tagged),
        "groups": fields_of(plan, items, answers, posted),
        "explanation": posted.get("explanation", "")
        if posted
        else (keyed_task.explanation if keyed_task else ""),
        "occasion": posted.get("occasion", "") if posted else (keyed_task.occasion if keyed_task else ""),
        "uses": [(name, NAMES[name]) for name in KeyTask.OCCASIONS],
        "refusal": refusal,
        "longest_explanation": check_actions.EXPLANATION_LIMIT,
    }
    return render(request, "calibration/check_key.html", context, status=422 if refusal else 200)


def _save(
    request: HttpRequest,
    campaign: Campaign,
    spot: check_actions.Spot,
    keyed_task: KeyTask | None,
    answers: Any,
) -> None:
    explanation = request.POST.get("explanation", "").replace("\r\n", "\n")
    if keyed_task is not None:
        check_actions.change_key(
            by=user_of(request), key=keyed_task, answers=answers, explanation=explanation
        )
        return
    check_actions.add_key(
        by=user_of(request),
        campaign=campaign,
        occasion=request.POST.get("occasion", ""),
        spot=spot,
        answers=answers,
        explanation=explanation,
    )


@require_POST
@campaign_researcher_only
def decide(request: HttpRequest, campaign: int) -> HttpResponse:
    """Researchers: admit an annotator, pause or unpause them, leave them out of gold or readmit them."""
    about = access.campaign(campaign)
    verb = request.POST.get("verb", "")
    person = person_called(request.POST.get("person", ""), about)
    if verb not in check_actions.VERBS or person is None:
        messages.error(request, "Choose an annotator, and what to do.")
        return redirect("campaign-checks", about.pk)
    try:
        check_actions.VERBS[verb](
            by=user_of(request), campaign=about, user=person, reason=request.POST.get("reason", "")
        )
    except CampaignRefused as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"{request.POST['person']} {DONE[verb]}.")
    return redirect("campaign-checks", about.pk)


@require_GET
@campaign_researcher_only
def checks_file(request: HttpRequest, campaign: int, form: str) -> HttpResponse:
    """Researchers: the results of all annotators as a file."""
    if form not in FORMS:
        raise Http404
    about = access.campaign(campaign)
    answer = HttpResponse(render_results(about, form), content_type=FORMS[form])
    answer["Content-Disposition"] = f'attachment; filename="checks-{about.pk}.{form}"'
    return answer


def _float(text: str) -> float:
    try:
        return float(text or 0)
    except ValueError:
        return -1.0


# Campaign monitor: a page that refreshes itself. For users who may manage the campaign.


@require_GET
@campaign_researcher_only
def campaign_watch(request: HttpRequest, campaign: int) -> HttpResponse:
    """Progress and agreement of a campaign; reloaded while the page is open."""
    about = access.campaign(campaign)
    by = request.GET.get("by", "")
    watched = watch(
        about,
        by=by if by in choices(about) else "",
        question=request.GET.get("question", ""),
        everyone=request.GET.get("everyone") == "1",
    )
    context = {
        "campaign": about,
        "watch": watched,
        "choices": choices(about).items(),
        "by_title": BY[watched.progress.by],
        "questions": [
            (question.key, Truncator(question.title).chars(60))
            for question in questions_with_statistics(about)
        ],
        "agreed_heads": [figure_text(name).name for name in OF_ALL],
        "rater_heads": [FIGURES[name].heading for name in OF_A_RATER],
        "annotators": _annotators(watched),
        "days": [(day, n) for day, n in watched.progress.days if n],
        "most_a_day": max(n for _, n in watched.progress.days),
        "is_live": request.GET.get("live") != "0",
    }
    return render(request, "calibration/watch.html", context)


def _annotators(watched: Watch) -> list[dict[str, Any]]:
    """Return each annotator with the figures for the table's columns, None where one does not apply."""
    figures = {row.rater: {figure.name: figure for figure in row.figures} for row in watched.agreement.raters}
    return [
        {
            "part": annotator,
            "cells": [annotator.held, annotator.skipped, annotator.flagged, annotator.seconds],
            "figures": [figures.get(annotator.name, {}).get(name) for name in OF_A_RATER],
        }
        for annotator in watched.progress.annotators
    ]


# An annotator's own agreement with others, if the campaign shows it.


@require_GET
def own(request: HttpRequest, campaign: int) -> HttpResponse:
    """Members of a campaign that shows it: their own agreement with others, and nobody else's."""
    about = own_campaign(user_of(request), campaign)
    agreement = own_agreement(user_of(request), about)
    rows = [
        (
            row.question,
            row.result,
            {
                "status": row.result.status,
                "reason": row.result.reason,
                "value": row.result.value,
                "low": row.result.low,
                "high": row.result.high,
                "percent": True,
            },
        )
        for row in agreement.rows
    ]
    context = {
        "campaign": about,
        "own": agreement,
        "rows": rows,
        "least": LEAST,
    }
    return render(request, "calibration/own_agreement.html", context)
