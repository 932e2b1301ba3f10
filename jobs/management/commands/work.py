"""`manage.py work QUEUE`: a worker without a broker."""

from __future__ import annotations

import os
from typing import Any

from django.core.management.base import CommandParser

from config.commands import DatabaseCommand
from jobs.kinds import CALLS, QUEUES
from jobs.queue.worker import Loop

NICE = 10


class Command(DatabaseCommand):
    """Work on one queue until SIGTERM or Ctrl-C."""

    requires_system_checks = []  # a worker serves no pages, and starts faster
    help = (
        "Work on one queue until SIGTERM or Ctrl-C: `calls` asks the endpoints of LLM judges and applies "
        "rules, `metrics` computes, `jobs` does reports, imports and whatever else takes a while. Any number "
        "may run at once. What a killed worker held is done by another."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the queue argument and `--until-empty`."""
        parser.add_argument("queue", choices=list(QUEUES))
        parser.add_argument("--until-empty", action="store_true", help="end when nothing waits in the queue")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the loop; computing queues run at lower priority than the web server."""
        if options["queue"] != CALLS:
            os.nice(NICE)
            os.environ.setdefault("OMP_NUM_THREADS", "1")
        Loop(options["queue"], until_empty=options["until_empty"]).run()
