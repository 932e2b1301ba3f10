"""Starting or resuming generation; `jobs.runs` has what comes after."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from annotation import records
from annotation.corpora import splits
from annotation.models import Corpus, Dialogue
from jobs import runs
from jobs.models import Call, Run
from judges.runs.selection import RunSettings
from systems.errors import SystemsError
from systems.models import Production, ProductionCall, Writer
from systems.producing import scripts, steps
from systems.producing.dialogues import Dialogues
from systems.producing.estimates import calls_of
from systems.producing.plans import Generation, Plan

KIND = "generate"
MOST_TRIALS = 50
_BATCH = 200
COPIES = "trials_are_copies"
"""Several trials at temperature 0, which may all be the same."""
Progress = Callable[[int, int], None]
Read = tuple[Dialogue, records.Dialogue]
"""A dialogue's row, and its record as a generator reads it."""


@transaction.atomic
def start(
    *,
    by: User | None,
    generation: Generation,
    dialogues: Dialogues,
    trials: int = 1,
    settings: RunSettings | None = None,
    progress: Progress | None = None,
) -> Run:
    """Start generation, or resume the run of the same writer, condition and selection; return the run.

    Productions that are there are never begun again; those that other runs of the writer did not finish are
    taken over. `settings` say how it is asked and what it may take, `progress` is told (productions looked
    at, all). Raises SystemsError where nothing can be written, or for what does not fit together.
    """
    plan = generation.plan()
    if not 1 <= trials <= MOST_TRIALS:
        raise SystemsError(f"The number of trials must be between 1 and {MOST_TRIALS}.")
    if dialogues.split is not None:
        splits.fix(split=dialogues.split, by=by)
    scope = dialogues.as_json() | {"condition": dict(plan.condition), "trials": trials}
    return _start(
        by, dialogues.corpus, [(plan, dialogues.read())], scope, trials, settings or RunSettings(), progress
    )


@transaction.atomic
def start_each(
    *,
    by: User | None,
    corpus: Corpus,
    planned: Sequence[tuple[Plan, Sequence[Read]]],
    scope: Mapping[str, Any],
    settings: RunSettings | None = None,
) -> Run:
    """Start, or resume, one run in which each condition has dialogues of its own; return the run.

    `planned` are plans of the same writer that differ in their conditions, with what each is written for, as
    generators are to read it; `scope` tells the run from others. Raises SystemsError as `start` does.
    """
    return _start(by, corpus, planned, scope, 1, settings or RunSettings(), None)


def _start(
    by: User | None,
    corpus: Corpus,
    planned: Sequence[tuple[Plan, Iterable[Read]]],
    scope: Mapping[str, Any],
    trials: int,
    settings: RunSettings,
    progress: Progress | None,
) -> Run:
    plan = planned[0][0]
    writer = plan.writer(corpus, by)
    scope = {**scope, "writer": writer.pk}
    run, created = Run.objects.get_or_create(
        kind=KIND,
        scope_hash=hashlib.sha256(json.dumps(scope, sort_keys=True).encode()).hexdigest(),
        rater=None,
        endpoint=plan.endpoint,
        defaults={
            "title": writer.name,
            "spec": writer.spec,
            "corpus": corpus,
            "queue": Run.Queue.CALLS,
            "scope": scope,
            "samples": trials,
            "created_by": by,
            "reasks": plan.generator.reasks(plan.settings),
        },
    )
    run = Run.objects.select_for_update().get(pk=run.pk)
    settings.put(run)
    found: set[int] = set()
    left_out: Counter[str] = Counter()
    for each, rows in planned:
        begun = Beginning(run, writer, each, trials)
        for row, record in rows:
            begun.look_at(row.pk, record)
            if progress:
                progress(begun.seen, begun.seen)
        begun.open()
        run.expected = (run.expected or 0) + begun.expected
        found |= begun.found
        left_out.update(begun.left_out)
    if not found:
        raise SystemsError(_nothing(left_out))
    _mark_used(planned[0][0], found)
    run.save(update_fields=["expected"])
    _take_over(run, found)
    run.reused = Production.objects.filter(pk__in=found).exclude(run=run).count()
    runs.log(by, "start run" if created else "resume run", run)
    runs.reopen(run)
    return run


class Beginning:
    """Productions that are begun, some dialogues at a time."""

    def __init__(self, run: Run, writer: Writer, plan: Plan, trials: int) -> None:
        self.run, self.writer, self.plan, self.trials = run, writer, plan, trials
        self.seen = self.expected = 0
        self.found: set[int] = set()
        self.left_out: dict[str, int] = {}
        self._new: list[Production] = []
        self._each = plan.generator.calls(plan.settings)
        rows = Production.objects.filter(writer=writer, condition_hash=plan.digest, trial__lt=trials)
        self._there = {
            (dialogue, trial): pk for pk, dialogue, trial in rows.values_list("pk", "dialogue", "trial")
        }
        temperature = plan.spec["parameters"].get("temperature")
        self._flags = [COPIES] if trials > 1 and temperature == 0 else []

    def look_at(self, dialogue: int, record: Any) -> None:
        """Begin what is not there for a dialogue, or count why nothing can be written for it."""
        self.seen += 1
        generator, why = self.plan.at(dialogue, record)
        if why:
            self.left_out[why] = self.left_out.get(why, 0) + 1
            return
        state = None
        for trial in range(self.trials):
            if pk := self._there.get((dialogue, trial)):
                self.found.add(pk)
                continue
            if state is None or generator.needs:  # what is bound to material may begin each trial otherwise
                state = generator.begin_trial(record, self.plan.settings, trial)
                calls = self._each if self._each is not None else calls_of(generator, state)
            self.expected += calls
            self._new.append(self._production(dialogue, trial, state))

    def open(self) -> None:
        """Save what was begun, and make the calls of its first step."""
        width = self.plan.generator.together(self.plan.settings)
        if width > 1:
            self.expected = -(-len(self._new) // width)
        self._new.sort(key=lambda one: one.trial)
        size = max(1, _BATCH // width) * width
        for at in range(0, len(self._new), size):
            made = Production.objects.bulk_create(self._new[at : at + size])
            rows = Production.objects.select_related("writer__system", "dialogue", "run")
            steps.open_steps(list(rows.filter(pk__in=[one.pk for one in made]).order_by("pk")))
            self.found |= {one.pk for one in made}

    def _production(self, dialogue: int, trial: int, state: dict[str, Any]) -> Production:
        return Production(
            run=self.run,
            writer=self.writer,
            dialogue_id=dialogue,
            generator=self.plan.generator.key,
            condition=dict(self.plan.condition),
            condition_hash=self.plan.digest,
            trial=trial,
            memory=state,
            flags=list(self._flags),
        )


def _mark_used(plan: Plan, found: Collection[int]) -> None:
    """Have the question set that an agent is asked from stay as it is."""
    if plan.generator.needs == "script":
        first = Production.objects.filter(pk__in=found).values_list("dialogue", flat=True)[0]
        scripts.mark_used(first, plan.settings)


def _take_over(run: Run, found: Collection[int]) -> None:
    """Bring what is not finished here: of other runs, and what was cancelled of this one."""
    unfinished = Production.objects.filter(pk__in=found).exclude(status=Production.Status.DONE)
    others = unfinished.exclude(run=run)
    left = set(others.values_list("run", flat=True))
    taken = list(others.values_list("pk", flat=True))
    idle = [Call.State.PENDING, Call.State.CANCELLED, Call.State.FAILED]
    theirs = ProductionCall.objects.filter(production__in=taken)
    Call.objects.filter(pk__in=theirs.values("call"), state__in=idle).update(run=run, **runs.AFRESH)
    Production.objects.filter(pk__in=taken).update(run=run)
    run.calls.filter(state=Call.State.CANCELLED).update(**runs.AFRESH)
    for pk in left:
        runs.settle(pk)


def _nothing(left_out: Mapping[str, int]) -> str:
    if not left_out:
        return "There is no dialogue in this selection."
    told = "; ".join(f"{why} ({n})" for why, n in left_out.items())
    return f"Nothing can be written for these dialogues: {told}."
