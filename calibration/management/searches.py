"""`manage.py workbench propose`: a model proposes texts for a judge; the work of both queues is done here."""

from __future__ import annotations

import time
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any

from django.core.management.base import CommandError, CommandParser

from calibration.management.benches import bench_named
from calibration.models import Search
from calibration.searches import actions as search_actions
from calibration.searches import reading
from jobs.calls.queue import work_slice as ask
from jobs.endpoints.parameter_inputs import add_parameters, parameters_from_options
from jobs.kinds import CALLS, JOBS
from jobs.models import Job
from jobs.queue import jobs as steps
from jobs.queue.worker import Heart
from judges.drafts.benches import SEARCH
from judges.management.run_options import add_needs, needs_told
from judges.prompts import versions
from judges.runs.lookup import endpoint_named

DEFAULTS = {"rounds": 8, "few": 5, "most_calls": 1000}
_PAUSE = 0.5


def add_options(parts: Any) -> None:
    """Add the subcommands `propose` and `proposals`."""
    part: CommandParser = parts.add_parser(
        "propose", help="let a model propose better texts, measured on dialogues that it has not seen"
    )
    part.add_argument("bench", metavar="NAME")
    part.add_argument("--from", dest="begin", required=True, metavar="REF", help="the version it begins with")
    part.add_argument("--name", default="", help="the prompt that the proposals go into")
    part.add_argument("--endpoint", required=True, help="where the judge is asked")
    part.add_argument("--improver", required=True, help="the endpoint where proposals are asked for")
    for name, default in DEFAULTS.items():
        part.add_argument(f"--{name.replace('_', '-')}", type=int, default=default)
    part.add_argument("--most-cost", default="", help="in the endpoints' currency")
    part.add_argument("--seed", type=int, default=0)
    part.add_argument("--wait", action="store_true", help="leave the work to the running workers")
    add_parameters(part, of="judge")
    add_parameters(part, of="improver")
    add_needs(part)
    listing = parts.add_parser("proposals", help="a search with its texts, as JSON; cancel, resume or adopt")
    listing.add_argument("search", type=int, metavar="SEARCH", help="a search's number")
    listing.add_argument("--adopt", type=int, metavar="TEXT", help="adopt this text")
    listing.add_argument("--cancel", action="store_true")
    listing.add_argument("--resume", action="store_true")


def propose(options: dict[str, Any]) -> dict[str, Any]:
    """Start a search, bring it to its end, and return it as plain data."""
    search = search_actions.start(
        by=None,
        bench=bench_named(options["bench"]),
        version=versions.find(options["begin"]),
        name=options["name"],
        endpoint=endpoint_named(options["endpoint"]),
        improver=endpoint_named(options["improver"]),
        most_cost=_money(options["most_cost"]),
        seed=options["seed"],
        options={"needs": needs_told(options), "parameters": parameters_from_options(options, of="judge")},
        improver_parameters=parameters_from_options(options, of="improver"),
        **{name: options[name] for name in DEFAULTS},
    )
    to_the_end(search, wait=options["wait"])
    return reading.as_json(Search.objects.get(pk=search.pk))


def proposals(options: dict[str, Any]) -> dict[str, Any]:
    """Do what was asked to a search, and return it as plain data."""
    search = Search.objects.select_related("bench__split", "prompt").filter(pk=options["search"]).first()
    if search is None:
        raise CommandError(f"There is no search {options['search']}.")
    for verb, act in search_actions.VERBS.items():
        if options[verb]:
            search = act(by=None, search=search)
    if options["adopt"] is not None:
        text = search.texts.select_related("version__prompt").filter(number=options["adopt"]).first()
        if text is None:
            raise CommandError(f"Search {search.pk} has no text {options['adopt']}.")
        search_actions.adopt(by=None, text=text)
    return reading.as_json(search)


def to_the_end(search: Search, *, wait: bool, pause: Callable[[float], None] = time.sleep) -> None:
    """Work until a search has ended, or waits for a run that ended without its answers."""
    with Heart(JOBS) as stepping, Heart(CALLS) as asking:
        while True:
            search.refresh_from_db()
            if not search.active or reading.shown(search).stuck:
                return
            if wait or not _work(search, stepping, asking):
                pause(_PAUSE)


def _work(search: Search, stepping: Heart, asking: Heart) -> bool:
    """Take what there is to do of a search; return whether there was anything."""
    waiting = Job.objects.filter(kind=SEARCH, params__search=search.pk, state=Job.State.QUEUED)
    mine = list(waiting.values_list("pk", flat=True))
    job = steps.claim(worker=stepping.name, only=mine) if mine else None
    if job is not None:
        stepping.hold([job.pk])
        try:
            steps.do(job, worker=stepping.name)
        finally:
            stepping.let_go([job.pk])
    runs = list(search_actions.runs_of(search).values_list("pk", flat=True))
    counts = ask(CALLS, seconds=60, heart=asking, only=runs) if runs else None
    return job is not None or bool(counts and counts.done + counts.failed)


def _money(text: str) -> Decimal | None:
    if not text:
        return None
    try:
        return Decimal(text)
    except InvalidOperation:
        raise CommandError(f"--most-cost: {text!r} is not an amount of money.") from None
