"""Corpora, their dialogues, continuations and turns, and the items that are rated."""

from __future__ import annotations

from functools import reduce
from operator import or_

from django.conf import settings
from django.db import models
from django.db.models import Case, Exists, F, OuterRef, Q, Value, When
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast, Coalesce, Random
from django.utils.functional import cached_property

from annotation.kinds import COMPARING, KINDS, OF_RECORDS
from annotation.models.turn_numbers import numbers_of
from annotation.text.references import item_key, members_key, record_key
from jobs.fake_models import has_fake
from jobs.models import Job

LICENCE_LIMIT = 200
"""Maximum characters of a corpus's licence."""

# Dev and test: the clusters on which a judge is developed, and those on which it is measured.


class Split(models.Model):
    """A draw of a corpus's clusters into dev and test from a seed. Fixed, by a trigger, at first use."""

    corpus = models.ForeignKey("annotation.Corpus", on_delete=models.CASCADE, related_name="splits")
    name = models.CharField(max_length=80, default="main")
    seed = models.PositiveIntegerField(default=0)
    test_share = models.FloatField(default=0.5)
    fixed_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["corpus", "name"], name="split_name_once"),
            models.CheckConstraint(
                condition=Q(test_share__gt=0, test_share__lt=1), name="split_share_proper"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} of {self.corpus_id}"


class SplitCluster(models.Model):
    """Part of one cluster."""

    split = models.ForeignKey(Split, on_delete=models.CASCADE, related_name="clusters")
    cluster = models.CharField(max_length=300)
    part = models.CharField(max_length=4, choices=[("dev", "dev"), ("test", "test")])

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["split", "cluster"], name="split_cluster_once"),
            models.CheckConstraint(condition=Q(part__in=["dev", "test"]), name="split_part_known"),
        ]

    def __str__(self) -> str:
        return f"{self.cluster}: {self.part}"


class TestLook(models.Model):
    """One look at the test part: person, time and purpose. Printed on every report that shows test."""

    __test__ = False  # not a pytest class

    split = models.ForeignKey(Split, on_delete=models.CASCADE, related_name="looks")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    at = models.DateTimeField(auto_now_add=True)
    purpose = models.TextField()
    judges = models.JSONField(default=list)
    """Names of the judges whose figures were requested."""

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.by_id} at {self.at}"


class JudgeOpening(models.Model):
    """Test opened for one judge of a split, once, with a reason. Versions of one judge share its `family`."""

    split = models.ForeignKey(Split, on_delete=models.CASCADE, related_name="openings")
    rater = models.ForeignKey("annotation.Rater", on_delete=models.CASCADE, related_name="openings")
    family = models.CharField(max_length=300)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    at = models.DateTimeField(auto_now_add=True)
    reason = models.TextField()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["split", "rater"], name="test_opened_once_per_judge"),
        ]

    def __str__(self) -> str:
        return f"{self.rater_id} on {self.split_id}"


# Uploads: files sent for import, and their outcome.


class Upload(models.Model):
    """One file sent through a page or the API, and the outcome of its import, if that was started.

    `format` was `guessed` where none was named; `mapping` are the roles of a table's columns, and
    `file_settings` declarations missing in the file itself. `corpus_name` is the new corpus, or the existing
    one where `into`. `job` does the import and reports its progress. `result` is the counts of a finished
    import, written in the import's own transaction; `problems` are the {file, line, field, reason} of a
    refused file.
    """

    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="uploads")
    job = models.OneToOneField(Job, null=True, on_delete=models.SET_NULL, related_name="upload")
    file_name = models.CharField(max_length=300)
    format = models.CharField(max_length=40)
    guessed = models.BooleanField(default=False)
    mapping = models.JSONField(default=dict, blank=True)
    file_settings = models.JSONField(default=dict, blank=True, db_default={})
    corpus_name = models.CharField(max_length=100)
    into = models.BooleanField(default=False)
    scheme = models.CharField(max_length=400, blank=True)
    source = models.TextField(blank=True)
    licence = models.CharField(max_length=LICENCE_LIMIT, blank=True)
    sha256 = models.CharField(max_length=64, blank=True)
    total_bytes = models.BigIntegerField(default=0)
    result = models.JSONField(null=True)
    problems = models.JSONField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(result__isnull=True) | Q(problems__isnull=True), name="upload_ends_one_way"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.file_name}: {self.state}"

    @property
    def state(self) -> str:
        """Return `done`, `refused`, or the state of its job (`waiting` where its import was not started)."""
        if self.result is not None:
            return "done"
        if self.problems is not None:
            return "refused"
        return self.job.state if self.job else "waiting"


PUBLIC_FROM, PUBLIC_SPAN = 2**40, 2**50
"""Public numbers of items lie above any id and below the largest exact integer of a browser (2^53)."""


class Corpus(models.Model):
    """A named collection of dialogues with its source and licence.

    With `has_marks`, words in braces in its turns are transcription marks, such as {laugh}: pages hide them
    on request.
    """

    name = models.CharField(max_length=100, unique=True)
    source = models.TextField(blank=True)
    licence = models.CharField(max_length=LICENCE_LIMIT, blank=True)
    has_marks = models.BooleanField(default=False, db_default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)

    class Meta:
        ordering = ["name"]
        verbose_name_plural = "corpora"

    def __str__(self) -> str:
        return self.name

    @property
    def has_training(self) -> bool:
        """Whether some of its dialogues are in training."""
        return self.dialogues.filter(part=Dialogue.Part.TRAINING).exists()

    @property
    def has_scripts(self) -> bool:
        """Whether some of its dialogues have a script."""
        return self.dialogues.filter(script__isnull=False).exists()


class Import(models.Model):
    """One file imported into a corpus, with its content's hash.

    `mapping` are the roles of a table's columns, and `file_settings` its user's declarations: the
    same file with other ones has other content. `options` have the schemes that were named, and all columns
    of a mapped table: the mapping is offered for the next table with the same ones.
    """

    corpus = models.ForeignKey(Corpus, on_delete=models.CASCADE, related_name="imports")
    format = models.CharField(max_length=40)
    file_name = models.CharField(max_length=300)
    content_hash = models.CharField(max_length=64)
    options = models.JSONField(default=dict)
    mapping = models.JSONField(default=dict, blank=True)
    file_settings = models.JSONField(default=dict, blank=True, db_default={})
    counts = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["corpus", "content_hash", "format", "mapping", "file_settings"],
                name="import_content_once",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.file_name} into {self.corpus_id}"


class System(models.Model):
    """Producer of continuations: a model, an agent, or `human`.

    `family` is that of its model (gpt, llama ...), where it was set: a judge may favour its own.
    """

    corpus = models.ForeignKey(Corpus, on_delete=models.CASCADE, related_name="systems")
    name = models.CharField(max_length=200)
    family = models.CharField(max_length=60, blank=True, default="", db_default="")

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["corpus", "name"], name="system_name_once")]

    def __str__(self) -> str:
        return self.name


class Dialogue(models.Model):
    """A shared history: participants, metadata, agenda, summary. Its own turns are continuation `self`.

    `participants` is a list of {id, name, role, profile, aliases}; `agenda` is as in the native format, and
    so is `scenario`, the fields specific to a scenario (null: it is none). `script` holds main character,
    sessions and name maps of a long, dated dialogue (null: it is none).

    `part` is the dialogue's part in a benchmark, from its metadata at import (`annotation.corpora.splits`); a
    trigger keeps it. Training is left out of every selection that does not name it.
    """

    class Part(models.TextChoices):
        NONE = "", "Not in a part"
        TRAINING = "training", "Training"
        EVALUATION = "evaluation", "Evaluation"

    corpus = models.ForeignKey(Corpus, on_delete=models.CASCADE, related_name="dialogues", db_index=False)
    key = models.CharField(max_length=300)
    cluster = models.CharField(max_length=300)
    language = models.CharField(max_length=40, blank=True)
    summary = models.TextField(blank=True)
    participants = models.JSONField(default=list)
    metadata = models.JSONField(default=dict)
    agenda = models.JSONField(null=True)
    scenario = models.JSONField(null=True)
    script = models.JSONField(null=True)
    part = models.CharField(max_length=10, choices=Part, blank=True, default=Part.NONE, db_default="")
    imported = models.ForeignKey(Import, null=True, on_delete=models.CASCADE, related_name="dialogues")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["corpus", "key"], name="dialogue_key_once"),
            models.CheckConstraint(
                condition=Q(part__in=["", "training", "evaluation"]), name="dialogue_part_known"
            ),
        ]
        indexes = [
            models.Index(fields=["corpus", "id"], name="dialogue_in_order"),
            models.Index(fields=["corpus", "part"], name="dialogue_of_part", condition=~Q(part="")),
        ]

    def __str__(self) -> str:
        return self.key


class ContinuationQuerySet(models.QuerySet["Continuation"]):
    """Continuations."""

    def written(self) -> ContinuationQuerySet:
        """Leave out those that members of a campaign have still to write: without turns and items."""
        turns, items = (model.objects.filter(continuation=OuterRef("pk")) for model in (Turn, Item))
        return self.filter(Q(key="self") | Exists(items) | Exists(turns))


class Continuation(models.Model):
    """One system's continuation of one dialogue; `self` holds the dialogue's own turns."""

    class Mode(models.TextChoices):
        ROLLOUT = "rollout"
        STATIC = "static"

    dialogue = models.ForeignKey(
        Dialogue, on_delete=models.CASCADE, related_name="continuations", db_index=False
    )
    key = models.CharField(max_length=300)
    system = models.ForeignKey(System, on_delete=models.PROTECT, related_name="continuations")
    mode = models.CharField(max_length=10, choices=Mode, default=Mode.ROLLOUT)
    trial = models.PositiveIntegerField(default=0)
    condition = models.JSONField(default=dict)

    objects = ContinuationQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["dialogue", "key"], name="continuation_key_once"),
            models.CheckConstraint(
                condition=Q(mode__in=["rollout", "static"]), name="continuation_mode_known"
            ),
            models.CheckConstraint(
                condition=~Q(key="self") | Q(mode="rollout"), name="continuation_self_rollout"
            ),
        ]

    def __str__(self) -> str:
        return self.key

    @property
    def is_self(self) -> bool:
        """Whether these are the dialogue's own turns."""
        return self.key == "self"

    @property
    def fake_model(self) -> bool:
        """Whether its condition names a fake model as its author, or as the embedder of its look-ups."""
        return has_fake(self.condition)


class ContinuationAuthor(models.Model):
    """A person who wrote turns of a continuation: by a trigger, they are never assigned a task about it.

    The people of a conversation do answer about it in the campaign in which they held it. Deleting an account
    keeps what it wrote and drops this row.
    """

    continuation = models.ForeignKey(Continuation, on_delete=models.CASCADE, related_name="authors")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", db_index=False
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "continuation"], name="continuation_author_once"),
        ]

    def __str__(self) -> str:
        return f"{self.user_id} of {self.continuation_id}"


class Turn(models.Model):
    """A turn of a continuation. `extra` holds time, session, addressees, audience and act where known."""

    continuation = models.ForeignKey(
        Continuation, on_delete=models.CASCADE, related_name="turns", db_index=False
    )
    position = models.PositiveIntegerField()
    speaker = models.CharField(max_length=300)
    text = models.TextField()
    given = models.BooleanField(default=False)
    at = models.PositiveIntegerField(null=True)
    extra = models.JSONField(null=True)

    class Meta:
        ordering = ["continuation", "position"]
        constraints = [
            models.UniqueConstraint(fields=["continuation", "position"], name="turn_position_once"),
        ]
        indexes = [
            models.Index(
                F("continuation"),
                KeyTextTransform("session", "extra"),
                name="turns_of_session",
                condition=Q(extra__has_key="session"),
            )
        ]

    def __str__(self) -> str:
        return f"{self.speaker}: {self.text[:40]}"

    @cached_property
    def number(self) -> int:
        """Number of this turn for annotators, from 1; for many on one page use `turn_numbers.number`."""
        return numbers_of([self.pk])[self.pk]


class Item(models.Model):
    """A rated unit: of a kind (`annotation.kinds`) that determines whether it has a turn.

    A trigger refuses an item whose turn is given, or belongs to another continuation or corpus. Annotators
    never learn `public`, a random number, nor the id, which follows the order of imports, and so systems:
    the number of an item in a task is derived from `public` (`annotation.work.checking`).

    A comparison has `members` and no turn of its own; `continuation` is then the first member's, and does not
    identify its subject. `compared` names the members whatever their order, so that a corpus has one item for
    them. A record's item has it as its `record`, and `continuation` is the dialogue's own turns. `cluster`
    replaces the dialogue's: for a script, the session or season. `training` is set where the dialogue's part
    is training; a trigger refuses anything else.
    """

    corpus = models.ForeignKey(Corpus, on_delete=models.CASCADE, related_name="items")
    kind = models.CharField(
        max_length=10, choices=[(key, kind.singular.capitalize()) for key, kind in KINDS.items()]
    )
    continuation = models.ForeignKey(Continuation, on_delete=models.CASCADE, related_name="items")
    turn = models.OneToOneField(Turn, null=True, on_delete=models.CASCADE, related_name="item")
    record = models.OneToOneField(
        "annotation.Record", null=True, on_delete=models.CASCADE, related_name="item"
    )
    cluster = models.CharField(max_length=620, null=True)  # noqa: DJ001  (null: the dialogue's)
    compared = models.TextField(null=True)  # noqa: DJ001  (null: it has no members)
    training = models.BooleanField(default=False, db_default=False)
    public = models.BigIntegerField(
        db_default=Cast(Random() * PUBLIC_SPAN + PUBLIC_FROM, models.BigIntegerField())
    )

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=reduce(
                    or_, (Q(kind=key, turn__isnull=not kind.has_turn) for key, kind in KINDS.items())
                ),
                name="item_kind_fits_turn",
            ),
            models.CheckConstraint(
                condition=Q(kind__in=COMPARING, compared__isnull=False)
                | (~Q(kind__in=COMPARING) & Q(compared__isnull=True)),
                name="item_kind_fits_members",
            ),
            models.CheckConstraint(
                condition=Q(kind__in=OF_RECORDS, record__isnull=False)
                | (~Q(kind__in=OF_RECORDS) & Q(record__isnull=True)),
                name="item_kind_fits_record",
            ),
            models.UniqueConstraint(
                fields=["compared"], condition=Q(compared__isnull=False), name="item_compares_once"
            ),
            *(
                models.UniqueConstraint(
                    fields=["continuation"], condition=Q(kind=key), name=f"item_{key}_once"
                )
                for key, kind in KINDS.items()
                if kind.points_at == "continuation"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} item {self.pk}"

    @property
    def is_comparison(self) -> bool:
        """Whether it has members that are compared with each other."""
        return self.kind in COMPARING

    @property
    def is_record(self) -> bool:
        """Whether it is a record of its dialogue."""
        return self.kind in OF_RECORDS

    @property
    def system_name(self) -> str:
        """The system that the item is about; empty for comparisons and records."""
        return "" if self.is_comparison or self.is_record else self.continuation.system.name

    @property
    def key(self) -> str:
        """The item's key; it reads turn, continuation, dialogue and members, so use select_related."""
        if self.is_comparison:
            members = [(member.continuation.key, member.position) for member in self.members.all()]
            return members_key(self.continuation.dialogue.key, members)
        if self.record is not None:
            return record_key(self.continuation.dialogue.key, (self.kind, self.record.key))
        position = None if self.turn is None else self.turn.position
        return item_key(self.continuation.dialogue.key, self.continuation.key, position)


class ItemMember(models.Model):
    """One member of a comparison: a turn (a response) or a whole continuation.

    `number` counts from 0 in the item's own order, in which all answers about it are stored. The order is
    that of the MD5 of the members' keys, so it is independent of systems and is the same wherever the same
    files are imported. Triggers ensure that an item's members are created together, fit each other and never
    change.
    """

    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="members", db_index=False)
    number = models.PositiveSmallIntegerField()
    continuation = models.ForeignKey(Continuation, on_delete=models.CASCADE, related_name="compared_in")
    turn = models.ForeignKey(Turn, null=True, on_delete=models.CASCADE, related_name="compared_in")

    class Meta:
        ordering = ["item", "number"]
        constraints = [
            models.UniqueConstraint(fields=["item", "number"], name="item_member_number_once"),
            models.UniqueConstraint(
                fields=["item", "continuation", "turn"], nulls_distinct=False, name="item_member_once"
            ),
        ]

    def __str__(self) -> str:
        return f"member {self.number} of item {self.item_id}"

    @property
    def position(self) -> int | None:
        """Position of its turn, None for a whole continuation."""
        return None if self.turn is None else self.turn.position


ITEM_CLUSTER = Coalesce("cluster", "continuation__dialogue__cluster")
"""Cluster of an item: its own, else its dialogue's."""

ITEM_PARTS = {
    "dialogue_key": F("continuation__dialogue__key"),
    "continuation_key": F("continuation__key"),
    "position": F("turn__position"),
    "record_key": F("record__key"),
    "cluster": ITEM_CLUSTER,
    "system_name": Case(
        When(kind__in=[*COMPARING, *OF_RECORDS], then=Value("")),
        default=F("continuation__system__name"),
        output_field=models.CharField(),
    ),
}
"""Columns for an item's key, cluster and system, for `Item.objects.values(...)`.

A comparison has no single system (""), and its key is that of its members (`comparisons.keys_of`); a
record has none either, and its key is `record_key`.
"""
