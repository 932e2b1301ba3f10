"""`manage.py benchmarks`: those that were made or are being made, and what is done with one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from config.commands import DatabaseCommand
from jobs.errors import JobError
from suites.continuation.models import Benchmark
from suites.continuation.productions import benchmark_actions
from suites.continuation.productions.benchmark_actions import as_json
from suites.continuation.productions.benchmark_steps import export


class Command(DatabaseCommand):
    """List benchmarks, or do something with one."""

    help = (
        "List benchmarks, latest first, one JSON object a line; or show one, stop or go on with its making, "
        "mark it as checked for offensive content, or write its dialogues to a file. Make one with "
        "make_benchmark."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add what to do; without any, the list."""
        parser.add_argument("name", nargs="?", default="", help="only this one")
        what = parser.add_mutually_exclusive_group()
        what.add_argument(
            "--checked", action="store_true", help="say that it was checked for offensive content"
        )
        what.add_argument("--cancel", action="store_true", help="stop making it; what was answered is kept")
        what.add_argument(
            "--go-on", action="store_true", help="go on with one that is stuck or was cancelled"
        )
        what.add_argument("--output", metavar="FILE", help="write its dialogues here, as JSON lines")
        parser.add_argument(
            "--leave-out-failed", action="store_true", help="with --go-on: without what failed"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Do it, and print the benchmarks concerned."""
        if not options["name"]:
            if any(options[one] for one in ("checked", "cancel", "go_on", "output", "leave_out_failed")):
                raise CommandError("Name the benchmark.")
            for found in Benchmark.objects.select_related("corpus", "endpoint", "created_by"):
                self.stdout.write(json.dumps(as_json(found), ensure_ascii=False))
            return
        named = Benchmark.objects.filter(name=options["name"]).first()
        if named is None:
            names = ", ".join(Benchmark.objects.values_list("name", flat=True)[:20]) or "none yet"
            raise CommandError(f"There is no benchmark {options['name']!r}; there are: {names}.")
        if options["leave_out_failed"] and not options["go_on"]:
            raise CommandError("Give --leave-out-failed together with --go-on.")
        try:
            found = self._done(named, options)
        except JobError as error:
            raise CommandError(str(error)) from None
        self.stdout.write(json.dumps(as_json(found), ensure_ascii=False))

    @staticmethod
    def _done(found: Benchmark, options: dict[str, Any]) -> Benchmark:
        """Do what an option says."""
        if options["checked"]:
            return benchmark_actions.mark_checked(by=None, benchmark=found)
        if options["cancel"]:
            return benchmark_actions.cancel(by=None, benchmark=found)
        if options["go_on"]:
            return benchmark_actions.go_on(
                by=None, benchmark=found, leave_out_failed=options["leave_out_failed"]
            )
        if options["output"]:
            if found.corpus is None:
                raise CommandError(f"The benchmark {found.name} is not made yet.")
            try:
                with Path(options["output"]).open("w", encoding="utf-8", newline="\n") as file:
                    file.writelines(export(found.corpus))
            except OSError as error:
                raise CommandError(f"{options['output']}: cannot be written ({error.strerror}).") from None
        return found
