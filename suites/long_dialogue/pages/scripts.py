"""The page of a script: its sessions as an outline, one of them unfolded, and turns that are looked for."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from annotation import access
from annotation.corpora import dialogue_view, splits
from annotation.errors import ScriptRefused
from annotation.models import Turn
from annotation.models.corpora import Dialogue
from annotation.records import SELF
from annotation.script_records import FACT, QUESTION, NameMap
from annotation.text.display import language_tag
from annotation.work.notes import notes_of_turns as of_turns
from config.files import row_id
from config.permissions import researcher_only
from suites.long_dialogue.editing import sessions
from suites.long_dialogue.editing.export import Wanted, answer, called
from suites.long_dialogue.editing.name_maps import CAST, KINDS, make_names, maps_of, save_names
from suites.long_dialogue.editing.sessions import (
    NOTE_LIMIT,
    REASONS,
    Changed,
    Overview,
    Row,
    change_session,
    versions_of,
    warnings_of,
)

# Downloading a script in the native format.

NO_SETS = "none"


@require_GET
@researcher_only
def script_file(request: HttpRequest, pk: int, dialogue: int) -> HttpResponseBase:
    """Researchers: a script as a file; `sets` none leaves its question sets out, `set` names some."""
    found = access.script(pk, dialogue)
    sets = tuple(filter(None, request.GET.getlist("set"))) or None
    if request.GET.get("sets") == NO_SETS:
        sets = ()
    assert isinstance(request.user, User)
    wanted = Wanted(sets, bool(request.GET.get("continuations")))
    try:
        return answer(dialogue=found, wanted=wanted, by=request.user)
    except ScriptRefused as refused:
        messages.error(request, str(refused))
        return redirect("script", pk, dialogue)


SESSIONS_SHOWN = 50
TURNS_SHOWN = 100
NAMED = 6
"""So many people of a session are named in the outline, and the others counted."""
COUNTED = 5_000
"""Up to so many questions of a script, the outline says how many each session answers."""
ROOM = {"active_room": "corpora"}


@require_GET
@researcher_only
def script(request: HttpRequest, pk: int, dialogue: int) -> HttpResponse:
    """Researchers: a script's sessions, the chosen one (`session` or `turn`) unfolded; `text` and `speaker`
    look for turns."""
    seen = sessions.overview(access.script(pk, dialogue))
    chosen = _chosen(request, seen)
    asked = {name: request.GET.get(name, "").replace("\0", "").strip()[:200] for name in ("text", "speaker")}
    context = {
        **_about(seen),
        "asked": asked,
        "query": urlencode({key: value for key, value in asked.items() if value}) + "&",
        **ROOM,
    }
    if any(asked.values()):
        return render(request, "long_dialogue/script.html", context | _found(request, seen, asked))
    pages = Paginator(seen.rows, SESSIONS_SHOWN)
    number = request.GET.get("page")
    if number is None and chosen is not None:
        number = str((chosen.number - 1) // SESSIONS_SHOWN + 1)
    page = pages.get_page(number)
    kinds = (FACT, QUESTION) if context["records"][QUESTION] <= COUNTED else (FACT,)
    told = sessions.records_of(seen.dialogue, [row.session.id for row in page], kinds)
    context |= {
        "page": page,
        "query": "",
        "sessions": [_line(seen, row, told[row.session.id], chosen) for row in page],
        "opened": _unfolded(seen, chosen, request) if chosen is not None and chosen in list(page) else None,
    }
    return render(request, "long_dialogue/script.html", context)


@require_GET
@researcher_only
def session(request: HttpRequest, pk: int, dialogue: int, number: int) -> HttpResponse:
    """Researchers: the turns, facts and questions of one session, to be put into the outline."""
    found = access.script(pk, dialogue)
    if not request.htmx:  # type: ignore[attr-defined]
        return redirect(f"{reverse('script', args=[pk, dialogue])}?session={number}#session-{number}")
    seen = sessions.overview(found)
    row = seen.row(number)
    if row is None:
        raise Http404
    return render(
        request, "long_dialogue/_session.html", {"opened": _unfolded(seen, row, request), **_about(seen)}
    )


def _chosen(request: HttpRequest, seen: Overview) -> Row | None:
    """Return the session that the address names, by number or by one of its turns (from 1); else none."""
    if asked := row_id(request.GET.get("session", "")):
        row = seen.row(asked)
        if row is None:
            raise Http404
        return row
    if turn := row_id(request.GET.get("turn", "")):
        return seen.at(turn - 1)
    return None


def _about(seen: Overview) -> dict[str, Any]:
    """Return what stands at the head of the page."""
    found = seen.dialogue
    heard = sum(row.heard for row in seen.rows)
    dates = [row.session.date for row in seen.rows]
    return {
        "dialogue": found,
        "corpus": found.corpus,
        "language": language_tag(found.language),
        "main": seen.called(seen.script.main),
        "n_sessions": len(seen.rows),
        "n_heard": heard,
        "n_turns": sum(row.turns for row in seen.rows),
        "first": min(dates, key=lambda date: date.first),
        "last": max(dates, key=lambda date: date.last),
        "warnings": warnings_of(seen.script),
        "records": sessions.counts_of(found),
        "parts": _continuations(found),
        "n_maps": len(seen.script.names),
        "sets": [(called(one), one) for one in found.corpus.question_sets.order_by("name", "-version")],
    }


def _continuations(found: Dialogue) -> list[Any]:
    return list(found.continuations.exclude(key=SELF).select_related("system").order_by("id"))


def _line(seen: Overview, row: Row, records: dict[str, int], chosen: Row | None) -> dict[str, Any]:
    """Return a session as the outline shows it."""
    names = [seen.called(person) for person in row.there]
    return {
        "row": row,
        "session": row.session,
        "who": ", ".join(names[:NAMED]),
        "others": max(0, len(names) - NAMED),
        "facts": records[FACT],
        "questions": records[QUESTION],
        "is_open": row == chosen,
    }


def _unfolded(seen: Overview, row: Row, request: HttpRequest) -> dict[str, Any]:
    """Return what stands in an unfolded session: its turns, facts and questions."""
    found = seen.dialogue
    turns = list(sessions.turns_of(seen, row))
    who = dialogue_view.speakers(found, turns)
    asked = row_id(request.GET.get("turn", ""))
    lines = [line._replace(heading="") for line in dialogue_view.lines(found, turns, who)]
    cluster = f"{found.key}/{row.session.season or row.session.id}"
    locked = splits.unopened(found.corpus).filter(cluster=cluster).exists()
    return {
        "row": row,
        "session": row.session,
        "listed": [seen.called(person) for person in row.session.present],
        "lines": lines,
        "rated": asked - 1 if asked else None,
        "noted": {} if locked else of_turns([turn.pk for turn in turns]),
        "facts": [(one, one.content.get("turns") or []) for one in sessions.facts_in(found, row.session.id)],
        "questions": list(sessions.questions_on(found, row.session.id)[:TURNS_SHOWN]),
        "before": seen.row(row.number - 1),
        "after": seen.row(row.number + 1),
    }


def _found(request: HttpRequest, seen: Overview, asked: dict[str, str]) -> dict[str, Any]:
    """Return the turns that hold the words or are by the speaker, a page of them."""
    turns = sessions.looked_for(seen, words=asked["text"], speaker=asked["speaker"])
    page = Paginator(turns, TURNS_SHOWN).get_page(request.GET.get("page"))
    return {"page": page, "turns": [_hit(seen, turn) for turn in page], "searched": True}


def _hit(seen: Overview, turn: Turn) -> dict[str, Any]:
    return {
        "turn": turn,
        "number": turn.position + 1,
        "who": seen.called(turn.speaker),
        "row": seen.at(turn.position),
    }


# The page of a script's name maps: making versions from a seed, reading them, and writing new ones.

ARROW = "->"
LONGEST = 100_000


class MakeForm(forms.Form):
    """What a map is made from."""

    kind = forms.ChoiceField(choices=[(kind, kind) for kind in KINDS], label="Names")
    seed = forms.IntegerField(min_value=0, max_value=2**31 - 1, initial=0, label="Seed")
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
    """Names as somebody wrote them."""

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
    """Researchers: a script's other names by version; make one from a seed, or write the next."""
    found = access.script(pk, dialogue)
    chosen = _chosen_of_script_names(request, found)
    if request.method == "GET":
        return _page_of_script_names(request, found, chosen)
    is_made = request.POST.get("do") == "make"
    form: forms.Form = MakeForm(request.POST) if is_made else WriteForm(request.POST)
    if form.is_valid():
        try:
            kept = _make(request, found, form) if is_made else _write(request, found, form)
        except ScriptRefused as refused:
            field = "people" if refused.field in ("genders", "aliases") else refused.field
            form.add_error(field if field in form.fields else None, str(refused))
        else:
            messages.success(request, f"Version {kept.version} of the {kept.kind} names is kept.")
            address = reverse("name-maps", args=[pk, dialogue])
            return redirect(f"{address}?names={kept.kind}:{kept.version}")
    forms_told = {"make": form} if is_made else {"write": form}
    return _page_of_script_names(request, found, chosen, status=422, **forms_told)


def _chosen_of_script_names(request: HttpRequest, found: Dialogue) -> NameMap | None:
    """Return the map that the address names, else the newest of the first kind; 404 for none of that name."""
    there = {f"{one.kind}:{one.version}": one for one in maps_of(found)}
    asked = request.GET.get("names", "")
    if asked and asked not in there:
        raise Http404
    return there[asked] if asked else next(iter(there.values()), None)


def _make(request: HttpRequest, found: Dialogue, form: forms.Form) -> NameMap:
    told = form.cleaned_data
    genders, aliases = _people(told["people"])
    assert isinstance(request.user, User)
    return make_names(
        dialogue=found,
        kind=told["kind"],
        seed=told["seed"],
        cast=[name.strip() for name in told["cast"].split(",") if name.strip()],
        kept=_lines(told["kept"]),
        genders=genders,
        aliases=aliases,
        by=request.user,
    )


def _people(text: str) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Return genders and nicknames of lines such as `Ana: female; Annie, Ms Lane`."""
    genders: dict[str, str] = {}
    aliases: dict[str, list[str]] = {}
    for line in _lines(text):
        name, colon, rest = line.partition(":")
        gender, _, names = rest.partition(";")
        if not colon or not name.strip():
            raise ScriptRefused(f"{line[:80]!r} is not like “Ana: female; Annie, Ms Lane”.", field="genders")
        if gender.strip():
            genders[name.strip()] = gender.strip()
        aliases[name.strip()] = [one.strip() for one in names.split(",") if one.strip()]
    return genders, aliases


def _write(request: HttpRequest, found: Dialogue, form: forms.Form) -> NameMap:
    told = form.cleaned_data
    pairs = []
    for line in _lines(told["pairs"]):
        old, arrow, new = line.partition(ARROW)
        if not arrow:
            raise ScriptRefused(f"{line[:80]!r} is not like “Ana {ARROW} Eva”.", field="pairs")
        pairs.append((old.strip(), new.strip()))
    assert isinstance(request.user, User)
    return save_names(
        dialogue=found, kind=told["kind"], pairs=pairs, kept=_lines(told["kept"]), by=request.user
    )


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _page_of_script_names(
    request: HttpRequest, found: Dialogue, chosen: NameMap | None, *, status: int = 200, **told: forms.Form
) -> HttpResponse:
    context: dict[str, Any] = {
        "dialogue": found,
        "corpus": found.corpus,
        "maps": maps_of(found),
        "chosen": chosen,
        "make": told.get("make") or MakeForm(auto_id="make_%s"),
        "write": told.get("write") or (WriteForm(initial=_written(chosen)) if chosen else None),
        "write_open": "write" in told,
        **ROOM,
    }
    return render(request, "long_dialogue/script_names.html", context, status=status)


def _written(names: NameMap) -> dict[str, str]:
    return {
        "kind": names.kind,
        "pairs": "\n".join(f"{old} {ARROW} {new}" for old, new in names.pairs),
        "kept": "\n".join(names.kept),
    }


# The page on which a session's date, place and people are changed, with what was said of it before.


class SessionForm(forms.Form):
    """What is said of a session, and why it is changed."""

    date = forms.CharField(
        max_length=20, label="Date", help_text="1994-09-22; 1994-09 or 1994 where no more is known."
    )
    place = forms.CharField(max_length=200, required=False, label="Place")
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
    """Researchers: change the date, place or people of a session; all that was said of it stays listed."""
    seen = sessions.overview(access.script(pk, dialogue))
    row = seen.row(number)
    if row is None:
        raise Http404
    if request.method == "GET":
        return _page(request, seen, row, SessionForm(initial=_initial(seen, row)))
    form = SessionForm(request.POST)
    if not form.is_valid():
        return _page(request, seen, row, form, status=422)
    try:
        changed = _change(request, seen, row, form.cleaned_data)
    except ScriptRefused as refused:
        form.add_error(refused.field if refused.field in form.fields else None, str(refused))
        return _page(request, seen, row, _having_seen(request, form, seen, row), status=422)
    _tell(request, changed)
    return redirect(f"{reverse('script', args=[pk, dialogue])}?session={number}#session-{number}")


def _change(request: HttpRequest, seen: Overview, row: Row, told: dict[str, Any]) -> Changed:
    assert isinstance(request.user, User)
    return change_session(
        dialogue=seen.dialogue,
        session=row.session.id,
        date=told["date"],
        place=told["place"],
        present=told["present"].split(","),
        kind=told["kind"],
        reason=told["reason"],
        seen=told["seen"],
        by=request.user,
    )


def _having_seen(request: HttpRequest, form: SessionForm, seen: Overview, row: Row) -> SessionForm:
    """Return the form of whoever was told of another's change: saving again puts theirs on top."""
    told = request.POST.copy()
    told["seen"] = str(_initial(seen, row)["seen"])
    form.data = told
    return form


def _tell(request: HttpRequest, changed: Changed) -> None:
    messages.success(request, "The session is changed.")
    for warning in changed.warnings:
        messages.warning(request, warning)
    for one in changed.stale:
        messages.warning(request, f"Question set {one}: {one.stale}")


def _initial(seen: Overview, row: Row) -> dict[str, Any]:
    versions = versions_of(seen.dialogue, row.session)
    return {
        "date": str(row.session.date),
        "place": row.session.place,
        "present": ", ".join(seen.called(person) for person in row.session.present),
        "seen": versions[0]["version"] if versions else 1,
    }


def _page(
    request: HttpRequest, seen: Overview, row: Row, form: SessionForm, *, status: int = 200
) -> HttpResponse:
    turns = list(sessions.turns_of(seen, row))
    who = dialogue_view.speakers(seen.dialogue, turns)
    versions = versions_of(seen.dialogue, row.session)
    for version in versions:
        version["names"] = ", ".join(seen.called(person) for person in version["present"])
    context = {
        "dialogue": seen.dialogue,
        "corpus": seen.dialogue.corpus,
        "language": language_tag(seen.dialogue.language),
        "row": row,
        "session": row.session,
        "before": seen.row(row.number - 1),
        "after": seen.row(row.number + 1),
        "speakers": [seen.called(person) for person in row.there[: row.speakers]],
        "lines": [line._replace(heading="") for line in dialogue_view.lines(seen.dialogue, turns, who)],
        "versions": versions,
        "form": form,
        **ROOM,
    }
    return render(request, "long_dialogue/script_session.html", context, status=status)
