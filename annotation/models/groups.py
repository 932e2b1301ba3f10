"""Groups of people, what a person reads and writes as, and who may or must rate what in a campaign."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q


class PeopleGroup(models.Model):
    """A named group of people, such as the experts of a study. It gives no rights by itself."""

    name = models.CharField(max_length=80, unique=True)
    people = models.ManyToManyField(settings.AUTH_USER_MODEL, related_name="people_groups", blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class PersonLanguage(models.Model):
    """A language that a person reads: the first part of its tag (`zh` of `zh-Hant`), in small letters."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="languages")
    language = models.CharField(max_length=40)

    class Meta:
        ordering = ["language"]
        constraints = [models.UniqueConstraint(fields=["user", "language"], name="language_once_a_person")]

    def __str__(self) -> str:
        return self.language


class WritingName(models.Model):
    """A name under which a person writes in dialogues, beside their user name; `folded` is compared."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="writes_as")
    name = models.CharField(max_length=200)
    folded = models.CharField(max_length=800, db_index=True)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["user", "folded"], name="writing_name_once_a_person")]

    def __str__(self) -> str:
        return self.name


class StratumGroup(models.Model):
    """That tasks of one stratum of a campaign (a value of what it groups by) are for one group alone."""

    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="strata")
    stratum = models.TextField(blank=True)
    group = models.ForeignKey(PeopleGroup, on_delete=models.PROTECT, related_name="strata")

    class Meta:
        ordering = ["stratum"]
        constraints = [models.UniqueConstraint(fields=["campaign", "stratum"], name="stratum_has_one_group")]

    def __str__(self) -> str:
        return f"{self.stratum} for {self.group_id}"


class RequiredGroup(models.Model):
    """How many of each task's raters are of a group: so many of its slots are reserved for it."""

    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="required")
    group = models.ForeignKey(PeopleGroup, on_delete=models.PROTECT, related_name="required")
    raters = models.PositiveSmallIntegerField(default=1)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "group"], name="group_required_once"),
            models.CheckConstraint(condition=Q(raters__gte=1), name="group_required_of_someone"),
        ]

    def __str__(self) -> str:
        return f"{self.raters} of {self.group_id}"


class Gate(models.Model):
    """What it takes to take a slot: every slot of a campaign that asks for the same has the same gate.

    Who takes it reads `language` ('': any), is in `group` and in `reserved` (None: anybody), and, where the
    task's authors are known (`authored`), is none of them. A slot without a gate is open to every member.
    """

    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="gates")
    language = models.CharField(max_length=40, blank=True, default="")
    group = models.ForeignKey(PeopleGroup, null=True, on_delete=models.PROTECT, related_name="+")
    reserved = models.ForeignKey(PeopleGroup, null=True, on_delete=models.PROTECT, related_name="+")
    authored = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "language", "group", "reserved", "authored"],
                nulls_distinct=False,
                name="gate_once",
            ),
        ]

    def __str__(self) -> str:
        return f"gate {self.pk} of {self.campaign_id}"


class TaskAuthor(models.Model):
    """A name of somebody who wrote in a task's dialogue, folded, kept where authors do not rate their own."""

    task = models.ForeignKey(
        "annotation.Task", on_delete=models.CASCADE, related_name="authors", db_index=False
    )
    name = models.CharField(max_length=800)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["task", "name"], name="author_once_a_task")]

    def __str__(self) -> str:
        return f"{self.name} in {self.task_id}"
