"""`manage.py jobs`: background work, listed, cancelled or done again."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import CommandError, CommandParser

from config.commands import DatabaseCommand
from jobs import actions
from jobs.errors import JobError
from jobs.models import Job

SHOWN = ("id", "kind", "subject", "state", "done", "total", "attempts", "error")


class Command(DatabaseCommand):
    """List the latest jobs, or change one."""

    help = (
        "List background jobs, latest first, one JSON object a line; or cancel one, or do one again that "
        "failed or was cancelled."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add what to do; without any, the list."""
        what = parser.add_mutually_exclusive_group()
        what.add_argument("--cancel", type=int, metavar="ID", help="cancel this job")
        what.add_argument("--retry", type=int, metavar="ID", help="do this job again")
        parser.add_argument("--limit", type=int, default=20, help="how many to list (20)")

    def handle(self, *args: Any, **options: Any) -> None:
        """Do it, and print the jobs concerned."""
        if options["cancel"] is not None:
            jobs = [actions.cancel(job=_load(options["cancel"]), by=None)]
        elif options["retry"] is not None:
            try:
                jobs = [actions.retry(job=_load(options["retry"]), by=None)]
            except JobError as error:
                raise CommandError(str(error)) from None
        else:
            jobs = list(Job.objects.all()[: max(options["limit"], 0)])
        for job in jobs:
            self.stdout.write(json.dumps({name: getattr(job, name) for name in SHOWN}, ensure_ascii=False))


def _load(pk: int) -> Job:
    job = Job.objects.filter(pk=pk).first()
    if job is None:
        raise CommandError(f"There is no job {pk}; `manage.py jobs` lists them.")
    return job
