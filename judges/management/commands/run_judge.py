"""`manage.py run_judge`: a judge over a corpus or a campaign."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import CommandError, CommandParser

from jobs.endpoints.parameter_inputs import add_parameters, option, parameters_from_options
from jobs.errors import JobError
from jobs.models import Run
from judges.errors import JudgeError
from judges.management.run_options import RunCommand, add_needs, add_settings, needs_from_options
from judges.metrics import split_keys
from judges.models import RunSet
from judges.protocols import PROTOCOLS
from judges.runs import run_actions
from judges.runs.estimates import SetEstimate, estimate_as_json, estimate_set, planned_metrics
from judges.runs.lookup import endpoint_named
from judges.runs.plans import BUDGET, SAMPLE_COUNT, Judge
from judges.runs.run_sets import start_run_set
from judges.runs.selection import PlannedJudge, judge_needs_opening, settings_of, title_of


class Command(RunCommand):
    """Start or resume the run of a judge, or a run set of several judges, and drive it to its end."""

    help = (
        "Run a judge over a corpus or a campaign, with a progress bar. The command does the work itself, "
        "together with any workers that run. The same command again resumes: nothing finished is asked or "
        "paid for twice. Several judges or endpoints are a run set: each judge asks each endpoint, and a run "
        "that fails leaves the others. The last line of the output is one JSON object; the exit status is 1 "
        "where a call failed. Protocols: "
        + "; ".join(f"{p.key} ({p.title})" for p in PROTOCOLS.values())
        + "."
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
        judge_group.add_argument(
            "--judge",
            action="append",
            default=[],
            metavar="PROTOCOL[:VARIANT][:SAMPLES]|NAME@N[:SAMPLES]",
            help="a protocol, or a version of a prompt, and its own number of samples in place of --samples; "
            "may be repeated, for a run set",
        )
        parser.add_argument("--metrics", default="", help="metric keys, a,b,c, that join the run set")
        parser.add_argument("--variant", default="", help="a variant of the protocol; its first by default")
        parser.add_argument(
            "--scheme",
            default="",
            metavar="KEY[@VERSION]",
            help="whose questions a rubric asks; over a campaign its own by default",
        )
        parser.add_argument(
            "--endpoint",
            action="append",
            default=[],
            help="name of the endpoint to ask; may be repeated, for a run set",
        )
        parser.add_argument(
            "--set",
            dest="set_name",
            default="",
            metavar="NAME",
            help="name of the run set; by default that of its judges and metrics",
        )
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
            planned = self._planned(options)
            is_set = len(planned) > 1 or bool(options["set_name"] or options["metrics"])
            metrics = split_keys(options["metrics"])
            asking = planned_metrics(metrics, planned[0].selection)
            together = estimate_set([*planned, *asking], options["mode"])
            if options["estimate"]:
                self.stdout.write(json.dumps(estimate_as_json(together) if is_set else _single(together)))
                return
            self._report(together, is_set)
            self.warn_of_metrics(metrics, planned[0].selection)
            opens = any(judge_needs_opening(row.judge, row.selection) for row in planned)
            if options["open_test"] and not opens:
                self.stderr.write("--open-test: this run opens no test that is closed to the judge")
            started, run_set = self._start(planned, options, is_set)
        except JobError as error:
            raise CommandError(str(error)) from None
        self.finish(started, options, run_set)

    def _planned(self, options: dict[str, Any]) -> list[PlannedJudge]:
        """Return each judge of the options at each endpoint."""
        endpoints = [endpoint_named(name) for name in dict.fromkeys(options["endpoint"])]
        if options["judge"] and options["variant"]:
            raise JudgeError("--variant goes with --protocol: write --judge PROTOCOL:VARIANT.")
        judges = [_reference(text) for text in dict.fromkeys(options["judge"])]
        single = {name: options[name] for name in ("protocol", "variant", "prompt")}
        planned = []
        for fields, own in judges or [(single, None)]:
            judge = Judge(
                **fields,
                parameters=parameters_from_options(options),
                shows=tuple(options["show"]),
                budget=options["budget"],
                needs=needs_from_options(options),
                scheme=options["scheme"],
            )
            samples = options["samples"] if own is None else own
            samples = judge.usual_samples() if samples is None else samples
            selection = self.selection(options, samples)
            planned += [PlannedJudge(title_of(judge), row, selection) for row in judge.at(endpoints)]
        return planned

    def _report(self, together: SetEstimate, is_set: bool) -> None:
        """Write what the runs take to stderr."""
        for row in together.forecasts:
            name = f"{row.planned.label}: " if is_set else ""
            if row.estimate is not None:
                self.stderr.write(f"{name}{row.estimate.sentence()}")
            elif row.unanswered:
                gaps = "".join(f"Of all calls, {gap.sentence()}." for gap in row.unanswered)
                self.stderr.write(f"{name}{gaps}")
        if is_set:
            self.stderr.write(
                f"Together {together.calls:,} calls, cost {together.price}; time {together.time}."
            )

    def _start(
        self, planned: list[PlannedJudge], options: dict[str, Any], is_set: bool
    ) -> tuple[list[Run], RunSet | None]:
        """Start the run, or the set and all its runs."""
        settings, reason = settings_of(options), options["open_test"]
        if not is_set:
            (row,) = planned
            plan = row.judge.plan(row.selection.campaign)
            run = run_actions.start(
                by=None, plan=plan, selection=row.selection, settings=settings, open_test=reason
            )
            return [run], None
        run_set = start_run_set(
            by=None,
            planned=planned,
            metrics=split_keys(options["metrics"]),
            selection=planned[0].selection,
            name=options["set_name"],
            settings=settings,
            open_test=reason,
            in_jobs=False,
        )
        return list(run_set.runs), run_set


def _reference(text: str) -> tuple[dict[str, Any], int | None]:
    """Return the fields of a judge named as PROTOCOL[:VARIANT], or as NAME@N for a prompt, and the number of
    samples behind it; None without one."""
    name, _, last = text.rpartition(":")
    name, samples = (name, int(last)) if name and last.isdecimal() else (text, None)
    protocol, _, variant = name.partition(":")
    if protocol in PROTOCOLS:
        return {"protocol": protocol, "variant": variant}, samples
    return {"prompt": name}, samples


def _single(together: SetEstimate) -> dict[str, Any]:
    """Return the estimate of a single run as plain data."""
    (row,) = together.forecasts
    nothing = {"calls": 0, "unanswered": [gap.as_json() for gap in row.unanswered]}
    return row.estimate.as_json() if row.estimate else nothing
