"""Searches: started, cancelled, resumed; their proposals adopted by a person. Logged, each of them."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from annotation.models import Rater
from annotation.work import labels
from calibration.errors import WorkbenchRefused
from calibration.models import Search, SearchText
from calibration.searches import material
from config.models import Event
from jobs import runs
from jobs.endpoints import parameters
from jobs.models import Endpoint, Run
from judges.drafts import benches
from judges.models import Bench, Prompt, PromptVersion
from judges.prompts import actions, versions
from judges.prompts.versions import Version
from judges.runs.material import bind_needs

BOUNDS = {"rounds": (1, 50), "few": (1, 20), "most_calls": (1, 1_000_000)}
"""The least and the most of each number that a search is given."""


@transaction.atomic
def start(
    *,
    by: User | None,
    bench: Bench,
    version: Version,
    name: str = "",
    endpoint: Endpoint,
    improver: Endpoint,
    options: Mapping[str, Any] | None = None,
    rounds: int = 8,
    few: int = 5,
    most_calls: int = 1000,
    most_cost: Decimal | None = None,
    seed: int = 0,
    improver_parameters: Mapping[str, Any] | None = None,
) -> Search:
    """Start a search from a version, on all of a bench's dev; its proposals go into that version's prompt.

    `options` are those of the judge, as `judges.drafts.actions.write` takes them (its `parameters` among
    them); `improver_parameters` are the sampling parameters of the model that proposes.

    From a text that comes with Concord they go into a new prompt `name`, a copy of it. Raises
    WorkbenchRefused or JudgeError for what does not fit together, and where dev has too few answers.
    """
    numbers = {"rounds": rounds, "few": few, "most_calls": most_calls}
    for field, (least, most) in BOUNDS.items():
        if not least <= numbers[field] <= most:
            told = field.replace("_", " ")
            raise WorkbenchRefused(f"The number of {told} must be between {least} and {most:,}.")
    _refuse_cost(most_cost, endpoint, improver)
    _refuse_unfit(bench, version)
    options = dict(options or {})
    bind_needs(benches.protocol_of(bench), options.get("needs", {}), drafts=True)
    options["parameters"] = parameters.checked(options.get("parameters", {}))
    benches.grow(bench, None)
    taken = material.take_down(bench, seed)
    prompt = _prompt(by, bench, version, name)
    search = Search.objects.create(
        bench=bench,
        prompt=prompt,
        parent=version.ref,
        text=versions.store(wording=version.wording),
        variant=version.variant,
        endpoint=endpoint,
        improver=improver,
        rater=_rater(improver, bench, improver_parameters or {}),
        options=options,
        most_cost=most_cost,
        seed=seed,
        material=taken,
        created_by=by,
        **numbers,
    )
    _log(by, "start search", search, **numbers, most_cost=None if most_cost is None else float(most_cost))
    benches.go_on(search.pk)
    return search


def _refuse_cost(most: Decimal | None, *endpoints: Endpoint) -> None:
    """Refuse a bound on the cost that could not be kept."""
    if most is None:
        return
    if most <= 0:
        raise WorkbenchRefused("The most that a search may cost must be more than nothing.")
    for endpoint in endpoints:
        if None in (endpoint.price_in, endpoint.price_out):
            raise WorkbenchRefused(
                f"The endpoint {endpoint.name} has no prices, so a bound on the cost could not be kept."
            )
    if len(currencies := {endpoint.currency for endpoint in endpoints}) > 1:
        raise WorkbenchRefused(
            f"The endpoints' prices are in {' and '.join(sorted(currencies))}: a bound on the cost needs one "
            "currency."
        )


def _refuse_unfit(bench: Bench, version: Version) -> None:
    """Refuse a version that a bench's drafts could not be."""
    if version.protocol != bench.protocol:
        raise WorkbenchRefused(f"{version.ref} is for {version.protocol}, the bench for {bench.protocol}.")
    if version.variant not in (known := benches.variants(bench)):
        asks = " or ".join(known)
        raise WorkbenchRefused(f"{version.ref} asks as {version.variant}, the bench as {asks}.")
    if version.scheme_version not in (None, bench.scheme_version):
        raise WorkbenchRefused(f"{version.ref} is for another scheme than {benches.scheme_ref(bench)}.")


@transaction.atomic
def cancel(*, by: User | None, search: Search) -> Search:
    """Stop a search; its calls under way are finished, what it has proposed stays."""
    search = Search.objects.select_for_update().get(pk=search.pk)
    if search.active:
        for run in runs_of(search).filter(state__in=runs.ACTIVE):
            runs.cancel(by=by, run=run)
        end(search, Search.State.CANCELLED, "Cancelled.")
        _log(by, "cancel search", search)
    return search


@transaction.atomic
def resume(*, by: User | None, search: Search) -> Search:
    """Go on with a search that was cancelled, failed, or waits for a run that ended without its answers."""
    search = Search.objects.select_for_update().get(pk=search.pk)
    if search.state == Search.State.DONE:
        return search
    search.state, search.note, search.finished_at = Search.State.SEARCHING, "", None
    search.save(update_fields=["state", "note", "finished_at"])
    for run in runs_of(search).filter(state__in=[Run.State.CANCELLED, Run.State.FAILED]):
        runs.retry_failed(by=by, run=run)
    _log(by, "resume search", search)
    benches.go_on(search.pk, after=f"resuming at {timezone.now():%H:%M:%S.%f}")
    return search


def runs_of(search: Search) -> Any:
    """Return the runs of a search: of its texts, and of the improving model."""
    return Run.objects.filter(scope__search=search.pk)


def end(search: Search, state: Search.State, note: str) -> None:
    """Write how a search ended."""
    search.state, search.note, search.finished_at = state, note, timezone.now()
    search.save(update_fields=["state", "note", "finished_at"])


def _prompt(by: User | None, bench: Bench, version: Version, name: str) -> Prompt:
    if version.row is not None and name.strip() in ("", version.name):
        return version.row.prompt
    if not name.strip():
        raise WorkbenchRefused(
            f"{version.ref} comes with Concord and cannot be changed: name the prompt that the "
            "proposals go to."
        )
    over = replace(version, scheme_version=bench.scheme_version)
    return actions.copy(by=by, version=over, name=name).prompt


def _rater(improver: Endpoint, bench: Bench, told: Mapping[str, Any]) -> Rater:
    """Return who stands in the improving model's calls: it never has a label. Raises JobError for parameters
    that cannot be."""
    spec = {"draft": bench.pk, "search": secrets.token_hex(8), "model": improver.model, **improver.server}
    if sent := parameters.checked(told):
        spec["parameters"] = sent
    return labels.machine_rater(kind=Rater.Kind.JUDGE, name=f"{improver.model} proposing prompts", spec=spec)


def _log(by: User | None, verb: str, search: Search, **detail: Any) -> None:
    about = {"bench": search.bench.name, "from": search.parent, "prompt": search.prompt.name}
    Event.objects.create(by=by, verb=verb, subject=f"search {search.pk}", detail=about | detail)


def adopt(*, by: User | None, text: SearchText) -> PromptVersion:
    """Adopt a proposal of a search: judges may use it from now on. Raises JudgeError or WorkbenchRefused."""
    if text.version is None:
        raise WorkbenchRefused("Only a proposal of a search that has ended can be adopted.")
    return actions.adopt(by=by, version=text.version)


VERBS = {"cancel": cancel, "resume": resume}
"""What is done to a search by name."""
