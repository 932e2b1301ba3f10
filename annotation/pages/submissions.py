"""The researcher's page of what was submitted in a campaign, to hand back or to void, with notes on turns."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import urlencode

from annotation import access
from annotation.errors import SubmissionRefused
from annotation.labels.pseudonyms import of_people, person_called
from annotation.models import Campaign, turn_numbers
from annotation.notes.reading import of_assignments
from annotation.permissions import campaign_researcher_only
from annotation.work import withdrawing

DONE = {"return": "returned", "void": "voided"}
ROWS = 100


@campaign_researcher_only
def submissions(request: HttpRequest, campaign: int) -> HttpResponse:
    """Researchers: what was submitted (`annotator`: by whom); return or void what is chosen."""
    found = access.campaign(campaign)
    if request.method == "POST":
        _withdraw(request, found)
        return redirect(request.get_full_path())
    rows = withdrawing.submissions(found)
    annotator = request.GET.get("annotator", "").replace("\x00", "")
    if annotator:
        rows = rows.filter(user=person_called(annotator, found))
    page = Paginator(rows, ROWS).get_page(request.GET.get("page"))
    noted = of_assignments([row.pk for row in page])
    turns = [row.task.item.turn if row.task.item else None for row in page]
    turn_numbers.number([*turns, *(note.turn for notes in noted.values() for note in notes)])
    context = {
        "campaign": found,
        "page": page,
        "annotator": annotator,
        "noted": noted,
        "names": of_people({row.user_id for row in page}, found.corpus_id),
        "query": f"{urlencode({'annotator': annotator})}&" if annotator else "",
        "active_room": "campaigns",
    }
    return render(request, "campaigns/submissions.html", context)


def _withdraw(request: HttpRequest, campaign: Campaign) -> None:
    """Withdraw each chosen submission, and say what was refused."""
    assert isinstance(request.user, User)
    verb = request.POST.get("verb", "")
    chosen = [_chosen(text) for text in request.POST.getlist("chosen")]
    if verb not in withdrawing.VERBS or not chosen:
        messages.error(request, "Choose at least one submission, and whether to return or to void it.")
        return
    done = 0
    for number, seen in chosen:
        assignment = access.submission(campaign.pk, number)
        try:
            withdrawing.VERBS[verb](
                by=request.user, assignment=assignment, reason=request.POST.get("reason", ""), seen=seen
            )
            done += 1
        except SubmissionRefused as error:
            messages.error(request, str(error))
    if done:
        messages.success(request, f"{done} submission{'' if done == 1 else 's'} {DONE[verb]}.")


def _chosen(text: str) -> tuple[int, int]:
    """Read the value of a checkbox: the submission and the answers that the researcher saw."""
    number, _, seen = text.partition(":")
    numbers = [
        int(part) if part.isascii() and part.isdecimal() and len(part) < 19 else 0 for part in (number, seen)
    ]
    return numbers[0], numbers[1]
