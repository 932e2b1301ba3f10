"""The page of a script's name maps: making versions from a seed, reading them, and writing new ones."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from annotation import access
from annotation.errors import ScriptRefused
from annotation.models import Dialogue
from annotation.pages.scripts import ROOM
from annotation.script_editing.name_maps import CAST, KINDS, make_names, maps_of, save_names
from annotation.scripts.records import NameMap
from config.permissions import researcher_only

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
    chosen = _chosen(request, found)
    if request.method == "GET":
        return _page(request, found, chosen)
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
    return _page(request, found, chosen, status=422, **forms_told)


def _chosen(request: HttpRequest, found: Dialogue) -> NameMap | None:
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


def _page(
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
    return render(request, "corpora/script_names.html", context, status=status)


def _written(names: NameMap) -> dict[str, str]:
    return {
        "kind": names.kind,
        "pairs": "\n".join(f"{old} {ARROW} {new}" for old, new in names.pairs),
        "kept": "\n".join(names.kept),
    }
