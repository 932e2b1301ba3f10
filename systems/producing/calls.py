"""The calls of generators: from a production's state to the prompt, from the reply to what follows from
it."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from django.db.models import Count

from jobs import errors, runs
from jobs.calls.outcomes import DEFECTS, Outcome
from jobs.calls.prepared import Asked, Read
from jobs.endpoints.parameters import of_sample
from jobs.models import Call, Run
from jobs.prompt import Prompt, Tokens, about_tokens
from jobs.queue.waking import wake
from systems.generators import Generator
from systems.models import Production, ProductionCall
from systems.producing import steps

logger = logging.getLogger(__name__)
FINISHED = (Call.State.DONE, Call.State.FAILED)


class GenerateRun:
    """Runs of generators: a call is a prompt of a step of one production, or of several that share it."""

    def preparer(self) -> GenerateRun:
        """Nothing is remembered from one batch to the next: states change with every step."""
        return self

    def make(self, calls: Sequence[Call]) -> list[Asked]:
        """Return the calls made ready, in order."""
        links: dict[int, list[ProductionCall]] = defaultdict(list)
        rows = ProductionCall.objects.select_related("production__writer", "production__run__endpoint")
        for link in rows.filter(call__in=[call.pk for call in calls]).order_by("production_id"):
            links[link.call_id].append(link)
        return [_asked(call, links[call.pk]) for call in calls]

    def outcomes(self, calls: Sequence[Call]) -> Iterator[list[Outcome]]:
        """Generators ask, they do not compute."""
        raise AssertionError(f"{len(calls)} calls of generators on the queue of metrics")

    def record(self, given: Sequence[tuple[Call, Sequence[Any]]]) -> int:
        """Go on with the productions whose calls are finished; return how many of them are, too."""
        finished = [call for call, _ in given if call.state in FINISHED]
        return steps.answered(finished) if finished else 0

    def reopened(self, run: Run) -> None:
        """Note of productions that failed that they are being written again."""
        steps.take_up(run)

    def settled(self, run: Run) -> None:
        """Count what was written and what failed; a run in which a production failed has failed, too."""
        steps.reconcile(run)
        if run.calls.filter(
            state__in=runs.UNFINISHED
        ).exists():  # a failure was taken, and the next step waits
            run.state, run.error, run.finished_at = Run.State.QUEUED, "", None
            wake(run.queue)
            return
        states = Production.objects.filter(run=run).values("status")
        counts = {row["status"]: row["n"] for row in states.annotate(n=Count("pk"))}
        run.values, run.missing = counts.get("done", 0), counts.get("failed", 0)
        failed = Production.objects.filter(run=run, status="failed").values("error")
        common = failed.annotate(n=Count("pk")).order_by("-n", "error").first()
        run.missing_reason = common["error"] if common else ""
        if run.missing:
            run.state = Run.State.FAILED
            whole = run.values + run.missing
            run.error = f"{run.missing} of {whole} productions failed: {run.missing_reason[:300]}"
        elif run.state == Run.State.FAILED and steps.takes_failures(run):
            run.state, run.error = Run.State.DONE, ""


def _asked(call: Call, links: Sequence[ProductionCall]) -> Asked:
    """Return a call made ready; one whose prompt cannot be made carries its failure."""
    by = call.run.spec.get("generator", "a generator")
    try:
        return _ready(call, links)
    except DEFECTS as error:
        logger.exception("%s failed on call %s", by, call.pk)
        trouble = f"defect in {by}: {type(error).__name__}: {error}"
        return Asked(call, by, known=Outcome(call.pk, "failed", error=trouble, error_kind=errors.DEFECT))


def _ready(call: Call, links: Sequence[ProductionCall]) -> Asked:
    spec, part = call.run.spec, links[0].part
    productions = [link.production for link in links]
    generator = steps.generator_of(productions[0])
    shared = steps.width_of(productions[0]) > 1 and part == steps.SHARED
    if shared:
        prompt = generator.shared([one.memory for one in productions])
    else:
        prompt = _prompt(generator, productions[0], part)
    read = partial(_read_shared if shared else _read, generator, productions, part)
    told = _usual(generator, productions) if call.run.is_capped else 100
    sent = of_sample(spec["parameters"], call.sample)
    return Asked(call, generator.key, prompt, None, spec["model"], sent, read, told)


def _prompt(generator: Generator, production: Production, part: int) -> Prompt:
    prompts = generator.request(production.memory)
    assert isinstance(prompts, Sequence), f"{production} was done before it was asked"
    return prompts[0] if steps.width_of(production) > 1 else prompts[part]


def _usual(generator: Generator, productions: Sequence[Production]) -> int:
    """Return about how many tokens a reply has."""
    lengths = [max(map(about_tokens, generator.pretend(one.memory))) for one in productions]
    return sum(lengths)


def _read(
    generator: Generator, productions: Sequence[Production], part: int, reply: str, _tokens: Tokens
) -> Read:
    alone = 0 if steps.width_of(productions[0]) > 1 else part
    generator.check(productions[0].memory, alone, reply)
    return Read()


def _read_shared(
    generator: Generator, productions: Sequence[Production], _part: int, reply: str, _tokens: Tokens
) -> Read:
    generator.apart([one.memory for one in productions], reply)
    return Read()


RUN = GenerateRun()
