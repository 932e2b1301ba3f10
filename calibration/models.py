"""Tables of studies, reports and their links, gold, exports, adjudication, the workbench and drift."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from annotation.models import Dialogue

# Adjudication: rounds, draws, cases and decisions.


class AdjudicationRound(models.Model):
    """A round of adjudication: questions on items to be decided anew, picked by rules from raters' answers.

    `rules` holds the rules with their thresholds (`calibration.adjudication.cases`), which never change.
    `adjudicators` is the number per case: one, or two who must agree. `own_items` lets adjudicators decide on
    items that they rated. `shows_names` shows raters' names instead of pseudonyms, `shows_systems` the
    system. `takes_locked` includes items of an unopened test part; there judges neither pick cases nor are
    shown. `pseudonyms` maps rater ids to letters and only grows.
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
    """A draw of cases: at the start of a round, and at each top-up.

    `inputs_hash` is the SHA-256 of the rules, the seed, the answers at the time and the cases drawn.
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
    """A question on an item that waits for a decision, with the rules that picked it. Frozen (trigger).

    `places` is the number of adjudicators. Triggers maintain `taken` (held or decided) and `decided`;
    `settled_at` is the time since which all decisions agree, and is cleared when a decision is withdrawn.
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
    """An adjudicator's hold on a case, and the resulting decision: a label of their own.

    A held case is leased; its draft survives the lease. One row per adjudicator and case, and one held case
    per adjudicator and round. `revision` grows with every saved draft and every decision; `written_by` is the
    client that saved the draft. A trigger ensures that `label` is an adjudication of this case by this
    person.
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


# Exports, with the hash of the downloaded file.


class Export(models.Model):
    """A completed download: its content, its format, its number of rows, and the SHA-256 of its bytes.

    `what` is labels, notes, gold, transcripts, sft (examples for fine-tuning), release (a release
    check), or a package for another tool.
    `excluded` holds the dialogues left out by people's answers (`annotation.corpora.exclusion`), null where
    nothing was to be left out.
    """

    corpus = models.ForeignKey("annotation.Corpus", on_delete=models.CASCADE, related_name="exports")
    campaign = models.ForeignKey(
        "annotation.Campaign", null=True, on_delete=models.CASCADE, related_name="exports"
    )
    gold = models.ForeignKey("calibration.Gold", null=True, on_delete=models.CASCADE, related_name="exports")
    what = models.CharField(max_length=20, default="labels")
    part = models.CharField(max_length=20, blank=True)
    format = models.CharField(max_length=10)
    rows = models.PositiveIntegerField()
    sha256 = models.CharField(max_length=64)
    excluded = models.JSONField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(
                    format__in=["csv", "csv-excel", "xlsx", "jsonl", "parquet", "zip", "md", "tex", "html"]
                ),
                name="export_format_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.format} of {self.rows} rows"


# Gold labels: derivations and their labels.


class Gold(models.Model):
    """A derivation of gold labels: its labels, its rule, and the hash of its inputs.

    `n` and `without` count its labels and those without a value; `counts` has both by question id, as [n,
    without]. `findings` holds, by question key, the rule's estimates of the raters ({name: {measure:
    value}}), remarks, the end of an iterative estimation, and the basis: the items used, `dev` or `all`. They
    are written once, with the labels, which never change.
    """

    corpus = models.ForeignKey("annotation.Corpus", on_delete=models.CASCADE, related_name="golds")
    campaign = models.ForeignKey(
        "annotation.Campaign", null=True, on_delete=models.CASCADE, related_name="golds"
    )
    scheme_version = models.ForeignKey("annotation.SchemeVersion", on_delete=models.PROTECT)
    rule = models.CharField(max_length=40)
    options = models.JSONField(default=dict)
    inputs_hash = models.CharField(max_length=64)
    n = models.PositiveIntegerField(default=0)
    without = models.PositiveIntegerField(default=0)
    counts = models.JSONField(default=dict)
    findings = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"gold {self.pk} by {self.rule}"

    @property
    def part(self) -> str:
        """Part of the dialogues: training if named or the campaign's, else empty."""
        return str(self.options.get("part", "") or (self.campaign.part if self.campaign else ""))

    @property
    def is_of_training(self) -> bool:
        """Whether it covers training dialogues only."""
        return self.part == Dialogue.Part.TRAINING


class GoldLabel(models.Model):
    """The gold answer to a question on an item, or the reason why there is none (a tie, no labels).

    `source` is the origin if there are several: adjudication, or a rule's key. `decisions` are the
    adjudicators' decisions: the label's id, the adjudicator, the value, and the reason.
    """

    gold = models.ForeignKey(Gold, on_delete=models.CASCADE, related_name="labels")
    item = models.ForeignKey("annotation.Item", on_delete=models.CASCADE)
    question = models.ForeignKey("annotation.Question", on_delete=models.PROTECT)
    number = models.FloatField(null=True)
    text = models.TextField(null=True)  # noqa: DJ001  (null: the answer is not a text)
    reason = models.CharField(max_length=200, blank=True)
    n_raters = models.PositiveIntegerField()
    support = models.FloatField(null=True)
    votes = models.JSONField(default=dict)
    source = models.CharField(max_length=40, blank=True)
    decisions = models.JSONField(default=list, db_default=models.Value([], models.JSONField()))

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["gold", "item", "question"], name="gold_label_once"),
            models.CheckConstraint(
                condition=Q(number__isnull=True, text__isnull=True) ^ Q(reason=""),
                name="gold_value_or_reason",
            ),
        ]

    def __str__(self) -> str:
        return f"gold of item {self.item_id}"


# Prompt searches, and their requests to the improving model.

COST: dict[str, Any] = {"max_digits": 12, "decimal_places": 4}


class Search(models.Model):
    """A search for a better text of a judge, on a bench's dev dialogues.

    It starts with `text` and stores its proposals in `prompt`. `material` is its input, recorded at the
    start: per target of the bench its cluster, its part (learn, choose, held_back) and people's answers, so
    that the same replies lead to the same proposals whatever people answer meanwhile. `rater` is only used in
    the improving model's calls. At most `rounds` proposals are requested, from `few` cases each; no call is
    started that would exceed `most_calls` or `most_cost` (in the endpoint's currency).
    """

    class State(models.TextChoices):
        SEARCHING = "searching"
        SCORING = "scoring"
        DONE = "done"
        FAILED = "failed"
        CANCELLED = "cancelled"

    bench = models.ForeignKey("judges.Bench", on_delete=models.CASCADE, related_name="searches")
    prompt = models.ForeignKey("judges.Prompt", on_delete=models.PROTECT, related_name="searches")
    parent = models.CharField(max_length=120)
    text = models.ForeignKey("judges.PromptText", on_delete=models.PROTECT, related_name="+")
    variant = models.CharField(max_length=60, blank=True)
    endpoint = models.ForeignKey("jobs.Endpoint", on_delete=models.PROTECT, related_name="+")
    improver = models.ForeignKey("jobs.Endpoint", on_delete=models.PROTECT, related_name="+")
    rater = models.OneToOneField("annotation.Rater", on_delete=models.PROTECT, related_name="search")
    options = models.JSONField(default=dict)
    rounds = models.PositiveIntegerField()
    few = models.PositiveIntegerField()
    most_calls = models.PositiveIntegerField()
    most_cost = models.DecimalField(**COST, null=True)
    seed = models.PositiveIntegerField(default=0)
    material = models.JSONField(default=dict)
    state = models.CharField(max_length=10, choices=State, default=State.SEARCHING)
    note = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "searches"
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=["searching", "scoring", "done", "failed", "cancelled"]),
                name="search_state_known",
            ),
            models.CheckConstraint(
                condition=Q(rounds__gte=1, few__gte=1, most_calls__gte=1), name="search_has_bounds"
            ),
        ]

    def __str__(self) -> str:
        return f"search {self.pk} on bench {self.bench_id}"

    @property
    def active(self) -> bool:
        """Whether it is running."""
        return self.state in (self.State.SEARCHING, self.State.SCORING)


class SearchText(models.Model):
    """A text of a search: the first one (without `parent`), or a proposal.

    `draft` runs the judge with it. `score` is its mean on the choosing fold, null if it was not run there;
    `cases` are the keys of the items whose disagreements led to it; `version` is the stored proposal.
    """

    search = models.ForeignKey(Search, on_delete=models.CASCADE, related_name="texts")
    number = models.PositiveIntegerField()
    draft = models.OneToOneField("judges.Draft", on_delete=models.CASCADE, related_name="search_text")
    digest = models.CharField(max_length=64)
    parent = models.ForeignKey("self", null=True, on_delete=models.CASCADE, related_name="children")
    score = models.FloatField(null=True)
    cases = models.JSONField(default=list)
    diagnosis = models.TextField(blank=True)
    version = models.ForeignKey(
        "judges.PromptVersion", null=True, on_delete=models.SET_NULL, related_name="search_texts"
    )

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["search", "number"], name="search_text_number_once"),
            models.UniqueConstraint(fields=["search", "digest"], name="search_text_once"),
        ]

    def __str__(self) -> str:
        return f"text {self.number} of search {self.search_id}"


class SearchRequest(models.Model):
    """A request to the improving model in a search; the same words are sent only once.

    Once it is `done`, `text` is the proposal, or `error` says why there is none.
    """

    search = models.ForeignKey(Search, on_delete=models.CASCADE, related_name="requests")
    digest = models.CharField(max_length=64)
    system = models.TextField()
    user = models.TextField()
    base = models.ForeignKey("judges.PromptText", on_delete=models.PROTECT, related_name="+")
    cases = models.JSONField(default=list)
    text = models.ForeignKey("judges.PromptText", null=True, on_delete=models.PROTECT, related_name="+")
    diagnosis = models.TextField(blank=True)
    error = models.TextField(blank=True)
    done = models.BooleanField(default=False)

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["search", "digest"], name="search_asks_once")]

    def __str__(self) -> str:
        return f"request {self.pk} of search {self.search_id}"


# Studies and their reports, and read-only links to reports.

MOST_SHARED_DAYS = 365
"""Longest time for which a link to a report may work."""


class Study(models.Model):
    """A saved study of the labels of a corpus or campaign.

    `definition` holds the settings that differ from the defaults (see `calibration.ratings.definitions`); an
    empty one is the automatic study: every question with two raters or more. A corpus and a campaign each
    have one automatic study for their report pages, without people left out of gold, and on request a second
    one that includes everyone.
    """

    name = models.CharField(max_length=160, unique=True)
    corpus = models.ForeignKey("annotation.Corpus", on_delete=models.CASCADE, related_name="studies")
    campaign = models.ForeignKey(
        "annotation.Campaign", null=True, on_delete=models.CASCADE, related_name="studies"
    )
    definition = models.JSONField(default=dict)
    automatic = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "studies"
        constraints = [
            models.UniqueConstraint(
                fields=["corpus", "campaign", "definition"],
                condition=Q(automatic=True),
                nulls_distinct=False,
                name="study_automatic_once",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Report(models.Model):
    """A snapshot of a study's results with the hash of all its inputs.

    `part` is the part shown: all (no split), dev or test. `stamp` is a cheap check for labels added since.
    """

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="reports")
    part = models.CharField(max_length=4, default="all")
    inputs_hash = models.CharField(max_length=64)
    stamp = models.CharField(max_length=80, blank=True)
    result = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["study", "part", "inputs_hash"], name="report_inputs_once"),
            models.CheckConstraint(condition=Q(part__in=["all", "dev", "test"]), name="report_part_known"),
        ]

    def __str__(self) -> str:
        return f"report of {self.study_id}"


class ReportShare(models.Model):
    """A read-only link to one report, for people without an account. Only its secret's SHA-256 is stored.

    With `allows_transcripts`, the link also shows notes about items and `transcripts`: the leading
    disagreements of each judge with people, as item ids with the answers at the time of creation (see
    `calibration.studies.share_actions.Disagreements`); their turns are read when they are shown.
    """

    report = models.ForeignKey(Report, on_delete=models.CASCADE, related_name="shares")
    token_hash = models.CharField(max_length=64, unique=True)
    allows_transcripts = models.BooleanField(default=False)
    transcripts = models.JSONField(default=list)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)
    revoked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(expires_at__gt=F("created_at"))
                & Q(expires_at__lte=F("created_at") + timedelta(days=MOST_SHARED_DAYS)),
                name="share_lasts_a_year_at_most",
            ),
            models.CheckConstraint(
                condition=Q(revoked_by__isnull=True) | Q(revoked_at__isnull=False),
                name="share_revoked_at_a_time",
            ),
            models.CheckConstraint(
                condition=Q(allows_transcripts=True) | Q(transcripts=[]),
                name="share_without_transcripts",
            ),
        ]

    def __str__(self) -> str:
        return f"link to report {self.report_id}"

    @property
    def works(self) -> bool:
        """Whether it opens the report: neither revoked nor expired."""
        return self.revoked_at is None and self.expires_at > timezone.now()


class ReportShareView(models.Model):
    """A view of a report by its read-only link: the time, and nothing about the visitor."""

    share = models.ForeignKey(ReportShare, on_delete=models.CASCADE, related_name="views")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"a view at {self.at}"


# Marks on disagreements in the workbench, and items waiting for adjudication.


class Mark(models.Model):
    """A verdict on who is wrong where a judge and people disagree, with a note.

    Append-only (trigger): the latest row of a place counts, and `withdrawn` withdraws the previous one.
    `judged` names the draft or judge on its bench as in URLs (`draft-3`, `judge-17`).
    """

    class Verdict(models.TextChoices):
        JUDGE_WRONG = "judge_wrong", "judge wrong"
        PEOPLE_WRONG = "people_wrong", "people wrong"
        UNCLEAR = "unclear", "unclear"
        WITHDRAWN = "withdrawn", "withdrawn"

    bench = models.ForeignKey("judges.Bench", on_delete=models.CASCADE, related_name="marks")
    item = models.ForeignKey("annotation.Item", on_delete=models.CASCADE, related_name="+")
    question = models.ForeignKey("annotation.Question", on_delete=models.PROTECT, related_name="+")
    judged = models.CharField(max_length=40)
    judged_name = models.CharField(max_length=200)
    verdict = models.CharField(max_length=12, choices=Verdict)
    note = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(verdict__in=["judge_wrong", "people_wrong", "unclear", "withdrawn"]),
                name="mark_verdict_known",
            )
        ]
        indexes = [models.Index(fields=["bench", "item", "question"], name="mark_of_place")]

    def __str__(self) -> str:
        return f"{self.judged} on {self.item_id}: {self.verdict}"


class ForAdjudication(models.Model):
    """A question on an item whose labels should be decided anew, and the reason.

    It waits until it is withdrawn (`withdrawn_at`) or settled (`settled_at`); at most one row waits per
    place.
    """

    item = models.ForeignKey("annotation.Item", on_delete=models.CASCADE, related_name="+")
    question = models.ForeignKey("annotation.Question", on_delete=models.PROTECT, related_name="+")
    reason = models.TextField()
    mark = models.ForeignKey(Mark, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    withdrawn_at = models.DateTimeField(null=True)
    settled_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "items for adjudication"
        constraints = [
            models.UniqueConstraint(
                fields=["item", "question"],
                condition=Q(withdrawn_at=None, settled_at=None),
                name="adjudication_waits_once",
            ),
            models.CheckConstraint(condition=~Q(reason=""), name="adjudication_has_reason"),
        ]

    def __str__(self) -> str:
        return f"{self.item_id} for adjudication"


# Drift: anchor sets, and the rechecks of judges on them.


class AnchorSet(models.Model):
    """A named, fixed set of items with people's labels or a gold, on which judges are asked again.

    The reference is `gold`, else people's labels (those of `campaign`, if one is named). Items never change
    (trigger). `margin` is the equivalence margin of its comparisons. With `every_days`, the scheduled judges
    are asked again at `next_due` and every so many days after it.
    """

    name = models.CharField(max_length=100, unique=True)
    corpus = models.ForeignKey("annotation.Corpus", on_delete=models.CASCADE, related_name="anchor_sets")
    gold = models.ForeignKey(Gold, null=True, on_delete=models.CASCADE, related_name="anchor_sets")
    campaign = models.ForeignKey(
        "annotation.Campaign", null=True, on_delete=models.CASCADE, related_name="anchor_sets"
    )
    seed = models.PositiveIntegerField(default=0)
    margin = models.FloatField(default=0.1)
    every_days = models.PositiveSmallIntegerField(null=True)
    next_due = models.DateTimeField(null=True)
    scheduled = models.ManyToManyField("annotation.Rater", related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(condition=Q(margin__gt=0, margin__lte=1), name="anchors_have_a_margin"),
            models.CheckConstraint(
                condition=Q(every_days=None, next_due=None)
                | Q(every_days__gte=1, every_days__isnull=False, next_due__isnull=False),
                name="anchors_schedule_complete",
            ),
        ]
        indexes = [models.Index(fields=["next_due"], condition=Q(next_due__isnull=False), name="anchors_due")]

    def __str__(self) -> str:
        return self.name


class AnchorItem(models.Model):
    """An item of an anchor set. Never changed or added later (trigger)."""

    anchors = models.ForeignKey(AnchorSet, on_delete=models.CASCADE, related_name="items")
    item = models.ForeignKey("annotation.Item", on_delete=models.CASCADE, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["anchors", "item"], name="anchor_item_once")]

    def __str__(self) -> str:
        return f"item {self.item_id} of {self.anchors_id}"


class Recheck(models.Model):
    """A judge asked again on an anchor set, and the comparison with its first run.

    Its labels have the occasion `repeat`; their samples begin at `number` times
    `jobs.models.run.MOST_SAMPLES`, so that no main label and no other recheck of the judge has them.
    `due` is the scheduled time, null for one that a person started. `state` is empty until the comparison,
    whose figures are in `result`.
    """

    class State(models.TextChoices):
        STABLE = "stable"
        MOVED = "moved"
        CANNOT_SAY = "cannot say"

    anchors = models.ForeignKey(AnchorSet, on_delete=models.CASCADE, related_name="rechecks")
    rater = models.ForeignKey("annotation.Rater", on_delete=models.PROTECT, related_name="rechecks")
    number = models.PositiveIntegerField()
    run = models.OneToOneField("jobs.Run", on_delete=models.CASCADE, related_name="recheck")
    due = models.DateTimeField(null=True)
    state = models.CharField(max_length=10, choices=State, blank=True, default="")
    result = models.JSONField(default=dict)
    compared_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["rater", "number"], name="recheck_number_once"),
            models.UniqueConstraint(fields=["anchors", "rater", "due"], name="recheck_due_once"),
            models.CheckConstraint(condition=Q(number__gte=1), name="recheck_number_from_one"),
            models.CheckConstraint(
                condition=Q(state="", compared_at=None)
                | Q(state__in=["stable", "moved", "cannot say"], compared_at__isnull=False),
                name="recheck_state_known",
            ),
        ]

    def __str__(self) -> str:
        return f"recheck {self.number} of rater {self.rater_id}"


# Public names: the tables of studies, gold labels, exports, adjudication, the workbench and drift.

__all__ = [
    "AdjudicationCase",
    "AdjudicationDecision",
    "AdjudicationDraw",
    "AdjudicationRound",
    "AnchorItem",
    "AnchorSet",
    "Export",
    "ForAdjudication",
    "Gold",
    "GoldLabel",
    "Mark",
    "Recheck",
    "Report",
    "ReportShare",
    "ReportShareView",
    "Search",
    "SearchRequest",
    "SearchText",
    "Study",
]
