"""A benchmark in words and figures, for pages, commands and programs alike."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, Q

from jobs import fake_models
from systems.making import reviewing
from systems.making.orders import CLEANING, CUT, METADATA, SUMMARY, Order
from systems.models import Benchmark, Production

TITLES = {
    CLEANING: "Cleaning",
    METADATA: "Metadata",
    CUT: "Cut",
    SUMMARY: "Summaries",
    "writing": "Writing the corpus",
}


def steps_of(benchmark: Benchmark) -> list[dict[str, Any]]:
    """Return each step that asks a model, in order: its runs, and how many productions are done, and failed.

    A production that another benchmark shares counts where it was asked."""
    order = Order.of(benchmark.order)
    steps = [
        *([CLEANING] if order.clean else []),
        *(one for one in (METADATA, SUMMARY) if one in order.steps),
    ]
    links = list(benchmark.links.select_related("run").order_by("id"))
    found = []
    for step in steps:
        runs = {link.run_id: link.run for link in links if link.step == step}
        counted = Production.objects.filter(run__in=runs).aggregate(
            productions=Count("pk"),
            done=Count("pk", filter=Q(status=Production.Status.DONE)),
            failed=Count("pk", filter=Q(status=Production.Status.FAILED)),
        )
        told = [{"run": run.pk, "state": run.state, "name": run.name} for run in runs.values()]
        found.append({"step": step, "title": TITLES[step], "runs": told, **counted})
    return found


def is_fake(benchmark: Benchmark) -> bool:
    """Whether a fake model wrote what was written for it."""
    return benchmark.endpoint is not None and fake_models.is_fake(benchmark.endpoint.answering_model)


def as_json(benchmark: Benchmark) -> dict[str, Any]:
    """Return all that is known of a benchmark as plain data."""
    return {
        "id": benchmark.pk,
        "benchmark": benchmark.name,
        "state": benchmark.state,
        "step": benchmark.step,
        "error": benchmark.error,
        "corpus": benchmark.corpus.name if benchmark.corpus else None,
        "made_from": benchmark.made_from,
        "endpoint": benchmark.endpoint.name if benchmark.endpoint else None,
        "order": benchmark.order,
        "leave_out_failed": benchmark.leave_out_failed,
        "steps": steps_of(benchmark),
        "figures": benchmark.figures,
        "fake_model": is_fake(benchmark),
        "sha256": benchmark.sha256,
        "review": reviewing.shares(benchmark.corpus) if benchmark.corpus else [],
        "checked_for_offensive_content": (
            None
            if benchmark.checked_at is None
            else {"by": benchmark.checked_by_name, "at": benchmark.checked_at.isoformat()}
        ),
        "created_by": benchmark.created_by.get_username() if benchmark.created_by else None,
        "created_at": benchmark.created_at.isoformat(),
        "finished_at": benchmark.finished_at.isoformat() if benchmark.finished_at else None,
    }
