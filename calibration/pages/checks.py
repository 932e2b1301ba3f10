"""A campaign's training, test and checks: setting them up, and what they say about its annotators."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_POST

from annotation import access
from annotation.checks import actions, keys, told
from annotation.checks.people import actions as deciding
from annotation.errors import CampaignRefused
from annotation.labels.pseudonyms import person_called
from annotation.models import Campaign, CheckPlan, KeyTask, turn_numbers
from annotation.permissions import campaign_researcher_only
from annotation.scheme_versions.asked import questionnaire_of
from annotation.work.screens import load_place
from calibration.checks import results, sources
from calibration.checks.writing import FORMS, written
from calibration.pages.checks_form import ChecksForm, fields_of, posted_answers
from config.ids import row_id

ROOM = {"active_room": "campaigns"}
DONE = {
    "let-in": "may do the main work now",
    "pause": "gets no new tasks",
    "lift": "gets tasks again",
    "leave-out": "is left out of gold",
    "readmit": "is part of gold again",
}
NAMES = {"training": "training", "qualification": "test", "check": "hidden checks"}


def _user(request: HttpRequest) -> User:
    assert isinstance(request.user, User)
    return request.user


@campaign_researcher_only
def checks(request: HttpRequest, campaign: int) -> HttpResponse:
    """Researchers: a campaign's annotators and their checks, its keys, and its settings, which are saved."""
    found = access.campaign(campaign)
    plan = CheckPlan.objects.filter(campaign=found).first()
    form = ChecksForm(request.POST or None, plan=plan or CheckPlan(campaign=found))
    if request.method == "POST" and form.is_valid():
        try:
            actions.set_up(by=_user(request), campaign=found, **form.arguments())
        except CampaignRefused as error:
            form.refused(error)
        else:
            messages.success(request, "The checks are set up.")
            return redirect("campaign-checks", found.pk)
    listed = told.listed(found)
    given = told.times_given(found)
    context = ROOM | {
        "campaign": found,
        "plan": plan,
        "form": form,
        "people": results.people(found),
        "consistency": results.consistency(found),
        "keys": [
            {
                "key": key,
                "about": told.about(key),
                "right": told.in_words(key),
                "use": NAMES[key.occasion],
                "given": given.get(key.task_id, 0),
            }
            for key in listed
        ],
        "sources": sources.offered(found, _user(request)),
        "uses": [(name, NAMES[name]) for name in KeyTask.OCCASIONS],
    }
    return render(request, "calibration/checks.html", context, status=422 if form.errors else 200)


@require_POST
@campaign_researcher_only
def add_keys(request: HttpRequest, campaign: int) -> HttpResponse:
    """Researchers: key tasks by answers that are known."""
    found = access.campaign(campaign)
    try:
        made = sources.add(
            by=_user(request),
            campaign=found,
            occasion=request.POST.get("occasion", ""),
            source=request.POST.get("source", ""),
            most=row_id(request.POST.get("most", "")) or 0,
            tolerance=_float(request.POST.get("tolerance", "")),
        )
    except CampaignRefused as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"{made} task{'' if made == 1 else 's'} keyed.")
    return redirect("campaign-checks", found.pk)


@campaign_researcher_only
def new_key(request: HttpRequest, campaign: int) -> HttpResponse:
    """Researchers: answer a task oneself as its key; `about` names it, else the next one that may be."""
    found = access.campaign(campaign)
    about = request.POST.get("about") or request.GET.get("about", "")
    try:
        spot = keys.spot_named(found, about) if about else told.next_spot(found)
    except CampaignRefused as error:
        messages.error(request, str(error))
        return redirect("campaign-checks", found.pk)
    if spot is None:
        messages.error(
            request,
            "Every task of the corpus is main work of this campaign, or has a key. Add dialogues that it "
            "does not ask about, or key tasks before the campaign opens.",
        )
        return redirect("campaign-checks", found.pk)
    return _key_page(request, found, spot, None)


@campaign_researcher_only
def key(request: HttpRequest, campaign: int, key: int) -> HttpResponse:
    """Researchers: look at a key, correct it, or retire it (`verb`)."""
    found = access.campaign(campaign)
    there = get_object_or_404(KeyTask.objects.select_related("task", "campaign"), pk=key, campaign=found)
    if request.method == "POST" and request.POST.get("verb") == "retire":
        actions.retire_key(by=_user(request), key=there)
        messages.success(request, "The task is given to nobody any more.")
        return redirect("campaign-checks", found.pk)
    return _key_page(request, found, told.spot_of(there), there)


def _key_page(
    request: HttpRequest, campaign: Campaign, spot: keys.Spot, there: KeyTask | None
) -> HttpResponse:
    plan = questionnaire_of(campaign.scheme_version_id)
    items = keys.items_at(campaign, spot)
    turn_numbers.number(item.turn for item in items)
    posted = request.POST if request.method == "POST" else None
    refusal = ""
    if posted is not None:
        try:
            _save(request, campaign, spot, there, posted_answers(plan, items, posted))
        except CampaignRefused as error:
            refusal = str(error)
        else:
            messages.success(request, "The key is saved.")
            return redirect("campaign-checks", campaign.pk)
    answers = keys.answers_of(there) if there else {}
    context = ROOM | {
        "campaign": campaign,
        "there": there,
        "about": told.item_name(items[0])
        if not plan.is_multiple
        else told.item_name(items[0]).rpartition("/")[0],
        "screen": load_place(*spot, campaign.shows, plan.is_tagged),
        "groups": fields_of(plan, items, answers, posted),
        "explanation": posted.get("explanation", "") if posted else (there.explanation if there else ""),
        "occasion": posted.get("occasion", "") if posted else (there.occasion if there else ""),
        "uses": [(name, NAMES[name]) for name in KeyTask.OCCASIONS],
        "refusal": refusal,
    }
    return render(request, "calibration/check_key.html", context, status=422 if refusal else 200)


def _save(
    request: HttpRequest, campaign: Campaign, spot: keys.Spot, there: KeyTask | None, answers: Any
) -> None:
    explanation = request.POST.get("explanation", "").replace("\r\n", "\n")
    if there is not None:
        actions.change_key(by=_user(request), key=there, answers=answers, explanation=explanation)
        return
    actions.add_key(
        by=_user(request),
        campaign=campaign,
        occasion=request.POST.get("occasion", ""),
        spot=spot,
        answers=answers,
        explanation=explanation,
    )


@require_POST
@campaign_researcher_only
def decide(request: HttpRequest, campaign: int) -> HttpResponse:
    """Researchers: let somebody in, pause them, lift it, leave them out of gold or take them back."""
    found = access.campaign(campaign)
    verb = request.POST.get("verb", "")
    person = person_called(request.POST.get("person", ""), found)
    if verb not in deciding.VERBS or person is None:
        messages.error(request, "Choose an annotator, and what to do.")
        return redirect("campaign-checks", found.pk)
    try:
        deciding.VERBS[verb](
            by=_user(request), campaign=found, user=person, reason=request.POST.get("reason", "")
        )
    except CampaignRefused as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"{request.POST['person']} {DONE[verb]}.")
    return redirect("campaign-checks", found.pk)


@require_GET
@campaign_researcher_only
def checks_file(request: HttpRequest, campaign: int, form: str) -> HttpResponse:
    """Researchers: the results of all annotators as a file."""
    if form not in FORMS:
        raise Http404
    found = access.campaign(campaign)
    answer = HttpResponse(written(found, form), content_type=FORMS[form])
    answer["Content-Disposition"] = f'attachment; filename="checks-{found.pk}.{form}"'
    return answer


def _float(text: str) -> float:
    try:
        return float(text or 0)
    except ValueError:
        return -1.0
