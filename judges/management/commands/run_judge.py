"""`manage.py run_judge`: a judge over a corpus or a campaign."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import CommandError, CommandParser

from jobs.endpoints.parameter_inputs import add_parameters, option, parameters_from_options
from jobs.errors import JobError
from jobs.models import Run
from jobs.runs import CAPS, PAUSES
from judges.management.run_options import RunCommand, add_needs, needs_from_options
from judges.protocols import PROTOCOLS
from judges.runs import run_actions
from judges.runs.estimates import estimate, unanswered
from judges.runs.lookup import endpoint_named
from judges.runs.plans import BUDGET, SAMPLE_COUNT, Judge
from judges.runs.selection import Selection, judge_needs_opening, settings_of


class Command(RunCommand):
    """Start or resume a judge's run and drive it to its end."""

    help = (
        "Run a judge over a corpus or a campaign, with a progress bar. The command does the work itself, "
        "together with any workers that run. The same command again resumes: nothing finished is asked or "
        "paid for twice. The last line of the output is one JSON object; the exit status is 1 where a call "
        "failed. Protocols: " + "; ".join(f"{p.key} ({p.title})" for p in PROTOCOLS.values()) + "."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the judge's options and those of the selection."""
        judge_group = parser.add_mutually_exclusive_group(required=True)
        judge_group.add_argument("--protocol", choices=list(PROTOCOLS), default="")
        judge_group.add_argument(
            "--prompt",
            default="",
            metavar="NAME@N",
            help="a version of a prompt, with its protocol and variant",
        )
        parser.add_argument("--variant", default="", help="a variant of the protocol; its first by default")
        parser.add_argument(
            "--scheme",
            default="",
            metavar="KEY[@VERSION]",
            help="whose questions a rubric asks; over a campaign its own by default",
        )
        parser.add_argument("--endpoint", default="", help="name of the endpoint to ask")
        parser.add_argument("--samples", **option(SAMPLE_COUNT))
        parser.add_argument(
            "--estimate", action="store_true", help="only say what the run would take, as JSON; send nothing"
        )
        parser.add_argument(
            "--open-test",
            default="",
            metavar="REASON",
            help="what test is opened for: a run that covers test items of a split in use needs a reason, "
            "once per judge; it is logged and printed",
        )
        parser.add_argument(
            "--show",
            action="append",
            default=[],
            metavar="NAME",
            help="what else the judge sees beside the usual, such as metadata.setting or participants.extra; "
            "may be repeated. Over a campaign it sees what the campaign shows",
        )
        parser.add_argument("--budget", **option(BUDGET, help=f"{BUDGET.label}. {BUDGET.help}"))
        add_needs(parser)
        add_parameters(parser)
        add_settings(parser)
        self.add_scope(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        """Start, drive, and print the counts."""
        try:
            judge, selection = self._prepare_run(options)
            run_estimate = estimate(judge, selection, options["mode"])
            lacking = run_estimate.unanswered if run_estimate else unanswered(judge, selection)
            if options["estimate"]:
                nothing = {"calls": 0, "unanswered": [gap.as_json() for gap in lacking]}
                self.stdout.write(json.dumps(run_estimate.as_json() if run_estimate else nothing))
                return
            if run_estimate is not None:
                self.stderr.write(run_estimate.sentence())
            elif lacking:
                self.stderr.write("".join(f"Of all calls, {gap.sentence()}." for gap in lacking))
            if options["open_test"] and not judge_needs_opening(judge, selection):
                self.stderr.write("--open-test: this run opens no test that is closed to the judge")
            run = run_actions.start(
                by=None,
                plan=judge.plan(selection.campaign),
                selection=selection,
                settings=settings_of(options),
                open_test=options["open_test"],
            )
        except JobError as error:
            raise CommandError(str(error)) from None
        summaries = self.drive([run], options)
        self.stdout.write(json.dumps(summaries[0]))
        self.fail(summaries)

    def _prepare_run(self, options: dict[str, Any]) -> tuple[Judge, Selection]:
        judge = Judge(
            options["protocol"],
            options["variant"],
            endpoint_named(options["endpoint"]) if options["endpoint"] else None,
            parameters_from_options(options),
            tuple(options["show"]),
            options["budget"],
            needs=needs_from_options(options),
            prompt=options["prompt"],
            scheme=options["scheme"],
        )
        return judge, self.selection(options, self._samples(judge, options))

    def _samples(self, judge: Judge, options: dict[str, Any]) -> int:
        """Return the requested number of samples, else the judge's default."""
        samples: int | None = options["samples"]
        return judge.usual_samples() if samples is None else samples


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
