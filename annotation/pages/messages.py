"""Pages of messages: an annotator's own threads, and a campaign's threads for its researchers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib import messages as flash
from django.contrib.auth.models import User
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.text import Truncator
from django.views.decorators.http import require_GET, require_POST

from annotation import access
from annotation.access import campaign_researcher_only
from annotation.errors import WorkError
from annotation.models import Assignment, Campaign, CampaignMember, Thread, turn_numbers
from annotation.work import messages, screens
from annotation.work.labels import called
from annotation.work.labels import pseudonyms_of_people as of_people
from config.files import row_id
from config.permissions import user_of

# The number of unread messages in the frame of every page.


def unread_messages(request: HttpRequest) -> dict[str, Any]:
    """Return the number of unread messages of the viewer, lazily: pages without the frame run no query."""
    return {"viewer_unread": lambda: messages.unread(request.user.pk) if request.user.is_authenticated else 0}


ROWS = 30


@require_GET
def my_messages(request: HttpRequest) -> HttpResponse:
    """Everyone signed in: list the viewer's threads with researchers; messages shown count as read."""
    viewer = user_of(request)
    page = Paginator(messages.of_annotator(viewer), ROWS).get_page(request.GET.get("page"))
    rows = _rows(page.object_list, viewer, {viewer.pk: viewer.get_username()})
    for row in rows:
        if row["thread"].unread:
            messages.see(by=viewer, thread=row["thread"])
    mine = CampaignMember.objects.filter(user=viewer, campaign__archived_at=None)
    mine = mine.exclude(campaign__state="draft").select_related("campaign").order_by("-campaign_id")
    context: dict[str, Any] = {"page": page, "rows": rows, "memberships": mine}
    context |= {"text_limit": messages.TEXT_LIMIT}
    return render(request, "annotate/messages.html", context)


@require_POST
def answer_message(request: HttpRequest, thread: int) -> HttpResponse:
    """Everyone signed in: reply in an own thread."""
    thread_row = access.own_thread(user_of(request), thread)
    try:
        messages.answer(by=user_of(request), thread=thread_row, text=request.POST.get("text", ""))
        flash.success(request, "Your answer is sent.")
    except WorkError as error:
        flash.error(request, str(error))
    return redirect("my-messages")


@require_POST
def ask_researcher(request: HttpRequest, campaign: int) -> HttpResponse:
    """Members: send a message to the researchers of a campaign."""
    access.membership(user_of(request), campaign)
    try:
        messages.ask(by=user_of(request), campaign=campaign, text=request.POST.get("text", ""))
        flash.success(request, "Your message is sent.")
    except WorkError as error:
        flash.error(request, str(error))
    return redirect("my-messages")


@campaign_researcher_only
def campaign_messages(request: HttpRequest, campaign: int) -> HttpResponse:
    """Researchers: list the threads of a campaign, and write to its annotators.

    `?annotator=` lists the threads of one person, `?waiting=1` those that wait for an answer; `?assignment=`
    writes about that task, `&turn=` (its line, from 1) about a turn.
    """
    campaign_row = access.campaign(campaign)
    about = _about(request, campaign_row)
    if request.method == "POST" and _write(request, campaign_row, about):
        return redirect("campaign-messages", campaign_row.pk)
    rows = messages.of_campaign(campaign_row)
    annotator = request.GET.get("annotator", "").replace("\x00", "")
    waiting = request.GET.get("waiting") == "1"
    if annotator:
        rows = rows.filter(messages.with_annotator(campaign_row, annotator))
    if waiting:
        rows = rows.filter(waits=True, closed_at=None)
    page = Paginator(rows, ROWS).get_page(request.GET.get("page"))
    members = campaign_row.members.values_list("user", flat=True)
    names = sorted(of_people(members, campaign_row.corpus_id).values())
    context = {
        "campaign": campaign_row,
        "page": page,
        "rows": _rows(page.object_list, user_of(request), messages.pseudonyms(page.object_list)),
        "annotator": annotator,
        "waiting": waiting,
        "n_waiting": messages.waiting(campaign_row),
        "members": [("everybody", "Everybody who takes part"), *((name, name) for name in names)]
        if names
        else [],
        "about": about,
        "text": request.POST.get("text", ""),
        "text_limit": messages.TEXT_LIMIT,
    }
    return render(
        request, "campaigns/messages.html", context, status=422 if request.method == "POST" else 200
    )


@require_POST
@campaign_researcher_only
def campaign_thread(request: HttpRequest, campaign: int, thread: int) -> HttpResponse:
    """Researchers: answer in a thread (`text`), close it or reopen it (`verb`)."""
    thread_row = access.thread(campaign, thread)
    verb = messages.VERBS.get(request.POST.get("verb", ""))
    try:
        if verb is not None:
            verb(by=user_of(request), thread=thread_row)
        else:
            messages.answer(by=user_of(request), thread=thread_row, text=request.POST.get("text", ""))
            name = called(thread_row.annotator_id, thread_row.campaign.corpus_id)
            flash.success(request, f"{name} finds your answer beside their work.")
    except WorkError as error:
        flash.error(request, str(error))
    return redirect("campaign-messages", campaign)


def _about(request: HttpRequest, campaign: Campaign) -> dict[str, Any] | None:
    """Return the task of a new message, with the lines that its annotator saw."""
    number = row_id(request.GET.get("assignment", ""))
    if number is None:
        return None
    rows = Assignment.objects.select_related("user", "task__continuation__dialogue", "task__item__turn")
    assignment = rows.filter(campaign=campaign, pk=number).first()
    if assignment is None:
        return None
    screen = screens.load(assignment.task_id)
    lines = [line for part in screen.parts for line in part.lines]
    turn_numbers.number([assignment.task.item.turn if assignment.task.item else None])
    line_number = row_id(request.POST.get("line") or request.GET.get("line") or "")
    name = called(assignment.user_id, campaign.corpus_id)
    return {
        "assignment": assignment,
        "annotator": name,
        "lines": [(line.line, f"{line.no} {line.who}: {Truncator(line.text).chars(80)}") for line in lines],
        "line": line_number,
    }


def _write(request: HttpRequest, campaign: Campaign, about: dict[str, Any] | None) -> bool:
    names = request.POST.getlist("to")
    try:
        threads = messages.write(
            by=user_of(request),
            campaign=campaign,
            to=messages.recipients(campaign, names, everybody="everybody" in names),
            text=request.POST.get("text", ""),
            assignment=about["assignment"] if about else None,
            line=about["line"] if about else None,
        )
    except WorkError as error:
        flash.error(request, str(error))
        return False
    flash.success(
        request, f"Sent to {len(threads)} annotator{'' if len(threads) == 1 else 's'}, each by themselves."
    )
    return True


def _rows(threads: Any, viewer: User, names: Mapping[int, str]) -> list[dict[str, Any]]:
    """Return threads with their messages and turn numbers; `names` has the annotators' names."""
    thread_list: list[Thread] = list(threads)
    turn_numbers.number(thread.turn for thread in thread_list)
    return [
        {
            "thread": thread,
            **_state(thread),
            "annotator": names[thread.annotator_id],
            "messages": messages.list_messages(thread, viewer, annotator=names[thread.annotator_id]),
        }
        for thread in thread_list
    ]


def _state(thread: Thread) -> dict[str, str]:
    """Return the state of a thread for researchers, with its tone."""
    if thread.waits and not thread.closed_at:
        return {"state": "waits for an answer", "tone": "warning"}
    return {"state": "closed" if thread.closed_at else "not seen yet" if thread.unread else "", "tone": ""}
