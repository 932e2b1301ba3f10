"""Actions on anchor sets: create one, set its schedule, ask a judge again, and start what is due."""

from __future__ import annotations

import hashlib
import random
from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max, Q, QuerySet
from django.utils import timezone

from annotation.corpora import exclusion, splits
from annotation.errors import ExclusionRefused
from annotation.models import Corpus, Item, Occasion, Rater, SplitCluster
from annotation.models.campaigns import Campaign
from calibration.errors import DriftRefused
from calibration.models import AnchorItem, AnchorSet, Gold, GoldLabel, Recheck
from calibration.ratings.scope import scope_of
from config.models import Event
from jobs import job_actions, runs
from jobs.endpoints.ownership import require_use
from jobs.errors import JobError
from jobs.models import Call, Run
from jobs.models.run import MOST_SAMPLES
from judges.runs import estimates
from judges.runs.judge_calls import JudgeRun, record_all
from judges.runs.plans import CONTINUATION, RaterPlan, asker_of
from judges.runs.selection import Covered, Selection

KIND = "recheck"
"""Kind of these runs."""
COMPARISON = "drift"
"""Kind of the job that compares a finished recheck with the first run."""


class RecheckRun(JudgeRun):
    """Runs of a judge on anchors: prepared and sent like the first run, recorded as repeats."""

    def record(self, answered_calls: Sequence[tuple[Call, Sequence[Any]]]) -> int:
        """Record the answers as repeated labels; return the number of new ones."""
        return record_all(answered_calls, Occasion.REPEAT)

    def settled(self, run: Run) -> None:
        """Count the values and the missing answers, and have the recheck compared."""
        super().settled(run)
        job_actions.start(
            kind=COMPARISON,
            subject=f"recheck of run {run.pk}",
            params={"run": run.pk},
            by=run.created_by,
        )


RUN = RecheckRun()


LEAST_ITEMS, MOST_ITEMS = 2, 20_000
MOST_DAYS = 365
Value = float | str


@transaction.atomic
def create(
    *,
    by: User | None,
    name: str,
    corpus: Corpus,
    gold: Gold | None = None,
    campaign: Campaign | None = None,
    size: int | None = None,
    seed: int = 0,
    margin: float = 0.1,
    exclude: str = "",
) -> AnchorSet:
    """Create an anchor set from the items with a gold's labels, else with people's labels; return it.

    `size` draws so many of them by `seed`, stratified by the reference's value (people: the mean of their
    answers to the item's first question). Items of the test part of the corpus's split are never anchors: a
    judge is compared on them at each recheck. `exclude` leaves out dialogues by people's answers, as of now.
    Raises DriftRefused.
    """
    name = name.strip()
    if not name or AnchorSet.objects.filter(name=name).exists():
        raise DriftRefused(f"There is already an anchor set {name!r}." if name else "Name the anchor set.")
    if not 0 < margin <= 1:
        raise DriftRefused("The margin lies above 0 and is at most 1.")
    if size is not None and not LEAST_ITEMS <= size <= MOST_ITEMS:
        raise DriftRefused(f"An anchor set has {LEAST_ITEMS} to {MOST_ITEMS:,} items.")
    try:
        exclude = exclusion.check(corpus, exclude)
    except ExclusionRefused as error:
        raise DriftRefused(f"{error}.") from error
    strata = _strata(corpus, gold, campaign, exclude)
    items = sorted(pk for members in strata.values() for pk in members)
    if size is not None and size < len(items):
        items = draw(strata, size, seed)
    if not LEAST_ITEMS <= len(items) <= MOST_ITEMS:
        source = f"gold {gold.pk}" if gold else "people"
        raise DriftRefused(
            f"{len(items):,} items outside the test part have labels by {source}: an anchor set has "
            f"{LEAST_ITEMS} to {MOST_ITEMS:,}."
        )
    anchors = AnchorSet.objects.create(
        name=name, corpus=corpus, gold=gold, campaign=campaign, seed=seed, margin=margin, created_by=by
    )
    AnchorItem.objects.bulk_create([AnchorItem(anchors=anchors, item_id=pk) for pk in items], batch_size=5000)
    detail: dict[str, Any] = {"items": len(items), "gold": gold.pk if gold else None, "seed": seed}
    if excluded := exclusion.described(corpus, exclude):
        detail["left_out"] = excluded
    _log(by, "create anchor set", anchors, **detail)
    return anchors


def _strata(
    corpus: Corpus, gold: Gold | None, campaign: Campaign | None, exclude: str
) -> dict[Value, list[int]]:
    """Return the possible items by the reference's value, outside the test part."""
    if gold is not None:
        rows = GoldLabel.objects.filter(gold=gold, reason="", item__training=False)
    else:
        people = scope_of(corpus, campaign).labels().filter(missing="")
        rows = people.filter(rater__kind__in=[Rater.Kind.HUMAN, Rater.Kind.KEY])  # type: ignore[assignment]
    if (split := splits.lock_of(corpus)) is not None:
        test = SplitCluster.objects.filter(split=split, part="test").values("cluster")
        rows = rows.exclude(splits.within(test, "item__"))
    excluded = exclusion.excluded_ids(corpus, exclude)
    rows = rows.filter(exclusion.without(excluded, "item__continuation__dialogue__"))
    values: dict[int, tuple[int, list[Value]]] = {}
    fields = ("item_id", "question_id", "number", "text")
    for item, question, number, text in rows.order_by("question_id", "pk").values_list(*fields):
        first, own = values.setdefault(item, (question, []))
        if question == first:
            own.append(text if number is None else number)
    strata: dict[Value, list[int]] = defaultdict(list)
    for item, (_, own) in values.items():
        numbers = [value for value in own if not isinstance(value, str)]
        strata[round(sum(numbers) / len(numbers)) if numbers else own[0]].append(item)
    return strata


def draw(strata: dict[Value, list[int]], size: int, seed: int) -> list[int]:
    """Return `size` items, from each stratum in proportion to its size, at least one where they fit."""
    rng = random.Random(seed)
    shuffled = {}
    for value in sorted(strata, key=str):
        shuffled[value] = sorted(strata[value])
        rng.shuffle(shuffled[value])
    places = [
        ((rank + (0.0 if rank == 0 else 0.5)) / len(members), str(value), rank, pk)
        for value, members in shuffled.items()
        for rank, pk in enumerate(members)
    ]
    return sorted(pk for *_, pk in sorted(places)[:size])


@transaction.atomic
def set_schedule(
    *,
    by: User | None,
    anchors: AnchorSet,
    every_days: int | None,
    judges: Collection[Rater] = (),
    now: datetime | None = None,
) -> AnchorSet:
    """Ask judges again every so many days, the first time after so many; None ends the schedule."""
    anchors = AnchorSet.objects.select_for_update().get(pk=anchors.pk)
    if every_days is not None:
        if not 1 <= every_days <= MOST_DAYS:
            raise DriftRefused(f"A schedule asks again every 1 to {MOST_DAYS} days.")
        if not judges:
            raise DriftRefused("Name the judges that the schedule asks again.")
        for rater in judges:
            _calls_to_repeat(anchors, rater)
            require_use(by, _last_run(rater).endpoint)
    anchors.every_days = every_days
    anchors.next_due = None if every_days is None else (now or timezone.now()) + timedelta(days=every_days)
    anchors.save(update_fields=["every_days", "next_due"])
    anchors.scheduled.set(judges if every_days is not None else ())
    names = sorted(rater.name for rater in judges)
    _log(by, "schedule rechecks", anchors, every_days=every_days, judges=names)
    return anchors


def judges_of(anchors: AnchorSet) -> list[Rater]:
    """Return the judges with finished calls of a model about the anchors: those that can be asked again."""
    calls = first_calls(anchors).filter(run__endpoint__isnull=False)
    raters = Rater.objects.filter(kind=Rater.Kind.JUDGE, pk__in=calls.values("rater"))
    return list(raters.order_by("name"))


def judge_named(anchors: AnchorSet, name: str) -> Rater:
    """Return a judge of an anchor set by name or short name; raise DriftRefused for an unknown one."""
    judges = judges_of(anchors)
    for rater in judges:
        if name in (rater.name, rater.short_name, rater.fingerprint):
            return rater
    names = ", ".join(rater.name for rater in judges) or "none yet: run a judge on them first"
    raise DriftRefused(f"No judge {name!r} has judged the anchors of {anchors.name}; there are {names}.")


def first_calls(anchors: AnchorSet) -> QuerySet[Call]:
    """Return the finished calls of judges' main runs about the anchors."""
    items = anchors.items.values("item")
    continuations = Item.objects.filter(pk__in=items).values("continuation")
    about = Q(item__in=items) | Q(item=None, continuation__in=continuations)
    return Call.objects.filter(about, run__kind="judge", state=Call.State.DONE, sample__lt=MOST_SAMPLES)


def _calls_to_repeat(anchors: AnchorSet, rater: Rater) -> list[tuple[int, int | None, str, int]]:
    fields = ("continuation_id", "item_id", "part", "sample")
    calls = first_calls(anchors).filter(rater=rater, run__endpoint__isnull=False)
    places = list(calls.order_by("continuation_id", "item__turn__position", "pk").values_list(*fields))
    if not places:
        raise DriftRefused(
            f"{rater.name} has not judged the anchors of {anchors.name}: run it on them first."
        )
    return places


def _last_run(rater: Rater) -> Run:
    run = Run.objects.select_related("endpoint").filter(rater=rater, kind="judge").order_by("-pk").first()
    if run is None or run.endpoint is None:
        raise DriftRefused(f"{rater.name} asks no model: it cannot drift.")
    if run.moved:
        raise DriftRefused(run.moved)
    if not run.endpoint.active:
        raise DriftRefused(f"The endpoint {run.endpoint.name} of {rater.name} was taken away.")
    return run


def estimate(anchors: AnchorSet, rater: Rater) -> estimates.Estimate:
    """Return what asking a judge again takes; nothing is stored. Raises DriftRefused."""
    places, run = _calls_to_repeat(anchors, rater), _last_run(rater)
    assert run.scheme_version is not None
    plan = RaterPlan(
        rater, Run.Queue.CALLS, _covers(rater), run.questions, run.scheme_version, (), run.endpoint
    )
    targets = tuple(dict.fromkeys((continuation, item) for continuation, item, _, _ in places))
    dialogues = Item.objects.filter(continuation__in={place[0] for place in places})
    n_dialogues = dialogues.values("continuation__dialogue").distinct().count()
    covered = Covered(len(targets), n_dialogues, targets)
    estimated = estimates.of_targets(plan, covered, samples=1, finished=0)
    share = len(places) / max(estimated.calls, 1)
    cost = None if estimated.cost is None else estimated.cost * len(places) / max(estimated.calls, 1)
    return estimates.replace(
        estimated,
        calls=len(places),
        tokens_in=round(estimated.tokens_in * share),
        tokens_out=round(estimated.tokens_out * share),
        cost=cost,
    )


def _covers(rater: Rater) -> str:
    return str(getattr(asker_of(rater.spec).protocol, "covers", CONTINUATION))


@transaction.atomic
def recheck(*, by: User | None, anchors: AnchorSet, rater: Rater, due: datetime | None = None) -> Recheck:
    """Ask a judge again about the anchors: exactly the calls of its first run; return the recheck.

    Prompt, model, parameters and endpoint are the same, and no recorded reply is reused. While a recheck of
    the judge on these anchors is running, that one is returned; so is the one of the same `due` time. The
    comparison follows when the run ends. Raises DriftRefused or JobError.
    """
    Rater.objects.select_for_update(no_key=True).get(pk=rater.pk)
    own = Recheck.objects.filter(anchors=anchors, rater=rater)
    same = Q(run__state__in=runs.OPEN) if due is None else Q(due=due)
    if (existing := own.filter(same).first()) is not None:
        return existing
    places, first = _calls_to_repeat(anchors, rater), _last_run(rater)
    require_use(by, first.endpoint)
    last = Recheck.objects.filter(rater=rater).aggregate(last=Max("number"))["last"] or 0
    number, questions = last + 1, {}
    for answered in Run.objects.filter(rater=rater, kind="judge").order_by("pk"):
        questions.update(answered.questions)
    scope = Selection(anchors.corpus).as_json() | {"anchors": anchors.pk, "recheck": number}
    run = Run.objects.create(
        rater=rater,
        corpus=anchors.corpus,
        endpoint=first.endpoint,
        scheme_version=first.scheme_version,
        kind=KIND,
        queue=Run.Queue.CALLS,
        scope=scope,
        scope_hash=hashlib.sha256(f"anchors {anchors.pk}, recheck {number}".encode()).hexdigest(),
        questions=questions,
        samples=1 + max(sample for *_, sample in places),
        reasks=first.reasks,
        use_cache=False,
        created_by=by,
    )
    calls = [
        Call(
            run=run,
            rater=rater,
            continuation_id=continuation,
            item_id=item,
            part=part,
            sample=number * MOST_SAMPLES + sample,
        )
        for continuation, item, part, sample in places
    ]
    Call.objects.bulk_create(calls, batch_size=5000)
    started = Recheck.objects.create(
        anchors=anchors, rater=rater, number=number, run=run, due=due, created_by=by
    )
    runs.log(by, "recheck judge", run)
    runs.reopen(run)
    return started


def start_due(now: datetime | None = None) -> int:
    """Start the rechecks that are due, each due time once; return their number. A sweep of the workers.

    The next time is a whole number of periods later and in the future: missed times are not made up for. A
    judge that cannot be asked is logged and left out until the next time.
    """
    now = now or timezone.now()
    if not AnchorSet.objects.filter(next_due__lte=now).exists():
        return 0
    n = 0
    with transaction.atomic():
        due_sets = AnchorSet.objects.select_for_update(skip_locked=True).filter(next_due__lte=now)
        for anchors in due_sets:
            due, period = anchors.next_due, timedelta(days=anchors.every_days or 1)
            assert due is not None
            for rater in anchors.scheduled.order_by("pk"):
                try:
                    with transaction.atomic():
                        recheck(by=anchors.created_by, anchors=anchors, rater=rater, due=due)
                    n += 1
                except (DriftRefused, JobError) as error:
                    _log(None, "scheduled recheck refused", anchors, judge=rater.name, reason=str(error))
            anchors.next_due = due + period * ((now - due) // period + 1)
            anchors.save(update_fields=["next_due"])
    return n


@transaction.atomic
def delete(*, by: User | None, anchors: AnchorSet) -> None:
    """Delete an anchor set that no judge was asked about; raise DriftRefused for any other."""
    anchors = AnchorSet.objects.select_for_update().get(pk=anchors.pk)
    if anchors.rechecks.exists():
        raise DriftRefused(
            "Judges were asked again on these anchors: the set stays. End its schedule instead."
        )
    _log(by, "delete anchor set", anchors)
    anchors.delete()


def _log(by: User | None, verb: str, anchors: AnchorSet, **detail: object) -> None:
    Event.objects.create(by=by, verb=verb, subject=f"anchor set {anchors.name}"[:200], detail=detail)
