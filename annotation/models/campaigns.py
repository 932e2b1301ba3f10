"""Campaigns: a corpus's part, the questions about it, the participants, and the limits."""

from __future__ import annotations

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q

from annotation.models.labels import Occasion
from annotation.text.views import DEFAULT

NAME_LIMIT, FIELD_LIMIT = 120, 120
"""Maximum characters of a campaign's name, and of the name of a field, such as `metadata.topic`."""

# A person's role in one campaign, in addition to their role in all of Concord.


class CampaignRole(models.Model):
    """A person's role as adjudicator or researcher of one campaign. Its raters are CampaignMembers.

    A campaign's researcher has a researcher's permissions in this campaign; a campaign's adjudicator may
    adjudicate its disagreements. Either may be an annotator, or have no role, in other campaigns.
    """

    class Role(models.TextChoices):
        ADJUDICATOR = "adjudicator", "Adjudicator"
        RESEARCHER = "researcher", "Researcher of this campaign"

    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="roles")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="campaign_roles"
    )
    role = models.CharField(max_length=20, choices=Role)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["campaign", "role", "id"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "user", "role"], name="campaign_role_once"),
            models.CheckConstraint(
                condition=Q(role__in=["adjudicator", "researcher"]), name="campaign_role_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user_id}: {self.role} of {self.campaign_id}"


# Texts that annotators agree to or read before work: a campaign's consent text, and changed guidelines.


class Consent(models.Model):
    """A version of a campaign's consent text; the newest is in force, and an empty one requires no consent.

    A trigger prevents changes to a version that somebody agreed to.
    """

    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="consents")
    version = models.PositiveIntegerField(default=1)
    text = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["campaign", "version"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "version"], name="consent_version_once"),
        ]

    def __str__(self) -> str:
        return f"consent v{self.version}"


class ConsentGiven(models.Model):
    """A person's consent to a version of a consent text, with its time. Never changed, by a trigger."""

    consent = models.ForeignKey(Consent, on_delete=models.CASCADE, related_name="given")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="consents_given"
    )
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "consents given"
        constraints = [models.UniqueConstraint(fields=["consent", "user"], name="consent_given_once")]

    def __str__(self) -> str:
        return f"{self.user_id} to {self.consent_id}"


class GuidelinesRead(models.Model):
    """A person's start with a version of guidelines, or acknowledgement of a change, with its time."""

    guidelines = models.ForeignKey("annotation.Guidelines", on_delete=models.CASCADE, related_name="read")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="guidelines_read"
    )
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "guidelines read"
        constraints = [models.UniqueConstraint(fields=["guidelines", "user"], name="guidelines_read_once")]

    def __str__(self) -> str:
        return f"{self.user_id} read {self.guidelines_id}"


# Strata that are balanced over a campaign's annotators, and each person's progress in them.


class BalanceStratum(models.Model):
    """A value by which a campaign balances its tasks, such as a system. Annotators never see it."""

    campaign = models.ForeignKey(
        "annotation.Campaign", on_delete=models.CASCADE, related_name="balanced", db_index=False
    )
    name = models.TextField(blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["campaign", "name"], name="balanced_stratum_once")]

    def __str__(self) -> str:
        return f"{self.name} in {self.campaign_id}"


class StratumShare(models.Model):
    """Number of tasks of a stratum that a person has done or holds, kept by a trigger, and their position.

    `cursor` is the position of the last task of the stratum that they claimed.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    stratum = models.ForeignKey(BalanceStratum, on_delete=models.CASCADE, related_name="shares")
    cursor = models.IntegerField(default=-1, db_default=-1)
    done = models.IntegerField(default=0, db_default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "stratum"], name="stratum_share_once")]

    def __str__(self) -> str:
        return f"{self.done} of {self.stratum_id} by {self.user_id}"


def default_shows() -> list[str]:
    """Return the parts that raters see beside the turns by default."""
    return list(DEFAULT)


class Guidelines(models.Model):
    """A version of the instructions that annotators of a campaign read. Frozen once a label was given."""

    campaign = models.ForeignKey("annotation.Campaign", on_delete=models.CASCADE, related_name="guidelines")
    version = models.PositiveIntegerField(default=1)
    text = models.TextField()
    frozen_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["campaign", "version"]
        verbose_name_plural = "guidelines"
        constraints = [
            models.UniqueConstraint(fields=["campaign", "version"], name="guidelines_version_once"),
        ]

    def __str__(self) -> str:
        return f"guidelines v{self.version}"


OVERLAP_IS_WHOLE = Q(overlap_raters__isnull=True, overlap_share__isnull=True, overlap_tasks__isnull=True) | Q(
    overlap_raters__isnull=False, overlap_raters__gt=F("raters_per_item")
) & (
    Q(overlap_tasks__isnull=True, overlap_share__isnull=False, overlap_share__gt=0, overlap_share__lte=1)
    | Q(overlap_share__isnull=True, overlap_tasks__isnull=False, overlap_tasks__gte=1)
)
"""Either no part of the tasks has more raters, or both their number and the size of the part are set."""


class Campaign(models.Model):
    """Part of a corpus, a scheme version, guidelines, raters per item, and the people who may take part.

    `shows` is the allow-list of what raters, people and judges alike, see beside the turns. A part of the
    tasks, drawn by the seed, has `overlap_raters` instead of `raters_per_item`: `overlap_share` of them
    (above 0, at most 1) or `overlap_tasks` of them. `sample_dialogues` of the dialogues are drawn, in
    proportion to `sample_by` ("", "system", "part" or "metadata.FIELD"); None includes all of them.
    With `sample_apart` (above 0, at most 1) only items are included on which the `apart_judge` and people
    differ by that share of the scale. With `review`, items are drawn by the answers of judges, in strata with
    known probabilities (`annotation.campaigns.allocation`); `review_strata` are the strata's sizes at the
    first opening. The order by priority is by `order_by` ("metadata.FIELD");
    `apart_judge` is the judge that is compared with people. After the `deadline` nothing is handed out or
    accepted; a person submits at most `most_tasks`, and `most_tasks_a_day` in a day of UTC. A submission
    may be revised for `revise_hours`: None for as long as the campaign is open, 0 for never.
    `form` is the kind of work: `rating` of existing continuations; `chat`, whose members first write the
    continuations that they answer about; or `write`, whose members only write continuations
    (`annotation.hooks.CAMPAIGN_FORMS`).
    `unseen_check` sets which turns must have been on screen for a submit without a warning. With
    `shows_agreement`, annotators see their agreement with others. `join_proof` is how a participant who
    returns by a link proves that they are the same person. An archived campaign is in no list and takes no
    work.

    Where the scheme asks about comparisons, `compares` selects them: every pair or set of its systems
    (`all`), those with the `baseline` among them, or those that the corpus has (`there`); `compared` sets
    their members: responses to one point (`turns`), whole continuations (`whole`), or whatever fits the
    continuations (`auto`). A ranking puts `ranked` of them into an order; of all possible ones, the seed
    draws `most_comparisons` where that is set.

    Where the scheme asks about facts or questions of scripts, those of `record_status` are included, and of
    them the seed draws `sample_records` where that is set.

    Where the scheme asks about turns, `speakers` (names, or roles of participants) limits the questions to
    their turns, and the others are context; empty for all turns.

    Training dialogues are included only where training is the `part`, and then no others are.

    `exclude` leaves out dialogues by people's answers (`annotation.corpora.exclusion`); "" leaves out none.

    With `side_by_side`, one task shows all responses of the selected systems to one point of a dialogue, with
    the same questions on each.

    With a `batch_size`, annotators get tasks of the first `batches_open` batches of that many tasks each;
    `next_batch` sets when the next one opens (`annotation.campaigns.campaign_actions`).

    With `balance_by` ("", "system", "part" or "metadata.FIELD"), the next task of an annotator is from the
    stratum of which they have done least.

    Rules on who may rate a task: with `by_language`, only people who read the dialogue's language; nobody
    whom `not_own` ("", "participants" or "metadata.FIELD") names as an author of it; where `groups_by` ("",
    "system", "part" or "metadata.FIELD") has a group for its stratum, only that group. `ruled` is set where
    slots have gates.

    `resumed_at` is when it was last opened again after a pause or its end.
    """

    class State(models.TextChoices):
        DRAFT = "draft"
        OPEN = "open"
        PAUSED = "paused"
        CLOSED = "closed"

    class Form(models.TextChoices):
        RATING = "rating", "Ratings of existing turns or dialogues"
        CHAT = "chat", "Conversations between members, and ratings of them"
        WRITE = "write", "Responses of members to fixed dialogues"

    class Order(models.TextChoices):
        DRAWN = "drawn", "The same for everybody, drawn from the seed"
        OWN = "own", "Everybody in an order of their own"
        FIXED = "fixed", "As the dialogues lie in the corpus"
        PRIORITY = "priority", "By a number that the dialogues carry, the highest first"
        INFORMATIVE = "informative", "What a judge and people, or judges, are furthest apart on first"

    class Compares(models.TextChoices):
        ALL = "all", "Every choice of the systems"
        BASELINE = "baseline", "Each system with one of them"
        THERE = "there", "Those that the corpus has already"

    class Compared(models.TextChoices):
        AUTO = "auto", "Responses to one point where there are any, else whole continuations"
        TURNS = "turns", "Responses to one point"
        WHOLE = "whole", "Whole continuations"

    class NextBatch(models.TextChoices):
        HAND = "hand", "A researcher opens the next batch"
        COMPLETE = "complete", "The next batch opens when the last one is complete"

    class Seeing(models.TextChoices):
        RATED = "rated", "The turns that are judged"
        SHOWN = "shown", "All turns that are shown"
        OFF = "off", "None: nothing is asked"

    class JoinProof(models.TextChoices):
        BROWSER = "browser", "The browser they began in; another one needs a researcher's confirmation"
        SIGNED = "signed", "A signature of the id, made with the link's key"
        NONE = "none", "The id alone: whoever guesses it continues as that person"

    class RecordStatus(models.TextChoices):
        DRAFT = "draft", "Drafts: nobody has decided about them yet"
        ACCEPTED = "accepted", "Accepted ones"
        REJECTED = "rejected", "Rejected ones"
        ALL = "all", "All of them"

    class Part(models.TextChoices):
        """Dialogues of a benchmark that are included."""

        REST = "", "All but training"
        TRAINING = "training", "Training alone"

    name = models.CharField(max_length=NAME_LIMIT, unique=True)
    corpus = models.ForeignKey("annotation.Corpus", on_delete=models.CASCADE, related_name="campaigns")
    scheme_version = models.ForeignKey("annotation.SchemeVersion", on_delete=models.PROTECT)
    systems = models.ManyToManyField("annotation.System", blank=True)
    include_self = models.BooleanField(default=False)
    speakers = ArrayField(models.CharField(max_length=300), blank=True, default=list, db_default=[])
    part = models.CharField(max_length=10, choices=Part, blank=True, default=Part.REST, db_default="")
    exclude = models.CharField(max_length=400, blank=True, default="", db_default="")
    raters_per_item = models.PositiveSmallIntegerField(default=2)
    lease_minutes = models.PositiveIntegerField(default=60)
    occasion = models.CharField(max_length=20, choices=Occasion, default=Occasion.MAIN)
    state = models.CharField(max_length=10, choices=State, default=State.DRAFT)
    form = models.CharField(max_length=10, choices=Form, default=Form.RATING, db_default=Form.RATING)
    seed = models.PositiveIntegerField(default=0)
    shows = models.JSONField(default=default_shows)
    overlap_raters = models.PositiveSmallIntegerField(null=True)
    overlap_share = models.FloatField(null=True)
    overlap_tasks = models.PositiveIntegerField(null=True)
    sample_dialogues = models.PositiveIntegerField(null=True)
    sample_by = models.CharField(max_length=FIELD_LIMIT, blank=True, default="", db_default="")
    sample_apart = models.FloatField(null=True)
    review = models.JSONField(null=True)
    review_strata = models.JSONField(null=True)
    task_order = models.CharField(max_length=20, choices=Order, default=Order.DRAWN, db_default=Order.DRAWN)
    order_by = models.CharField(max_length=FIELD_LIMIT, blank=True, default="", db_default="")
    apart_judge = models.CharField(max_length=200, blank=True, default="", db_default="")
    balance_by = models.CharField(max_length=FIELD_LIMIT, blank=True, default="", db_default="")
    batch_size = models.PositiveIntegerField(null=True)
    batches_open = models.PositiveIntegerField(default=1, db_default=1)
    next_batch = models.CharField(
        max_length=10, choices=NextBatch, default=NextBatch.HAND, db_default=NextBatch.HAND
    )
    deadline = models.DateTimeField(null=True)
    most_tasks = models.PositiveIntegerField(null=True)
    most_tasks_a_day = models.PositiveIntegerField(null=True)
    compares = models.CharField(
        max_length=10, choices=Compares, default=Compares.ALL, db_default=Compares.ALL
    )
    compared = models.CharField(
        max_length=10, choices=Compared, default=Compared.AUTO, db_default=Compared.AUTO
    )
    baseline = models.ForeignKey("annotation.System", null=True, on_delete=models.SET_NULL, related_name="+")
    ranked = models.PositiveSmallIntegerField(default=3, db_default=3)
    most_comparisons = models.PositiveIntegerField(null=True)
    side_by_side = models.BooleanField(default=False, db_default=False)
    record_status = models.CharField(
        max_length=10, choices=RecordStatus, default=RecordStatus.DRAFT, db_default="draft"
    )
    sample_records = models.PositiveIntegerField(null=True)
    by_language = models.BooleanField(default=False, db_default=False)
    not_own = models.CharField(max_length=FIELD_LIMIT, blank=True, default="", db_default="")
    groups_by = models.CharField(max_length=FIELD_LIMIT, blank=True, default="", db_default="")
    ruled = models.BooleanField(default=False, db_default=False)
    revise_hours = models.PositiveIntegerField(null=True)
    unseen_check = models.CharField(
        max_length=10, choices=Seeing, default=Seeing.RATED, db_default=Seeing.RATED
    )
    shows_agreement = models.BooleanField(default=False, db_default=False)
    join_proof = models.CharField(
        max_length=10, choices=JoinProof, default=JoinProof.BROWSER, db_default=JoinProof.BROWSER
    )
    archived_at = models.DateTimeField(null=True)
    resumed_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(condition=Q(raters_per_item__gte=1), name="campaign_has_raters"),
            models.CheckConstraint(
                condition=Q(state__in=["draft", "open", "paused", "closed"]), name="campaign_state_known"
            ),
            models.CheckConstraint(
                condition=Q(archived_at__isnull=True) | Q(state__in=["draft", "closed"]),
                name="campaign_archived_is_at_rest",
            ),
            models.CheckConstraint(
                condition=Q(form__in=["rating", "chat", "write"]), name="campaign_form_known"
            ),
            models.CheckConstraint(condition=OVERLAP_IS_WHOLE, name="campaign_overlap_whole"),
            models.CheckConstraint(
                condition=Q(task_order__in=["drawn", "own", "fixed", "priority", "informative"]),
                name="campaign_order_known",
            ),
            models.CheckConstraint(
                condition=Q(task_order="priority") & ~Q(order_by="")
                | ~Q(task_order="priority") & Q(order_by=""),
                name="campaign_priority_has_field",
            ),
            models.CheckConstraint(
                condition=Q(sample_dialogues__isnull=True, sample_by="")
                | Q(sample_dialogues__isnull=False, sample_dialogues__gte=1),
                name="campaign_sample_whole",
            ),
            models.CheckConstraint(
                condition=Q(sample_apart__isnull=True)
                | (Q(sample_apart__gt=0, sample_apart__lte=1) & ~Q(apart_judge="")),
                name="campaign_apart_from_a_judge",
            ),
            models.CheckConstraint(
                condition=(Q(batch_size__isnull=True) | Q(batch_size__gte=1))
                & Q(batches_open__gte=1, next_batch__in=["hand", "complete"]),
                name="campaign_batches_known",
            ),
            models.CheckConstraint(
                condition=(Q(most_tasks__isnull=True) | Q(most_tasks__gte=1))
                & (Q(most_tasks_a_day__isnull=True) | Q(most_tasks_a_day__gte=1)),
                name="campaign_limits_allow_work",
            ),
            models.CheckConstraint(
                condition=Q(compares__in=["all", "baseline", "there"])
                & Q(compared__in=["auto", "turns", "whole"])
                & Q(ranked__gte=3, ranked__lte=10)
                & (Q(most_comparisons__isnull=True) | Q(most_comparisons__gte=1)),
                name="campaign_comparisons_known",
            ),
            models.CheckConstraint(condition=Q(part__in=["", "training"]), name="campaign_part_known"),
            models.CheckConstraint(
                condition=Q(record_status__in=["draft", "accepted", "rejected", "all"])
                & (Q(sample_records__isnull=True) | Q(sample_records__gte=1)),
                name="campaign_records_known",
            ),
            models.CheckConstraint(
                condition=Q(unseen_check__in=["rated", "shown", "off"]), name="campaign_seeing_known"
            ),
            models.CheckConstraint(
                condition=Q(join_proof__in=["browser", "signed", "none"]), name="campaign_join_proof_known"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def own_key(self) -> str:
        """Key of the continuations that its tasks are about where members write them, '' where they rate.

        Each writer of a campaign of form `write` adds a continuation of their own, whose key continues this
        one; the task's stays empty.
        """
        return "" if self.form == self.Form.RATING else f"{self.form}-{self.pk}"


class CampaignMember(models.Model):
    """An annotator who may take part in a campaign.

    `cursor` is the position of the last task claimed, so that finding the next one does not scan those done.
    `done` counts the tasks submitted and `pace` is the recent seconds per task, so that showing progress
    costs no query. `done_today` of them were submitted on the day (of UTC) `done_on`.
    """

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="members")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    cursor = models.IntegerField(default=-1)
    done = models.PositiveIntegerField(default=0)
    done_on = models.DateField(null=True)
    done_today = models.PositiveIntegerField(default=0, db_default=0)
    pace = models.FloatField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["campaign", "user"], name="member_once")]

    def __str__(self) -> str:
        return f"{self.user_id} in {self.campaign_id}"


class SampledDialogue(models.Model):
    """A dialogue drawn for a campaign when it first opened, with its stratum."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="sampled", db_index=False)
    dialogue = models.ForeignKey("annotation.Dialogue", on_delete=models.CASCADE, related_name="+")
    stratum = models.TextField(blank=True, default="")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["campaign", "dialogue"], name="dialogue_drawn_once")]

    def __str__(self) -> str:
        return f"{self.dialogue_id} in {self.campaign_id}"


class SampledItem(models.Model):
    """An item drawn for a campaign when it first opened: sampled, or because judge and people differ.

    `probability` is the item's known chance of having been drawn, null where items were selected without
    one; `stratum` is the group that it was drawn from.
    """

    campaign = models.ForeignKey(
        Campaign, on_delete=models.CASCADE, related_name="sampled_items", db_index=False
    )
    item = models.ForeignKey("annotation.Item", on_delete=models.CASCADE, related_name="+")
    probability = models.FloatField(null=True)
    stratum = models.CharField(max_length=200, blank=True, default="", db_default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "item"], name="item_drawn_once"),
            models.CheckConstraint(
                condition=Q(probability__isnull=True) | Q(probability__gt=0, probability__lte=1),
                name="item_drawn_with_a_chance",
            ),
        ]

    def __str__(self) -> str:
        return f"item {self.item_id} in {self.campaign_id}"


class ComparedItem(models.Model):
    """A comparison that a campaign asks about, selected while it was a draft."""

    campaign = models.ForeignKey(
        Campaign, on_delete=models.CASCADE, related_name="compared_items", db_index=False
    )
    item = models.ForeignKey("annotation.Item", on_delete=models.CASCADE, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["campaign", "item"], name="compared_item_once")]

    def __str__(self) -> str:
        return f"item {self.item_id} in {self.campaign_id}"
