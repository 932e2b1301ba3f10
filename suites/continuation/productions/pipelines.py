"""Pipelines, multi-step work done by runs: advancing, cancelling, and the cost of their steps."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, ClassVar, Protocol, TypeVar
from urllib.parse import urlsplit

from django.contrib.auth.models import User
from django.db.models import QuerySet, Sum

from config.models import Event
from jobs import job_actions as jobs
from jobs import runs
from jobs.endpoints.costs import cost
from jobs.endpoints.wire import literal
from jobs.errors import JobRefused
from jobs.models import CallCount, Job, Run
from jobs.models.endpoint import Endpoint
from jobs.runs import OPEN
from judges.runs import estimates
from suites.continuation.errors import SystemsError
from suites.continuation.models import Pipeline

AnyPipeline = TypeVar("AnyPipeline", bound=Pipeline)


def lock(pipeline: AnyPipeline) -> AnyPipeline:
    """Return a pipeline, locked until the transaction ends."""
    return type(pipeline)._default_manager.select_for_update(of=("self",)).get(pk=pipeline.pk)


def runs_of(pipeline: Pipeline, states: Collection[str]) -> QuerySet[Run]:
    """Return the runs of a pipeline in the given states, without duplicates."""
    own = {f"{pipeline.kind}s__{pipeline.kind}": pipeline}
    return Run.objects.filter(**own, state__in=states).distinct()


def wake(pipeline: Pipeline, by: User | None) -> None:
    """Start a job that advances a pipeline."""
    jobs.start(kind=pipeline.kind, subject=pipeline.subject, by=by, params={pipeline.kind: pipeline.pk})


def log(by: User | None, verb: str, pipeline: Pipeline, detail: Mapping[str, Any]) -> None:
    """Log an action on a pipeline."""
    Event.objects.create(by=by, verb=verb, subject=pipeline.logged_as[:300], detail=dict(detail))


def set_going(pipeline: Pipeline, by: User | None) -> None:
    """Set a pipeline to MAKING, clear its error and wake it."""
    pipeline.state, pipeline.error = Pipeline.State.MAKING, ""
    pipeline.save()
    wake(pipeline, by)


def usage_totals(runs: Iterable[Run]) -> dict[str, Any]:
    """Return the calls, tokens and cost of runs; the cost is None where calls have no price."""
    totals = CallCount.objects.filter(run__in=runs).aggregate(
        calls=Sum("asked"),
        read=Sum("tokens_in"),
        written=Sum("tokens_out"),
        cost=Sum("cost"),
        costed=Sum("costed"),
    )
    return {
        "calls": totals["calls"] or 0,
        "tokens_in": totals["read"] or 0,
        "tokens_out": totals["written"] or 0,
        "cost": float(totals["cost"] or 0) if totals["costed"] or not totals["calls"] else None,
    }


def refuse_unless_stopped(pipeline: Pipeline) -> None:
    """Raise SystemsError for a pipeline that is neither stuck nor cancelled."""
    if pipeline.state not in (Pipeline.State.STUCK, Pipeline.State.CANCELLED):
        raise SystemsError(f"The {pipeline.kind} is {pipeline.state}: there is nothing to go on with.")


def retry_failed(pipeline: Pipeline, by: User | None) -> None:
    """Retry the failures of a pipeline's failed and cancelled runs."""
    for run in runs_of(pipeline, [Run.State.FAILED, Run.State.CANCELLED]):
        runs.retry_failed(by=by, run=run)


def stop(pipeline: AnyPipeline, by: User | None, shared: QuerySet[Any] | None = None) -> AnyPipeline:
    """Cancel a pipeline and its runs except `shared` ones; answers and finished work are kept."""
    pipeline = lock(pipeline)
    if pipeline.state in (Pipeline.State.DONE, Pipeline.State.CANCELLED):
        return pipeline
    own = runs_of(pipeline, OPEN)
    for run in own if shared is None else own.exclude(pk__in=shared):
        runs.cancel(by=by, run=run)
    pipeline.state, pipeline.error = Pipeline.State.CANCELLED, ""
    pipeline.save()
    log(by, f"cancel {pipeline.kind}", pipeline, {})
    return pipeline


def advance_in_job(model: type[AnyPipeline], job: Job, advance: Callable[[int], AnyPipeline]) -> AnyPipeline:
    """Advance the pipeline of a job; raise JobRefused where it is stuck or deleted."""
    kind = model.kind_of()
    pk = job.params[kind]
    if not model._default_manager.filter(pk=pk).exists():
        raise JobRefused(f"the {kind} was deleted")
    pipeline = advance(pk)
    if pipeline.state == Pipeline.State.STUCK:
        raise JobRefused(pipeline.error)
    return pipeline


def sweep(model: type[Pipeline]) -> int:
    """Wake every pipeline whose runs have ended; return the number of pipelines.

    A pipeline whose last job failed or was cancelled becomes stuck, and waits for a person.
    """
    rows = model._default_manager.filter(state=Pipeline.State.MAKING)
    under_way = rows.filter(**{"links__run__state__in": OPEN})
    ready = rows.exclude(pk__in=under_way.values("pk"))
    for pipeline in ready.select_related("created_by"):
        last = Job.objects.filter(kind=pipeline.kind, subject=pipeline.subject).order_by("-id").first()
        if last is not None and last.state in (Job.State.FAILED, Job.State.CANCELLED):
            error = f"Job {last.pk} was to go on with it and {last.state}: {last.error or last.note}"
            ready.filter(pk=pipeline.pk).update(state=Pipeline.State.STUCK, error=error)
        else:
            wake(pipeline, pipeline.created_by)
    return len(ready)


# Estimated cost of a pipeline, before any call.


class StepCost(Protocol):
    """Cost of a step."""

    @property
    def step(self) -> str: ...

    @property
    def calls(self) -> int: ...

    @property
    def tokens_in(self) -> int: ...

    @property
    def tokens_out(self) -> int: ...


class StepsEstimate:
    """Estimated cost of all steps of a pipeline, and the destination of its text.

    `cost` is None where the endpoint has no prices, and UNASKED where no model is called.
    """

    __slots__ = ()
    UNASKED: ClassVar[Decimal | None] = None
    steps: Sequence[StepCost]
    endpoint: Endpoint | None

    @property
    def calls(self) -> int:
        """Calls of all steps."""
        return sum(step.calls for step in self.steps)

    @property
    def tokens_in(self) -> int:
        """Tokens read in all steps."""
        return sum(step.tokens_in for step in self.steps)

    @property
    def tokens_out(self) -> int:
        """Tokens written in all steps."""
        return sum(step.tokens_out for step in self.steps)

    @property
    def cost(self) -> Decimal | None:
        """Cost in the endpoint's currency."""
        return cost(self.endpoint, self.tokens_in, self.tokens_out) if self.endpoint else self.UNASKED

    @property
    def price(self) -> str:
        """The cost in words."""
        currency = self.endpoint.currency if self.endpoint else ""
        return estimates.cost_in_words(self.cost, currency, calls=self.calls)

    @property
    def host(self) -> str:
        """Host that receives the text."""
        return (urlsplit(self.endpoint.base_url).hostname or "") if self.endpoint else ""

    @property
    def is_here(self) -> bool:
        """Whether the host is this machine."""
        return literal(self.host) in {"127.0.0.1", "::1"}

    @property
    def destination(self) -> str:
        """The host in words."""
        return f"{self.host}, on this machine" if self.is_here else self.host
