"""Shared parts of commands for runs: options, driving a run, and the last line of output."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from django.core.management.base import CommandError, CommandParser

from config.commands import DatabaseCommand
from jobs import runs
from jobs.endpoints.parameter_inputs import option
from jobs.models import Call, Run
from jobs.runs import AGAIN, CAPS, PAUSES
from judges.errors import JudgeError
from judges.models import RunSet
from judges.runs.lookup import NOTHING_FAILED, PARTS, Drive, availability, selection_of, summary
from judges.runs.metric_calls import metric_plans
from judges.runs.selection import Selection

# Shared by `run_judge` and `run_metrics`: options, driving a run, and the last line of output.

INTERRUPTED = 130


def add_exclude(parser: CommandParser) -> None:
    """Add --exclude, which leaves out dialogues by people's answers."""
    parser.add_argument(
        "--exclude",
        default="",
        metavar="ANSWER",
        help="leave out dialogues by an answer of people, such as 'objection>=1'",
    )


class RunCommand(DatabaseCommand):
    """Base of commands that start or resume runs and drive them to their end."""

    requires_system_checks = []  # no page is served

    def add_scope(self, parser: CommandParser) -> None:
        """Add the options for coverage and for the command's behaviour."""
        where = parser.add_mutually_exclusive_group(required=True)
        where.add_argument("--corpus", default="", help="name of a corpus")
        where.add_argument("--campaign", default="", help="name of a campaign: its corpus, its items")
        parser.add_argument("--systems", default="", help="only continuations of these systems, a,b,c")
        parser.add_argument(
            "--include-self",
            action="store_true",
            help="the dialogues' own turns too, even where there are other continuations",
        )
        parser.add_argument("--part", choices=PARTS, default="", help="dev or test of the split, or training")
        add_exclude(parser)
        parser.add_argument("--retry-failed", action="store_true", help="ask again for what failed before")
        parser.add_argument(
            "--wait", action="store_true", help="leave the work to the running workers and wait for them"
        )
        parser.add_argument("--quiet", action="store_true", help="no progress bar")

    def selection(self, options: dict[str, Any], samples: int = 1) -> Selection:
        """Return the selection named by the options."""
        systems = [part.strip() for part in options["systems"].split(",") if part.strip()]
        return selection_of(
            corpus=options["corpus"],
            campaign=options["campaign"],
            systems=systems,
            include_self=options["include_self"],
            samples=samples,
            part=options["part"],
            exclude=options["exclude"],
        )

    def warn_of_metrics(self, keys: Sequence[str], selection: Selection) -> None:
        """Warn of metrics that will have no value here, or barely meaningful ones. Raises JudgeError."""
        by_metric = availability(selection.corpus) if keys else {}
        for plan in metric_plans(keys, selection.corpus):
            status = by_metric[plan.rater.spec["metric"]]
            for line in filter(None, (status.obstacle, status.warning)) if plan.endpoint is None else ():
                self.stderr.write(f"{plan.rater.name}: {line}")

    def finish(
        self,
        started: Sequence[Run],
        options: dict[str, Any],
        run_set: RunSet | None = None,
        many: bool = False,
    ) -> None:
        """Drive runs to their end and print their summaries; exit with a line about failures, if any.

        The last line is a run's summary, or with `many`, or of a set, an object with `runs`.
        """
        if options["retry_failed"]:
            if not Call.objects.filter(run__in=started, state__in=AGAIN).exists():
                self.stderr.write(NOTHING_FAILED)
            started = [runs.retry_failed(by=None, run=run) for run in started]
        bar = None if options["quiet"] else sys.stderr
        ended = Drive(started, wait=options["wait"], bar_to=bar).to_the_end()
        summaries = [summary(run) for run in started]
        about = {"run_set": run_set.pk, "name": run_set.name} if run_set else {}
        rows = about | {"runs": summaries}
        self.stdout.write(json.dumps(rows if run_set or many else summaries[0]))
        if not ended:
            raise CommandError("Interrupted. Run the same command again to resume.", returncode=INTERRUPTED)
        self._fail(summaries)

    def _fail(self, summaries: Sequence[dict[str, Any]]) -> None:
        failures = [
            f"Run {row['run']} of {row['rater']}: "
            f"{row['error'] or row['pause_reason'] or 'the run is ' + row['state']}"
            for row in summaries
            if row["state"] != Run.State.DONE
        ]
        if failures:
            raise CommandError(" ".join(failures))


# Command option for the raters whose answers a judge reads.


def add_needs(parser: CommandParser) -> None:
    """Add `--need ROLE=RATER`, which may be repeated."""
    parser.add_argument(
        "--need",
        action="append",
        default=[],
        metavar="ROLE=RATER",
        help="the judge or metric, by name or fingerprint, whose answers the protocol reads; for a "
        "protocol with needs, once for each",
    )


def needs_from_options(options: Mapping[str, Any]) -> dict[str, str]:
    """Return the rater named for each role; raise JudgeError for another format."""
    pairs = [text.partition("=") for text in options["need"]]
    if bad := [role for role, sign, rater in pairs if not (role and sign and rater)]:
        raise JudgeError(f"--need {bad[0]}: say ROLE=RATER.")
    return {role: rater for role, _, rater in pairs}


def add_settings(parser: CommandParser, how: str = "--mode") -> None:
    """Add options for the run's caps, for the reuse of recorded replies, and, named `how`, for the mode of
    sending calls."""
    for name, cap in CAPS.items():
        name = f"--{name.replace('_', '-')}"
        parser.add_argument(name, metavar="N", **option(cap, help=f"{cap.label}: {PAUSES}"))
    parser.add_argument(
        how,
        dest="mode",
        choices=Run.Mode.values,
        help="ask one by one, at once, or in the provider's batches: cheaper, and done within a day; a run "
        "that is resumed keeps its own",
    )
    parser.add_argument(
        "--no-cache",
        dest="use_cache",
        action="store_false",
        default=None,
        help="ask even where an equal request of another run was answered",
    )
