"""Pages of a script: the outline of its sessions, a search for turns, name maps, and changes of sessions."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from annotation import access
from annotation.corpora import dialogue_view, splits
from annotation.errors import ScriptRefused
from annotation.formats.fields import NAME_LIMIT
from annotation.models import Record, Turn
from annotation.models.corpora import Continuation, Dialogue
from annotation.records import SELF
from annotation.script_records import FACT, QUESTION, NameMap, Session
from annotation.text.display import language_tag
from annotation.work.notes import notes_of_turns as of_turns
from calibration.reports.wording import counted
from config.files import row_id
from config.permissions import researcher_only, user_of
from jobs.endpoints.parameter_inputs import form_field
from suites.long_dialogue.editing import sessions
from suites.long_dialogue.editing.export import ExportSelection, answer, called
from suites.long_dialogue.editing.name_maps import CAST, KINDS, SEED, make_names, maps_of, save_names
from suites.long_dialogue.editing.sessions import (
    DATE_LIMIT,
    NOTE_LIMIT,
    REASONS,
    Changed,
    Overview,
    Row,
    change_session,
    versions_of,
    warnings_of,
)
from suites.pages import add_refusal, search_values

# Downloading a script in the native format.

NO_SETS = "none"


@require_GET
@researcher_only
def script_file(request: HttpRequest, pk: int, dialogue: int) -> HttpResponseBase:
    """Researchers: a script as a file; `sets=none` leaves its question sets out, `set` names some."""
    script_row = access.script(pk, dialogue)
    sets = tuple(filter(None, request.GET.getlist("set"))) or None
    if request.GET.get("sets") == NO_SETS:
        sets = ()
    selection = ExportSelection(sets, bool(request.GET.get("continuations")))
    try:
        return answer(dialogue=script_row, selection=selection, by=user_of(request))
    except ScriptRefused as refused:
        messages.error(request, str(refused))
        return redirect("script", pk, dialogue)


SESSIONS_SHOWN = 50
TURNS_SHOWN = 100
NAMES_SHOWN = 6
"""Maximum number of people named per session in the outline; the others are counted."""
COUNTED = 5_000
"""Maximum number of a script's questions up to which the outline counts them per session."""


@require_GET
@researcher_only
def script(request: HttpRequest, pk: int, dialogue: int) -> HttpResponse:
    """Researchers: a script's sessions, the selected session (`session` or `turn`) unfolded; `text` and
    `speaker` search for turns."""
    overview = sessions.overview(access.script(pk, dialogue))
    open_row = _requested_row(request, overview)
    search = search_values(request, ("text", "speaker"))
    context = {
        **_about(overview),
        "texts": [("text", "Words", search["text"]), ("speaker", "Speaker", search["speaker"])],
    }
    if any(search.values()):
        return render(
            request, "long_dialogue/script.html", context | _search_results(request, overview, search)
        )
    pages = Paginator(overview.rows, SESSIONS_SHOWN)
    number = request.GET.get("page")
    if number is None and open_row is not None:
        number = str((open_row.number - 1) // SESSIONS_SHOWN + 1)
    page = pages.get_page(number)
    kinds = (FACT, QUESTION) if context["records"][QUESTION] <= COUNTED else (FACT,)
    record_counts = sessions.records_of(overview.dialogue, [row.session.id for row in page], kinds)
    context |= {
        "page": page,
        "sessions": [_line(overview, row, record_counts[row.session.id], open_row) for row in page],
        "opened": _unfolded(overview, open_row, request)
        if open_row is not None and open_row in list(page)
        else None,
    }
    return render(request, "long_dialogue/script.html", context)


@require_GET
@researcher_only
def session(request: HttpRequest, pk: int, dialogue: int, number: int) -> HttpResponse:
    """Researchers: the turns, facts and questions of a session, as a fragment of the outline."""
    script_row = access.script(pk, dialogue)
    if not request.htmx:  # type: ignore[attr-defined]
        return redirect(f"{reverse('script', args=[pk, dialogue])}?session={number}#session-{number}")
    overview = sessions.overview(script_row)
    row = overview.row(number)
    if row is None:
        raise Http404
    return render(
        request,
        "long_dialogue/_session.html",
        {"opened": _unfolded(overview, row, request), **_about(overview)},
    )


def _requested_row(request: HttpRequest, overview: Overview) -> Row | None:
    """Return the session that the address names, by number or by one of its turns (from 1); else None."""
    if number := row_id(request.GET.get("session", "")):
        row = overview.row(number)
        if row is None:
            raise Http404
        return row
    if turn := row_id(request.GET.get("turn", "")):
        return overview.at(turn - 1)
    return None


def _about(overview: Overview) -> dict[str, Any]:
    """Return the context of the page's head."""
    dialogue = overview.dialogue
    heard = sum(row.heard for row in overview.rows)
    dates = [row.session.date for row in overview.rows]
    return {
        "dialogue": dialogue,
        "corpus": dialogue.corpus,
        "language": language_tag(dialogue.language),
        "main": overview.called(overview.script.main),
        "n_sessions": len(overview.rows),
        "n_heard": heard,
        "n_turns": sum(row.turns for row in overview.rows),
        "first": min(dates, key=lambda date: date.first),
        "last": max(dates, key=lambda date: date.last),
        "warnings": warnings_of(overview.script),
        "records": sessions.counts_of(dialogue),
        "parts": _continuations(dialogue),
        "n_maps": len(overview.script.names),
        "sets": [
            (called(question_set), question_set)
            for question_set in dialogue.corpus.question_sets.order_by("name", "-version")
        ],
    }


def _continuations(dialogue: Dialogue) -> list[tuple[Continuation, str]]:
    """Return the continuations of a script, each with its condition in words."""
    rows = dialogue.continuations.exclude(key=SELF).select_related("system").order_by("id")
    return [(row, _condition(row)) for row in rows]


def _condition(row: Continuation) -> str:
    return ", ".join(
        f"{key} {value}" for key, value in row.condition.items() if value and key not in ("model", "set")
    )


def _line(overview: Overview, row: Row, records: dict[str, int], open_row: Row | None) -> dict[str, Any]:
    """Return the row of a session in the outline."""
    names = [overview.called(person) for person in row.people]
    others = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    return {
        "row": row,
        "session": row.session,
        "people": f"{', '.join(names[:NAMES_SHOWN]) or 'nobody'}{others}",
        "counts": [counted(row.turns, "turn"), *(counted(n, kind) for kind, n in records.items() if n)],
        "is_open": row == open_row,
    }


def _unfolded(overview: Overview, row: Row, request: HttpRequest) -> dict[str, Any]:
    """Return the contents of an unfolded session: its turns, facts and questions."""
    dialogue = overview.dialogue
    turns = list(sessions.turns_of(overview, row))
    speakers = dialogue_view.speakers(dialogue, turns)
    turn_number = row_id(request.GET.get("turn", ""))
    lines = [line._replace(heading="") for line in dialogue_view.lines(dialogue, turns, speakers)]
    cluster = f"{dialogue.key}/{row.session.season or row.session.id}"
    locked = splits.unopened(dialogue.corpus).filter(cluster=cluster).exists()
    return {
        "row": row,
        "session": row.session,
        "listed": [overview.called(person) for person in row.session.present],
        "lines": lines,
        "rated": turn_number - 1 if turn_number else None,
        "noted": {} if locked else of_turns([turn.pk for turn in turns]),
        "facts": [
            (fact, fact.content.get("turns") or []) for fact in sessions.facts_in(dialogue, row.session.id)
        ],
        "questions": [
            (question, _about_question(question))
            for question in sessions.questions_on(dialogue, row.session.id)[:TURNS_SHOWN]
        ],
        "place": _place(row.session),
        "beside": [(overview.row(row.number - 1), "prev"), (overview.row(row.number + 1), "next")],
    }


def _about_question(question: Record) -> str:
    """Return a question's key, source and status, and the number of the other sessions that answer it."""
    others = len(question.content["evidence"]) - 1
    more = f", with {counted(others, 'more session')}" if others > 0 else ""
    return f"{question.key}, {question.content['source']}, {question.status}{more}"


def _place(session: Session) -> str:
    """Return the season, episode and scene of a session, as far as it has them."""
    names = ("season", "episode", "scene")
    return " ".join(f"{name.capitalize()} {value}." for name in names if (value := getattr(session, name)))


def _search_results(request: HttpRequest, overview: Overview, search: dict[str, str]) -> dict[str, Any]:
    """Return a page of the turns with the text and the speaker."""
    turns = sessions.find_turns(overview, words=search["text"], speaker=search["speaker"])
    page = Paginator(turns, TURNS_SHOWN).get_page(request.GET.get("page"))
    return {"page": page, "turns": [_hit(overview, turn) for turn in page], "searched": True}


def _hit(overview: Overview, turn: Turn) -> dict[str, Any]:
    return {
        "turn": turn,
        "number": turn.position + 1,
        "speaker": overview.called(turn.speaker),
        "row": overview.at(turn.position),
    }


# Name maps of a script: versions made from a seed or written.

ARROW = "->"
LONGEST = 100_000


class MakeForm(forms.Form):
    """Input of a name map made from a seed."""

    kind = forms.ChoiceField(choices=[(kind, kind) for kind in KINDS], label="Names")
    seed = form_field(SEED, required=True, initial=0)
    cast = forms.CharField(
        max_length=2000,
        required=False,
        label="Main cast",
        help_text=f"Whose names are swapped, with commas; empty: the {CAST} who say most.",
    )
    people = forms.CharField(
        max_length=LONGEST,
        required=False,
        label="Genders and nicknames",
        widget=forms.Textarea(attrs={"rows": 4, "class": "code"}),
        help_text="A line a person, such as “Ana: female; Annie, Ms Lane”. Who has no gender gets a name "
        "that tells none.",
    )
    kept = forms.CharField(
        max_length=LONGEST,
        required=False,
        label="Stay as they are",
        widget=forms.Textarea(attrs={"rows": 2, "class": "code"}),
        help_text="Other people of the same first name and titles of works, a line each.",
    )


class WriteForm(forms.Form):
    """A name map written by hand."""

    kind = forms.ChoiceField(choices=[(kind, kind) for kind in KINDS], widget=forms.HiddenInput)
    pairs = forms.CharField(
        max_length=LONGEST,
        label="Names",
        widget=forms.Textarea(attrs={"rows": 14, "class": "code", "dir": "auto"}),
        help_text=f"A line each, such as “Ana {ARROW} Eva”. Both have as many words.",
    )
    kept = forms.CharField(
        max_length=LONGEST,
        required=False,
        label="Stay as they are",
        widget=forms.Textarea(attrs={"rows": 3, "class": "code", "dir": "auto"}),
    )


@require_http_methods(["GET", "POST"])
@researcher_only
def name_maps(request: HttpRequest, pk: int, dialogue: int) -> HttpResponse:
    """Researchers: the versions of a script's name maps; make a version from a seed, or write one."""
    script_row = access.script(pk, dialogue)
    selected_map = _requested_map(request, script_row)
    if request.method == "GET":
        return _names_page(request, script_row, selected_map)
    is_made = request.POST.get("do") == "make"
    form: forms.Form = MakeForm(request.POST) if is_made else WriteForm(request.POST)
    if form.is_valid():
        try:
            saved = _make(request, script_row, form) if is_made else _write(request, script_row, form)
        except ScriptRefused as refused:
            add_refusal(form, refused, "people" if refused.field in ("genders", "aliases") else "")
        else:
            messages.success(request, f"Version {saved.version} of the {saved.kind} names is kept.")
            address = reverse("name-maps", args=[pk, dialogue])
            return redirect(f"{address}?names={saved.kind}:{saved.version}")
    bound_form = {"make": form} if is_made else {"write": form}
    return _names_page(request, script_row, selected_map, status=422, **bound_form)


def _requested_map(request: HttpRequest, dialogue: Dialogue) -> NameMap | None:
    """Return the map that the address names, else the newest of the first kind; 404 for an unknown name."""
    by_name = {f"{name_map.kind}:{name_map.version}": name_map for name_map in maps_of(dialogue)}
    name = request.GET.get("names", "")
    if name and name not in by_name:
        raise Http404
    return by_name[name] if name else next(iter(by_name.values()), None)


def _make(request: HttpRequest, dialogue: Dialogue, form: forms.Form) -> NameMap:
    data = form.cleaned_data
    genders, aliases = _people(data["people"])
    return make_names(
        dialogue=dialogue,
        kind=data["kind"],
        seed=data["seed"],
        cast=[name.strip() for name in data["cast"].split(",") if name.strip()],
        kept=_lines(data["kept"]),
        genders=genders,
        aliases=aliases,
        by=user_of(request),
    )


def _people(text: str) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Read genders and nicknames from lines such as `Ana: female; Annie, Ms Lane`; raise ScriptRefused."""
    genders: dict[str, str] = {}
    aliases: dict[str, list[str]] = {}
    for line in _lines(text):
        name, colon, rest = line.partition(":")
        gender, _, names = rest.partition(";")
        if not colon or not name.strip():
            raise ScriptRefused(f"{line[:80]!r} is not like “Ana: female; Annie, Ms Lane”.", field="genders")
        if gender.strip():
            genders[name.strip()] = gender.strip()
        aliases[name.strip()] = [alias.strip() for alias in names.split(",") if alias.strip()]
    return genders, aliases


def _write(request: HttpRequest, dialogue: Dialogue, form: forms.Form) -> NameMap:
    data = form.cleaned_data
    pairs = []
    for line in _lines(data["pairs"]):
        old, arrow, new = line.partition(ARROW)
        if not arrow:
            raise ScriptRefused(f"{line[:80]!r} is not like “Ana {ARROW} Eva”.", field="pairs")
        pairs.append((old.strip(), new.strip()))
    return save_names(
        dialogue=dialogue, kind=data["kind"], pairs=pairs, kept=_lines(data["kept"]), by=user_of(request)
    )


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _names_page(
    request: HttpRequest,
    dialogue: Dialogue,
    selected_map: NameMap | None,
    *,
    status: int = 200,
    **bound_forms: forms.Form,
) -> HttpResponse:
    context: dict[str, Any] = {
        "dialogue": dialogue,
        "corpus": dialogue.corpus,
        "maps": maps_of(dialogue),
        "selected": selected_map,
        "make": bound_forms.get("make") or MakeForm(auto_id="make_%s"),
        "write": bound_forms.get("write")
        or (WriteForm(initial=_initial_names(selected_map)) if selected_map else None),
        "write_open": "write" in bound_forms,
    }
    return render(request, "long_dialogue/script_names.html", context, status=status)


def _initial_names(names: NameMap) -> dict[str, str]:
    return {
        "kind": names.kind,
        "pairs": "\n".join(f"{old} {ARROW} {new}" for old, new in names.pairs),
        "kept": "\n".join(names.kept),
    }


# Changing a session's date, place and people; the page lists all versions.


class SessionForm(forms.Form):
    """Date, place and people of a session, and the reason for the change."""

    date = forms.CharField(
        max_length=DATE_LIMIT, label="Date", help_text="1994-09-22; 1994-09 or 1994 where no more is known."
    )
    place = forms.CharField(max_length=NAME_LIMIT, required=False, label="Place")
    present = forms.CharField(
        max_length=5000,
        required=False,
        label="Also present",
        help_text="Who is there without a word, by name, with commas. Who speaks is there anyway.",
    )
    kind = forms.ChoiceField(choices=[("", "choose"), *REASONS.items()], label="Reason")
    reason = forms.CharField(
        max_length=NOTE_LIMIT,
        required=False,
        label="In words",
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Such as “Ben says that tomorrow is Thanksgiving”.",
    )
    seen = forms.IntegerField(widget=forms.HiddenInput, required=False)


@require_http_methods(["GET", "POST"])
@researcher_only
def edit_session(request: HttpRequest, pk: int, dialogue: int, number: int) -> HttpResponse:
    """Researchers: change the date, place or people of a session; all versions stay listed."""
    overview = sessions.overview(access.script(pk, dialogue))
    row = overview.row(number)
    if row is None:
        raise Http404
    if request.method == "GET":
        return _session_page(request, overview, row, SessionForm(initial=_initial(overview, row)))
    form = SessionForm(request.POST)
    if not form.is_valid():
        return _session_page(request, overview, row, form, status=422)
    try:
        changed = _change(request, overview, row, form.cleaned_data)
    except ScriptRefused as refused:
        add_refusal(form, refused)
        return _session_page(
            request, overview, row, _with_current_version(request, form, overview, row), status=422
        )
    _add_messages(request, changed)
    return redirect(f"{reverse('script', args=[pk, dialogue])}?session={number}#session-{number}")


def _change(request: HttpRequest, overview: Overview, row: Row, data: dict[str, Any]) -> Changed:
    return change_session(
        dialogue=overview.dialogue,
        session=row.session.id,
        date=data["date"],
        place=data["place"],
        present=data["present"].split(","),
        kind=data["kind"],
        reason=data["reason"],
        seen=data["seen"],
        by=user_of(request),
    )


def _with_current_version(
    request: HttpRequest, form: SessionForm, overview: Overview, row: Row
) -> SessionForm:
    """Return the form with the current version as seen, so that saving again overrides the other change."""
    posted = request.POST.copy()
    posted["seen"] = str(_initial(overview, row)["seen"])
    form.data = posted
    return form


def _add_messages(request: HttpRequest, changed: Changed) -> None:
    messages.success(request, "The session is changed.")
    for warning in changed.warnings:
        messages.warning(request, warning)
    for question_set in changed.stale:
        messages.warning(request, f"Question set {question_set}: {question_set.stale}")


def _initial(overview: Overview, row: Row) -> dict[str, Any]:
    versions = versions_of(overview.dialogue, row.session)
    return {
        "date": str(row.session.date),
        "place": row.session.place,
        "present": ", ".join(overview.called(person) for person in row.session.present),
        "seen": versions[0]["version"] if versions else 1,
    }


def _session_page(
    request: HttpRequest, overview: Overview, row: Row, form: SessionForm, *, status: int = 200
) -> HttpResponse:
    turns = list(sessions.turns_of(overview, row))
    speakers = dialogue_view.speakers(overview.dialogue, turns)
    versions = versions_of(overview.dialogue, row.session)
    for version in versions:
        version["names"] = ", ".join(overview.called(person) for person in version["present"])
    context = {
        "dialogue": overview.dialogue,
        "corpus": overview.dialogue.corpus,
        "language": language_tag(overview.dialogue.language),
        "row": row,
        "session": row.session,
        "before": overview.row(row.number - 1),
        "after": overview.row(row.number + 1),
        "speakers": [overview.called(person) for person in row.people[: row.speakers]],
        "lines": [
            line._replace(heading="") for line in dialogue_view.lines(overview.dialogue, turns, speakers)
        ],
        "versions": versions,
        "form": form,
    }
    return render(request, "long_dialogue/script_session.html", context, status=status)
