"""The researcher's pages of prompts: the list, one prompt, one version, the difference of two."""

from __future__ import annotations

import re
from urllib.parse import quote

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from config.permissions import researcher_only
from judges import access
from judges.errors import JudgeError
from judges.models import Prompt
from judges.pages.runs import user_of
from judges.prompt_versions import actions, difference, files, finding, listing
from judges.prompt_versions.finding import Version
from judges.protocols import PROTOCOLS, Asking
from judges.protocols.examples import shown_at_once

ROOM = {"active_room": "prompts"}
_VARIABLE = re.compile(r"\$\$|\$[_a-z][_a-z0-9]*|\$\{[_a-z][_a-z0-9]*\}", re.I | re.A)


@require_GET
@researcher_only
def prompt_list(request: HttpRequest) -> HttpResponse:
    """Researchers: all prompts, their own and those that come with Concord."""
    own = listing.own()
    context = {
        "own": [one for one in own if not one.archived],
        "archived": [one for one in own if one.archived],
        "built_in": listing.coming_with_concord(),
    }
    return render(request, "judges/prompts/list.html", context | ROOM)


@require_GET
@researcher_only
def prompt_page(request: HttpRequest, name: str) -> HttpResponse:
    """Researchers: one prompt with its versions; one that comes with Concord is its one version."""
    if not Prompt.objects.filter(name=name).exists():
        return redirect("prompt-version", name, access.version(name).number)
    prompt = access.prompt(name)
    versions = listing.versions_of(prompt)
    used = listing.judges_by_digest([version.wording.digest() for version in versions])
    rows = [(version, len(used.get(version.wording.digest(), ()))) for version in versions]
    context = {"prompt": prompt, "rows": rows, "newest": versions[0], **ROOM}
    context["title"] = getattr(PROTOCOLS.get(prompt.protocol), "title", prompt.protocol)
    return render(request, "judges/prompts/prompt.html", context)


@require_GET
@researcher_only
def version_page(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """Researchers: one version, to be read, with the judges that used it."""
    version = access.version(name, number)
    protocol = PROTOCOLS[version.protocol]
    assert isinstance(protocol, Asking)
    row = version.row
    context = {
        "version": version,
        "row": row,
        "parts": [
            ("System part", marked(version.wording.system)),
            ("User part", marked(version.wording.user)),
        ],
        "variables": protocol.known_variables(version.variant).values(),
        "named": version.wording.names(),
        "runs": listing.runs_of(version),
        "used": row is not None and actions.is_used(row),
        "others": listing.versions_of(row.prompt) if row else [],
        "parent": _parent(row.parent if row else ""),
        "shown": shown_at_once(version.wording),
        "title": protocol.title,
        **ROOM,
    }
    return render(request, "judges/prompts/version.html", context)


def marked(text: str) -> list[tuple[str, bool]]:
    """Return a text in pieces, each with whether it is a variable."""
    pieces: list[tuple[str, bool]] = []
    end = 0
    for match in _VARIABLE.finditer(text):
        pieces += [(text[end : match.start()], False), (match[0], match[0] != "$$")]
        end = match.end()
    return [piece for piece in [*pieces, (text[end:], False)] if piece[0]]


def _parent(ref: str) -> Version | None:
    """Return the version that a reference names, None where it is not here."""
    try:
        return finding.find(ref) if ref else None
    except JudgeError:
        return None


@require_GET
@researcher_only
def prompt_difference(request: HttpRequest) -> HttpResponse:
    """Researchers: what two versions, of the same prompt or of two, differ by."""
    refs = [request.GET.get(name, "") for name in ("a", "b")]
    try:
        first, second = map(finding.find, refs)
    except JudgeError as error:
        raise Http404(str(error)) from None
    parts = difference.difference(first.wording, second.wording)
    context = {"first": first, "second": second, "parts": parts, **ROOM}
    return render(request, "judges/prompts/difference.html", context)


@require_POST
@researcher_only
def archive_prompt(request: HttpRequest, name: str) -> HttpResponse:
    """Researchers: take a prompt off the lists of what can be run, or put it back."""
    prompt = access.prompt(name)
    actions.archive(by=user_of(request), prompt=prompt, archived=not prompt.archived)
    return redirect("prompt", name)


@require_POST
@researcher_only
def delete_version(request: HttpRequest, name: str, number: int) -> HttpResponse:
    """Researchers: delete a version that no judge has used."""
    version = access.version(name, number)
    if version.row is None:
        messages.error(request, f"{version.ref} comes with Concord and stays.")
        return redirect("prompt-version", name, number)
    try:
        actions.delete(by=user_of(request), version=version.row)
    except JudgeError as error:
        messages.error(request, str(error))
        return redirect("prompt-version", name, number)
    messages.success(request, f"{version.ref} is deleted.")
    return redirect("prompt", name) if Prompt.objects.filter(name=name).exists() else redirect("prompts")


@require_GET
@researcher_only
def export_prompt(request: HttpRequest, name: str, form: str) -> HttpResponse:
    """Researchers: a prompt with all its versions as YAML, or one version (`number`) as Markdown."""
    if form not in files.FORMS:
        raise Http404
    number = request.GET.get("number", "")
    if number and not (number.isascii() and number.isdecimal() and len(number) < 11):
        raise Http404
    return file_of(access.version(name, int(number) if number else None), form)


def file_of(version: Version, form: str) -> HttpResponse:
    """Return a version as Markdown, or the whole prompt that it is of as YAML, to be kept as a file."""
    ending, media = files.FORMS[form]
    prompt = version.row.prompt if version.row else None
    told = prompt.description if prompt else ""
    if form == "md":
        text, name = files.as_markdown(version, told), version.ref
    else:
        text = files.as_yaml(listing.versions_of(prompt) if prompt else [version], told)
        name = version.name
    response = HttpResponse(text, content_type=f"{media}; charset=utf-8")
    response["Content-Disposition"] = f"attachment; filename*=UTF-8''{quote(f'{name}.{ending}', safe='')}"
    return response
