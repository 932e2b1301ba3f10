"""The HTTP API of personas: inventories, draws, reviews and dialogues. Researchers only."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.urls import URLPattern, path
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

from annotation.models import Campaign
from config import api
from config.lists import Filters, one_of
from jobs.endpoints.parameter_inputs import serializer_field
from suites.collecting import access, inventory_actions, models, persona_actions
from suites.collecting.inventories import (
    LONGEST_GENDER,
    LONGEST_TEXT,
    MOST_BYTES,
    MOST_TEXTS,
    OLDEST,
    SLOTS,
    Head,
    InventoryProblem,
    family_record,
    head_record,
    names_record,
)
from suites.collecting.models import LONGEST_NAME, Persona, PersonaHead, PersonaSet
from suites.collecting.persona_actions import COUNT, PARTICIPANTS, SEED, USES, Applied
from suites.collecting.persona_text import RULES
from suites.collecting.personas import LONGEST_SENTENCE, MOST_SENTENCES

Plain = serializers.Serializer[Any]

# Inventories and their heads.


def _age() -> serializers.IntegerField:
    return serializers.IntegerField(min_value=0, max_value=OLDEST)


class PersonaTailsSerializer(Plain):
    """Tails of a head by slot; a slot may be left out."""

    def get_fields(self) -> dict[str, Any]:
        """Return a list of texts for each slot."""
        return {
            slot: serializers.ListField(
                child=serializers.CharField(max_length=LONGEST_TEXT), required=False, max_length=MOST_TEXTS
            )
            for slot in SLOTS
        }


class PersonaHeadSerializer(Plain):
    """A head: its sentence, its ages (both ends included), its genders, and its tails by slot."""

    text = serializers.CharField(max_length=LONGEST_TEXT)
    start_age = _age()
    end_age = _age()
    genders = serializers.ListField(
        child=serializers.CharField(max_length=LONGEST_GENDER), min_length=1, max_length=20
    )
    tails = PersonaTailsSerializer(required=False)
    negative = serializers.BooleanField(default=False, help_text="Draws skip it.")


class NumberedHeadSerializer(PersonaHeadSerializer):
    """A head of an inventory with its number."""

    number = serializers.IntegerField()


class PersonaNamesSerializer(Plain):
    """Given names for a gender from an age on, up to the next generation of that gender."""

    generation = _age()
    gender = serializers.CharField(max_length=LONGEST_GENDER)
    names = serializers.ListField(
        child=serializers.CharField(max_length=LONGEST_TEXT), min_length=1, max_length=5_000
    )


class PersonaFamilySerializer(Plain):
    """A sentence about the family, with its ages; `<n>` becomes 2, 3 or 4."""

    text = serializers.CharField(max_length=LONGEST_TEXT)
    start_age = _age()
    end_age = _age()


class PersonaTextsSerializer(Plain):
    """Given names and family sentences of an inventory."""

    names = PersonaNamesSerializer(many=True, allow_empty=False)
    families = PersonaFamilySerializer(many=True, allow_empty=False)


class PersonaMaterialSerializer(PersonaTextsSerializer):
    """An inventory's content."""

    heads = PersonaHeadSerializer(many=True, allow_empty=False)


class NewInventorySerializer(Plain):
    """An inventory by name: as JSON (`inventory`), or the text of a CSV file (`csv`)."""

    name = serializers.CharField(max_length=LONGEST_NAME)
    inventory = PersonaMaterialSerializer(required=False)
    csv = serializers.CharField(required=False, max_length=MOST_BYTES, trim_whitespace=False)


class InventorySerializer(Plain):
    """An inventory: its content, and what it lacks for draws."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    heads = NumberedHeadSerializer(many=True)
    names = PersonaNamesSerializer(many=True)
    families = PersonaFamilySerializer(many=True)
    gaps = serializers.ListField(child=serializers.CharField())

    def to_representation(self, instance: models.Inventory) -> dict[str, Any]:
        """Return the stored inventory."""
        rows = list(instance.heads.order_by("number"))
        record = inventory_actions.inventory_of(instance, rows)
        return {
            "id": instance.pk,
            "name": instance.name,
            "heads": NumberedHeadSerializer(rows, many=True).data,
            "names": instance.names,
            "families": instance.families,
            "gaps": record.gaps(),
        }


class ListedInventorySerializer(Plain):
    """An inventory in a list."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    created_at = serializers.DateTimeField()


@api.listing(ListedInventorySerializer)
def inventories(request: Request) -> QuerySet[models.Inventory]:
    """List the inventories of personas."""
    return models.Inventory.objects.order_by("id")


@api.post(NewInventorySerializer, InventorySerializer, status=201)
def import_inventory(request: Request) -> models.Inventory:
    """Import an inventory of personas; a bad value is refused with its line or path, and nothing is kept."""
    data = api.data(request)
    if ("inventory" in data) == ("csv" in data):
        raise ValidationError({"inventory": ["Give either inventory or csv."]})
    if "csv" in data:
        record = inventory_actions.read_file("inventory.csv", data["csv"].encode(), field="csv")
    else:
        record = inventory_actions.read_data(data["inventory"])
    return inventory_actions.create(by=api.user(request), name=data["name"], inventory=record)


@api.get(InventorySerializer)
def inventory(request: Request, pk: int) -> models.Inventory:
    """Return an inventory of personas with its heads, names and family sentences."""
    return access.inventory(pk)


@api.delete()
def remove_inventory(request: Request, pk: int) -> None:
    """Remove an inventory from which nothing was drawn."""
    inventory_actions.remove(by=api.user(request), inventory=access.inventory(pk))


@api.put(PersonaTextsSerializer, InventorySerializer)
def change_texts(request: Request, pk: int) -> models.Inventory:
    """Replace the given names and family sentences of an inventory."""
    data = api.data(request)
    try:
        names = [names_record(row, f"names[{place}]") for place, row in enumerate(data["names"])]
        families = [family_record(row, f"families[{place}]") for place, row in enumerate(data["families"])]
    except InventoryProblem as problem:
        raise _invalid(problem) from None
    return inventory_actions.change_texts(
        by=api.user(request), inventory=access.inventory(pk), names=names, families=families
    )


@api.post(PersonaHeadSerializer, NumberedHeadSerializer, status=201)
def add_head(request: Request, pk: int) -> PersonaHead:
    """Add a head to an inventory."""
    return inventory_actions.save_head(
        by=api.user(request), inventory=access.inventory(pk), head=_head(request)
    )


@api.get(NumberedHeadSerializer)
def head(request: Request, pk: int, number: int) -> PersonaHead:
    """Return a head of an inventory."""
    return access.persona_head(pk, number)


@api.put(PersonaHeadSerializer, NumberedHeadSerializer)
def change_head(request: Request, pk: int, number: int) -> PersonaHead:
    """Change a head; personas drawn before stay as they are."""
    row = access.persona_head(pk, number)
    return inventory_actions.save_head(
        by=api.user(request), inventory=row.inventory, head=_head(request), number=row.number
    )


@api.delete()
def remove_head(request: Request, pk: int, number: int) -> None:
    """Remove a head; personas drawn before stay."""
    inventory_actions.remove_head(by=api.user(request), head=access.persona_head(pk, number))


def _head(request: Request) -> Head:
    try:
        return head_record(api.data(request))
    except InventoryProblem as problem:
        raise _invalid(problem) from None


def _invalid(problem: InventoryProblem) -> ValidationError:
    return ValidationError({problem.field: [problem.reason]})


# Draws, and the personas in them.


class NewPersonaSetSerializer(Plain):
    """Personas to draw; the name is also that of the corpus in which they are reviewed."""

    inventory = serializers.PrimaryKeyRelatedField(queryset=models.Inventory.objects.all())
    name = serializers.CharField(max_length=LONGEST_NAME)
    count = serializer_field(COUNT, default=20, allow_null=False)
    seed = serializer_field(SEED, default=0, allow_null=False)


class PersonaSetSerializer(Plain):
    """Personas drawn from an inventory; `dialogues` are the corpora made of them."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    inventory = serializers.IntegerField(source="inventory_id")
    inventory_sha256 = serializers.CharField()
    seed = serializers.IntegerField()
    corpus = serializers.CharField(source="corpus.name")
    dialogues = serializers.ListField(child=serializers.CharField(), source="dialogue_names")
    created_at = serializers.DateTimeField()


class PersonaFlagSerializer(Plain):
    """A possible contradiction: the rule, the positions of the sentences (from 0), and a message."""

    rule = serializers.ChoiceField(choices=list(RULES))
    sentences = serializers.ListField(child=serializers.IntegerField())
    message = serializers.CharField()


class PersonaSerializer(Plain):
    """A persona: its sentences as drawn and as they are now. `replaced` are words with alternatives."""

    number = serializers.IntegerField()
    name = serializers.CharField()
    age = serializers.IntegerField()
    first_head = serializers.IntegerField(source="first.number", allow_null=True, default=None)
    second_head = serializers.IntegerField(source="second.number", allow_null=True, default=None)
    original = serializers.ListField(child=serializers.CharField())
    sentences = serializers.ListField(child=serializers.CharField())
    replaced = serializers.ListField(child=serializers.ListField(child=serializers.CharField()))
    remaining = serializers.ListField(child=serializers.CharField())
    flags = PersonaFlagSerializer(many=True)
    status = serializers.ChoiceField(choices=Persona.Status.choices)
    reason = serializers.CharField(allow_blank=True)


class PersonaDecisionSerializer(Plain):
    """A decision on a persona without, or after, its review; `sentences` where it is corrected."""

    status = serializers.ChoiceField(choices=["accepted", "corrected", "rejected"])
    sentences = serializers.ListField(
        child=serializers.CharField(max_length=LONGEST_SENTENCE), default=list, max_length=MOST_SENTENCES
    )


PERSONAS = Filters({"status": one_of("status", Persona.Status.values)}, order=("number", "age", "name"))


@api.listing(PersonaSetSerializer)
def persona_sets(request: Request) -> QuerySet[PersonaSet]:
    """List the draws of personas, latest first."""
    return PersonaSet.objects.select_related("corpus").prefetch_related("dialogues").order_by("-id")


@api.post(NewPersonaSetSerializer, PersonaSetSerializer, status=201)
def draw_set(request: Request) -> PersonaSet:
    """Draw personas by a seed, and create the corpus in which people review them."""
    return persona_actions.draw_set(by=api.user(request), **api.data(request))


@api.get(PersonaSetSerializer)
def persona_set(request: Request, pk: int) -> PersonaSet:
    """Return a draw of personas."""
    return access.persona_set(pk)


@api.listing(PersonaSerializer, filters=PERSONAS)
def personas(request: Request, pk: int) -> QuerySet[Persona]:
    """List the personas of a draw."""
    return access.persona_set(pk).personas.select_related("first", "second").order_by("number")


@api.get(PersonaSerializer)
def persona(request: Request, pk: int, number: int) -> Persona:
    """Return a persona."""
    return access.persona(pk, number)


@api.patch(PersonaDecisionSerializer, PersonaSerializer)
def decide_persona(request: Request, pk: int, number: int) -> Persona:
    """Decide on a persona: accepted as drawn, corrected with sentences, or rejected."""
    persona_actions.decide(by=api.user(request), persona=access.persona(pk, number), **api.data(request))
    return access.persona(pk, number)


# Reviews, and dialogues.


class PersonaReviewSerializer(Plain):
    """The draft of a review campaign."""

    campaign = serializers.IntegerField(source="pk")
    name = serializers.CharField()


class UndecidedPersonaSerializer(Plain):
    """A persona that its reviews leave undecided, and why."""

    number = serializers.IntegerField()
    reason = serializers.CharField()


class PersonaReviewsSerializer(Plain):
    """Outcome, or preview, of applying reviews; `negative_heads` are numbers of heads that are marked."""

    accepted = serializers.IntegerField()
    corrected = serializers.IntegerField()
    rejected = serializers.IntegerField()
    undecided = serializers.IntegerField()
    unreviewed = serializers.IntegerField()
    negative_heads = serializers.ListField(child=serializers.IntegerField())
    reasons = UndecidedPersonaSerializer(many=True)

    def to_representation(self, instance: Applied) -> dict[str, Any]:
        """Return the counts with the reasons."""
        return {
            **instance.counts,
            "unreviewed": instance.unreviewed,
            "negative_heads": [head.number for head in instance.negative_heads],
            "reasons": [
                {"number": persona.number, "reason": reason} for persona, reason in instance.undecided
            ],
        }


class NewPersonaDialoguesSerializer(Plain):
    """A corpus of dialogues without turns to make of a draw's accepted and corrected personas."""

    name = serializers.CharField(max_length=LONGEST_NAME)
    participants = serializer_field(PARTICIPANTS, default=2, allow_null=False)
    uses = serializer_field(USES, default=1, allow_null=False)
    seed = serializer_field(SEED, default=0, allow_null=False)


class PersonaDialoguesSerializer(Plain):
    """The corpus, its number of dialogues, and personas that are in fewer dialogues than the others."""

    corpus = serializers.CharField(source="corpus.name")
    dialogues = serializers.IntegerField()
    rest = serializers.ListField(child=serializers.IntegerField())


@api.post(gives=PersonaReviewSerializer, status=201)
def create_review(request: Request, pk: int) -> Campaign:
    """Create the draft of the campaign in which two people review the personas of a draw."""
    return persona_actions.create_review(by=api.user(request), persona_set=access.persona_set(pk))


@api.get(PersonaReviewsSerializer)
def reviews(request: Request, pk: int) -> Applied:
    """Preview applying the reviews of a draw's personas; nothing is changed."""
    return persona_actions.preview_reviews(access.persona_set(pk))


@api.post(gives=PersonaReviewsSerializer)
def apply_reviews(request: Request, pk: int) -> Applied:
    """Apply the reviews on which people agree; corrected text replaces the drawn one."""
    return persona_actions.apply_reviews(by=api.user(request), persona_set=access.persona_set(pk))


@api.post(NewPersonaDialoguesSerializer, PersonaDialoguesSerializer, status=201)
def make_dialogues(request: Request, pk: int) -> persona_actions.MadeDialogues:
    """Make a corpus of dialogues without turns, whose participants carry the personas as their profile."""
    return persona_actions.make_dialogues(
        by=api.user(request), persona_set=access.persona_set(pk), **api.data(request)
    )


urlpatterns: list[URLPattern] = [
    path("personas/inventories/", api.route(inventories, import_inventory), name="api-persona-inventories"),
    path(
        "personas/inventories/<int:pk>/",
        api.route(inventory, remove_inventory),
        name="api-persona-inventory",
    ),
    path("personas/inventories/<int:pk>/texts/", api.route(change_texts), name="api-persona-texts"),
    path("personas/inventories/<int:pk>/heads/", api.route(add_head), name="api-persona-heads"),
    path(
        "personas/inventories/<int:pk>/heads/<int:number>/",
        api.route(head, change_head, remove_head),
        name="api-persona-head",
    ),
    path("personas/sets/", api.route(persona_sets, draw_set), name="api-persona-sets"),
    path("personas/sets/<int:pk>/", api.route(persona_set), name="api-persona-set"),
    path("personas/sets/<int:pk>/personas/", api.route(personas), name="api-personas"),
    path(
        "personas/sets/<int:pk>/personas/<int:number>/",
        api.route(persona, decide_persona),
        name="api-persona",
    ),
    path("personas/sets/<int:pk>/review/", api.route(create_review), name="api-review-personas"),
    path("personas/sets/<int:pk>/reviews/", api.route(reviews, apply_reviews), name="api-persona-reviews"),
    path("personas/sets/<int:pk>/dialogues/", api.route(make_dialogues), name="api-persona-dialogues"),
]
