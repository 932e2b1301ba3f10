"""`manage.py run_agent`: let an agent decide at the points of a corpus's scenarios."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.scenario_records import MODE, MODES
from config.commands import refuse_unused
from jobs.endpoints.parameter_inputs import add_parameters, parameters_from_options
from jobs.errors import JobError
from jobs.runs import CAPS
from judges.management.run_options import add_exclude, add_settings
from judges.runs.lookup import PARTS, corpus_named
from suites.continuation.management.commands import generate
from suites.continuation.productions.dialogues import select_dialogues
from suites.group_chat import baselines
from suites.group_chat.scenarios.agents import AGENTS

GENERATOR, OWN_OUTPUTS = "group_chat_agent", "own_outputs"
OF_MODELS = ("name", "condition", "estimate", "retry_failed", "wait", "own_outputs")
"""Options only for an agent that calls a model."""


class Command(generate.Command):
    """Play a baseline, or start or resume an agent that calls a model, and run it to its end."""

    help = (
        "Let an agent decide at every point of a corpus's scenarios: a baseline, which needs no model "
        f"({', '.join(AGENTS)}), or a model at an endpoint. The same command again resumes; what is there "
        "stays as it is. The last line of the output is one JSON object; the exit status is 1 where a "
        "production failed."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the agent, its scenarios, and the options."""
        which = parser.add_mutually_exclusive_group(required=True)
        which.add_argument("--agent", metavar="KEY", help=f"a baseline: {', '.join(AGENTS)}")
        which.add_argument("--endpoint", metavar="E", help="name of the endpoint whose model is the agent")
        parser.add_argument("--corpus", required=True, help="name of the corpus with the scenarios")
        parser.add_argument(
            "--mode",
            dest="agent_mode",
            choices=MODES,
            default=MODES[0],
            help="whether the agent declares whom it thinks is meant (explicit), or only acts (implicit)",
        )
        parser.add_argument("--trials", type=int, default=1, help="how often it goes through each scenario")
        parser.add_argument("--part", choices=PARTS, default="", help="dev or test of the split, or training")
        add_exclude(parser)
        parser.add_argument(
            "--first", type=int, default=0, help="at most this many scenarios, in order of their ids"
        )
        parser.add_argument("--draws", type=int, help="seed of a baseline's draws (0)")
        parser.add_argument(
            "--own-outputs", action="store_true", help="show the agent its own earlier decisions"
        )
        parser.add_argument("--name", default="", help="of the system; by default the model")
        parser.add_argument(
            "--condition",
            nargs="+",
            action="extend",
            default=[],
            metavar="NAME=VALUE",
            help="keys of your own in the condition",
        )
        parser.add_argument("--estimate", action="store_true", help="only say what it would take, as JSON")
        parser.add_argument("--retry-failed", action="store_true", help="ask again for what failed before")
        parser.add_argument("--wait", action="store_true", help="leave the work to the running workers")
        parser.add_argument("--quiet", action="store_true", help="no progress bar")
        add_parameters(parser)
        add_settings(parser, "--asking")

    def handle(self, *args: Any, **options: Any) -> None:
        """Play the baseline or run the model, and print the counts."""
        if options["agent"] is None:
            refuse_unused(options, ["draws"], "a model draws nothing; --seed is what it is sent")
            settings = [f"{MODE}={options['agent_mode']}", f"{OWN_OUTPUTS}={_word(options['own_outputs'])}"]
            options |= {"generator": GENERATOR, "set": settings, "min_turns": 0, "max_turns": 0}
            super().handle(*args, **options)
            return
        unread = {**options, "asking": options["mode"], "no_cache": options["use_cache"] is False}
        names = [*OF_MODELS, *parameters_from_options(options), *CAPS, "asking", "no_cache"]
        refuse_unused(unread, names, "it is for a model: give --endpoint, not --agent")
        try:
            corpus = corpus_named(options["corpus"])
            played = baselines.play(
                by=None,
                baseline=baselines.Baseline(
                    options["agent"], options["agent_mode"], options["trials"], options["draws"] or 0
                ),
                dialogues=select_dialogues(
                    corpus, {name: options[name] for name in ("part", "first", "exclude")}
                ),
            )
        except JobError as error:
            raise CommandError(str(error)) from None
        self.stderr.write(played.sentence())
        self.stdout.write(json.dumps(asdict(played), ensure_ascii=False))


def _word(value: bool) -> str:
    return "yes" if value else "no"
