"""Inventories of personas, draws from them, and the personas that people review."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import F, Q

LONGEST_NAME = 100


class Inventory(models.Model):
    """Material of personas: given names and family sentences, as JSON; its heads are rows.

    `names` lists {"generation", "gender", "names"}, `families` lists {"text", "start_age", "end_age"}.
    """

    name = models.CharField(max_length=LONGEST_NAME, unique=True)
    names = models.JSONField()
    families = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        ordering = ["name"]
        verbose_name_plural = "inventories"

    def __str__(self) -> str:
        return self.name


class PersonaHead(models.Model):
    """A head of an inventory, `number` counting from 1; `genders` is a list, `tails` are lists by slot.

    Draws skip `negative` heads.
    """

    inventory = models.ForeignKey(Inventory, on_delete=models.CASCADE, related_name="heads")
    number = models.PositiveIntegerField()
    text = models.CharField(max_length=300)
    start_age = models.PositiveSmallIntegerField()
    end_age = models.PositiveSmallIntegerField()
    genders = models.JSONField()
    tails = models.JSONField(default=dict)
    negative = models.BooleanField(default=False)

    class Meta:
        ordering = ["inventory", "number"]
        constraints = [
            models.UniqueConstraint(fields=["inventory", "number"], name="persona_head_number_once"),
            models.CheckConstraint(
                condition=Q(start_age__lte=F("end_age")), name="persona_head_ages_in_order"
            ),
        ]

    def __str__(self) -> str:
        return self.text


class PersonaSet(models.Model):
    """Personas drawn from an inventory by a seed.

    `inventory_sha256` identifies the material at that time. `corpus` has one dialogue without turns for each
    persona, for reviews; its name is that of the set. `dialogues` are the corpora of dialogues between them.
    """

    name = models.CharField(max_length=LONGEST_NAME, unique=True)
    inventory = models.ForeignKey(Inventory, on_delete=models.PROTECT, related_name="sets")
    inventory_sha256 = models.CharField(max_length=64)
    seed = models.BigIntegerField()
    corpus = models.OneToOneField("annotation.Corpus", on_delete=models.CASCADE, related_name="persona_set")
    dialogues = models.ManyToManyField("annotation.Corpus", related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return self.name


class Persona(models.Model):
    """A persona of a set, `number` counting from 1.

    `drawn` are the sentences as drawn and filtered, `sentences` the current ones. `gender` conditions the
    name; it is on no page, in no API response and in no corpus. `replaced` lists gendered words with their
    alternatives, `remaining` those without one, `flags` possible contradictions of the drawn sentences as
    {"rule", "sentences", "message"}. `reason` says why it was rejected.
    """

    class Status(models.TextChoices):
        DRAFT = "draft"
        ACCEPTED = "accepted"
        CORRECTED = "corrected"
        REJECTED = "rejected"

    set = models.ForeignKey(PersonaSet, on_delete=models.CASCADE, related_name="personas")
    number = models.PositiveIntegerField()
    first = models.ForeignKey(PersonaHead, null=True, on_delete=models.SET_NULL, related_name="+")
    second = models.ForeignKey(PersonaHead, null=True, on_delete=models.SET_NULL, related_name="+")
    name = models.CharField(max_length=300)
    age = models.PositiveSmallIntegerField()
    gender = models.CharField(max_length=30)
    drawn = models.JSONField()
    sentences = models.JSONField()
    replaced = models.JSONField(default=list)
    remaining = models.JSONField(default=list)
    flags = models.JSONField(default=list)
    status = models.CharField(max_length=10, choices=Status, default=Status.DRAFT)
    reason = models.TextField(blank=True)

    class Meta:
        ordering = ["set", "number"]
        constraints = [
            models.UniqueConstraint(fields=["set", "number"], name="persona_number_once"),
            models.CheckConstraint(
                condition=Q(status__in=["draft", "accepted", "corrected", "rejected"]),
                name="persona_status_known",
            ),
        ]

    def __str__(self) -> str:
        return f"persona {self.number} of {self.set_id}"

    @property
    def key(self) -> str:
        """Id of its dialogue in the corpus of the reviews."""
        return f"persona-{self.number}"
