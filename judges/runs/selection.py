"""Selection of a run's items, and its settings: parts, samples, caps and mode."""

from __future__ import annotations

import hashlib
import json
import random
from collections import Counter
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import Exists, Max, OuterRef, Q, QuerySet

from annotation.campaigns import sampling
from annotation.campaigns.choice import by_review, by_speakers
from annotation.corpora import exclusion, queries, splits
from annotation.corpora.exclusion import LeftOutDialogues
from annotation.errors import SplitRefused
from annotation.kinds import COMPARING
from annotation.models import Campaign, Corpus, Item, ItemMember, Rater, Task
from annotation.models.corpora import Continuation, Split
from annotation.records import SELF
from jobs import runs
from jobs.endpoints import parameters
from jobs.models import Endpoint, Run
from judges.errors import JudgeError
from judges.runs.plans import CONTINUATION, Judge, RaterPlan

# Selection of a run: a corpus or a campaign, its systems, and the number of samples per answer.


@dataclass(frozen=True, slots=True)
class Selection:
    """Coverage of a run. No `systems` means all; a dialogue's own turns are included on request, or if there
    is nothing else.

    `part` (dev or test, of `split`) leaves out the clusters of the other part. Training dialogues are covered
    only if `part` is training or the campaign is about them, and then exclusively. `exclude` leaves out
    dialogues by people's answers (`annotation.corpora.exclusion`), as of now; so does the campaign's own one
    until it has tasks.
    """

    corpus: Corpus
    campaign: Campaign | None = None
    systems: tuple[str, ...] = ()
    include_self: bool = False
    samples: int = 1
    split: Split | None = None
    part: str = ""
    exclude: str = ""

    @property
    def is_training(self) -> bool:
        """Whether it covers training dialogues, because `part` or the campaign says so."""
        return splits.TRAINING in (self.part, self.campaign.part if self.campaign else "")

    def as_json(self) -> dict[str, Any]:
        """Return the selection as plain data."""
        payload: dict[str, Any] = {
            "corpus": self.corpus.pk,
            "campaign": self.campaign.pk if self.campaign else None,
            "systems": sorted(self.systems),
            "include_self": self.include_self,
            "samples": self.samples,
        }
        if excluded := self.left_out():
            payload |= {"exclude": str(excluded.exclusion), "left_out": excluded.digest()}
        if self.split is not None:
            return payload | {"split": self.split.pk, "part": self.part}
        return payload | {"part": self.part} if self.part else payload

    def left_out(self) -> LeftOutDialogues | None:
        """Return the dialogues that `exclude` leaves out as of now; None without it."""
        return exclusion.left_out(self.corpus, self.exclude, training=self.is_training)

    def digest(self) -> str:
        """Return the SHA-256 of the selection: equal hashes mean the same run of a rater.

        The dialogues that `exclude` leaves out are part of it: once they change, it is another run, which
        repeats no call.
        """
        return hashlib.sha256(json.dumps(self.as_json(), sort_keys=True).encode()).hexdigest()


def continuations(selection: Selection) -> QuerySet[Continuation]:
    """Return the continuations that a selection covers."""
    if selection.campaign and selection.campaign.tasks.exists():
        condition = Q(pk__in=selection.campaign.tasks.values("continuation"))
        if selection.campaign.side_by_side:
            condition |= Q(pk__in=_beside(selection.campaign).values("continuation"))
        rows = Continuation.objects.written().filter(condition)
        return _of_part(_of_systems(rows, selection.systems), selection)
    systems, include_self = selection.systems, selection.include_self
    if selection.campaign:
        systems = systems or tuple(selection.campaign.systems.values_list("name", flat=True))
        include_self = include_self or selection.campaign.include_self
    rows = Continuation.objects.written().filter(dialogue__corpus=selection.corpus)
    if selection.campaign:
        rows = rows.filter(_without(selection.corpus, selection.campaign.exclude, "dialogue__"))
        if (sampled_dialogues := sampling.dialogues(selection.campaign)) is not None:
            rows = rows.filter(dialogue__in=sampled_dialogues)
    if not include_self:
        others = Continuation.objects.written().filter(dialogue=OuterRef("dialogue")).exclude(key=SELF)
        rows = rows.filter(~Q(key=SELF) | ~Exists(others))
    return _of_part(_of_systems(rows, systems), selection)


def items(selection: Selection, kind: str) -> QuerySet[Item]:
    """Return the items of a kind that a selection covers; for a campaign that shows single items, only
    those."""
    if kind in COMPARING:
        return _comparisons(selection, kind)
    rows = Item.objects.filter(kind=kind, continuation__in=continuations(selection))
    if selection.campaign:
        rows = rows.filter(by_speakers(selection.campaign.speakers), by_review(selection.campaign))
        single = selection.campaign.tasks.filter(item__isnull=False, item__kind=kind)
        beside = _beside(selection.campaign) if selection.campaign.side_by_side else ItemMember.objects.none()
        if single.exists() or beside.exists():
            rows = rows.filter(Q(pk__in=single.values("item")) | Q(turn__in=beside.values("turn")))
    return rows


def _beside(campaign: Campaign) -> QuerySet[ItemMember]:
    """Return the responses that a campaign's tasks show side by side."""
    return ItemMember.objects.filter(item__in=campaign.tasks.values("item"))


def _comparisons(selection: Selection, kind: str) -> QuerySet[Item]:
    """Return the comparisons of a campaign or a corpus whose members are all by selected systems."""
    rows = Item.objects.filter(kind=kind, corpus=selection.corpus, training=selection.is_training)
    if campaign := selection.campaign:
        tasks, compared = campaign.tasks.values("item"), campaign.compared_items.values("item")
        rows = rows.filter(pk__in=tasks) if tasks.exists() else rows.filter(pk__in=compared)
    rows = rows.filter(_without(selection.corpus, selection.exclude, "continuation__dialogue__"))
    if selection.systems:
        members = ItemMember.objects.filter(item=OuterRef("pk"))
        others = members.exclude(continuation__system__name__in=selection.systems)
        rows = rows.filter(~Exists(others))
    if selection.split is None:
        return rows
    clusters = selection.split.clusters.filter(part=selection.part).values("cluster")
    return rows.filter(splits.within(clusters))


def _of_systems(rows: QuerySet[Continuation], systems: tuple[str, ...]) -> QuerySet[Continuation]:
    return rows.filter(system__name__in=systems) if systems else rows


def _of_part(rows: QuerySet[Continuation], selection: Selection) -> QuerySet[Continuation]:
    rows = rows.filter(
        splits.of_dialogues(splits.TRAINING if selection.is_training else "", "dialogue__"),
        _without(selection.corpus, selection.exclude, "dialogue__"),
    )
    if selection.split is None:
        return rows
    clusters = selection.split.clusters.filter(part=selection.part).values("cluster")
    return rows.filter(dialogue__cluster__in=clusters)


def _without(corpus: Corpus, exclude: str, prefix: str) -> Q:
    return exclusion.without(exclusion.excluded_ids(corpus, exclude), prefix)


# A judge with what its run covers, before it starts.


@dataclass(frozen=True, slots=True)
class PlannedJudge:
    """A judge of a run that is being set up: its title without its endpoint, and what its run covers."""

    title: str
    judge: Judge
    selection: Selection

    @property
    def endpoint(self) -> Endpoint | None:
        """The endpoint, if the judge asks one."""
        return self.judge.endpoint

    @property
    def label(self) -> str:
        """The title with the endpoint, if the judge asks one."""
        return f"{self.title} at {self.judge.endpoint.name}" if self.judge.endpoint else self.title


@dataclass(frozen=True, slots=True)
class PlannedMetric:
    """A metric that asks an endpoint, in a run that is being set up: its key, which names the endpoint, and
    what its run covers."""

    key: str
    endpoint: Endpoint
    selection: Selection

    @property
    def label(self) -> str:
        """The key."""
        return self.key


def title_of(judge: Judge) -> str:
    """Return the title of a judge that is being set up: its prompt, or its protocol and variant, and the
    sampling parameters that are set."""
    settings = parameters.name_suffix(parameters.checked(judge.parameters))
    if judge.prompt:
        return f"{judge.prompt}{settings}"
    variant = f" ({judge.variant.replace('_', ' ')})" if judge.variant else ""
    return f"{judge.protocol}{variant}{settings}"


# Whether a judge's run covers test items, and whether test was opened for that judge.


def locked(selection: Selection) -> Split | None:
    """Return the split whose test part a run would cover, None if it covers none.

    Training is never test. Otherwise a part must be named, or the corpus's first split be in use: until then,
    no part of it counts as test.
    """
    if selection.split is not None:
        return selection.split if selection.part == "test" else None
    if selection.is_training:
        return None
    split = splits.lock_of(selection.corpus)
    if split is None or split.fixed_at is None:
        return None
    return split if continuations(replace(selection, split=split, part="test")).exists() else None


def needs_opening(rater: Rater, selection: Selection) -> str:
    """Return the reason why a run may not start yet, '' if it may. Applies to judges only, since only they
    are developed on dev."""
    split = locked(selection)
    if split is None or not splits.unopened_raters(split, [rater]):
        return ""
    covers = "covers" if selection.part else "includes"
    return (
        f"This run {covers} the test part of {selection.corpus.name} (split {split.name}), which is opened "
        f"once per judge, on purpose: say what it is opened for, for {rater.name} (“Open test for”, "
        "--open-test, open_test), or run it on dev."
    )


def judge_needs_opening(judge: Judge, selection: Selection) -> str:
    """Return the same for a judge that is being set up, without saving it."""
    if locked(selection) is None:
        return ""
    with transaction.atomic():
        refusal = needs_opening(judge.plan(selection.campaign).rater, selection)
        transaction.set_rollback(True)
    return refusal


def open_or_refuse(*, rater: Rater, selection: Selection, by: User | None, reason: str) -> None:
    """Open test for a judge whose run covers it; raise JudgeError if no reason is given."""
    refusal = needs_opening(rater, selection)
    if not refusal:
        return
    if not reason.strip():
        raise JudgeError(refusal)
    split = locked(selection)
    assert split is not None
    try:
        splits.fix(split=split, by=by)
        splits.open_for(split=split, raters=[rater], by=by, reason=reason)
    except SplitRefused as error:
        raise JudgeError(str(error)) from None


# Estimated coverage of a run over a large corpus, from a sample of its dialogues or tasks.

AT_ONCE = 20_000
"""Maximum number of a corpus's items for computing coverage exactly."""
LOOKED_AT = 200
"""Number of dialogues, or of a campaign's tasks, sampled to estimate the coverage of a larger run."""
_FROM = """
SELECT DISTINCT d.id FROM unnest(%s::bigint[]) AS wanted (id), LATERAL (
  SELECT id FROM annotation_dialogue WHERE corpus_id = %s AND id >= wanted.id ORDER BY id LIMIT 1) AS d
"""
_ENDS = """
SELECT (SELECT id FROM annotation_dialogue WHERE corpus_id = %(corpus)s ORDER BY id LIMIT 1),
       (SELECT id FROM annotation_dialogue WHERE corpus_id = %(corpus)s ORDER BY id DESC LIMIT 1)
"""


@dataclass(frozen=True, slots=True)
class Covered:
    """Coverage of a run: estimated numbers of targets and dialogues, and a sample of the targets."""

    targets: int
    dialogues: int
    some: tuple[tuple[int, int | None], ...]


def is_large(selection: Selection) -> bool:
    """Whether a selection's coverage is estimated from a sample. Never that of a campaign
    without tasks that will draw a sample: its sample is computed exactly."""
    is_sampled = selection.campaign and (
        selection.campaign.sample_dialogues
        or selection.campaign.sample_apart
        or selection.campaign.review is not None
    )
    if is_sampled and selection.campaign and not selection.campaign.tasks.exists():
        return False
    return queries.counts([selection.corpus])[selection.corpus.pk]["items"] > AT_ONCE


def covered(plan: RaterPlan, selection: Selection) -> Covered:
    """Estimate the coverage of a run over a large corpus. Equal selections use equal samples."""
    rng = random.Random(selection.digest())
    if selection.campaign is not None and selection.campaign.tasks.exists():
        return _of_tasks(plan, selection, rng)
    first, last = _ends(selection.corpus.pk)
    starts = [rng.randint(first, last) for _ in range(LOOKED_AT)]
    with connection.cursor() as cursor:
        cursor.execute(_FROM, [starts, selection.corpus.pk])
        dialogues = [pk for (pk,) in cursor.fetchall()]
    continuation_ids = list(Continuation.objects.filter(dialogue__in=dialogues).values_list("pk", flat=True))
    some = _targets(plan, selection, continuation_ids)
    share = queries.counts([selection.corpus])[selection.corpus.pk]["dialogues"] / len(dialogues)
    return Covered(round(len(some) * share), round(_dialogues(some) * share), tuple(some))


def _ends(corpus: int) -> tuple[int, int]:
    with connection.cursor() as cursor:
        cursor.execute(_ENDS, {"corpus": corpus})
        first, last = cursor.fetchone()
    return first, last


def _of_tasks(plan: RaterPlan, selection: Selection, rng: random.Random) -> Covered:
    """Estimate from a sample of tasks: each counts as its share of its continuation, which several tasks may
    share."""
    tasks = Task.objects.filter(campaign=selection.campaign)
    n = (tasks.aggregate(last=Max("position"))["last"] or 0) + 1
    places = rng.sample(range(n), min(n, LOOKED_AT))
    sampled = list(tasks.filter(position__in=places).values_list("continuation", flat=True))
    beside = Counter(tasks.filter(continuation__in=sampled).values_list("continuation", flat=True))
    some = _targets(plan, selection, sampled)
    each = Counter(continuation for continuation, _ in some)
    share = n / max(len(sampled), 1)
    targets = sum(each[part] / beside[part] for part in sampled) * share
    dialogues = sum((part in each) / beside[part] for part in sampled) * share
    total = queries.counts([selection.corpus])[selection.corpus.pk]["dialogues"]
    return Covered(round(targets), min(round(dialogues), total), tuple(some))


def _targets(
    plan: RaterPlan, selection: Selection, continuation_ids: list[int]
) -> list[tuple[int, int | None]]:
    """Return the targets of a run within some continuations."""
    if plan.covers != CONTINUATION:
        turns = items(selection, plan.covers).filter(continuation__in=continuation_ids)
        return list(turns.order_by("continuation_id", "pk").values_list("continuation_id", "pk"))
    rows = continuations(selection).filter(pk__in=continuation_ids, items__kind__in=plan.item_kinds)
    return [(pk, None) for pk in rows.distinct().order_by("pk").values_list("pk", flat=True)]


def _dialogues(targets: list[tuple[int, int | None]]) -> int:
    ids = {continuation for continuation, _ in targets}
    return Continuation.objects.filter(pk__in=ids).values("dialogue").distinct().count()


# Settings of a run's execution: caps, reuse of recorded replies, and sending calls at once or in batches.


@dataclass(frozen=True, slots=True)
class RunSettings:
    """Settings of a run; None for those not given. `caps` are those of `jobs.runs.CAPS` that were given.

    `mode` is one of `Run.Mode`.
    """

    use_cache: bool | None = None
    caps: dict[str, int | Decimal] = field(default_factory=dict)
    mode: str | None = None

    def put(self, run: Run) -> None:
        """Apply the settings to a run, which the caller saves; raise JobError for invalid ones."""
        if self.use_cache is not None:
            run.use_cache = self.use_cache
        if self.mode is not None:
            runs.put_mode(run, self.mode)
        runs.put_caps(run, self.caps)

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        caps = {name: str(value) for name, value in self.caps.items()}
        return {"use_cache": self.use_cache, "caps": caps, "mode": self.mode}


def settings_from(payload: dict[str, Any]) -> RunSettings:
    """Restore settings from `as_json`; for a job queued by an earlier version they are empty."""
    caps: dict[str, int | Decimal] = {
        name: Decimal(value) if name == "cap_cost" else int(value)
        for name, value in payload.get("caps", {}).items()
    }
    return RunSettings(payload.get("use_cache"), caps, payload.get("mode"))


def settings_of(data: dict[str, Any]) -> RunSettings:
    """Return the settings from the values of a form, the API or a command, by name."""
    caps = {name: data[name] for name in runs.CAPS if data.get(name) is not None}
    return RunSettings(data.get("use_cache"), caps, data.get("mode") or None)
