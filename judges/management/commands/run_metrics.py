"""`manage.py run_metrics`: metrics over a corpus or a campaign."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import CommandError, CommandParser

from jobs.errors import JobError
from judges.management.run_options import RunCommand, add_settings
from judges.metrics import split_keys
from judges.runs import run_actions
from judges.runs.estimates import estimate_as_json, estimate_set, planned_metrics
from judges.runs.metric_calls import metric_plans
from judges.runs.run_sets import start_run_set
from judges.runs.selection import settings_of


class Command(RunCommand):
    """Start or resume the runs of metrics and drive them to their end."""

    help = (
        "Compute metrics over a corpus or a campaign, with a progress bar. A key may carry a variant and "
        "parameters, as in m_sns_avg@paper:window=10. The same command again resumes; texts are embedded "
        "once and kept. ll:endpoint=NAME asks an endpoint for log-probabilities. The last line of the output "
        "is one JSON object with one entry per metric; the exit status is 1 where a run failed."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the metrics and the options of the selection."""
        parser.add_argument("--metrics", required=True, help="metric keys, a,b,c; several are a run set")
        parser.add_argument(
            "--set",
            dest="set_name",
            default="",
            metavar="NAME",
            help="name of the run set; by default that of its metrics",
        )
        parser.add_argument(
            "--estimate",
            action="store_true",
            help="only say what metrics that ask an endpoint would take, as JSON; send nothing",
        )
        add_settings(parser)
        self.add_scope(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        """Start, drive, and print the counts."""
        keys = split_keys(options["metrics"])
        if not keys:
            raise CommandError("Name at least one metric.")
        try:
            selection, settings = self.selection(options), settings_of(options)
            together = estimate_set(planned_metrics(keys, selection), options["mode"])
            if options["estimate"]:
                self.stdout.write(json.dumps(estimate_as_json(together)))
                return
            plans = metric_plans(keys, selection.corpus)
            self.warn_of_metrics(keys, selection)
            for row in together.forecasts:
                if row.estimate is not None:
                    self.stderr.write(f"{row.planned.label}: {row.estimate.sentence()}")
            if len(plans) == 1 and not options["set_name"]:
                own = settings if plans[0].endpoint else None
                run = run_actions.start(by=None, plan=plans[0], selection=selection, settings=own)
                started, run_set = [run], None
            else:
                run_set = start_run_set(
                    by=None,
                    metrics=keys,
                    selection=selection,
                    name=options["set_name"],
                    settings=settings,
                    in_jobs=False,
                )
                started = list(run_set.runs)
        except JobError as error:
            raise CommandError(str(error)) from None
        self.finish(started, options, run_set, many=True)
