"""What is said beside the answers: notes on a turn, bookmarks, messages of researchers and annotators."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q


class TurnNote(models.Model):
    """An annotator's comment on a turn that they were shown, and whether they flagged it.

    Append-only: a trigger allows `superseded_at` to be set once and nothing else. A change inserts the next
    version; taking a note back inserts an empty one that is superseded at once, so that it is known who said
    what and when. `assignment` is the task in which it was written. Researchers read it, other annotators
    never do.
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
    """A turn that an annotator wants to find again. Theirs alone: nobody else ever sees it."""

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

    About a turn of a task of the annotator's, about such a task, or (neither is set) about the campaign.
    `unread` counts what the annotator has not seen yet; `waits` says that the last word is the annotator's.
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
