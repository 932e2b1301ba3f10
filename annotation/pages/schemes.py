"""Researchers' pages of schemes: the list, a scheme with its versions, and its files."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any, NamedTuple

from django.contrib import messages
from django.db.models import Count, Sum
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from annotation import access, scheme_actions, scheme_store
from annotation.errors import SchemeRefused
from annotation.models import Corpus, LabelCount
from annotation.models.campaigns import Campaign
from annotation.models.schemes import SchemeVersion
from annotation.pages import work
from annotation.pages.scheme_draft import ANSWERED_BY, POINTS_AT, UNITS, draft_of
from annotation.schemes import SCHEMES, files
from annotation.schemes.definitions import SchemeDefinition
from annotation.schemes.files import Change, difference
from annotation.schemes.rules import KEY
from config.files import row_id
from config.middleware import frames_others
from config.permissions import researcher_only, user_of

# Lists of schemes with their use, of versions, and of corpora's imported questions.

IMPORTED = "corpus:"
"""Prefix of the keys of schemes with the imported questions of a corpus."""


class Used(NamedTuple):
    """A scheme in the list, with its number of campaigns and labels."""

    scheme: scheme_store.SchemeSummary
    campaigns: int
    labels: int


def list_schemes() -> list[Used]:
    """Return the available schemes, with the number of campaigns and labels of all their versions."""
    campaign_keys = Campaign.objects.order_by().values_list("scheme_version__scheme__key")
    campaigns = dict(campaign_keys.annotate(Count("pk")))
    answered = LabelCount.objects.order_by().values_list("question__version__scheme__key")
    labels = dict(answered.annotate(Sum("n")))
    return [
        Used(scheme, campaigns.get(scheme.key, 0), labels.get(scheme.key, 0))
        for scheme in scheme_store.schemes()
    ]


def find_definition(
    key: str, number: int | None = None
) -> tuple[SchemeDefinition, SchemeVersion | None] | None:
    """Return a scheme's definition with its stored version; None where there is none.

    Without a number: the built-in definition, else the newest version; a built-in scheme that nobody
    has used yet has no stored version.
    """
    rows = SchemeVersion.objects.select_related("scheme").filter(scheme__key=key).order_by("-version")
    row = (rows if number is None else rows.filter(version=number)).first()
    built_in = SCHEMES.get(key)
    if row is not None:
        return scheme_store.definition_of(row), row
    fits = built_in is not None and number in (None, built_in.version)
    return (built_in, None) if fits and built_in else None


def scheme_versions(key: str) -> list[Any]:
    """Return a scheme's stored versions, newest first, each with the number of its labels."""
    rows: list[Any] = list(
        SchemeVersion.objects.filter(scheme__key=key).select_related("scheme").order_by("-version")
    )
    counted = LabelCount.objects.filter(question__version__in=rows).values_list("question__version")
    labels = dict(counted.annotate(Sum("n")))
    for row in rows:
        row.labels = labels.get(row.pk, 0)
    return rows


def imported_schemes() -> list[SchemeVersion]:
    """Return the newest versions of the schemes with corpora's imported questions."""
    rows = SchemeVersion.objects.filter(scheme__key__startswith=IMPORTED).select_related("scheme")
    return list({row.scheme_id: row for row in rows.order_by("scheme__title", "version")}.values())


FORMS = {"yaml": "application/yaml", "json": "application/json"}


@require_GET
@researcher_only
def scheme_list(request: HttpRequest) -> HttpResponse:
    """Researchers: list all schemes: custom, built-in and archived ones."""
    used_schemes = list_schemes()
    context = {
        "own": [used for used in used_schemes if not used.scheme.built_in and not used.scheme.archived],
        "built_in": [used for used in used_schemes if used.scheme.built_in],
        "archived": [used for used in used_schemes if used.scheme.archived],
    }
    return render(request, "schemes/list.html", context)


@require_GET
@researcher_only
def corpus_questions(request: HttpRequest) -> HttpResponse:
    """Researchers: list the corpora with imported questions, each as a start for a new scheme."""
    corpora = {corpus.name: corpus.pk for corpus in Corpus.objects.all()}
    rows = []
    for version in imported_schemes():
        name, _, kind = version.scheme.key.removeprefix(IMPORTED).rpartition(":")
        if name in corpora:
            keys = version.questions.order_by("position").values_list("key", flat=True)
            rows.append({"corpus": name, "pk": corpora[name], "kind": kind, "keys": list(keys)})
    return render(request, "schemes/from_corpus.html", {"rows": rows})


@require_GET
@researcher_only
def scheme_page(request: HttpRequest, key: str) -> HttpResponse:
    """Researchers: show a scheme's newest or requested version, and list all its versions."""
    definition, row = _find_scheme(request, key)
    rows = scheme_versions(key)
    context = {
        "definition": definition,
        "draft": draft_of(definition),
        "answered_by": ANSWERED_BY,
        "points_at": POINTS_AT,
        "units": UNITS,
        "query": f"?version={row.version}" if row else "",
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
    }
    return frames_others(render(request, "schemes/scheme.html", context))


def _changes(rows: list[SchemeVersion]) -> list[list[Change]]:
    """Return, newest version first, the changes of each version against the one before."""
    definitions = [scheme_store.definition_of(row) for row in rows]
    return [*(difference(before, after) for after, before in pairwise(definitions)), []][: len(rows)]


@require_GET
@researcher_only
def scheme_screen(request: HttpRequest, key: str) -> HttpResponse:
    """Researchers: show the annotator's page with a scheme's questions, framed in the scheme's page."""
    definition, _ = _find_scheme(request, key)
    return work.definition_preview(request, definition, None)


@require_GET
@researcher_only
def export_scheme(request: HttpRequest, key: str, form: str) -> HttpResponse:
    """Researchers: download a scheme as a YAML or JSON file."""
    definition, row = _find_scheme(request, key)
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
    """Researchers: archive or restore a scheme."""
    scheme = access.scheme(key)
    try:
        scheme_actions.archive(by=user_of(request), scheme=scheme, archived=scheme.archived_at is None)
    except SchemeRefused as error:
        messages.error(request, str(error))
    return redirect("scheme", key)


def _find_scheme(request: HttpRequest, key: str) -> tuple[SchemeDefinition, SchemeVersion | None]:
    """Return the scheme of an address, in the version of the parameter `version` if set; or raise 404."""
    version_text = request.GET.get("version", "")
    number = row_id(version_text)
    if not KEY.fullmatch(key) or (version_text and not number) or (number or 0) > 2**31 - 1:
        raise Http404
    match = find_definition(key, number)
    if match is None:
        raise Http404
    return match
