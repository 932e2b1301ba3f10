"""`manage.py work QUEUE`: a worker without a broker."""

from __future__ import annotations

import os
from typing import Any

from django.core.management.base import CommandParser

from config.commands import DatabaseCommand
from judges.models import Run
from judges.work.loop import Loop

NICE = 10


class Command(DatabaseCommand):
    """Work on one queue until SIGTERM or Ctrl-C."""

    requires_system_checks = []  # a worker serves no pages, and starts faster
    help = (
        "Work on one queue until SIGTERM or Ctrl-C: `calls` asks the endpoints of LLM judges and applies "
        "rules, `metrics` computes. Any number may run at once. What a killed worker held comes back."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """One argument: the queue."""
        parser.add_argument("queue", choices=Run.Queue.values)

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the loop; metrics step back for the web server."""
        if options["queue"] == Run.Queue.METRICS:
            os.nice(NICE)
            os.environ.setdefault("OMP_NUM_THREADS", "1")
        Loop(options["queue"]).run()
