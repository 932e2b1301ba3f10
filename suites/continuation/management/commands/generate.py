"""`manage.py generate`: have a model write continuations, or texts, for the dialogues of a corpus."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any

from django.core.management.base import CommandError, CommandParser

from config.commands import DatabaseCommand
from jobs import runs
from jobs.endpoints.parameter_inputs import add_parameters, parameters_from_options
from jobs.errors import JobError
from jobs.models import Run
from judges.management.run_options import add_exclude, add_settings
from judges.runs.lookup import NOTHING_FAILED, PARTS, Drive, corpus_named, endpoint_named
from judges.runs.selection import settings_of
from suites.continuation.generators import GENERATORS
from suites.continuation.models import Production
from suites.continuation.productions import production_actions
from suites.continuation.productions.dialogues import Dialogues, select_dialogues
from suites.continuation.productions.pipelines import usage_totals
from suites.continuation.productions.plans import Generation
from suites.continuation.productions.production_actions import estimate

INTERRUPTED = 130


class Settings(argparse.Action):
    """Prints every generator's settings and exits."""

    def __call__(self, parser: argparse.ArgumentParser, *args: Any, **kwargs: Any) -> None:
        """Print the settings."""
        parser.exit(message="\n".join(list_settings()) + "\n")


def list_settings() -> list[str]:
    """Return every generator with its settings, as lines."""
    lines = []
    for generator in GENERATORS.values():
        lines.append(f"{generator.key}: {generator.title}")
        for setting in generator.settings:
            choices = f" ({', '.join(map(str, setting.choices))})" if setting.choices else ""
            varies = ", part of the condition" if setting.varies else ""
            lines.append(f"  {setting.name}={setting.default}{choices}  {setting.help}{varies}")
    return lines


class Command(DatabaseCommand):
    """Start or resume generation and run it to its end."""

    help = (
        "Let a model write continuations for the dialogues of a corpus, with a progress bar. The command "
        "does the work itself, together with any workers that run. The same command again resumes: no step "
        "whose reply is there is asked or paid for twice. The last line of the output is one JSON object; "
        "the exit status is 1 where a production failed. Generators: "
        + "; ".join(f"{generator.key} ({generator.title})" for generator in GENERATORS.values())
        + "."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the generator, the dialogues, and the options."""
        parser.add_argument("--generator", required=True, metavar="KEY", help="what writes")
        parser.add_argument("--corpus", required=True, help="name of the corpus")
        parser.add_argument("--endpoint", required=True, help="name of the endpoint to ask")
        pairs: dict[str, Any] = {"nargs": "+", "action": "extend", "default": [], "metavar": "NAME=VALUE"}
        parser.add_argument("--set", help="settings of the generator; --list-settings shows them", **pairs)
        parser.add_argument("--condition", help="keys of your own in the condition", **pairs)
        parser.add_argument(
            "--name", default="", help="of the system; by default the model and the settings that vary"
        )
        parser.add_argument("--trials", type=int, default=1, help="how often each dialogue is written for")
        parser.add_argument("--part", choices=PARTS, default="", help="dev or test of the split, or training")
        turns = "only dialogues with at {} so many turns of their own"
        parser.add_argument("--min-turns", type=int, default=0, help=turns.format("least"))
        parser.add_argument("--max-turns", type=int, default=0, help=turns.format("most"))
        parser.add_argument(
            "--first", type=int, default=0, help="at most this many dialogues, in order of their ids"
        )
        add_exclude(parser)
        parser.add_argument(
            "--estimate", action="store_true", help="only say what it would take, as JSON; send nothing"
        )
        parser.add_argument(
            "--list-settings", action=Settings, nargs=0, help="list every generator's settings, and end"
        )
        parser.add_argument("--retry-failed", action="store_true", help="ask again for what failed before")
        parser.add_argument(
            "--wait", action="store_true", help="leave the work to the running workers and wait for them"
        )
        parser.add_argument("--quiet", action="store_true", help="no progress bar")
        add_parameters(parser)
        add_settings(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        """Start, run, and print the counts."""
        try:
            generation, dialogues = _prepare_generation(options)
            expected = estimate(generation.plan(), dialogues, options["trials"])
            if options["estimate"]:
                self.stdout.write(json.dumps(expected.as_json()))
                return
            self.stderr.write(expected.sentence())
            run = production_actions.start(
                by=None,
                generation=generation,
                dialogues=dialogues,
                trials=options["trials"],
                settings=settings_of(options),
            )
            if options["retry_failed"]:
                if not run.calls.filter(state__in=runs.AGAIN).exists():
                    self.stderr.write(NOTHING_FAILED)
                run = runs.retry_failed(by=None, run=run)
        except JobError as error:
            raise CommandError(str(error)) from None
        ended = Drive(
            [run], wait=options["wait"], bar_to=None if options["quiet"] else sys.stderr
        ).to_the_end()
        run.refresh_from_db()
        self.stdout.write(json.dumps(summary(run)))
        if not ended:
            raise CommandError("Interrupted. Run the same command again to resume.", returncode=INTERRUPTED)
        if run.state != Run.State.DONE:
            why = run.error or run.pause_reason or f"the run is {run.state}"
            raise CommandError(f"Run {run.pk} of {run.name}: {why}")


def summary(run: Run) -> dict[str, Any]:
    """Summarise a run as plain data; `flags` counts the productions per flag."""
    rows = Production.objects.filter(run=run)
    flags: Counter[str] = Counter()
    for row_flags in rows.exclude(flags=[]).values_list("flags", flat=True):
        flags.update({flag.partition(":")[0] for flag in row_flags})
    return {
        "run": run.pk,
        "system": run.name,
        "state": run.state,
        "productions": rows.count(),
        "done": rows.filter(status=Production.Status.DONE).count(),
        "failed": rows.filter(status=Production.Status.FAILED).count(),
        "reused": run.reused,
        **usage_totals([run]),
        "flags": dict(sorted(flags.items())),
    }


def _prepare_generation(options: dict[str, Any]) -> tuple[Generation, Dialogues]:
    corpus = corpus_named(options["corpus"])
    generation = Generation(
        options["generator"],
        endpoint_named(options["endpoint"]),
        parse_pairs(options["set"], "--set"),
        parameters_from_options(options),
        options["name"],
        parse_pairs(options["condition"], "--condition"),
    )
    return generation, select_dialogues(corpus, options)


def parse_pairs(texts: Sequence[str], option: str) -> dict[str, Any]:
    """Return the values of `NAME=VALUE` options by name. Raises CommandError."""
    values: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise CommandError(f"{option}: {text[:60]!r} is not NAME=VALUE.")
        if name in values:
            raise CommandError(f"{option}: {name} is given twice.")
        values[name] = value
    return values
