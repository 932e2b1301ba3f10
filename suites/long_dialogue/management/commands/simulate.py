"""`manage.py simulate`: let a system hear a corpus's scripts and answer the questions of a set."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.models import QuestionSet
from config.commands import DatabaseCommand, refuse_unused
from jobs.endpoints.parameter_inputs import add_parameters, parameters_from_options
from jobs.errors import JobError
from jobs.models import Endpoint, Run
from jobs.runs import ACTIVE, CAPS, OPEN
from judges.management.run_options import add_settings
from judges.runs.lookup import NOTHING_FAILED, Drive, corpus_named, endpoint_named
from judges.runs.selection import settings_of
from suites.continuation.management.commands.generate import parse_pairs
from suites.long_dialogue.agent.agent import BASELINES
from suites.long_dialogue.agent.memory import (
    BM25,
    EMBEDDING,
    MEMORIES,
    ORDERS,
    RETRIEVED,
    RETRIEVERS,
    SESSION,
    USUAL_K,
)
from suites.long_dialogue.agent.trial_settings import POINTS, SEED
from suites.long_dialogue.models import Simulation
from suites.long_dialogue.scripts.answers import FORMATS
from suites.long_dialogue.simulations import simulation_actions
from suites.long_dialogue.simulations.simulation_actions import TITLES, counts, estimate, paused
from suites.long_dialogue.simulations.steps import SAMPLING, SETTING_NAMES, UNREAD, Order

INTERRUPTED = 130
_PAUSE = 0.5


class Command(DatabaseCommand):
    """Start or resume a simulation, and run it to its end."""

    help = (
        "Let an agent play the main character of a corpus's scripts: it hears what the character hears, and "
        "is asked the questions of a set in trials. A model at an endpoint answers, or a baseline that needs "
        f"none ({'; '.join(f'{baseline.key}: {baseline.title}' for baseline in BASELINES.values())}). "
        "The command does the work itself, together with any workers that run. The same command again goes "
        "on: no question that was answered is asked or paid for twice. The last line of the output is one "
        "JSON object; the exit status is 1 where it did not come to its end."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the system, its memory, and the choice of questions."""
        which = parser.add_mutually_exclusive_group(required=True)
        which.add_argument("--endpoint", metavar="E", help="name of the endpoint whose model answers")
        which.add_argument("--agent", metavar="KEY", help=f"a baseline: {', '.join(BASELINES)}")
        parser.add_argument("--corpus", required=True, help="name of the corpus with the scripts")
        parser.add_argument("--set", required=True, metavar="NAME", help="its question set, NAME or NAME:2")
        _add_memory(parser)
        _add_asking(parser)
        parser.add_argument("--trials", type=int, default=3, help="how often it goes through each script (3)")
        parser.add_argument("--name", default="", help="of the system; by default the model")
        parser.add_argument(
            "--condition", nargs="+", action="extend", default=[], metavar="NAME=VALUE",
            help="keys of your own in the condition",
        )  # fmt: skip
        parser.add_argument("--estimate", action="store_true", help="only say what it would take, as JSON")
        parser.add_argument("--retry-failed", action="store_true", help="try again what failed before")
        parser.add_argument("--wait", action="store_true", help="leave the work to the running workers")
        parser.add_argument("--quiet", action="store_true", help="no progress bar")
        add_parameters(parser, leave=("seed",))
        parser.add_argument(
            "--sampling-seed", type=int, dest="seed", metavar="N", help="seed that is sent to the model"
        )
        add_settings(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        """Start, drive, and print the counts."""
        try:
            question_set, order, endpoint = _prepare_order(options)
            expected = estimate(question_set, order, endpoint)
            if options["estimate"]:
                self.stdout.write(json.dumps(expected.as_json(), ensure_ascii=False))
                return
            self.stderr.write(expected.sentence())
            simulation = simulation_actions.start(
                by=None,
                question_set=question_set,
                order=order,
                endpoint=endpoint,
                settings=settings_of(options) if endpoint else None,
            )
            simulation = self._retry(simulation) if options["retry_failed"] else simulation
        except JobError as error:
            raise CommandError(str(error)) from None
        simulation, ended, why = self._run_to_end(simulation, options)
        name, condition = simulation_actions.system_of(simulation)
        self.stdout.write(
            json.dumps(
                {
                    "simulation": simulation.pk, "system": name, "condition": condition,
                    "state": simulation.state, **counts(simulation),
                },
                ensure_ascii=False,
            )
        )  # fmt: skip
        if not ended:
            raise CommandError("Interrupted. Run the same command again to resume.", returncode=INTERRUPTED)
        if why:
            raise CommandError(why)

    def _retry(self, simulation: Simulation) -> Simulation:
        """Update a simulation, and retry its failed calls if it is stuck."""
        simulation = simulation_actions.advance(simulation.pk)
        if simulation.state != Simulation.State.STUCK:
            self.stderr.write(NOTHING_FAILED)
        return (
            simulation_actions.go_on(by=None, simulation=simulation)
            if simulation.state == Simulation.State.STUCK
            else simulation
        )

    def _run_to_end(self, simulation: Simulation, options: dict[str, Any]) -> tuple[Simulation, bool, str]:
        """Run until done or waiting; return it, False if interrupted, and the reason if not done."""
        bar = None if options["quiet"] else sys.stderr
        while True:
            simulation = simulation_actions.advance(simulation.pk)
            if simulation.state == Simulation.State.DONE:
                return simulation, True, ""
            if simulation.state != Simulation.State.MAKING:
                return simulation, True, simulation.error or f"The simulation is {simulation.state}."
            if stopped := paused(simulation):
                return simulation, True, f"Run {stopped.pk} is paused: {stopped.pause_reason}"
            active = list(Run.objects.filter(simulations__simulation=simulation, state__in=ACTIVE).distinct())
            if bar is not None and active:
                self.stderr.write(f"{TITLES.get(simulation.step, simulation.step)}: {active[0].name}")
            if active and not Drive(active, wait=options["wait"], bar_to=bar).to_the_end():
                return simulation, False, ""
            if (
                not active
                and not Run.objects.filter(simulations__simulation=simulation, state__in=OPEN).exists()
            ):
                time.sleep(_PAUSE)


def _add_memory(parser: CommandParser) -> None:
    parser.add_argument("--memory", choices=MEMORIES, help="what is remembered (session)")
    parser.add_argument("--retriever", choices=RETRIEVERS, help="what chooses of it (bm25)")
    parser.add_argument(
        "--embedder", metavar="E", help="endpoint whose model embeds; by default Concord's own model"
    )
    parser.add_argument("--k", type=int, help="how many entries are chosen; by default as is usual")
    parser.add_argument("--order", choices=ORDERS, help="how they are presented in the prompt (time)")
    parser.add_argument(
        "--remember", action="store_true", default=None, help="remember earlier questions and answers"
    )
    parser.add_argument("--context", type=int, metavar="N", help="tokens of the model's context")
    parser.add_argument("--limit", type=int, metavar="S", help="seconds after which an answer is late")


def _add_asking(parser: CommandParser) -> None:
    parser.add_argument("--names", help="original, or a name map such as anonymised or swapped:2")
    parser.add_argument("--format", choices=FORMATS, help="how the options are shown (template)")
    parser.add_argument("--point", choices=POINTS, help="after which turns it may be asked (own_turn)")
    parser.add_argument("--per-session", type=int, metavar="N", help="questions a session at most (1)")
    parser.add_argument("--seed", type=int, dest="draws", metavar="N", help="seed of what is asked when (0)")


def _prepare_order(options: dict[str, Any]) -> tuple[QuestionSet, Order, Endpoint | None]:
    question_set = simulation_actions.question_set(corpus_named(options["corpus"]), options["set"])
    if options["agent"] is not None:
        unread = {**options, "no_cache": options["use_cache"] is False}
        names = [*UNREAD, *parameters_from_options(options), *CAPS, "mode", "no_cache"]
        refuse_unused(unread, names, "it is for a model: give --endpoint, not --agent")
    memory, retriever = options["memory"] or SESSION, options["retriever"] or BM25
    if memory not in RETRIEVED:
        names = ["retriever", "embedder", *([] if memory in USUAL_K else ["k"])]
        refuse_unused(options, names, f"the memory {memory} chooses nothing of what was heard")
    elif retriever != EMBEDDING:
        refuse_unused(options, ["embedder"], f"the retriever {retriever} compares no vectors")
    by_name = {**options, SEED: options["draws"]}
    settings = {name: by_name[name] for name in SETTING_NAMES if by_name[name] is not None}
    order = Order(
        options["agent"] or "",
        settings,
        options["trials"],
        dict(SAMPLING) | parameters_from_options(options),
        options["name"],
        parse_pairs(options["condition"], "--condition"),
    )
    return question_set, order, endpoint_named(options["endpoint"]) if options["endpoint"] else None
