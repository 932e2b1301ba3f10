"""Which workers have the keys of endpoints: one that lacks a key leaves the endpoint's calls to others.

A run whose key no worker has waits `jobs.queue.timing.KEY_WAIT` seconds for one that has, and then fails.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import timedelta

from django.utils import timezone

from jobs.endpoints.actions import key_of
from jobs.errors import JobError
from jobs.models import Run, Worker
from jobs.models.endpoint import Endpoint
from jobs.queue import timing

# What was found out about endpoints by asking them, kept with them.


def remember(forms: Mapping[int, str], fakes: Collection[int] = ()) -> None:
    """Keep which form of structured output endpoints take, by their ids, and where a fake model answers."""
    Endpoint.objects.filter(pk__in=fakes, fake_model=False).update(fake_model=True)
    for endpoint, form in forms.items():
        Endpoint.objects.filter(pk=endpoint).exclude(reply_form=form).update(reply_form=form)


_ACTIVE = (Run.State.QUEUED, Run.State.RUNNING)


def has_key(endpoint: Endpoint) -> bool:
    """Whether this process can ask an endpoint: it needs no key, or the environment has it."""
    try:
        key_of(endpoint)
    except JobError:
        return False
    return True


def lacking() -> list[int]:
    """Return the ids of the endpoints whose key this process lacks."""
    return sorted(one.pk for one in Endpoint.objects.exclude(key_env="") if not has_key(one))


def others_have(endpoint: Endpoint) -> bool:
    """Whether a worker that was seen lately has an endpoint's key."""
    return any(endpoint.pk not in lacks for lacks in _lacks())


def key_note(run: Run) -> str:
    """Say of an active run which workers lack its key; '' where none does."""
    if run.state not in _ACTIVE or run.endpoint is None or not run.endpoint.key_env:
        return ""
    seen = _lacks()
    without = sum(run.endpoint_id in lacks for lacks in seen)
    variable = run.endpoint.key_env
    if not without:
        return ""
    if without < len(seen):
        return (
            f"{without} of {len(seen)} workers have no {variable} in their environment and leave the calls "
            "of this run to the others."
        )
    return (
        f"No worker has {variable} in its environment: the calls wait for one that has. The run fails where "
        f"none comes within {timing.KEY_WAIT:.0f} seconds."
    )


def sweep_keys() -> None:
    """Note which runs no worker can ask, and fail those for which that was so for too long."""
    active = Run.objects.filter(queue=Run.Queue.CALLS, state__in=_ACTIVE, endpoint__isnull=False)
    keyed = list(active.exclude(endpoint__key_env="").select_related("endpoint"))
    seen = _lacks() if keyed else []
    now = timezone.now()
    for run in keyed if seen else ():
        if any(run.endpoint_id not in lacks for lacks in seen):
            Run.objects.filter(pk=run.pk, unserved_since__isnull=False).update(unserved_since=None)
        elif run.unserved_since is None:
            Run.objects.filter(pk=run.pk).update(unserved_since=now)
        elif now - run.unserved_since > timedelta(seconds=timing.KEY_WAIT):
            _fail(run)


def _fail(run: Run) -> None:
    from jobs import runs  # which wakes workers, that import this

    assert run.endpoint is not None
    runs.stop_with_error(
        run.pk,
        f"The endpoint {run.endpoint.name} takes its key from {run.endpoint.key_env}, which is not set where "
        f"the workers run: none had it for {timing.KEY_WAIT:.0f} seconds. Set it there, restart the workers, "
        "and resume the run.",
    )


def _lacks() -> list[list[int]]:
    since = timezone.now() - timedelta(seconds=timing.SEEN_LATELY)
    return list(
        Worker.objects.filter(queue=Run.Queue.CALLS, last_seen__gte=since).values_list("lacks", flat=True)
    )
