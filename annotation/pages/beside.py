"""What the annotation page sends beside answers: notes on turns, questions to researchers, answers to them.

Members of the campaign, about their own tasks and threads; anything else is not found.
"""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_POST

from annotation import access
from annotation.errors import NoteRefused
from annotation.messages import actions as messages
from annotation.notes import actions as notes
from annotation.pages.answering import as_json
from annotation.work.checking import parse


def _user(request: HttpRequest) -> User:
    assert isinstance(request.user, User)
    return request.user


@require_POST
@as_json
def note(request: HttpRequest, campaign: int, assignment: int) -> HttpResponse:
    """Members: comment on, flag or bookmark a line of a task of their own; the answer is all they noted."""
    access.membership(_user(request), campaign)
    body = parse(request.body)
    kept = notes.set_note(
        by=_user(request),
        campaign=campaign,
        assignment=assignment,
        line=_line(body),
        comment=_text(body.get("comment")),
        flagged=_flag(body.get("flagged")),
        bookmarked=_flag(body.get("bookmarked")),
    )
    return JsonResponse(kept.as_json())


@require_POST
@as_json
def ask(request: HttpRequest, campaign: int, assignment: int) -> HttpResponse:
    """Members: ask the researchers about a line of a task of their own, or about the task."""
    access.membership(_user(request), campaign)
    body = parse(request.body)
    line = None if body.get("line") is None else _line(body)
    thread = messages.ask(
        by=_user(request),
        campaign=campaign,
        assignment=assignment,
        line=line,
        text=_text(body.get("text")) or "",
    )
    return _thread(request, thread.pk, line)


@require_POST
@as_json
def answer(request: HttpRequest, campaign: int, thread: int) -> HttpResponse:
    """Members: say something in a thread of their own; without a text, note that it was seen."""
    access.membership(_user(request), campaign)
    body = parse(request.body)
    found = access.own_thread(_user(request), thread)
    text = _text(body.get("text"))
    messages.see(by=_user(request), thread=found)
    if text is not None:
        messages.answer(by=_user(request), thread=found, text=text)
    return _thread(request, found.pk, None if body.get("line") is None else _line(body))


def _thread(request: HttpRequest, pk: int, line: int | None) -> HttpResponse:
    found = access.own_thread(_user(request), pk)
    viewer = _user(request)
    return JsonResponse(messages.as_json(found, viewer, annotator=viewer.get_username(), line=line))


def _line(body: dict[str, Any]) -> int:
    line = body.get("line")
    if not isinstance(line, int) or isinstance(line, bool):
        raise NoteRefused("Say which line of the transcript is meant: a whole number, counted from 1.")
    return line


def _text(value: Any) -> str | None:
    if value is not None and not isinstance(value, str):
        raise NoteRefused("What is said about a turn is a text.")
    return value


def _flag(value: Any) -> bool | None:
    if value is not None and not isinstance(value, bool):
        raise NoteRefused("A flag or a bookmark is true or false.")
    return value
