"""Database models of judges and metrics."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.models import Rater
from jobs.models import Run

# Models of judges and metrics, by subject.

# Benches, on which drafts of judges are tried on dev items, and the drafts' answers.


class Bench(models.Model):
    """Test bench for drafts of one protocol, on items of the dev part of a corpus's split.

    `scheme_version` and `variant` are set only for a protocol that takes any scheme. Targets are drawn from
    `seed`, those that people answered first, and are only ever added, so that all drafts get the same items;
    they include dialogues' own turns if `include_self` is set or there is nothing else. `questions` maps the
    protocol's questions to question ids, fixed at the start.
    """

    name = models.CharField(max_length=100, unique=True)
    corpus = models.ForeignKey("annotation.Corpus", on_delete=models.CASCADE, related_name="benches")
    campaign = models.ForeignKey(
        "annotation.Campaign", null=True, on_delete=models.CASCADE, related_name="benches"
    )
    split = models.ForeignKey("annotation.Split", on_delete=models.CASCADE, related_name="benches")
    protocol = models.CharField(max_length=60)
    scheme_version = models.ForeignKey(
        "annotation.SchemeVersion", null=True, on_delete=models.PROTECT, related_name="benches"
    )
    variant = models.CharField(max_length=60, blank=True)
    questions = models.JSONField(default=dict)
    seed = models.PositiveIntegerField(default=0)
    include_self = models.BooleanField(default=False, db_default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "benches"

    def __str__(self) -> str:
        return self.name


class BenchTarget(models.Model):
    """Subject of a draft's call: an item, or (`item` None) a continuation. Never of test (trigger)."""

    bench = models.ForeignKey(Bench, on_delete=models.CASCADE, related_name="targets")
    position = models.PositiveIntegerField()
    continuation = models.ForeignKey("annotation.Continuation", on_delete=models.CASCADE, related_name="+")
    item = models.ForeignKey("annotation.Item", null=True, on_delete=models.CASCADE, related_name="+")

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["bench", "position"], name="bench_position_once"),
            models.UniqueConstraint(
                fields=["bench", "continuation", "item"], nulls_distinct=False, name="bench_target_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.position} of bench {self.bench_id}"


class Draft(models.Model):
    """A judge under development: text, variant, endpoint and settings, tried on a bench's first targets.

    `rater` is used in its calls only: it never has a label (trigger) and is in no list of raters. `options`
    are further arguments of `judges.runs.plans.Judge`. Once the draft is kept, `kept` is the reference of its
    version and `kept_rater` the judge that took over its calls and answers. A draft that serves a check has
    the check's key (`check_key`), the checked draft (`of`) and the change made (`change`). Discarded drafts
    stay stored, so that they are counted among the tried ones.
    """

    bench = models.ForeignKey(Bench, on_delete=models.CASCADE, related_name="drafts")
    number = models.PositiveIntegerField()
    rater = models.OneToOneField(Rater, on_delete=models.PROTECT, related_name="draft")
    variant = models.CharField(max_length=60, blank=True)
    text = models.ForeignKey("judges.PromptText", on_delete=models.PROTECT, related_name="drafts")
    parent = models.CharField(max_length=120, blank=True)
    endpoint = models.ForeignKey("jobs.Endpoint", on_delete=models.PROTECT, related_name="drafts")
    options = models.JSONField(default=dict)
    targets = models.PositiveIntegerField(default=0)
    samples = models.PositiveIntegerField(default=1)
    of = models.ForeignKey("self", null=True, on_delete=models.CASCADE, related_name="checks")
    check_key = models.CharField(max_length=40, blank=True)
    change = models.JSONField(default=dict)
    kept = models.CharField(max_length=120, blank=True)
    kept_rater = models.ForeignKey(Rater, null=True, on_delete=models.PROTECT, related_name="+")
    discarded_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["bench", "number"], name="draft_number_once"),
            models.CheckConstraint(condition=Q(samples__gte=1), name="draft_has_samples"),
            models.CheckConstraint(
                condition=Q(kept="", kept_rater=None) | (~Q(kept="") & Q(kept_rater__isnull=False)),
                name="draft_kept_whole",
            ),
            models.CheckConstraint(
                condition=Q(of=None, check_key="") | (Q(of__isnull=False, kept="") & ~Q(check_key="")),
                name="draft_check_of_another",
            ),
        ]

    def __str__(self) -> str:
        return f"draft {self.number} of bench {self.bench_id}"

    @property
    def name(self) -> str:
        """Display name: the version that it was kept as, else its number."""
        return self.kept or f"draft {self.number}"

    @property
    def asker(self) -> Rater:
        """Rater of its runs' calls: the judge, once the draft is kept."""
        return self.kept_rater or self.rater


class DraftAnswer(models.Model):
    """Answer of a draft: like a label, but never one. Kept drafts have none, since theirs became labels."""

    draft = models.ForeignKey(Draft, on_delete=models.CASCADE, related_name="answers")
    call = models.ForeignKey("jobs.Call", on_delete=models.CASCADE, related_name="drafted")
    item = models.ForeignKey("annotation.Item", on_delete=models.CASCADE, related_name="+")
    question = models.ForeignKey("annotation.Question", on_delete=models.PROTECT, related_name="+")
    sample = models.PositiveIntegerField(default=0)
    number = models.FloatField(null=True)
    text = models.TextField(null=True)  # noqa: DJ001  (null: the answer is not a text)
    missing = models.TextField(blank=True)
    explanation = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["draft", "item", "question", "sample"], name="draft_answer_once"),
            models.CheckConstraint(
                condition=(
                    Q(number__isnull=False, text__isnull=True, missing="")
                    | Q(number__isnull=True, text__isnull=False, missing="")
                    | (Q(number__isnull=True, text__isnull=True) & ~Q(missing=""))
                ),
                name="draft_one_answer",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.draft_id} on {self.item_id}"

    @property
    def value(self) -> float | str | None:
        """The answer: a number, a text, or None if it is missing."""
        return self.number if self.number is not None else self.text


class Trial(models.Model):
    """Record that a judge was compared with people on the dev part of a split, once per judge.

    Corrections for multiple comparisons count trials, including those of discarded drafts. Never changed, and
    only deleted with its corpus (trigger).
    """

    split = models.ForeignKey("annotation.Split", on_delete=models.CASCADE, related_name="trials")
    protocol = models.CharField(max_length=60)
    fingerprint = models.CharField(max_length=64)
    name = models.CharField(max_length=200)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["split", "protocol", "fingerprint"], name="trial_once")
        ]

    def __str__(self) -> str:
        return self.name


# Links from labels to calls.

# Embeddings of texts, computed once.


class Embedding(models.Model):
    """Vector of a distinct text under a model: float32, little-endian, as bytes."""

    model = models.CharField(max_length=200)
    text_hash = models.CharField(max_length=64)
    vector = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["model", "text_hash"], name="embedding_once")]

    def __str__(self) -> str:
        return f"{self.model} {self.text_hash[:12]}"


class CallLabel(models.Model):
    """Link from a label to the call that produced it; a label has at most one call."""

    call = models.ForeignKey("jobs.Call", on_delete=models.CASCADE, related_name="made")
    label = models.OneToOneField("annotation.Label", on_delete=models.CASCADE, related_name="made_by")

    def __str__(self) -> str:
        return f"label {self.label_id} from call {self.call_id}"


# Prompts: texts, and named prompts with versions of these texts.


class PromptText(models.Model):
    """Text of a prompt, identified by the digest of its content. Never changed (trigger).

    A judge's spec holds the digest, so a judge's prompt can always be read again: a text referenced by a
    rater's spec cannot be deleted either. `examples` are worked examples and `picking` their selection rule
    (`judges.protocols.examples`).
    """

    digest = models.CharField(max_length=64, unique=True)
    system = models.TextField(blank=True)
    user = models.TextField()
    form = models.CharField(max_length=40, blank=True)
    examples = models.JSONField(default=list)
    picking = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"text {self.digest[:12]}"


class Prompt(models.Model):
    """A researcher's prompt for a variant of a protocol, and for a scheme if the protocol takes any. Its
    versions hold the texts. `archived` hides it from the lists of runnable prompts."""

    name = models.CharField(max_length=100, unique=True)
    protocol = models.CharField(max_length=60)
    variant = models.CharField(max_length=60, blank=True)
    scheme_version = models.ForeignKey(
        "annotation.SchemeVersion", null=True, blank=True, on_delete=models.PROTECT, related_name="prompts"
    )
    description = models.TextField(blank=True)
    archived = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="prompts"
    )

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class PromptVersion(models.Model):
    """A version of a prompt: its text, its origin, and a note with the reason.

    `parent` is a reference such as `cpdscore_simple_without_reference@1` or `my prompt@2`, '' if it was
    written from scratch. `detail` holds the basis of a proposal (the disagreements, the gain reported); no
    judge uses a proposal before a person has adopted it. A version is never changed, and never deleted while
    a rater uses its text (triggers).
    """

    class Origin(models.TextChoices):
        WRITTEN = "written"
        COPIED = "copied"
        IMPORTED = "imported"
        PROPOSED = "proposed"

    prompt = models.ForeignKey(Prompt, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    text = models.ForeignKey(PromptText, on_delete=models.PROTECT, related_name="versions")
    parent = models.CharField(max_length=120, blank=True)
    origin = models.CharField(max_length=10, choices=Origin, default=Origin.WRITTEN)
    note = models.TextField(blank=True)
    detail = models.JSONField(default=dict)
    adopted_at = models.DateTimeField(null=True)
    adopted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="prompt_versions"
    )

    class Meta:
        ordering = ["prompt", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["prompt", "number"], name="prompt_version_once"),
            models.CheckConstraint(condition=Q(number__gte=1), name="prompt_version_from_one"),
            models.CheckConstraint(
                condition=Q(origin__in=["written", "copied", "imported", "proposed"]),
                name="prompt_origin_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.prompt_id}@{self.number}"

    @property
    def is_open(self) -> bool:
        """Whether it is a proposal that nobody has adopted."""
        return self.origin == self.Origin.PROPOSED and self.adopted_at is None


# Run sets: runs that are started and followed together.


class RunSet(models.Model):
    """Runs of several judges and metrics over one corpus or campaign, started and followed together.

    `digest` is the hash of its content (judges, metrics, endpoints and selections): the same content is the
    same set, which resumes. Settings that may change while a run goes on, such as caps, are no part of it.
    """

    name = models.CharField(max_length=120)
    digest = models.CharField(max_length=64, unique=True)
    corpus = models.ForeignKey("annotation.Corpus", on_delete=models.CASCADE, related_name="run_sets")
    campaign = models.ForeignKey(
        "annotation.Campaign", null=True, on_delete=models.SET_NULL, related_name="run_sets"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["corpus", "name"], name="run_set_name_once"),
            models.CheckConstraint(condition=~Q(name=""), name="run_set_has_a_name"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def runs(self) -> models.QuerySet[Run]:
        """The runs of the set that have started."""
        started = [member.started_id for member in self.members.select_related("job")]
        return Run.objects.filter(pk__in=[pk for pk in started if pk]).order_by("pk")


class RunSetMember(models.Model):
    """A run of a set, or the job that starts it over a large corpus: its result then names the run.

    A run may belong to several sets. `label` names the judge and its endpoint, or the metric.
    """

    run_set = models.ForeignKey(RunSet, on_delete=models.CASCADE, related_name="members")
    position = models.PositiveIntegerField()
    label = models.CharField(max_length=300)
    run = models.ForeignKey("jobs.Run", null=True, on_delete=models.CASCADE, related_name="memberships")
    job = models.ForeignKey("jobs.Job", null=True, on_delete=models.CASCADE, related_name="+")

    class Meta:
        ordering = ["run_set", "position"]
        constraints = [
            models.UniqueConstraint(fields=["run_set", "position"], name="run_set_position_once"),
            models.CheckConstraint(
                condition=Q(run__isnull=False) | Q(job__isnull=False), name="run_set_member_starts"
            ),
        ]

    def __str__(self) -> str:
        return self.label

    @property
    def started_id(self) -> int | None:
        """Id of its run, None while its job has not started it."""
        if self.run_id is not None or self.job is None:
            return self.run_id
        run_id: int | None = self.job.result.get("run")
        return run_id


__all__ = [
    "Bench",
    "BenchTarget",
    "CallLabel",
    "Draft",
    "DraftAnswer",
    "Embedding",
    "Prompt",
    "PromptText",
    "PromptVersion",
    "RunSet",
    "RunSetMember",
    "Trial",
]
