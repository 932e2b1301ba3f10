"""`manage.py batches`: the batches in which runs ask, listed, looked at, adopted or given up."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import CommandError, CommandParser

from config.commands import DatabaseCommand
from jobs.calls import batch_actions
from jobs.calls.batch_actions import as_row
from jobs.errors import JobError
from jobs.models import Batch


class Command(DatabaseCommand):
    """List the latest batches, or change one."""

    help = (
        "List batches of calls at providers, latest first, one JSON object a line; or let a worker look at "
        "one now; or, where it is unclear what became of one, adopt it by the provider's id or give it up. "
        "Runs ask in batches with run_judge --mode batch."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add what to do; without any, the list."""
        what = parser.add_mutually_exclusive_group()
        what.add_argument("--run", type=int, metavar="ID", help="only the batches of this run")
        what.add_argument("--look", type=int, metavar="ID", help="let a worker look at this batch now")
        what.add_argument("--adopt", type=int, metavar="ID", help="this batch is --provider-id: collect that")
        what.add_argument(
            "--give-up", type=int, metavar="ID", help="ask the calls of this batch again; may be paid twice"
        )
        parser.add_argument("--provider-id", default="", help="with --adopt: what the provider calls it")
        parser.add_argument("--limit", type=int, default=20, help="how many to list (20)")

    def handle(self, *args: Any, **options: Any) -> None:
        """Do it, and print the batches concerned."""
        if bool(options["provider_id"]) != (options["adopt"] is not None):
            raise CommandError("Give --adopt ID together with --provider-id.")
        try:
            batches = self._changed(options) or self._listed(options)
        except JobError as error:
            raise CommandError(str(error)) from None
        for batch in batches:
            self.stdout.write(json.dumps(as_row(batch), ensure_ascii=False))

    def _listed(self, options: dict[str, Any]) -> list[Batch]:
        found = Batch.objects.order_by("-pk")
        if options["run"] is not None:
            found = found.filter(run=options["run"])
        return list(found[: max(options["limit"], 0)])

    def _changed(self, options: dict[str, Any]) -> list[Batch]:
        """Change the batch that an option names; nothing where none does."""
        if options["look"] is not None:
            return [batch_actions.look_now(by=None, batch=_load(options["look"]))]
        if options["adopt"] is not None:
            batch = _load(options["adopt"])
            return [batch_actions.adopt(by=None, batch=batch, provider_id=options["provider_id"])]
        if options["give_up"] is not None:
            return [batch_actions.give_up(by=None, batch=_load(options["give_up"]))]
        return []


def _load(pk: int) -> Batch:
    batch = Batch.objects.filter(pk=pk).first()
    if batch is None:
        raise CommandError(f"There is no batch {pk}; `manage.py batches` lists them.")
    return batch
