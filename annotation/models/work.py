"""Work in a campaign: tasks, their slots, and the slots' holders."""

from __future__ import annotations

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from annotation.models.campaigns import Campaign, Guidelines
from annotation.models.labels import Occasion

# Communication beside the answers: notes on turns, bookmarks, messages of researchers and annotators.


class TurnNote(models.Model):
    """An annotator's comment on a turn that they were shown, and whether they flagged it.

    Append-only: a trigger allows `superseded_at` to be set once and nothing else. A change inserts the next
    version; removing a note inserts an empty one that is superseded at once, so that the history of authors
    and times is complete. `assignment` is the task in which it was written. Researchers read it, other
    annotators never do.
    """

    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="turn_notes")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="turn_notes")
    turn = models.ForeignKey("annotation.Turn", on_delete=models.CASCADE, related_name="notes")
    assignment = models.ForeignKey(
        "annotation.Assignment", on_delete=models.CASCADE, related_name="turn_notes"
    )
    comment = models.TextField(blank=True)
    flagged = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    superseded_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "user", "turn"],
                condition=Q(superseded_at__isnull=True),
                name="turn_note_live_once",
            ),
            models.CheckConstraint(
                condition=Q(superseded_at__isnull=False) | ~Q(comment="") | Q(flagged=True),
                name="turn_note_says_something",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user_id} on turn {self.turn_id}"


class Bookmark(models.Model):
    """A turn that an annotator wants to find again. Private: nobody else ever sees it."""

    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="bookmarks")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="bookmarks")
    turn = models.ForeignKey("annotation.Turn", on_delete=models.CASCADE, related_name="+")
    assignment = models.ForeignKey(
        "annotation.Assignment", on_delete=models.CASCADE, related_name="bookmarks"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "user", "turn"], name="bookmark_once"),
        ]

    def __str__(self) -> str:
        return f"{self.user_id} at turn {self.turn_id}"


class Thread(models.Model):
    """Messages between the researchers and one annotator of a campaign; no other annotator sees them.

    About a turn of one of the annotator's tasks, about such a task, or (neither is set) about the campaign.
    `unread` counts the messages that the annotator has not seen yet; `waits` is set while the last message is
    the annotator's.
    """

    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="threads")
    annotator = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="threads")
    assignment = models.ForeignKey(
        "annotation.Assignment", null=True, on_delete=models.CASCADE, related_name="threads"
    )
    turn = models.ForeignKey("annotation.Turn", null=True, on_delete=models.CASCADE, related_name="+")
    unread = models.PositiveIntegerField(default=0)
    waits = models.BooleanField(default=False)
    opened_at = models.DateTimeField(auto_now_add=True)
    last_at = models.DateTimeField(auto_now_add=True)
    closed_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-last_at", "-id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(turn__isnull=True) | Q(assignment__isnull=False), name="thread_turn_has_task"
            ),
        ]
        indexes = [
            models.Index(fields=["annotator"], condition=Q(unread__gt=0), name="thread_unread"),
            models.Index(fields=["campaign", "annotator"], name="thread_of_member"),
        ]

    def __str__(self) -> str:
        return f"thread {self.pk} with {self.annotator_id}"


class Message(models.Model):
    """One message of a thread. Append-only, by a trigger; `by` is empty once that account is deleted."""

    thread = models.ForeignKey(Thread, on_delete=models.CASCADE, related_name="messages")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    from_annotator = models.BooleanField()
    text = models.TextField()
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(condition=~Q(text=""), name="message_says_something"),
        ]

    def __str__(self) -> str:
        return f"message {self.pk}"


class MainTasks(models.Manager["Task"]):
    """Tasks of the main work, without those of training, tests and checks (`annotation.models.checks`)."""

    def get_queryset(self) -> models.QuerySet[Task]:
        return super().get_queryset().filter(position__gte=0)


class Task(models.Model):
    """One screen of work: the items of one continuation, or one item of it.

    `raters` is its number of slots. It never falls, so that no slot ever becomes superfluous. A task with a
    negative position is outside the main work: it trains, tests or checks people, and has no slots.
    """

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="tasks")
    continuation = models.ForeignKey("annotation.Continuation", on_delete=models.CASCADE)
    item = models.ForeignKey("annotation.Item", null=True, on_delete=models.CASCADE)
    position = models.IntegerField()
    raters = models.PositiveSmallIntegerField(default=1, db_default=1)

    objects = MainTasks()
    every = models.Manager["Task"]()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(raters__gte=1), name="task_has_raters"),
            models.UniqueConstraint(
                fields=["campaign", "continuation", "item"], nulls_distinct=False, name="task_once"
            ),
            models.UniqueConstraint(fields=["campaign", "position"], name="task_position_once"),
            models.UniqueConstraint(fields=["id", "campaign", "position"], name="task_with_campaign"),
        ]

    def __str__(self) -> str:
        return f"task {self.position} of {self.campaign_id}"


class Slot(models.Model):
    """One of a task's places for a rater. `taken` marks a slot that is held or done; free ones are claimed.

    `campaign`, `position` and `taken` are copies for the claim's index; a trigger keeps `taken` true exactly
    while an active assignment holds the slot.
    """

    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="slots")
    number = models.PositiveSmallIntegerField()
    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="slots")
    position = models.PositiveIntegerField()
    taken = models.BooleanField(default=False)
    gate = models.ForeignKey(
        "annotation.Gate", null=True, on_delete=models.RESTRICT, related_name="slots", db_index=False
    )

    stratum = models.ForeignKey(
        "annotation.BalanceStratum",
        null=True,
        on_delete=models.RESTRICT,
        related_name="slots",
        db_index=False,
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["task", "number"], name="slot_number_once"),
            models.UniqueConstraint(fields=["id", "task"], name="slot_with_task"),
        ]
        indexes = [
            models.Index(
                fields=["campaign", "position", "number"], condition=Q(taken=False), name="slot_free"
            ),
            models.Index(
                fields=["gate", "position"],
                condition=Q(taken=False, gate__isnull=False),
                name="slot_free_by_gate",
            ),
            models.Index(
                fields=["stratum", "position"],
                condition=Q(taken=False, stratum__isnull=False),
                name="slot_free_by_stratum",
            ),
        ]

    def __str__(self) -> str:
        return f"slot {self.number} of {self.task_id}"


class Assignment(models.Model):
    """One annotator's hold on one slot: a lease that expires, then submitted or skipped.

    The draft stays on the row whatever happens to the lease. One row per annotator, task and occasion, so
    nobody is in two slots of a task; one active row per slot, so no slot is held twice. A training, test or
    check task, or a repeat, holds no slot; `round` is the round or attempt of training and tests (from 1).

    `revision` grows with every stored draft and every submit and never falls; `written_by` names the client
    (a tab, a program) whose draft is stored, so that a draft never replaces one that its writer has not seen.
    A researcher may return a submission (`returned`: its slot stays with the annotator) or void it (its
    slot is free for others), with a reason; triggers ensure that only a submission has live labels. A held
    task may be taken back (`taken`), and given to somebody, who reads `given_reason` with it.

    `attention` holds, for each client, the milliseconds that its page was in front of an active user.
    `shown` are the numbers of the members of a comparison in screen order, None for other tasks. A trigger
    draws it once: for the first slot of a task by the campaign's seed, and for each further slot rotated by
    one place, so that each member is in each place equally often.
    """

    class State(models.TextChoices):
        LEASED = "leased"
        SUBMITTED = "submitted"
        SKIPPED = "skipped"
        EXPIRED = "expired"
        RETURNED = "returned"
        VOIDED = "voided"
        TAKEN = "taken"

    slot = models.ForeignKey(Slot, null=True, on_delete=models.CASCADE, related_name="assignments")
    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="assignments")
    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="assignments")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="assignments")
    occasion = models.CharField(max_length=20, choices=Occasion, default=Occasion.MAIN)
    state = models.CharField(max_length=10, choices=State, default=State.LEASED)
    lease_expires = models.DateTimeField()
    leased_at = models.DateTimeField(auto_now_add=True)
    submitted_at = models.DateTimeField(null=True)
    draft = models.JSONField(default=dict)
    draft_saved_at = models.DateTimeField(null=True)
    revision = models.PositiveBigIntegerField(default=0, db_default=0)
    written_by = models.CharField(max_length=64, blank=True, default="", db_default="")
    withdrawn_reason = models.TextField(blank=True, default="", db_default="")
    given_reason = models.TextField(blank=True, default="", db_default="")
    skip_reason = models.TextField(blank=True)
    comment = models.TextField(blank=True)
    flagged = models.BooleanField(default=False)
    guidelines = models.ForeignKey(Guidelines, null=True, on_delete=models.PROTECT)
    attention = models.JSONField(default=dict, db_default=models.Value({}, models.JSONField()))
    shown = ArrayField(models.SmallIntegerField(), null=True)
    round = models.PositiveSmallIntegerField(default=0, db_default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["slot"],
                condition=Q(state__in=["leased", "submitted", "returned"]),
                name="assignment_slot_held_once",
            ),
            models.UniqueConstraint(
                fields=["task", "user", "occasion", "round"], name="assignment_user_once_per_task"
            ),
            models.CheckConstraint(
                condition=Q(slot__isnull=False, round=0)
                | Q(slot__isnull=True, occasion__in=["training", "qualification"], round__gte=1)
                | Q(slot__isnull=True, occasion__in=["check", "repeat"], round=0),
                name="assignment_slot_or_aside",
            ),
            models.CheckConstraint(
                condition=Q(
                    state__in=["leased", "submitted", "skipped", "expired", "returned", "voided", "taken"]
                ),
                name="assignment_state_known",
            ),
            models.CheckConstraint(
                condition=~Q(state="submitted") | Q(submitted_at__isnull=False),
                name="assignment_submit_has_time",
            ),
            models.CheckConstraint(
                condition=~Q(state="skipped") | ~Q(skip_reason=""), name="assignment_skip_has_reason"
            ),
            models.CheckConstraint(
                condition=~Q(state__in=["returned", "voided", "taken"]) | ~Q(withdrawn_reason=""),
                name="assignment_withdrawal_has_reason",
            ),
        ]
        indexes = [
            models.Index(fields=["campaign", "user", "state"], name="assignment_of_user"),
            models.Index(fields=["lease_expires"], condition=Q(state="leased"), name="assignment_leases"),
        ]

    def __str__(self) -> str:
        return f"{self.user_id} on {self.slot_id}: {self.state}"
