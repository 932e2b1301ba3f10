"""The scheme editor: one draft, as a form or as YAML, with a preview beside it; saved as a version."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods, require_POST
from django_htmx.http import trigger_client_event

from annotation import access
from annotation.errors import SchemeRefused
from annotation.kinds import KINDS
from annotation.models import Corpus, SchemeVersion
from annotation.pages import previews
from annotation.pages import scheme_listing as listing
from annotation.pages.scheme_draft import ANSWERED_BY, ASKED_OF, POINTS_AT, Draft
from annotation.pages.scheme_mapping import draft_of, mapping_of
from annotation.pages.scheme_naming import key_from
from annotation.pages.scheme_posted import posted
from annotation.pages.scheme_verbs import Done, apply
from annotation.pages.schemes import ROOM, user_of
from annotation.scheme_versions import actions, store
from annotation.scheme_versions.imported import imported_definition
from annotation.scheme_versions.uses import is_used
from annotation.schemes import SCHEMES, files
from annotation.schemes.base import SchemeDefinition
from annotation.schemes.problems import Problem
from annotation.text.yaml_writing import dump
from config.framing import frames_others, stands_in_frame
from config.ids import row_id
from config.permissions import researcher_only


@dataclass(slots=True)
class Edited:
    """What is in the editor: a draft as a form, or a text (then `draft` is unused), and what comes of it.

    `definition` is None where `problems` say why, and before it was judged. `overtaken` where somebody else
    saved since the editor was opened.
    """

    draft: Draft = field(default_factory=Draft)
    text: str | None = None
    definition: SchemeDefinition | None = None
    problems: list[Problem] = field(default_factory=list)
    overtaken: bool = False

    def judge(self) -> None:
        """Find out whether it can be asked, and put what is wrong beside the fields."""
        try:
            self.definition = (
                files.definition_from(mapping_of(self.draft)) if self.text is None else files.read(self.text)
            )
        except SchemeRefused as error:
            self.refuse(error)

    def refuse(self, error: SchemeRefused) -> None:
        """Say why it cannot be asked, or saved."""
        self.definition, self.problems = None, list(error.problems)
        self.draft.tell(self.problems)


def edited_from(request: HttpRequest, newest: SchemeVersion | None = None) -> Edited:
    """Return what a form of the editor posted; the key of a scheme that exists stays as it is."""
    made = Edited()
    if request.POST.get("as") == "yaml":
        upload = request.FILES.get("file")
        content = upload.read(files.MOST_BYTES + 1).decode("utf-8", "replace") if upload else ""
        made.text = content or request.POST.get("text", "").replace("\r\n", "\n")
    else:
        made.draft = posted(request.POST)
        if newest is not None:
            made.draft.key = newest.scheme.key
            made.draft.settle()
    return made


@require_http_methods(["GET", "POST"])
@researcher_only
def new_scheme(request: HttpRequest) -> HttpResponse:
    """Researchers: a scheme of one's own, begun empty, as a copy (`from`) or with a corpus's questions."""
    if request.method == "POST":
        return _answer(request, None)
    made = Edited()
    if ref := request.GET.get("from", ""):
        made.draft = _copy(ref)
        made.judge()
    elif corpus := row_id(request.GET.get("corpus", "")):
        made = _imported(request, corpus)
    elif request.GET.get("as") == "yaml":
        made.text = ""
    return _page(request, None, made)


@require_http_methods(["GET", "POST"])
@researcher_only
def edit_scheme(request: HttpRequest, key: str) -> HttpResponse:
    """Researchers: the editor over a scheme's newest version; a built-in scheme is copied instead."""
    if key in SCHEMES:
        return redirect(f"{reverse('new-scheme')}?{urlencode({'from': key})}")
    newest = access.scheme_version(key)
    if request.method == "POST":
        return _answer(request, newest)
    made = Edited(draft_of(store.definition_of(newest)))
    made.judge()
    return _page(request, newest, made)


def _copy(ref: str) -> Draft:
    """Return the draft of a copy: everything but its key, which must be another."""
    key, _, number = ref.partition("@")
    found = listing.definition(key, row_id(number))
    if found is None:
        raise Http404
    draft = draft_of(found[0])
    draft.title, draft.key = f"{draft.title} (copy)"[:200], ""
    draft.settle()
    return draft


def _imported(request: HttpRequest, corpus: int) -> Edited:
    """Return what a corpus's imported questions make; an empty draft where it has none."""
    found, made = access.corpus(corpus), Edited()
    title = f"Questions of {found.name}"[:200]
    try:
        definition = imported_definition(
            found, request.GET.get("kind", ""), key=key_from(title, "scheme", ()), title=title
        )
    except SchemeRefused as error:
        messages.error(request, str(error))
        return made
    made.draft = draft_of(definition)
    made.draft.key = ""
    made.draft.settle()
    made.judge()
    return made


def _answer(request: HttpRequest, newest: SchemeVersion | None) -> HttpResponse:
    """Do what a button asks for."""
    do = request.POST.get("do", "")
    made = edited_from(request, newest)
    done = apply(made.draft, do) if made.text is None else Done()
    made.judge()
    if do == "save" and made.definition is not None:
        return _save(request, newest, made)
    if do == "as-yaml" and made.text is None:
        made.text = _as_text(made.draft)
    elif do == "as-form" and made.definition is not None:
        made = Edited(draft_of(made.definition), definition=made.definition)
    if not request.htmx:  # type: ignore[attr-defined]
        return _page(request, newest, made, status=422 if do == "save" else 200)
    context = _context(request, newest, made) | {"focus": done.focus, "swapped": do == "check"}
    name = "_fields" if do != "check" else "_checked" if made.text is None else "_problems"
    if do == "add":
        made.draft.questions[-1].told.clear()  # nobody has had the time to write it
    return _telling(render(request, f"schemes/{name}.html", context), made, done)


def _as_text(draft: Draft) -> str:
    """Return a draft as YAML, whole or not."""
    return dump({"scheme" if name == "key" else name: one for name, one in mapping_of(draft).items()})


def _telling(response: HttpResponse, made: Edited, done: Done) -> HttpResponse:
    """Let the page's script know what to say, and whether the preview can follow."""
    if done.said:
        trigger_client_event(response, "concord:said", {"value": done.said}, after="settle")
    if made.definition is not None:
        trigger_client_event(response, "concord:previewable", {}, after="settle")
    return response


def _save(request: HttpRequest, newest: SchemeVersion | None, made: Edited) -> HttpResponse:
    """Store what is in the editor and say what became of it; a second who saves is told of the first."""
    assert made.definition is not None
    by = user_of(request)
    try:
        if newest is None:
            saved = actions.create(by=by, definition=made.definition)
            messages.success(request, f"{saved.name} is saved.")
        else:
            seen = row_id(request.POST.get("base", "")) or 0
            definition = replace(made.definition, key=newest.scheme.key)
            saved = actions.save(by=by, definition=definition, seen=seen)
            messages.success(request, _told(newest, saved))
    except SchemeRefused as error:
        made.refuse(error)
        made.overtaken = newest is not None and request.POST.get("base") != str(newest.pk)
        return _page(request, newest, made, status=422)
    return redirect("scheme", saved.scheme.key)


def _told(before: SchemeVersion, saved: SchemeVersion) -> str:
    if saved.pk == before.pk:
        return f"Nothing has changed: version {saved.version} says this already."
    if saved.version == before.version:
        return f"Version {saved.version} is rewritten: nobody had used it."
    return f"Version {saved.version} is new: version {before.version} is in use and stays as it is."


def _page(
    request: HttpRequest, newest: SchemeVersion | None, made: Edited, status: int = 200
) -> HttpResponse:
    context = _context(request, newest, made)
    return frames_others(render(request, "schemes/editor.html", context, status=status))


def _context(request: HttpRequest, newest: SchemeVersion | None, made: Edited) -> dict[str, Any]:
    general = made.draft.told.get("", [])
    return {
        "draft": made.draft,
        "text": made.text,
        "problems": made.problems,
        "count": len(made.problems) - len(general),
        "general": general,
        "ready": made.definition is not None,
        "scheme": newest.scheme if newest else None,
        "base": newest,
        "seen": _seen(request, newest, made),
        "is_overtaken": made.overtaken,
        "is_used": newest is not None and is_used(newest),
        "kinds": KINDS.values(),
        "answered_by": ANSWERED_BY,
        "points_at": POINTS_AT,
        "asked_of": ASKED_OF,
        "corpora": Corpus.objects.order_by("name"),
        "example": row_id(request.POST.get("example", "")),
        **ROOM,
    }


def _seen(request: HttpRequest, newest: SchemeVersion | None, made: Edited) -> Any:
    """Return the id of the version that who edits has seen: once told of another one, that."""
    if newest is None:
        return ""
    return newest.pk if made.overtaken else request.POST.get("base", newest.pk)


@require_POST
@researcher_only
def scheme_preview(request: HttpRequest) -> HttpResponse:
    """Researchers: the annotator's page with what is in the editor, stored nowhere."""
    made = edited_from(request)
    made.judge()
    if made.definition is None:
        context = {"problems": made.problems}
        return stands_in_frame(render(request, "schemes/no_preview.html", context, status=422))
    corpus = Corpus.objects.filter(pk=row_id(request.POST.get("example", "")) or 0).first()
    return previews.of_definition(request, made.definition, corpus)
