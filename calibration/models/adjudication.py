"""Adjudication: rounds, what was drawn for them, and who decides on what."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import F, Q


class AdjudicationRound(models.Model):
    """Questions about items on which somebody decides anew, picked by rules from what raters answered.

    `rules` are the rules with their bounds (`calibration.adjudication.settings`), which never change.
    `adjudicators` is how many decide on each case: one, or two who must agree. With `own_items` somebody may
    decide on an item that they rated themselves. `shows_names` shows who answered instead of pseudonyms,
    `shows_systems` which system is rated. `takes_locked` takes items of a test part that nobody has opened,
    too; judges neither pick nor are shown there. `pseudonyms` maps a rater's id to a letter and only grows.
    """

    class State(models.TextChoices):
        OPEN = "open"
        CLOSED = "closed"

    name = models.CharField(max_length=120, unique=True)
    corpus = models.ForeignKey(
        "annotation.Corpus", on_delete=models.CASCADE, related_name="adjudication_rounds"
    )
    campaign = models.ForeignKey(
        "annotation.Campaign", null=True, on_delete=models.CASCADE, related_name="adjudication_rounds"
    )
    scheme_version = models.ForeignKey("annotation.SchemeVersion", on_delete=models.PROTECT)
    rules = models.JSONField(default=dict)
    seed = models.PositiveIntegerField(default=0)
    adjudicators = models.PositiveSmallIntegerField(default=1)
    own_items = models.BooleanField(default=False)
    shows_names = models.BooleanField(default=False)
    shows_systems = models.BooleanField(default=False)
    takes_locked = models.BooleanField(default=False)
    lease_minutes = models.PositiveIntegerField(default=30)
    pseudonyms = models.JSONField(default=dict)
    state = models.CharField(max_length=10, choices=State, default=State.OPEN)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(condition=Q(adjudicators__in=[1, 2]), name="round_one_or_two_decide"),
            models.CheckConstraint(condition=Q(state__in=["open", "closed"]), name="round_state_known"),
            models.CheckConstraint(condition=Q(lease_minutes__gte=1), name="round_leases_last"),
        ]

    def __str__(self) -> str:
        return self.name


class AdjudicationDraw(models.Model):
    """One look for cases: when a round begins, and each time it is topped up.

    `inputs_hash` is the SHA-256 of the rules, the seed, the answers that were there and what was drawn.
    """

    round = models.ForeignKey(AdjudicationRound, on_delete=models.CASCADE, related_name="draws")
    number = models.PositiveIntegerField()
    inputs_hash = models.CharField(max_length=64)
    n = models.PositiveIntegerField()
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)

    class Meta:
        ordering = ["round", "number"]
        constraints = [models.UniqueConstraint(fields=["round", "number"], name="draw_number_once")]

    def __str__(self) -> str:
        return f"draw {self.number} of {self.round_id}"


class AdjudicationCase(models.Model):
    """A question about an item that waits for a decision, and the rules that picked it. Frozen (trigger).

    `places` is how many decide on it. Triggers keep `taken`, of them held or decided, and `decided`; and
    `settled_at`, since when all of them say the same, is taken back with a decision.
    """

    round = models.ForeignKey(AdjudicationRound, on_delete=models.CASCADE, related_name="cases")
    draw = models.ForeignKey(AdjudicationDraw, on_delete=models.CASCADE, related_name="cases")
    item = models.ForeignKey("annotation.Item", on_delete=models.CASCADE, related_name="+")
    question = models.ForeignKey("annotation.Question", on_delete=models.PROTECT, related_name="+")
    position = models.PositiveIntegerField()
    picked = models.JSONField(default=list)
    places = models.PositiveSmallIntegerField(default=1)
    taken = models.PositiveSmallIntegerField(default=0)
    decided = models.PositiveSmallIntegerField(default=0)
    settled_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["round", "position"]
        constraints = [
            models.UniqueConstraint(fields=["round", "item", "question"], name="case_once"),
            models.UniqueConstraint(fields=["round", "position"], name="case_position_once"),
            models.CheckConstraint(
                condition=Q(decided__lte=F("taken"), taken__lte=F("places")), name="case_never_over_assigned"
            ),
            models.CheckConstraint(
                condition=Q(settled_at__isnull=True) | Q(decided=F("places")), name="case_settled_is_decided"
            ),
        ]
        indexes = [
            models.Index(
                fields=["round", "position"], condition=Q(taken__lt=F("places")), name="case_waiting"
            )
        ]

    def __str__(self) -> str:
        return f"case {self.pk} of {self.round_id}"


class AdjudicationDecision(models.Model):
    """An adjudicator's hold on a case, and the decision that came of it: a label of their own.

    A held case is leased; its draft stays whatever becomes of the lease. One row per adjudicator and case,
    and one held case per adjudicator and round. `revision` grows with every draft kept and every decision;
    `written_by` names the client whose draft is kept. A trigger sees to it that `label` is an adjudication of
    this case by this person.
    """

    class State(models.TextChoices):
        HELD = "held"
        DECIDED = "decided"
        PASSED = "passed"
        EXPIRED = "expired"
        WITHDRAWN = "withdrawn"

    case = models.ForeignKey(AdjudicationCase, on_delete=models.CASCADE, related_name="decisions")
    round = models.ForeignKey(AdjudicationRound, on_delete=models.CASCADE, related_name="decisions")
    adjudicator = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="adjudications"
    )
    state = models.CharField(max_length=10, choices=State, default=State.HELD)
    lease_expires = models.DateTimeField()
    claimed_at = models.DateTimeField(auto_now_add=True)
    decided_at = models.DateTimeField(null=True)
    label = models.ForeignKey("annotation.Label", null=True, on_delete=models.CASCADE, related_name="+")
    draft = models.JSONField(default=dict)
    revision = models.PositiveBigIntegerField(default=0, db_default=0)
    written_by = models.CharField(max_length=64, blank=True, default="", db_default="")
    note = models.TextField(blank=True, default="", db_default="")

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["case", "adjudicator"], name="decision_once_per_adjudicator"),
            models.UniqueConstraint(
                fields=["round", "adjudicator"], condition=Q(state="held"), name="decision_one_in_hand"
            ),
            models.CheckConstraint(
                condition=Q(state__in=["held", "decided", "passed", "expired", "withdrawn"]),
                name="decision_state_known",
            ),
            models.CheckConstraint(
                condition=~Q(state="decided") | Q(label__isnull=False, decided_at__isnull=False),
                name="decision_has_label",
            ),
            models.CheckConstraint(
                condition=~Q(state__in=["passed", "withdrawn"]) | ~Q(note=""), name="decision_note_says_why"
            ),
        ]
        indexes = [models.Index(fields=["lease_expires"], condition=Q(state="held"), name="decision_leases")]

    def __str__(self) -> str:
        return f"{self.adjudicator_id} on {self.case_id}: {self.state}"
