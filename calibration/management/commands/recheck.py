"""`manage.py recheck`: ask judges again on an anchor set, and say whether they have moved."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from calibration.drift import anchor_actions
from calibration.drift.comparing import compare
from calibration.errors import CalibrationError
from calibration.models import AnchorSet, Recheck
from calibration.reports.requirements import Check, Requirement, junit
from config.commands import DatabaseCommand
from jobs import runs
from jobs.errors import JobError
from jobs.models import Run
from judges.management.run_options import INTERRUPTED
from judges.runs.lookup import Drive


class Command(DatabaseCommand):
    """Ask judges again, drive their runs to the end, compare, and exit with 1 if one has moved."""

    help = (
        "Ask judges again on the anchor set ANCHORS: all that have judged it, or those named by --judge. "
        "Each is compared with its first run and with the anchors' reference. The last line of the output is "
        "one JSON object; the exit status is 1 where a judge has moved or a call failed."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options."""
        parser.add_argument("anchors", help="name of the anchor set")
        parser.add_argument(
            "--judge", action="append", default=[], metavar="NAME", help="a judge; may be repeated"
        )
        parser.add_argument(
            "--estimate", action="store_true", help="only say what asking again would take, as JSON"
        )
        parser.add_argument("--junit", metavar="PATH", type=Path, help="write the outcome as JUnit XML")
        parser.add_argument("--retry-failed", action="store_true", help="ask again for what failed before")
        parser.add_argument(
            "--wait", action="store_true", help="leave the work to the running workers and wait for them"
        )
        parser.add_argument("--quiet", action="store_true", help="no progress bar")

    def handle(self, *args: Any, **options: Any) -> None:
        """Start, drive, compare and print."""
        anchors = AnchorSet.objects.select_related("corpus").filter(name=options["anchors"]).first()
        if anchors is None:
            raise CommandError(f"There is no anchor set {options['anchors']!r}.")
        try:
            judges = [anchor_actions.judge_named(anchors, name) for name in options["judge"]]
            judges = judges or anchor_actions.judges_of(anchors)
            if not judges:
                raise CommandError(
                    f"No judge has judged the anchors of {anchors.name}: run one on them first."
                )
            if options["estimate"]:
                estimates = {
                    rater.name: anchor_actions.estimate(anchors, rater).as_json() for rater in judges
                }
                self.stdout.write(json.dumps(estimates))
                return
            started = [anchor_actions.recheck(by=None, anchors=anchors, rater=rater) for rater in judges]
        except (CalibrationError, JobError) as error:
            raise CommandError(str(error)) from None
        started_runs = [recheck.run for recheck in started]
        if options["retry_failed"]:
            started_runs = [runs.retry_failed(by=None, run=run) for run in started_runs]
        bar = None if options["quiet"] else sys.stderr
        if not Drive(started_runs, wait=options["wait"], bar_to=bar).to_the_end():
            raise CommandError("Interrupted. Run the same command again to resume.", returncode=INTERRUPTED)
        self._compare(started, options)
        for run in started_runs:
            run.refresh_from_db()
            if run.state != Run.State.DONE:
                why = run.error or run.pause_reason or f"the run is {run.state}"
                raise CommandError(f"Run {run.pk} of {run.name}: {why}")

    def _compare(self, started: list[Recheck], options: dict[str, Any]) -> None:
        """Compare, print, and write --junit. Raises CommandError if a judge has moved."""
        checks, lines, outcome = [], [], {}
        for recheck in started:
            recheck = Recheck.objects.select_related("anchors__corpus", "rater", "run").get(pk=recheck.pk)
            state = compare(recheck)
            recheck.refresh_from_db()
            name, sentence = recheck.rater.name, str(recheck.result["sentence"])
            self.stdout.write(f"{name}: {sentence}")
            if served_change := str(recheck.result["served_change"]):
                self.stdout.write(f"  {served_change}")
            for question in recheck.result["questions"]:
                self.stdout.write(f"  {question['sentence']}")
            requirement = Requirement("stable", "state", "", "!=", "moved")
            why = f"{sentence} {served_change}".strip() if state == Recheck.State.MOVED else ""
            checks.append(Check(requirement, name, why))
            lines += [f"{name} has moved: {why}"] if why else []
            outcome[name] = {"recheck": recheck.pk, "state": state, "served_change": served_change}
        self.stdout.write(json.dumps(outcome))
        if options["junit"]:
            try:
                options["junit"].write_text(junit(checks, options["anchors"]), encoding="utf-8")
            except OSError as error:
                raise CommandError(f"{options['junit']}: {error.strerror}") from None
        if lines:
            raise CommandError("\n".join(lines))
