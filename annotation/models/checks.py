"""Training, tests, hidden checks and repeats: tasks outside a campaign's main work, and their results.

Their position is negative, so no slot can belong to them (the slot's key holds its task's position, which
is never negative), and no count of a campaign's tasks includes them.
"""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.models.labels import Occasion

STAGES: tuple[str, ...] = (Occasion.TRAINING, Occasion.QUALIFICATION)
"""Occasions that come before the main work, in order."""
HIDDEN: tuple[str, ...] = (Occasion.CHECK, Occasion.REPEAT)
"""Occasions that are mixed into the main work, indistinguishable from it."""


def _share(field: str) -> Q:
    return Q(**{f"{field}__isnull": True}) | Q(**{f"{field}__gte": 0, f"{field}__lte": 1})


class CheckPlan(models.Model):
    """Training, test and check settings of a campaign. A campaign without them does none of these.

    One of every `check_every` tasks is a hidden check, and one of every `repeat_every` a repeat of a task of
    the annotator's own, after at least `repeat_after` others (None: none). The test is passed with a score of
    `test_mark` (0 to 1) by `test_measure`, in at most `test_tries`; `test_tells` sets the feedback after it.
    Over the last `window` checks of a person, once there are at least `least`, a share of right answers below
    the marks warns, pauses, or excludes the person from gold (None: never).

    Main work, training and test are for people who were admitted by the test of the campaign `prerequisite`
    (None: for all members).
    """

    class Measure(models.TextChoices):
        SHARE = "share", "The share of answers that are right"
        CORRECTED = "corrected", "The share that is right beyond what guessing would give"

    class Tells(models.TextChoices):
        OUTCOME = "outcome", "Whether the test is passed"
        SCORE = "score", "Whether it is passed, and the score"
        ANSWERS = "answers", "The score, and each answer beside the key"

    campaign = models.OneToOneField("annotation.Campaign", on_delete=models.CASCADE, related_name="checks")
    training_again = models.BooleanField(default=True)
    test_mark = models.FloatField(default=0.8)
    test_measure = models.CharField(max_length=10, choices=Measure, default=Measure.SHARE)
    test_tries = models.PositiveSmallIntegerField(default=2)
    test_tells = models.CharField(max_length=10, choices=Tells, default=Tells.SCORE)
    check_every = models.PositiveSmallIntegerField(null=True)
    repeat_every = models.PositiveSmallIntegerField(null=True)
    repeat_after = models.PositiveSmallIntegerField(default=20)
    window = models.PositiveSmallIntegerField(default=20)
    least = models.PositiveSmallIntegerField(default=5)
    warn_below = models.FloatField(null=True)
    pause_below = models.FloatField(null=True)
    leave_out_below = models.FloatField(null=True)
    prerequisite = models.ForeignKey(
        "annotation.Campaign", null=True, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(prerequisite__isnull=True) | ~Q(prerequisite=models.F("campaign")),
                name="check_plan_prerequisite_is_another",
            ),
            models.CheckConstraint(
                condition=Q(test_mark__gte=0, test_mark__lte=1, test_tries__gte=1), name="check_plan_test"
            ),
            models.CheckConstraint(
                condition=(Q(check_every__isnull=True) | Q(check_every__gte=2))
                & (Q(repeat_every__isnull=True) | Q(repeat_every__gte=2))
                & Q(repeat_after__gte=1),
                name="check_plan_rates",
            ),
            models.CheckConstraint(
                condition=Q(least__gte=1, window__gte=models.F("least"))
                & _share("warn_below")
                & _share("pause_below")
                & _share("leave_out_below"),
                name="check_plan_marks",
            ),
        ]

    def __str__(self) -> str:
        return f"checks of {self.campaign_id}"


class KeyTask(models.Model):
    """A task with known right answers, and its use: training, the test, or hidden checks.

    `explanation` is shown in the feedback of training. `source` is the origin of the key. A key that was
    answered is not deleted but retired: it is no longer given to anybody.
    """

    OCCASIONS: ClassVar = (*STAGES, Occasion.CHECK)

    task = models.OneToOneField("annotation.Task", on_delete=models.CASCADE, related_name="key")
    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="key_tasks")
    occasion = models.CharField(max_length=20, choices=Occasion)
    explanation = models.TextField(blank=True)
    source = models.CharField(max_length=200, blank=True)
    retired_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(occasion__in=["training", "qualification", "check"]), name="key_task_occasion"
            ),
        ]

    def __str__(self) -> str:
        return f"key of task {self.task_id}"


class KeyAnswer(models.Model):
    """Right answers to one question about one item: one of `values`, or within `tolerance` of one."""

    key = models.ForeignKey(KeyTask, on_delete=models.CASCADE, related_name="answers")
    item = models.ForeignKey("annotation.Item", on_delete=models.CASCADE, related_name="+")
    question = models.ForeignKey("annotation.Question", on_delete=models.PROTECT, related_name="+")
    values = models.JSONField()
    tolerance = models.FloatField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["key", "item", "question"], name="key_answer_once"),
            models.CheckConstraint(condition=Q(tolerance__gte=0), name="key_tolerance"),
            models.CheckConstraint(condition=~Q(values=[]), name="key_answer_not_empty"),
        ]

    def __str__(self) -> str:
        return f"key answer {self.item_id}/{self.question_id}"


class Attempt(models.Model):
    """One round of training, or one attempt at the test. A person has at most one unfinished in a campaign.

    `right` of `asked` key answers were given; `score` is by the campaign's measure, None where it is
    undefined, and `passed` is None in training.
    """

    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="attempts")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    occasion = models.CharField(max_length=20, choices=Occasion)
    number = models.PositiveSmallIntegerField()
    started_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)
    right = models.PositiveIntegerField(default=0)
    asked = models.PositiveIntegerField(default=0)
    score = models.FloatField(null=True)
    passed = models.BooleanField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "user", "occasion", "number"], name="attempt_once"),
            models.UniqueConstraint(
                fields=["campaign", "user"],
                condition=Q(finished_at__isnull=True),
                name="attempt_one_at_a_time",
            ),
            models.CheckConstraint(
                condition=Q(occasion__in=["training", "qualification"]), name="attempt_occasion"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.occasion} {self.number} of {self.user_id}"


class CheckResult(models.Model):
    """Comparison of a submission with its key: as first submitted, whatever is revised later.

    `chance` is the average number of the `asked` answers that would be right by guessing among the values.
    """

    assignment = models.OneToOneField(
        "annotation.Assignment", on_delete=models.CASCADE, related_name="check_result"
    )
    campaign = models.ForeignKey(
        "annotation.Campaign", on_delete=models.CASCADE, related_name="check_results", db_index=False
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    occasion = models.CharField(max_length=20, choices=Occasion)
    right = models.PositiveIntegerField()
    asked = models.PositiveIntegerField()
    chance = models.FloatField(default=0)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(asked__gte=1, right__lte=models.F("asked")), name="check_result_counts"
            ),
        ]
        indexes = [models.Index(fields=["campaign", "user", "occasion", "at"], name="check_result_of_user")]

    def __str__(self) -> str:
        return f"{self.right} of {self.asked}"


class Standing(models.Model):
    """A person's state in a campaign with checks. It outlives their membership, so nobody starts anew.

    `admitted_at` is when the main work was opened to them: by the test, or by hand, with a reason. `steps`
    counts the tasks submitted in the main work, hidden ones among them, and `hidden_at` is the step at which
    the last hidden one was given. `feedback` is the training task whose feedback they have to see.
    Checks count from `window_from` on; `marks_due` is the number of submitted tasks at which the person is
    warned or paused for them, if at all: some after the check, so that neither reveals which task it was.
    `left_out_at` is set while gold excludes their labels of the campaign.
    """

    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="standings")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    trained_at = models.DateTimeField(null=True)
    admitted_at = models.DateTimeField(null=True)
    admitted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    admitted_why = models.TextField(blank=True)
    told_at = models.DateTimeField(null=True)
    feedback = models.ForeignKey(
        "annotation.Assignment", null=True, on_delete=models.SET_NULL, related_name="+"
    )
    steps = models.PositiveIntegerField(default=0)
    hidden_at = models.PositiveIntegerField(null=True)
    marks_due = models.PositiveIntegerField(null=True)
    window_from = models.DateTimeField(null=True)
    warned_at = models.DateTimeField(null=True)
    warning_read_at = models.DateTimeField(null=True)
    paused_at = models.DateTimeField(null=True)
    paused_why = models.TextField(blank=True)
    left_out_at = models.DateTimeField(null=True)
    left_out_why = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "user"], name="standing_once"),
            models.CheckConstraint(
                condition=Q(paused_at__isnull=True) | ~Q(paused_why=""), name="standing_pause_has_reason"
            ),
            models.CheckConstraint(
                condition=Q(left_out_at__isnull=True) | ~Q(left_out_why=""), name="standing_out_has_reason"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user_id} in {self.campaign_id}"
