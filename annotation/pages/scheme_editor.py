"""Scheme editor: a draft as a form or as YAML, with a preview, saved as a version."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods, require_POST
from django_htmx.http import trigger_client_event

from annotation import access, scheme_actions, scheme_store
from annotation.corpora import queries
from annotation.errors import SchemeRefused
from annotation.kinds import KINDS
from annotation.models import Corpus, SchemeVersion
from annotation.pages import schemes, work
from annotation.pages.scheme_draft import (
    ANSWERED_BY,
    ASKED_OF,
    HELP,
    POINTS_AT,
    UNITS,
    Draft,
    DraftQuestion,
    draft_of,
    key_from,
    mapping_of,
    number,
    with_lists,
)
from annotation.scheme_actions import imported_definition
from annotation.scheme_store import is_used
from annotation.schemes import SCHEMES, files
from annotation.schemes.definitions import COMPARISON, UNSCALED, SchemeDefinition
from annotation.schemes.rules import Problem
from annotation.text.yaml_tree import dump
from config.files import row_id
from config.middleware import frames_others, stands_in_frame
from config.permissions import researcher_only, user_of

# Parsing the editor's form.

MOST_QUESTIONS = 200
MOST_ROWS = 300
QUESTION_ACTS = (
    ("up", "Up", "Move question {} up (Alt ↑)"),
    ("down", "Down", "Move question {} down (Alt ↓)"),
    ("remove", "Take out", "Take out question {}"),
)
"""Verb, text and label of the buttons of a question."""
ASKED_OF_BOTH = "Each question is asked of every turn, or of the whole dialogue after them."
STEPS = [(str(step), "") for step in range(1, 6)]
"""Initial rows of a new scale."""
_UID = re.compile(r"q[0-9]{1,4}", re.ASCII)


def posted(data: Any) -> Draft:
    """Return the settled draft of a posted form, alone or in a campaign's form; missing fields are empty."""
    texts: dict[str, Any] = {
        name: _text(data.get(name))
        for name in ("title", "key", "item_kind", "unit", "introduction", "guidelines", "source")
    }
    flags: dict[str, Any] = {name: name in data for name in ("about_open", "one_conversation")}
    uids = [uid for uid in dict.fromkeys(data.getlist("question")) if _UID.fullmatch(uid)][:MOST_QUESTIONS]
    draft = Draft(**texts, **flags, questions=[_posted_question(data, uid) for uid in uids])
    if "name" in data:
        draft.name, draft.used_keys = _text(data["name"]), scheme_store.used_keys()
    draft.settle()
    return draft


def _posted_question(data: Any, uid: str) -> DraftQuestion:
    def text(name: str) -> str:
        return _text(data.get(f"{uid}-{name}"))

    def texts_of(name: str) -> list[str]:
        return [_text(value) for value in data.getlist(f"{uid}-{name}")[:MOST_ROWS]]

    texts = "wording short_name key minimum maximum group shortcut positive after low high evidence item_kind"
    same: dict[str, Any] = {name: text(name) for name in (*texts.split(), "tags")}
    question = DraftQuestion(
        uid=uid,
        kind=text("kind") if text("kind") in ANSWERED_BY else "ordinal",
        values=list(zip(texts_of("value"), texts_of("anchor"), strict=False)),
        unfolded=bool(text("unfolded")),
        whole=f"{uid}-whole" in data,
        required=f"{uid}-required" in data,
        help={name: text(f"help-{name}") for name in HELP},
        answers=texts_of("answer"),
        evidence_for=texts_of("evidence-for"),
        evidence_required=f"{uid}-evidence-required" in data,
        condition=_condition(text("condition")),
        **same,
    )
    if question.kind != text("was"):
        suit_values(question)
    return question


def suit_values(question: DraftQuestion) -> None:
    """Set a question's rows of values to fit its kind of answer; rows that fit already stay."""
    numeric = all(isinstance(number(value), int | float) for value, text in question.values if value or text)
    if question.kind == "binary":
        texts = {value: text for value, text in question.values if value in ("0", "1")}
        question.values = [("0", texts.get("0", "")), ("1", texts.get("1", ""))]
    elif question.is_scale and (len(question.values) < 2 or not numeric):
        question.values = list(STEPS)
    elif question.kind == "nominal" and question.values in ([], STEPS):
        question.values = [("", ""), ("", "")]
    elif question.kind == "comparison":
        question.values = [(value, "") for value in COMPARISON]
    elif question.kind in ("tag", "tags", "count", "number", *UNSCALED):
        question.values = []


def _condition(text: str) -> str:
    """Return the JSON of a stored condition, '' for anything else."""
    try:
        condition = json.loads(text or "null")
    except ValueError:
        return ""
    if not isinstance(condition, dict) or not isinstance(condition.get("question"), str):
        return ""
    ends = all(isinstance(condition.get(end, 0), int | float) for end in ("min", "max"))
    return text if ends and isinstance(condition.get("in", []), list) else ""


def _text(value: Any) -> str:
    return str(value or "").replace("\r\n", "\n").strip()


# Actions of the editor's buttons: each changes the draft and returns a message.


class Done(NamedTuple):
    """New focus (a question's uid or `add`, '' for no change), and the message for screen readers."""

    focus: str = ""
    message: str = ""


def apply(draft: Draft, do: str) -> Done:
    """Do a button's action: a verb, with a question's uid and a row's index where needed.

    An unknown verb, question or row changes nothing.
    """
    verb, _, rest = do.partition(" ")
    if verb in _ADDED:
        return _add(draft, _ADDED[verb])
    uid, _, row = rest.partition(" ")
    index = next((place for place, question in enumerate(draft.questions) if question.uid == uid), None)
    if index is None or verb not in _VERBS:
        return Done()
    done = _VERBS[verb](draft, index, int(row) if row.isascii() and row.isdecimal() else -1)
    draft.settle()
    return done


_ADDED = {"add": "ordinal", "add-tags": "tags"}


def _add(draft: Draft, kind: str) -> Done:
    question = DraftQuestion(draft.new_uid(), unfolded=True, kind=kind)
    suit_values(question)
    draft.questions.append(question)
    draft.settle()
    return Done(question.uid, f"Question {len(draft.questions)} added.")


def _remove(draft: Draft, index: int, _: int) -> Done:
    del draft.questions[index]
    near = draft.questions[min(index, len(draft.questions) - 1)].uid if draft.questions else "add"
    return Done(near, f"Question {index + 1} taken out.")


def _move(draft: Draft, index: int, step: int) -> Done:
    place = index + step
    if not 0 <= place < len(draft.questions):
        return Done(message=f"Question {index + 1} is the {'first' if step < 0 else 'last'} already.")
    draft.questions.insert(place, draft.questions.pop(index))
    return Done(message=f"Now question {place + 1} of {len(draft.questions)}.")


def _more(draft: Draft, index: int, _: int) -> Done:
    question = draft.questions[index]
    last = number(question.values[-1][0]) if question.values else 0
    following = str(last + 1) if question.is_scale and isinstance(last, int | float) else ""
    question.values.append((following, ""))
    return Done(message=f"Value {len(question.values)} added.")


def _drop(draft: Draft, index: int, row: int) -> Done:
    values = draft.questions[index].values
    if not 0 <= row < len(values):
        return Done()
    del values[row]
    return Done(message=f"Value {row + 1} taken out.")


_VERBS: dict[str, Callable[[Draft, int, int], Done]] = {
    "remove": _remove,
    "up": lambda draft, index, _: _move(draft, index, -1),
    "down": lambda draft, index, _: _move(draft, index, 1),
    "more": _more,
    "drop": _drop,
}


@dataclass(slots=True)
class Edited:
    """Content of the editor: a draft as a form, or a text (then `draft` is unused), and its definition.

    `definition` is None before `judge`, and for an invalid scheme, whose `problems` give the reasons.
    `overtaken` is set where somebody else saved since the editor was opened.
    """

    draft: Draft = field(default_factory=Draft)
    text: str | None = None
    definition: SchemeDefinition | None = None
    problems: list[Problem] = field(default_factory=list)
    overtaken: bool = False

    def judge(self) -> None:
        """Check the scheme, and add its problems to the fields."""
        try:
            self.definition = (
                files.definition_from(mapping_of(self.draft)) if self.text is None else files.read(self.text)
            )
        except SchemeRefused as error:
            self.refuse(error)

    def refuse(self, error: SchemeRefused) -> None:
        """Show the problems for which the scheme is invalid, or cannot be saved."""
        self.definition, self.problems = None, list(error.problems)
        self.draft.tell(self.problems)


def starter(name: str) -> Draft:
    """Return the draft that a new campaign offers: a question with five steps, and tags."""
    draft = Draft(name=name or "Questions", used_keys=scheme_store.used_keys())
    draft.questions.append(DraftQuestion("q1", True, "How good is this turn?", values=list(STEPS)))
    draft.questions.append(DraftQuestion("q2", True, kind="tags"))
    draft.settle()
    return draft


def editor_context(edited: Edited) -> dict[str, Any]:
    """Return the template context of the editor's fields within the form of a campaign."""
    return _content(edited) | {
        "within": True,
        "editor": f"{reverse('new-scheme')}?within=campaign",
    }


def edited_from(request: HttpRequest, newest: SchemeVersion | None = None) -> Edited:
    """Return the posted content of the editor; an existing scheme keeps its key."""
    edited = Edited()
    if request.POST.get("as") == "yaml":
        upload = request.FILES.get("file")
        content = upload.read(files.MOST_BYTES + 1).decode("utf-8", "replace") if upload else ""
        edited.text = content or request.POST.get("text", "").replace("\r\n", "\n")
    else:
        edited.draft = posted(request.POST)
        if newest is not None:
            edited.draft.key = newest.scheme.key
            edited.draft.settle()
    return edited


@require_http_methods(["GET", "POST"])
@researcher_only
def new_scheme(request: HttpRequest) -> HttpResponse:
    """Researchers: create a scheme, starting empty, as a copy (`from`) or with a corpus's questions."""
    if request.method == "POST":
        return _answer(request, None)
    edited = Edited()
    if ref := request.GET.get("from", ""):
        edited.draft = _copy(ref)
        edited.judge()
    elif corpus := row_id(request.GET.get("corpus", "")):
        edited = _imported(request, corpus)
    elif request.GET.get("as") == "yaml":
        edited.text = ""
    return _page(request, None, edited)


@require_http_methods(["GET", "POST"])
@researcher_only
def edit_scheme(request: HttpRequest, key: str) -> HttpResponse:
    """Researchers: edit a scheme's newest version; a built-in scheme is copied instead."""
    if key in SCHEMES:
        return redirect(f"{reverse('new-scheme')}?{urlencode({'from': key})}")
    newest = access.scheme_version(key)
    if request.method == "POST":
        return _answer(request, newest)
    edited = Edited(with_lists(draft_of(scheme_store.definition_of(newest))))
    edited.judge()
    return _page(request, newest, edited)


def _copy(ref: str) -> Draft:
    """Return the draft of a copy, without the key, which must be new."""
    key, _, number = ref.partition("@")
    match = schemes.find_definition(key, row_id(number))
    if match is None:
        raise Http404
    draft = draft_of(match[0])
    draft.title, draft.key = f"{draft.title} (copy)"[:200], ""
    draft.settle()
    return with_lists(draft)


def _imported(request: HttpRequest, corpus: int) -> Edited:
    """Return a draft with a corpus's imported questions; an empty draft where it has none."""
    corpus_row, edited = access.corpus(corpus), Edited()
    title = f"Questions of {corpus_row.name}"[:200]
    try:
        definition = imported_definition(
            corpus_row, request.GET.get("kind", ""), key=key_from(title, "scheme", ()), title=title
        )
    except SchemeRefused as error:
        messages.error(request, str(error))
        return edited
    edited.draft = draft_of(definition)
    edited.draft.key = ""
    edited.draft.settle()
    edited.draft = with_lists(edited.draft)
    edited.judge()
    return edited


def _answer(request: HttpRequest, newest: SchemeVersion | None) -> HttpResponse:
    """Do a button's action, and return the updated page or its part."""
    do = request.POST.get("do", "")
    edited = edited_from(request, newest)
    done = apply(edited.draft, do) if edited.text is None else Done()
    edited.judge()
    if do == "save" and edited.definition is not None:
        return _save(request, newest, edited)
    if do == "as-yaml" and edited.text is None:
        edited.text = _as_text(edited.draft)
    elif do == "as-form" and edited.definition is not None:
        edited = Edited(with_lists(draft_of(edited.definition)), definition=edited.definition)
    if not request.htmx:  # type: ignore[attr-defined]
        return _page(request, newest, edited, status=422 if do == "save" else 200)
    context = _context(request, newest, edited) | {
        "focus": done.focus,
        "focused": {done.focus: True},
        "swapped": do == "check",
    }
    name = "_fields" if do != "check" else "_checked" if edited.text is None else "_problems"
    if do in _ADDED:
        edited.draft.questions[-1].told.clear()  # a new question has no wording yet
    return _telling(render(request, f"schemes/{name}.html", context), edited, done)


def _as_text(draft: Draft) -> str:
    """Return a draft as YAML, complete or not."""
    return dump({"scheme" if name == "key" else name: value for name, value in mapping_of(draft).items()})


def _telling(response: HttpResponse, edited: Edited, done: Done) -> HttpResponse:
    """Add client events for the page's script: the message, and whether a preview is possible."""
    if done.message:
        trigger_client_event(response, "concord:said", {"value": done.message}, after="settle")
    if edited.definition is not None:
        trigger_client_event(response, "concord:previewable", {}, after="settle")
    return response


def _save(request: HttpRequest, newest: SchemeVersion | None, edited: Edited) -> HttpResponse:
    """Save the editor's scheme and show the result; refused where somebody else saved in the meantime."""
    assert edited.definition is not None
    by = user_of(request)
    try:
        if newest is None:
            saved = scheme_actions.create(by=by, definition=edited.definition)
            messages.success(request, f"{saved.name} is saved.")
        else:
            seen = row_id(request.POST.get("base", "")) or 0
            definition = replace(edited.definition, key=newest.scheme.key)
            saved = scheme_actions.save(by=by, definition=definition, seen=seen)
            messages.success(request, _saved_message(newest, saved))
    except SchemeRefused as error:
        edited.refuse(error)
        edited.overtaken = newest is not None and request.POST.get("base") != str(newest.pk)
        return _page(request, newest, edited, status=422)
    return redirect("scheme", saved.scheme.key)


def _saved_message(before: SchemeVersion, saved: SchemeVersion) -> str:
    if saved.pk == before.pk:
        return f"Nothing has changed: version {saved.version} says this already."
    if saved.version == before.version:
        return f"Version {saved.version} is rewritten: nobody had used it."
    return f"Version {saved.version} was created: version {before.version} is in use and cannot change."


def _page(
    request: HttpRequest, newest: SchemeVersion | None, edited: Edited, status: int = 200
) -> HttpResponse:
    context = _context(request, newest, edited)
    return frames_others(render(request, "schemes/editor.html", context, status=status))


def _context(request: HttpRequest, newest: SchemeVersion | None, edited: Edited) -> dict[str, Any]:
    return _content(edited) | {
        "within": request.GET.get("within") == "campaign",
        "editor": request.get_full_path(),
        **_heading(newest),
        "ways": [
            ("as-form", "As a form", edited.text is None),
            ("as-yaml", "As YAML", edited.text is not None),
        ],
        "seen": _seen(request, newest, edited),
        "is_overtaken": edited.overtaken,
        "corpora": Corpus.objects.order_by("name"),
        "example": row_id(request.POST.get("example", "")),
    }


def _heading(newest: SchemeVersion | None) -> dict[str, Any]:
    """Return title and sentence of the editor's page, and its way back."""
    if newest is None:
        lead = "Questions for annotators and judges."
        return {"title": "New scheme", "lead": lead, "back": reverse("schemes")}
    if is_used(newest):
        lead = f"Version {newest.version} is in use and cannot change: saving creates the next version."
    else:
        lead = f"Nobody has used version {newest.version} yet: saving replaces it."
    return {
        "title": f"Edit {newest.scheme.title}",
        "lead": lead,
        "back": reverse("scheme", args=[newest.scheme.key]),
        "scheme": newest.scheme,
        "has_key": True,
        "key_hint": "Files and programs refer to the scheme by it, so it cannot change.",
    }


def _content(edited: Edited) -> dict[str, Any]:
    general = edited.draft.told.get("", [])
    return {
        "draft": edited.draft,
        "text": edited.text,
        "problems": edited.problems,
        "count": len(edited.problems) - len(general),
        "general": general,
        "ready": edited.definition is not None,
        "item_kinds": [(kind.key, kind.plural) for kind in KINDS.values()],
        "units": UNITS.items(),
        "unit_hint": ASKED_OF_BOTH if edited.draft.asks_of_both else "",
        "has_key": False,
        "key_hint": "Files and programs refer to the scheme by it. Left empty, it is made from the title.",
        "question_acts": QUESTION_ACTS,
        "answered_by": ANSWERED_BY,
        "points_at": POINTS_AT,
        "asked_of": ASKED_OF,
    }


def _seen(request: HttpRequest, newest: SchemeVersion | None, edited: Edited) -> Any:
    """Return the id of the version that the editor has seen: the newest one, once a conflict was shown."""
    if newest is None:
        return ""
    return newest.pk if edited.overtaken else request.POST.get("base", newest.pk)


@require_POST
@researcher_only
def scheme_preview(request: HttpRequest) -> HttpResponse:
    """Researchers: show the annotator's page with the editor's scheme, or the chosen one, storing nothing."""
    edited = edited_from(request)
    key, _, number = request.POST.get("scheme", "").partition("@")
    if match := schemes.find_definition(key, row_id(number)):
        edited.definition = match[0]
    else:
        edited.judge()
    if edited.definition is None:
        problems = " ".join(str(problem) for problem in edited.problems)
        context = {"title": "No preview yet", "text": f"This cannot be asked as it is: {problems}"}
        page = render(request, "errors/notice.html", context | {"is_framed": True}, status=422)
        return stands_in_frame(page)
    corpus = Corpus.objects.filter(pk=row_id(request.POST.get("example", "")) or 0).first()
    names = queries.speakers(corpus) if corpus else []
    speakers = [name for name in request.POST.getlist("speakers") if name in names]
    return work.definition_preview(request, edited.definition, corpus, speakers)
