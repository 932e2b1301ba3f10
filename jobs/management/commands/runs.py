"""`manage.py runs`: runs of judges and metrics, listed, paused, resumed, capped; and what they have cost."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from django.core.management.base import CommandError, CommandParser

from config.commands import DatabaseCommand
from jobs import runs
from jobs.calls.batch_actions import of_run as batches_of
from jobs.errors import JobError
from jobs.models import Run
from jobs.progress import progress

UNLIMITED = "none"


class Command(DatabaseCommand):
    """List the latest runs, or change one, or say what they have cost."""

    help = (
        "List runs of judges and metrics, latest first, one JSON object a line; or pause, resume or cancel "
        "one, change what it may take, or say what judges have cost. Start them with run_judge and "
        "run_metrics."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add what to do; without any, the list."""
        what = parser.add_mutually_exclusive_group()
        what.add_argument("--pause", type=int, metavar="ID", help="ask nothing more of this run for now")
        what.add_argument("--resume", type=int, metavar="ID", help="go on with a paused run")
        what.add_argument("--cancel", type=int, metavar="ID", help="stop this run; what is done stays")
        what.add_argument("--cap", type=int, metavar="ID", help="change what this run may take")
        what.add_argument("--costs", choices=list(runs.SPENT_BY), help="what judges have cost, by this")
        for name, of in (("calls", "calls"), ("tokens", "tokens, read and written"), ("cost", "money")):
            parser.add_argument(f"--cap-{name}", metavar="N", help=f"with --cap: most {of}; `none` lifts it")
        parser.add_argument("--limit", type=int, default=20, help="how many to list (20)")

    def handle(self, *args: Any, **options: Any) -> None:
        """Do it, and print the runs concerned, or the costs."""
        most = max(options["limit"], 0)
        if options["costs"]:
            for row in runs.spent(options["costs"])[:most]:
                self._say(runs.spending_row(row))
            return
        try:
            changed = self._changed(options)
        except JobError as error:
            raise CommandError(str(error)) from None
        known = Run.objects.select_related("rater", "corpus", "endpoint")
        for run in known.filter(pk=changed.pk) if changed else known.order_by("-id")[:most]:
            told = {"id": run.pk, "rater": run.name, "corpus": run.corpus.name}
            self._say(told | progress(run).as_json() | {"batches": batches_of(run)})

    def _changed(self, options: dict[str, Any]) -> Run | None:
        """Change the run that an option names; None where none does."""
        caps = _caps(options)
        if bool(caps) != (options["cap"] is not None):
            raise CommandError("Give --cap ID together with --cap-calls, --cap-tokens or --cap-cost.")
        if caps:
            return runs.set_caps(by=None, run=_load(options["cap"]), caps=caps)
        for name, verb in (("pause", runs.pause), ("resume", runs.resume), ("cancel", runs.cancel_calls)):
            if options[name] is not None:
                return verb(by=None, run=_load(options[name]))
        return None

    def _say(self, row: dict[str, Any]) -> None:
        self.stdout.write(json.dumps(row, ensure_ascii=False, default=float))


def _caps(options: dict[str, Any]) -> dict[str, int | Decimal | None]:
    told = {name: options[name] for name in runs.CAPS if options[name] is not None}
    return {name: None if text == UNLIMITED else _number(name, text) for name, text in told.items()}


def _number(name: str, text: str) -> int | Decimal:
    option = f"--{name.replace('_', '-')}"
    try:
        found = Decimal(text) if name == "cap_cost" else int(text)
    except (ValueError, ArithmeticError):
        raise CommandError(f"{option} {text}: not a number; `{UNLIMITED}` lifts the cap.") from None
    if isinstance(found, Decimal) and not found.is_finite():
        raise CommandError(f"{option} {text}: not an amount.")
    return found


def _load(pk: int) -> Run:
    run = Run.objects.filter(pk=pk).first()
    if run is None:
        raise CommandError(f"There is no run {pk}; `manage.py runs` lists them.")
    return run
