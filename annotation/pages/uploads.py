"""Uploading a file to be imported, and watching its import."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_GET, require_POST

from annotation import access
from annotation.formats import FORMATS
from annotation.formats.problems import MOST
from annotation.importing import uploads
from annotation.pages.import_form import ImportForm
from config.permissions import researcher_only
from jobs.errors import JobError

ROOM = {"active_room": "corpora"}
FORM_OVERHEAD = 2**20


@csrf_exempt
@researcher_only
def import_corpus(request: HttpRequest) -> HttpResponse:
    """Researchers: the form of an import, and receiving the file.

    The size is checked before any of the body is read, and so before the form's token, which is in the body.
    """
    length = request.META.get("CONTENT_LENGTH") or "0"
    if not length.isdecimal() or int(length) > settings.UPLOAD_LIMIT_BYTES + FORM_OVERHEAD:
        form = ImportForm()
        form.errors["file"] = form.error_class([f"Larger than {settings.UPLOAD_LIMIT_BYTES >> 20} MiB."])
        return _form(request, form, status=413)
    return _import(request)


@csrf_protect
def _import(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        return _form(request, ImportForm(initial=_initial(request)))
    form = ImportForm(request.POST, request.FILES)
    if not form.is_valid():
        return _form(request, form, status=422)
    return redirect("upload", uploads.receive(by=_user(request), **form.arguments()).pk)


def _initial(request: HttpRequest) -> dict[str, Any]:
    """Return what the form begins with: what was sent with the upload `like`, or the corpus `into`."""
    like = request.GET.get("like", "")
    if like.isascii() and like.isdigit() and len(like) < 19:
        return ImportForm.as_sent(access.upload(_user(request), int(like)))
    return {"into": request.GET.get("into", "")}


def _form(request: HttpRequest, form: ImportForm, status: int = 200) -> HttpResponse:
    context = {"form": form, "formats": FORMATS.values(), "limit": settings.UPLOAD_LIMIT_BYTES, **ROOM}
    return render(request, "corpora/import.html", context, status=status)


@require_GET
@researcher_only
def upload(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: how far the import of a file of theirs is."""
    found = access.upload(_user(request), pk)
    context: dict[str, Any] = {
        "upload": found,
        "job": found.job,
        "repeatable": uploads.can_be_repeated(found),
    }
    template = "corpora/_upload.html" if request.headers.get("HX-Request") else "corpora/upload.html"
    context |= {"format": FORMATS.get(found.format), "most": MOST}
    return render(request, template, context | ROOM)


@require_POST
@researcher_only
def cancel_upload(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: cancel the import of a file of theirs."""
    uploads.cancel(upload=access.upload(_user(request), pk), by=_user(request))
    return redirect("upload", pk)


@require_POST
@researcher_only
def resume_upload(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: import a file of theirs again whose import was cancelled or failed."""
    try:
        uploads.repeat(upload=access.upload(_user(request), pk), by=_user(request))
    except JobError as error:
        messages.error(request, f"Not imported again: {error}.")
    return redirect("upload", pk)


def _user(request: HttpRequest) -> User:
    assert isinstance(request.user, User)
    return request.user
