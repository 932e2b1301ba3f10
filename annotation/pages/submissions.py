"""Researchers' pages of a campaign's submissions, of tasks in hand, and of notes on turns."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.text import slugify
from django.views.decorators.http import require_GET

from annotation import access
from annotation.access import campaign_researcher_only
from annotation.errors import SubmissionRefused
from annotation.models import turn_numbers
from annotation.models.campaigns import Campaign
from annotation.work import notes as files
from annotation.work import submissions as handing
from annotation.work import submissions as withdrawing
from annotation.work.labels import person_called
from annotation.work.labels import pseudonyms_of_people as of_people
from annotation.work.notes import live_notes as live
from annotation.work.notes import notes_of_assignments as of_assignments
from annotation.work.submissions import in_hand
from config.files import row_id
from config.listing import Column, Listing, natural
from config.permissions import is_researcher, user_of

# The page of tasks that annotators hold: take tasks back, pass them on, assign a task.

TASKS_IN_HAND = Listing(
    Column("Choose", is_hidden=True),
    Column("Annotator"),
    Column("About", natural("task__continuation__dialogue__key")),
    Column("Since", "leased_at"),
    Column("Held until", "lease_expires"),
    Column("Draft saved", "draft_saved_at"),
    Column("Remark"),
    size=100,
)


@campaign_researcher_only
def held_tasks(request: HttpRequest, campaign: int) -> HttpResponse:
    """Researchers: list the tasks in hand; take back or pass on selected tasks, or assign one (`task`)."""
    campaign_row = access.campaign(campaign)
    if request.method == "POST":
        if request.POST.get("verb") == "give":
            _give(request, campaign_row)
        else:
            _take_back(request, campaign_row)
        return redirect(request.get_full_path())
    page = TASKS_IN_HAND.page(request, in_hand(campaign_row))
    turn_numbers.number(row.task.item.turn if row.task.item else None for row in page)
    member_ids = campaign_row.members.filter(user__is_active=True).values_list("user", flat=True)
    members = sorted(of_people(member_ids, campaign_row.corpus_id).values())
    context = {
        "campaign": campaign_row,
        "page": page,
        "members": members,
        "names": of_people({row.user_id for row in page}, campaign_row.corpus_id),
        "now": timezone.now(),
        "given_hours": handing.GIVEN_HOURS,
        "reason_limit": handing.REASON_LIMIT,
        "unlinked": not is_researcher(request.user),
    }
    return render(request, "campaigns/held.html", context)


def _to(request: HttpRequest, campaign: Campaign) -> User | None:
    return person_called(request.POST.get("to", ""), campaign)


def _give(request: HttpRequest, campaign: Campaign) -> None:
    """Assign the task in the request, or show the refusal."""
    to, reason = _to(request, campaign), request.POST.get("reason", "")
    if to is None:
        messages.error(request, "Choose the annotator who gets the task.")
        return
    try:
        task = handing.task_named(campaign, request.POST.get("task", "").replace("\x00", ""))
        handing.give(by=user_of(request), campaign=campaign, task=task, to=to, reason=reason)
    except SubmissionRefused as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"The task is given to {request.POST['to']}.")


def _take_back(request: HttpRequest, campaign: Campaign) -> None:
    """Take the selected tasks back, for anyone or for the selected annotator, and show refusals."""
    numbers = [pk for text in request.POST.getlist("chosen") if (pk := row_id(text)) is not None]
    to, reason = _to(request, campaign), request.POST.get("reason", "")
    passes_on = request.POST.get("verb") == "pass"
    if not numbers or (passes_on and to is None):
        lacks = "and the annotator who gets it" if passes_on else "that is to be taken back"
        messages.error(request, f"Choose at least one task, {lacks}.")
        return
    done = 0
    for number in numbers:
        assignment = access.submission(campaign.pk, number)
        try:
            if passes_on and to is not None:
                handing.pass_to(by=user_of(request), assignment=assignment, to=to, reason=reason)
            else:
                handing.take_back(by=user_of(request), assignment=assignment, reason=reason)
            done += 1
        except SubmissionRefused as error:
            messages.error(request, str(error))
    if done:
        where = f"given to {request.POST['to']}" if passes_on and to is not None else "taken back"
        messages.success(request, f"{done} task{'' if done == 1 else 's'} {where}.")


# The pages of annotators' notes on turns.


NOTES = Listing(
    Column("Turn", natural("turn__continuation__dialogue__key")),
    Column("Annotator"),
    Column("Note", "comment"),
    Column("When", "created_at"),
    Column("Write", is_hidden=True),
    search=("comment", "turn__continuation__dialogue__key"),
    size=100,
)


@require_GET
@campaign_researcher_only
def campaign_notes(request: HttpRequest, campaign: int) -> HttpResponse:
    """Researchers: list annotators' notes on turns in a campaign, latest first."""
    campaign_row = access.campaign(campaign)
    page = NOTES.page(request, live(campaign_row))
    turn_numbers.number(note.turn for note in page)
    names = of_people({note.user_id for note in page}, campaign_row.corpus_id)
    context = {
        "campaign": campaign_row,
        "page": page,
        "names": names,
    }
    return render(request, "campaigns/notes.html", context)


@require_GET
@campaign_researcher_only
def campaign_notes_file(request: HttpRequest, campaign: int, form: str) -> HttpResponse:
    """Researchers: download the notes as a CSV or JSONL file."""
    if form not in files.MEDIA:
        raise Http404
    campaign_row = access.campaign(campaign)
    answer = HttpResponse("".join(files.write_notes(campaign_row, form)), content_type=files.MEDIA[form])
    name = slugify(campaign_row.name) or f"campaign-{campaign_row.pk}"
    answer["Content-Disposition"] = f'attachment; filename="{name}-notes.{form}"'
    return answer


SUBMISSIONS = Listing(
    Column("Choose", is_hidden=True),
    Column("Annotator"),
    Column("About", natural("task__continuation__dialogue__key")),
    Column("Submitted", "submitted_at"),
    Column("Seconds held", "seconds", is_numeric=True),
    Column("Seconds attended", "attended", is_numeric=True),
    Column("Answers", "answers", is_numeric=True),
    Column("Remark", "comment"),
    size=100,
)
DONE = {"return": "returned", "void": "voided"}


@campaign_researcher_only
def submissions(request: HttpRequest, campaign: int) -> HttpResponse:
    """Researchers: list submissions (`annotator`: of one annotator); return or void selected ones."""
    campaign_row = access.campaign(campaign)
    if request.method == "POST":
        _withdraw(request, campaign_row)
        return redirect(request.get_full_path())
    rows = withdrawing.submissions(campaign_row)
    annotator = request.GET.get("annotator", "").replace("\x00", "")
    if annotator:
        rows = rows.filter(user=person_called(annotator, campaign_row))
    page = SUBMISSIONS.page(request, rows)
    noted = of_assignments([row.pk for row in page])
    turns = [row.task.item.turn if row.task.item else None for row in page]
    turn_numbers.number([*turns, *(note.turn for notes in noted.values() for note in notes)])
    context = {
        "campaign": campaign_row,
        "page": page,
        "annotator": annotator,
        "noted": noted,
        "reason_limit": withdrawing.REASON_LIMIT,
        "names": of_people({row.user_id for row in page}, campaign_row.corpus_id),
    }
    return render(request, "campaigns/submissions.html", context)


def _withdraw(request: HttpRequest, campaign: Campaign) -> None:
    """Withdraw the selected submissions, and show refusals."""
    verb = request.POST.get("verb", "")
    selection = [_parse_selection(text) for text in request.POST.getlist("chosen")]
    if verb not in withdrawing.VERBS or not selection:
        messages.error(request, "Choose at least one submission, and whether to return or to void it.")
        return
    done = 0
    for number, seen in selection:
        assignment = access.submission(campaign.pk, number)
        try:
            withdrawing.VERBS[verb](
                by=user_of(request), assignment=assignment, reason=request.POST.get("reason", ""), seen=seen
            )
            done += 1
        except SubmissionRefused as error:
            messages.error(request, str(error))
    if done:
        messages.success(request, f"{done} submission{'' if done == 1 else 's'} {DONE[verb]}.")


def _parse_selection(text: str) -> tuple[int, int]:
    """Parse a checkbox's value: the submission, and the answers that the researcher has seen."""
    number, _, seen = text.partition(":")
    return row_id(number) or 0, row_id(seen) or 0
