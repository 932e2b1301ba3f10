"""Benchmarks: asked for, gone on with, left, and marked as checked. Every act is logged with who did it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from annotation.corpora.import_file import NAME
from annotation.models import Corpus
from config.models import Event
from jobs import actions as jobs
from jobs import runs
from jobs.models import Endpoint, Run
from systems.benchmarks.choosing import Shortage, choose
from systems.errors import SystemsError
from systems.making import material
from systems.making.making import Making
from systems.making.orders import Order, differences
from systems.making.writing import write
from systems.models import Benchmark

KIND = "benchmark"
Source = tuple[Corpus, str]
"""A source corpus, and what its source is called where its conversations do not say."""


@transaction.atomic
def start(
    *,
    by: User | None,
    name: str,
    sources: Sequence[Source],
    order: Order,
    endpoint: Endpoint | None,
    leave_out_failed: bool = False,
) -> Benchmark:
    """Ask for a benchmark, or go on with the one of this name that was asked for alike; return it.

    Raises SystemsError for what cannot be: a name that is taken, an order that differs from the first,
    sources with too few conversations.
    """
    order = order.checked()
    found = Benchmark.objects.select_for_update().filter(name=name).first()
    if found is not None:
        _alike(found, sources, order, endpoint)
        return _reopened(by, found, order, leave_out_failed)
    _refuse_name(name)
    if not sources:
        raise SystemsError("from: at least one source corpus is needed.")
    if len({corpus.pk for corpus, _ in sources}) < len(sources):
        raise SystemsError("from: a corpus is named twice.")
    if order.asks and endpoint is None:
        raise SystemsError("endpoint: a model is asked, so an endpoint is needed.")
    _refuse_shortage(sources, order)
    made = Benchmark.objects.create(
        name=name,
        endpoint=endpoint if order.asks else None,
        sources=_told(sources),
        made_from=[corpus.name for corpus, _ in sources],
        order=order.as_json(),
        leave_out_failed=leave_out_failed,
        created_by=by,
    )
    _log(by, "make benchmark", made, {"sources": made.made_from, **made.order})
    _wake(made, by)
    return made


def advance(benchmark: int) -> Benchmark:
    """Do what can be done for a benchmark now: start runs, or write its corpus.

    It may be called at any time, by several at once."""
    with transaction.atomic():
        found = Benchmark.objects.select_for_update(of=("self",)).get(pk=benchmark)
        if found.state != Benchmark.State.MAKING:
            return found
        made = None
        making: Making | None = None
        try:
            with transaction.atomic():
                making = Making(found)
                made = making.go_on()
                if made is not None:
                    write(found, made)
        except (SystemsError, Shortage) as error:
            found.state, found.error, found.corpus = Benchmark.State.STUCK, str(error), None
        if not found.is_done:
            found.step = making.step if making else found.step
        found.save()
        if found.is_done:
            _log(found.created_by, "benchmark made", found, {"sha256": found.sha256})
        return found


@transaction.atomic
def go_on(*, by: User | None, benchmark: Benchmark, leave_out_failed: bool = False) -> Benchmark:
    """Go on with a benchmark that is stuck or was cancelled: what failed is tried again, or left out."""
    found = Benchmark.objects.select_for_update(of=("self",)).get(pk=benchmark.pk)
    if found.state not in (Benchmark.State.STUCK, Benchmark.State.CANCELLED):
        raise SystemsError(f"The benchmark is {found.state}: there is nothing to go on with.")
    if leave_out_failed:
        found.leave_out_failed = True
    else:
        ended = [Run.State.FAILED, Run.State.CANCELLED]
        for run in Run.objects.filter(benchmarks__benchmark=found, state__in=ended).distinct():
            runs.retry_failed(by=by, run=run)
    found.state, found.error = Benchmark.State.MAKING, ""
    found.save()
    _log(by, "go on with benchmark", found, {"leave_out_failed": leave_out_failed})
    _wake(found, by)
    return found


@transaction.atomic
def cancel(*, by: User | None, benchmark: Benchmark) -> Benchmark:
    """Stop making a benchmark, and its runs; what was answered is kept. One that is done stays so."""
    found = Benchmark.objects.select_for_update(of=("self",)).get(pk=benchmark.pk)
    if found.state in (Benchmark.State.DONE, Benchmark.State.CANCELLED):
        return found
    for run in Run.objects.filter(benchmarks__benchmark=found, state__in=runs.OPEN).distinct():
        runs.cancel(by=by, run=run)
    found.state, found.error = Benchmark.State.CANCELLED, ""
    found.save()
    _log(by, "cancel benchmark", found, {})
    return found


@transaction.atomic
def mark_checked(*, by: User | None, benchmark: Benchmark) -> Benchmark:
    """Say that somebody read a benchmark and found no offensive content, or dealt with it."""
    found = Benchmark.objects.select_for_update(of=("self",)).get(pk=benchmark.pk)
    if not found.is_done:
        raise SystemsError("The benchmark is not made yet: there is nothing to be checked.")
    found.checked_by, found.checked_at = by, timezone.now()
    found.checked_by_name = by.get_username() if by else "a command"
    found.save()
    _log(by, "check benchmark for offensive content", found, {})
    return found


def _refuse_name(name: str) -> None:
    if not NAME.fullmatch(name) or name != name.strip() or name in (".", ".."):
        raise SystemsError("into: the name of a corpus has 1 to 100 characters, and no slash.")
    if Corpus.objects.filter(name=name).exists():
        raise SystemsError(f"into: the corpus {name!r} exists already; a benchmark is a new one.")


def _refuse_shortage(sources: Sequence[Source], order: Order) -> None:
    """Refuse what even the raw conversations have too few instances for, or sources that are not there."""
    found = material.conversations({corpus.pk: (corpus, name) for corpus, name in sources}, {})
    known = {one.source for one in found}
    for option, named in (("verbatim", order.verbatim), ("train-from", order.train_sources)):
        if unknown := [one for one in named if one not in known]:
            listed = ", ".join(sorted(known)) or "none"
            raise SystemsError(f"{option}: there is no source {unknown[0]!r}; there are {listed}.")
    try:
        choose([one.offer for one in found], order.wanted, order.seed, known)
    except Shortage as error:
        raise SystemsError(str(error)) from None


def _alike(found: Benchmark, sources: Sequence[Source], order: Order, endpoint: Endpoint | None) -> None:
    """Refuse to go on with a benchmark that was asked for in another way."""
    told: list[str] = []
    if found.sources != _told(sources):
        told.append(f"it was made of {', '.join(found.made_from)}")
    told += filter(None, [differences(found.order, order.as_json())])
    if order.asks and found.endpoint_id != (endpoint.pk if endpoint else None):
        told.append(f"it asked the endpoint {found.endpoint}")
    if told:
        raise SystemsError(
            f"There is a benchmark {found.name!r} already, and it is another one: {'; '.join(told)}. Choose "
            "another name."
        )


def _reopened(by: User | None, found: Benchmark, order: Order, leave_out: bool) -> Benchmark:
    """Return a benchmark that goes on, with what may be changed on the way."""
    if found.is_done:
        return found
    found.order = found.order | {"allow_fewer": order.allow_fewer}
    found.leave_out_failed = found.leave_out_failed or leave_out
    if found.state == Benchmark.State.CANCELLED:
        found.save()
        return go_on(by=by, benchmark=found)
    found.state, found.error = Benchmark.State.MAKING, ""
    found.save()
    _wake(found, by)
    return found


def _told(sources: Sequence[Source]) -> list[dict[str, Any]]:
    return [{"corpus": corpus.pk, "name": name} for corpus, name in sources]


def _wake(benchmark: Benchmark, by: User | None) -> None:
    jobs.start(kind=KIND, subject=f"benchmark {benchmark.name}", by=by, params={"benchmark": benchmark.pk})


def _log(by: User | None, verb: str, benchmark: Benchmark, detail: dict[str, Any]) -> None:
    Event.objects.create(by=by, verb=verb, subject=f"benchmark {benchmark.name}", detail=detail)
