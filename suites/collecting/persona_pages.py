"""Pages of personas: inventories, draws, reviews, and the dialogues made of them. Researchers only."""

from __future__ import annotations

import json
import re
from typing import Any

from django import forms
from django.contrib import messages
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import URLPattern, path, reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.models import Campaign
from calibration.reports.wording import counted
from config.files import file_response
from config.listing import Column, Listing, natural
from config.permissions import researcher_only, user_of
from jobs.endpoints.parameter_inputs import form_field
from suites.collecting import access, inventory_actions, models, persona_actions
from suites.collecting.errors import PersonasRefused
from suites.collecting.inventories import (
    COLUMNS,
    JOIN,
    MOST_BYTES,
    OLDEST,
    SLOT_TITLES,
    SLOTS,
    Family,
    Head,
    InventoryProblem,
    NameList,
    family_record,
    head_record,
    inventory_json,
    names_record,
)
from suites.collecting.models import LONGEST_NAME, Persona, PersonaHead
from suites.collecting.persona_actions import COUNT, PARTICIPANTS, SEED, USES, Applied
from suites.collecting.persona_text import RULE_TITLES
from suites.collecting.personas import Outcome, sentences_of

# Inventories: a list, with the form of an import.


class ImportForm(forms.Form):
    """The file of an inventory, and its name."""

    name = forms.CharField(max_length=LONGEST_NAME, label="Name")
    file = forms.FileField(
        label="File",
        widget=forms.FileInput(attrs={"accept": ".csv,.json"}),
    )


INVENTORIES = Listing(
    Column("Inventory", natural("name")),
    Column("Heads", "head_count", is_numeric=True),
    Column("Negative", "negative_count", is_numeric=True),
    Column("Draws"),
    search=("name",),
)


@require_GET
@researcher_only
def personas(request: HttpRequest) -> HttpResponse:
    """Researchers: all inventories, each with its draws."""
    rows = models.Inventory.objects.prefetch_related("sets").annotate(
        head_count=Count("heads"), negative_count=Count("heads", filter=Q(heads__negative=True))
    )
    page = INVENTORIES.page(request, rows.order_by("name"))
    return render(request, "collecting/personas.html", {"page": page})


@require_http_methods(["GET", "POST"])
@researcher_only
def import_personas(request: HttpRequest) -> HttpResponse:
    """Researchers: import an inventory from a file."""
    form = ImportForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        file = form.cleaned_data["file"]
        try:
            stored = inventory_actions.create(
                by=user_of(request),
                name=form.cleaned_data["name"],
                inventory=inventory_actions.read_file(file.name, file.read(MOST_BYTES + 1)),
            )
        except PersonasRefused as refused:
            form.add_error(refused.field or None, str(refused))
        else:
            return redirect("persona-inventory", stored.pk)
    lead = f"CSV with the columns {', '.join(COLUMNS)}, or JSON with heads, names and families."
    return _form_page(request, form, "Import an inventory", lead, "Import", reverse("personas"))


def _form_page(
    request: HttpRequest, form: forms.Form, title: str, lead: str, action: str, back: str
) -> HttpResponse:
    context = {"form": form, "title": title, "lead": lead, "action": action, "back": back}
    return render(request, "accounts/form.html", context, status=422 if form.errors else 200)


# One inventory: what it lacks, its heads, and a draw.


class DrawForm(forms.Form):
    """A draw from an inventory."""

    name = forms.CharField(
        max_length=LONGEST_NAME, label="Name", help_text="Also of the corpus in which they are reviewed."
    )
    count = form_field(COUNT, required=True, initial=20)
    seed = form_field(SEED, required=True, initial=0)


HEADS = Listing(
    Column("Head", natural("text")),
    Column("Ages", "start_age"),
    Column("Genders"),
    Column("Slots with tails", is_numeric=True),
    Column("Impression", "negative"),
    search=("text",),
    tie="number",
)


@require_GET
@researcher_only
def persona_inventory(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: the heads of an inventory, and what it lacks for draws."""
    inventory = access.inventory(pk)
    context = {
        "inventory": inventory,
        "gaps": inventory_actions.inventory_of(inventory).gaps()[:10],
        "page": HEADS.page(request, inventory.heads.order_by("number")),
        "sets": inventory.sets.all(),
    }
    return render(request, "collecting/inventory.html", context)


@require_http_methods(["GET", "POST"])
@researcher_only
def draw_personas(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: draw personas from an inventory."""
    inventory = access.inventory(pk)
    form = DrawForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            persona_set = persona_actions.draw_set(
                by=user_of(request), inventory=inventory, **form.cleaned_data
            )
        except PersonasRefused as refused:
            form.add_error(refused.field or None, str(refused))
        else:
            return redirect("persona-set", persona_set.pk)
    lead = "Each has two heads, with a tail for each slot. Negative heads are skipped."
    return _form_page(request, form, "Draw personas", lead, "Draw", reverse("persona-inventory", args=[pk]))


@require_GET
@researcher_only
def persona_inventory_file(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Researchers: an inventory as JSON, as it is imported again."""
    inventory = access.inventory(pk)
    text = json.dumps(inventory_json(inventory_actions.inventory_of(inventory)), ensure_ascii=False, indent=1)
    return file_response([text, "\n"], media_type="application/json", name=f"inventory-{pk}.json")


@require_POST
@researcher_only
def remove_persona_inventory(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: remove an inventory from which nothing was drawn."""
    inventory = access.inventory(pk)
    try:
        inventory_actions.remove(by=user_of(request), inventory=inventory)
    except PersonasRefused as refused:
        messages.error(request, str(refused))
        return redirect("persona-inventory", pk)
    return redirect("personas")


class HeadForm(forms.Form):
    """A head: its sentence, ages and genders, its tails, one a line in each slot, and whether it goes."""

    text = forms.CharField(max_length=300, label="Head", help_text="Such as: I repair bicycles.")
    start_age = forms.IntegerField(min_value=0, max_value=OLDEST, label="From age")
    end_age = forms.IntegerField(min_value=0, max_value=OLDEST, label="To age")
    genders = forms.CharField(label="Genders", help_text=f"With {JOIN} between two.")
    negative = forms.BooleanField(
        required=False, label="Makes a negative impression", help_text="Draws skip it."
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for slot in SLOTS:
            self.fields[slot] = forms.CharField(
                required=False,
                label=SLOT_TITLES[slot],
                widget=forms.Textarea(attrs={"rows": 2, "dir": "auto"}),
            )
        if self.initial:
            self.fields["remove"] = forms.BooleanField(required=False, label="Remove this head")

    def head(self) -> Head:
        """Return the head of a valid form. Raises InventoryProblem."""
        data = self.cleaned_data
        row = {name: data[name] for name in ("text", "start_age", "end_age", "negative")}
        row["genders"] = [gender for gender in data["genders"].split(JOIN) if gender.strip()]
        row["tails"] = {slot: [line for line in data[slot].splitlines() if line.strip()] for slot in SLOTS}
        return head_record(row)


@require_http_methods(["GET", "POST"])
@researcher_only
def new_persona_head(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: add a head to an inventory."""
    return _head_page(request, access.inventory(pk), None)


@require_http_methods(["GET", "POST"])
@researcher_only
def persona_head(request: HttpRequest, pk: int, number: int) -> HttpResponse:
    """Researchers: change a head, or remove it."""
    head = access.persona_head(pk, number)
    if request.method == "POST" and request.POST.get("remove"):
        inventory_actions.remove_head(by=user_of(request), head=head)
        return redirect("persona-inventory", pk)
    return _head_page(request, head.inventory, head)


def _head_page(request: HttpRequest, inventory: models.Inventory, head: PersonaHead | None) -> HttpResponse:
    form = HeadForm(request.POST or None, initial={} if head is None else _head_values(head))
    if request.method == "POST" and form.is_valid():
        try:
            inventory_actions.save_head(
                by=user_of(request),
                inventory=inventory,
                head=form.head(),
                number=None if head is None else head.number,
            )
        except (PersonasRefused, InventoryProblem) as refused:
            name = refused.field.removeprefix("tails.")
            reason = refused.reason if isinstance(refused, InventoryProblem) else str(refused)
            form.add_error(name if name in form.fields else None, reason)
        else:
            return redirect("persona-inventory", inventory.pk)
    title = "Add a head" if head is None else head.text
    lead = f"Inventory {inventory.name}. Personas drawn before stay as they are."
    return _form_page(request, form, title, lead, "Save", reverse("persona-inventory", args=[inventory.pk]))


def _head_values(head: PersonaHead) -> dict[str, Any]:
    values = {name: getattr(head, name) for name in ("text", "start_age", "end_age", "negative")}
    tails = {slot: "\n".join(texts) for slot, texts in head.tails.items()}
    return values | tails | {"genders": f"{JOIN} ".join(head.genders)}


_NAMES_LINE = re.compile(r"(\d{1,3})\s+([^:]+):(.*)")
_FAMILY_LINE = re.compile(r"(\d{1,3})\s*[-–]\s*(\d{1,3}):(.*)")


class TextsForm(forms.Form):
    """Given names and family sentences, one list or sentence a line."""

    names = forms.CharField(
        label="Given names",
        widget=forms.Textarea(attrs={"rows": 10, "dir": "auto"}),
        help_text="One list a line: youngest age, gender and names, such as “30 female: Mara, Nora”.",
    )
    families = forms.CharField(
        label="Family sentences",
        widget=forms.Textarea(attrs={"rows": 10, "dir": "auto"}),
        help_text="One a line with its ages, such as “20-50: I have a dog.”. <n> becomes 2, 3 or 4.",
    )

    def clean_names(self) -> list[NameList]:
        """Return the lists of names, each refused with its line."""
        rows = []
        for line, match in _matches(self.cleaned_data["names"], _NAMES_LINE, "30 female: Mara, Nora"):
            names = [name for name in match[3].split(",") if name.strip()]
            row = {"generation": match[1], "gender": match[2], "names": names}
            rows.append(_record(names_record, row, line))
        return rows

    def clean_families(self) -> list[Family]:
        """Return the family sentences, each refused with its line."""
        return [
            _record(family_record, {"start_age": match[1], "end_age": match[2], "text": match[3]}, line)
            for line, match in _matches(self.cleaned_data["families"], _FAMILY_LINE, "20-50: I have a dog.")
        ]


def _matches(text: str, pattern: re.Pattern[str], example: str) -> list[tuple[int, re.Match[str]]]:
    matches = []
    for line, content in enumerate(text.splitlines(), start=1):
        if not content.strip():
            continue
        match = pattern.fullmatch(content.strip())
        if match is None:
            raise forms.ValidationError(f"Line {line} is not of the form “{example}”.")
        matches.append((line, match))
    return matches


def _record(read: Any, row: dict[str, Any], line: int) -> Any:
    try:
        return read(row)
    except InventoryProblem as problem:
        raise forms.ValidationError(f"Line {line}, {problem.field}: {problem.reason}") from None


@require_http_methods(["GET", "POST"])
@researcher_only
def persona_texts(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: change the given names and the family sentences of an inventory."""
    inventory = access.inventory(pk)
    record = inventory_actions.inventory_of(inventory)
    initial = {
        "names": "\n".join(f"{row.generation} {row.gender}: {', '.join(row.names)}" for row in record.names),
        "families": "\n".join(f"{row.start_age}-{row.end_age}: {row.text}" for row in record.families),
    }
    form = TextsForm(request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        try:
            inventory_actions.change_texts(by=user_of(request), inventory=inventory, **form.cleaned_data)
        except PersonasRefused as refused:
            form.add_error(refused.field or None, str(refused))
        else:
            return redirect("persona-inventory", pk)
    title = "Names and family sentences"
    lead = f"Inventory {inventory.name}. Personas drawn before stay as they are."
    return _form_page(request, form, title, lead, "Save", reverse("persona-inventory", args=[pk]))


# One draw: its personas, their reviews, and dialogues made of them.


class DialoguesForm(forms.Form):
    """Dialogues without turns to make of a set's personas."""

    name = forms.CharField(max_length=LONGEST_NAME, label="Name of the corpus")
    participants = form_field(PARTICIPANTS, required=True, initial=2)
    uses = form_field(USES, required=True, initial=1)
    seed = form_field(SEED, required=True, initial=0)


PERSONAS = Listing(
    Column("Name", "name"),
    Column("Number", "number", is_numeric=True),
    Column("Age", "age", is_numeric=True),
    Column("State", "status"),
    Column("To decide"),
    Column("Sentences"),
    search=("name", "status", "sentences"),
    tie="number",
)


@require_GET
@researcher_only
def persona_set(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: the personas of a draw, and the outcome that applying their reviews would have."""
    persona_set = access.persona_set(pk)
    states = dict(persona_set.personas.order_by().values_list("status").annotate(n=Count("pk")))
    preview = persona_actions.preview_reviews(persona_set)
    outcomes = {persona.pk: result for persona, result in preview.outcomes}
    page = PERSONAS.page(request, persona_set.personas.order_by("number"))
    context = {
        "set": persona_set,
        "page": page,
        "rows": [(row, _to_decide(row, outcomes.get(row.pk))) for row in page],
        "facts": [
            *((state.capitalize(), f"{states.get(state, 0):,}") for state in Persona.Status.values),
            ("Reviews to apply", _counts(preview) if preview.outcomes else ""),
            ("Heads to mark as negative", len(preview.negative_heads) or ""),
        ],
        "usable": sum(states.get(state, 0) for state in persona_actions.USABLE),
        "preview": preview,
        "campaigns": Campaign.objects.filter(corpus=persona_set.corpus, archived_at=None).order_by("-pk"),
        "dialogues": persona_set.dialogues.order_by("name"),
    }
    return render(request, "collecting/set.html", context)


def _to_decide(persona: Persona, result: Outcome | None) -> str:
    """Return what a draft waits for: the outcome of its reviews, or what rules flagged."""
    if persona.status != Persona.Status.DRAFT:
        return ""
    if result is not None:
        return f"{result.decision}: {result.reason}" if result.reason else result.decision
    return "; ".join(RULE_TITLES[flag["rule"]] for flag in persona.flags)


def _counts(applied: Applied) -> str:
    return ", ".join(f"{n:,} {decision}" for decision, n in applied.counts.items())


@require_POST
@researcher_only
def review_personas(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: create the draft of the campaign in which people review the personas."""
    campaign = persona_actions.create_review(by=user_of(request), persona_set=access.persona_set(pk))
    messages.info(request, "The review is a draft: add two people, then open it.")
    return redirect("campaign", campaign.pk)


@require_POST
@researcher_only
def apply_persona_reviews(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: apply the reviews on which people agree."""
    applied = persona_actions.apply_reviews(by=user_of(request), persona_set=access.persona_set(pk))
    heads = counted(len(applied.negative_heads), "head")
    messages.success(request, f"{_counts(applied)}; {heads} marked as negative.")
    return redirect("persona-set", pk)


@require_http_methods(["GET", "POST"])
@researcher_only
def persona_dialogues(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: make a corpus of dialogues without turns of the accepted personas."""
    persona_set = access.persona_set(pk)
    form = DialoguesForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            result = persona_actions.make_dialogues(
                by=user_of(request), persona_set=persona_set, **form.cleaned_data
            )
        except PersonasRefused as refused:
            form.add_error(refused.field or None, str(refused))
        else:
            numbers = ", ".join(map(str, result.rest))
            rest = f" In fewer dialogues than the others: {numbers}." if numbers else ""
            messages.success(request, f"{counted(result.dialogues, 'dialogue')} made.{rest}")
            return redirect("corpus", result.corpus.name)
    lead = "Of accepted and corrected personas. Participants carry the sentences as their profile."
    return _form_page(request, form, "Make dialogues", lead, "Make", reverse("persona-set", args=[pk]))


class PersonaForm(forms.Form):
    """A decision on a persona, with its sentences where they are corrected, beside those that were drawn."""

    original = forms.CharField(
        required=False,
        disabled=True,
        label="As drawn",
        widget=forms.Textarea(attrs={"rows": 12, "dir": "auto"}),
    )
    status = forms.ChoiceField(
        label="Decision",
        choices=[
            ("accepted", "accepted as drawn"),
            ("corrected", "corrected, with the sentences below"),
            ("rejected", "rejected"),
        ],
    )
    sentences = forms.CharField(
        required=False,
        label="Sentences",
        widget=forms.Textarea(attrs={"rows": 12, "dir": "auto"}),
        help_text="One a line. They count where the decision is corrected.",
    )


@require_http_methods(["GET", "POST"])
@researcher_only
def persona(request: HttpRequest, pk: int, number: int) -> HttpResponse:
    """Researchers: a persona with what rules flagged and how it was filtered; decide on it."""
    row = access.persona(pk, number)
    initial = {
        "original": "\n".join(row.original),
        "status": "accepted" if row.status == "draft" else row.status,
        "sentences": "\n".join(row.sentences),
    }
    form = PersonaForm(request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        try:
            persona_actions.decide(
                by=user_of(request),
                persona=row,
                status=form.cleaned_data["status"],
                sentences=sentences_of(form.cleaned_data["sentences"]),
            )
        except PersonasRefused as refused:
            form.add_error(refused.field or None, str(refused))
        else:
            return redirect("persona-set", pk)
    title = f"{row.name}, persona {row.number}"
    return _form_page(request, form, title, _persona_lead(row), "Save", reverse("persona-set", args=[pk]))


def _persona_lead(persona: Persona) -> str:
    """Return what is known of a persona: its state, its heads, what was flagged and what was replaced."""
    replaced = ", ".join(f"{word} to {new}" for word, new in persona.replaced)
    parts = [
        f"State: {persona.status}{f', {persona.reason}' if persona.reason else ''}.",
        *(f"Head: {head.text}." for head in (persona.first, persona.second) if head is not None),
        *(
            f"Possible contradiction, {RULE_TITLES[flag.rule]}: {flag.message}."
            for flag in persona_actions.current_flags(persona)
        ),
        f"Replaced: {replaced}." if replaced else "",
        f"Gendered words that stay: {', '.join(persona.remaining)}." if persona.remaining else "",
    ]
    return " ".join(filter(None, parts))


urlpatterns: list[URLPattern] = [
    path("personas/", personas, name="personas"),
    path("personas/import/", import_personas, name="import-personas"),
    path("personas/inventories/<int:pk>/", persona_inventory, name="persona-inventory"),
    path("personas/inventories/<int:pk>/draw/", draw_personas, name="draw-personas"),
    path("personas/inventories/<int:pk>/file/", persona_inventory_file, name="persona-inventory-file"),
    path("personas/inventories/<int:pk>/remove/", remove_persona_inventory, name="remove-persona-inventory"),
    path("personas/inventories/<int:pk>/texts/", persona_texts, name="persona-texts"),
    path("personas/inventories/<int:pk>/heads/new/", new_persona_head, name="new-persona-head"),
    path("personas/inventories/<int:pk>/heads/<int:number>/", persona_head, name="persona-head"),
    path("personas/sets/<int:pk>/", persona_set, name="persona-set"),
    path("personas/sets/<int:pk>/review/", review_personas, name="review-personas"),
    path("personas/sets/<int:pk>/apply/", apply_persona_reviews, name="apply-persona-reviews"),
    path("personas/sets/<int:pk>/dialogues/", persona_dialogues, name="persona-dialogues"),
    path("personas/sets/<int:pk>/<int:number>/", persona, name="persona"),
]
