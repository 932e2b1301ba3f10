"""The researcher's pages of schemes: the list, one scheme with its versions, its files."""

from __future__ import annotations

import json
from itertools import pairwise

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from annotation import access
from annotation.errors import SchemeRefused
from annotation.models import Campaign, Corpus, SchemeVersion
from annotation.pages import previews
from annotation.pages import scheme_listing as listing
from annotation.pages.scheme_draft import ANSWERED_BY, POINTS_AT, draft_of
from annotation.scheme_versions import actions, store
from annotation.schemes import SCHEMES, files
from annotation.schemes.base import SchemeDefinition
from annotation.schemes.difference import Change, difference
from annotation.schemes.rules import KEY
from config.files import row_id
from config.middleware import frames_others
from config.permissions import researcher_only

ROOM = {"active_room": "schemes"}
FORMS = {"yaml": "application/yaml", "json": "application/json"}


def user_of(request: HttpRequest) -> User:
    """Return who asks."""
    assert isinstance(request.user, User)
    return request.user


@require_GET
@researcher_only
def scheme_list(request: HttpRequest) -> HttpResponse:
    """Researchers: all schemes, their own, those that come with Concord, and archived ones."""
    found = listing.listed()
    context = {
        "own": [one for one in found if not one.scheme.built_in and not one.scheme.archived],
        "built_in": [one for one in found if one.scheme.built_in],
        "archived": [one for one in found if one.scheme.archived],
        **ROOM,
    }
    return render(request, "schemes/list.html", context)


@require_GET
@researcher_only
def corpus_questions(request: HttpRequest) -> HttpResponse:
    """Researchers: the corpora whose files brought questions of their own, each a scheme to begin with."""
    corpora = {one.name: one.pk for one in Corpus.objects.all()}
    rows = []
    for version in listing.imported():
        name, _, kind = version.scheme.key.removeprefix(listing.IMPORTED).rpartition(":")
        if name in corpora:
            keys = version.questions.order_by("position").values_list("key", flat=True)
            rows.append({"corpus": name, "pk": corpora[name], "kind": kind, "keys": list(keys)})
    return render(request, "schemes/from_corpus.html", {"rows": rows, **ROOM})


@require_GET
@researcher_only
def scheme_page(request: HttpRequest, key: str) -> HttpResponse:
    """Researchers: one scheme, its newest version or the one asked for, and all its versions."""
    definition, row = _found(request, key)
    rows = listing.versions(key)
    context = {
        "definition": definition,
        "draft": draft_of(definition),
        "answered_by": ANSWERED_BY,
        "points_at": POINTS_AT,
        "row": row,
        "key": key,
        "is_built_in": key in SCHEMES,
        "is_archived": row is not None and row.scheme.archived_at is not None,
        "is_newest": not rows or row == rows[0],
        "versions": list(zip(rows, _changes(rows), strict=True)),
        "campaigns": Campaign.objects.filter(scheme_version__scheme__key=key).select_related(
            "scheme_version", "corpus"
        ),
        "source": reverse("scheme-screen", args=[key]) + (f"?version={row.version}" if row else ""),
        **ROOM,
    }
    return frames_others(render(request, "schemes/scheme.html", context))


def _changes(rows: list[SchemeVersion]) -> list[list[Change]]:
    """Return, for each version of the newest first, what it changed of the one before."""
    made = [store.definition_of(row) for row in rows]
    return [*(difference(before, after) for after, before in pairwise(made)), []][: len(rows)]


@require_GET
@researcher_only
def scheme_screen(request: HttpRequest, key: str) -> HttpResponse:
    """Researchers: the annotator's page with a scheme's questions, for the frame on its page."""
    definition, _ = _found(request, key)
    return previews.of_definition(request, definition, None)


@require_GET
@researcher_only
def export_scheme(request: HttpRequest, key: str, form: str) -> HttpResponse:
    """Researchers: a scheme as a file, YAML or JSON."""
    definition, row = _found(request, key)
    if form not in FORMS:
        raise Http404
    text = files.write(definition) if form == "yaml" else _json(definition)
    response = HttpResponse(text, content_type=f"{FORMS[form]}; charset=utf-8")
    name = f"{key}_v{row.version if row else definition.version}.{form}"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _json(definition: SchemeDefinition) -> str:
    return json.dumps(files.as_plain(definition), ensure_ascii=False, indent=2) + "\n"


@require_POST
@researcher_only
def archive_scheme(request: HttpRequest, key: str) -> HttpResponse:
    """Researchers: take a scheme off the lists of what can be asked, or put it back."""
    scheme = access.scheme(key)
    try:
        actions.archive(by=user_of(request), scheme=scheme, archived=scheme.archived_at is None)
    except SchemeRefused as error:
        messages.error(request, str(error))
    return redirect("scheme", key)


def _found(request: HttpRequest, key: str) -> tuple[SchemeDefinition, SchemeVersion | None]:
    """Return what an address names: a scheme, and with `version` one of its versions; or 404."""
    asked = request.GET.get("version", "")
    number = row_id(asked)
    if not KEY.fullmatch(key) or (asked and not number) or (number or 0) > 2**31 - 1:
        raise Http404
    found = listing.definition(key, number)
    if found is None:
        raise Http404
    return found
