"""`manage.py make_benchmark`: make a benchmark of conversations to continue from source corpora."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.models import Corpus
from config.commands import DatabaseCommand
from jobs.endpoints.parameter_inputs import add_parameters, parameters_from_options
from jobs.errors import JobError
from jobs.models import Run
from jobs.runs import ACTIVE, OPEN
from judges.management.run_options import add_exclude
from judges.runs.lookup import Drive, corpus_named, endpoint_named
from suites.continuation.models import Benchmark
from suites.continuation.productions import benchmark_actions
from suites.continuation.productions.benchmark_actions import Source, as_json, estimate
from suites.continuation.productions.benchmark_steps import STEPS, Order

INTERRUPTED = 130
_PAUSE = 0.5


class Command(DatabaseCommand):
    """Start or resume a benchmark and run it to its end."""

    help = (
        "Make a benchmark of conversations to be continued: the last 30 turns of a history, people's own "
        "next 30 turns, metadata of the conversation, and a summary of what came before. The command does "
        "the work itself, together with any workers that run; the corpus is there, whole, in the end. The "
        "same command again goes on: nothing that was answered is asked or paid for twice. The last line of "
        "the output is one JSON object."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the sources and the options."""
        parser.add_argument(
            "--from", dest="sources", action="append", required=True, metavar="CORPUS[=SOURCE]",
            help="a source corpus, with what its source is called; may be repeated. Where a dialogue's "
            "metadata say `source`, that counts",
        )  # fmt: skip
        parser.add_argument("--into", required=True, metavar="NAME", help="name of the new corpus")
        parser.add_argument(
            "--per-source", type=int, required=True, metavar="N", help="instances for evaluation per source"
        )
        parser.add_argument(
            "--train",
            type=int,
            default=0,
            metavar="N",
            help="instances for training in all, of other conversations",
        )
        sources: dict[str, Any] = {"action": "append", "default": [], "metavar": "SOURCE"}
        parser.add_argument("--train-from", help="only this source; may be repeated", **sources)
        parser.add_argument("--seed", type=int, default=0, help="of the cuts and of the choice (0)")
        parser.add_argument("--endpoint", default="", help="name of the endpoint to ask")
        parser.add_argument("--clean", action="store_true", help="clean the utterances first, of all sources")
        parser.add_argument("--verbatim", help="clean only this source; may be repeated", **sources)
        parser.add_argument(
            "--steps", default=",".join(STEPS), help="some of metadata,cut,summary; the cut among them"
        )
        parser.add_argument(
            "--per-conversation", type=int, default=1, metavar="M",
            help="instances of one conversation at most, 60 turns apart (1)",
        )  # fmt: skip
        parser.add_argument("--allow-fewer", action="store_true", help="take what there is")
        parser.add_argument(
            "--part-tokens", type=int, default=Order.__dataclass_fields__["part_tokens"].default, metavar="N",
            help="the metadata of longer conversations are read in parts of this many tokens",
        )  # fmt: skip
        add_exclude(parser)
        failed = parser.add_mutually_exclusive_group()
        failed.add_argument("--retry-failed", action="store_true", help="ask again for what failed before")
        failed.add_argument(
            "--leave-out-failed",
            action="store_true",
            help="go on without conversations that a step failed on",
        )
        parser.add_argument("--estimate", action="store_true", help="only say what it would take, as JSON")
        parser.add_argument("--wait", action="store_true", help="leave the work to the running workers")
        parser.add_argument("--quiet", action="store_true", help="no progress bar")
        add_parameters(parser, "model")

    def handle(self, *args: Any, **options: Any) -> None:
        """Start, run, and print the result."""
        try:
            sources = [_parse_source(text) for text in options["sources"]]
            order = _read_order(options)
            endpoint = endpoint_named(options["endpoint"]) if options["endpoint"] else None
            if options["estimate"]:
                self.stdout.write(json.dumps(estimate(sources, order, endpoint).as_json()))
                return
            benchmark = benchmark_actions.start(
                by=None,
                name=options["into"],
                sources=sources,
                order=order,
                endpoint=endpoint,
                leave_out_failed=options["leave_out_failed"],
            )
            if options["retry_failed"]:
                benchmark = self._retry(benchmark)
        except JobError as error:
            raise CommandError(str(error)) from None
        benchmark, ended = self._run_to_end(benchmark, options)
        self.stdout.write(json.dumps(as_json(benchmark), ensure_ascii=False))
        if not ended:
            raise CommandError("Interrupted. Run the same command again to resume.", returncode=INTERRUPTED)
        if not benchmark.is_done:
            raise CommandError(benchmark.error or f"The benchmark {benchmark.name} is {benchmark.state}.")

    @staticmethod
    def _retry(benchmark: Benchmark) -> Benchmark:
        """Advance a benchmark, and retry its failures if it is stuck."""
        benchmark = benchmark_actions.advance(benchmark.pk)
        return (
            benchmark_actions.go_on(by=None, benchmark=benchmark)
            if benchmark.state == Benchmark.State.STUCK
            else benchmark
        )

    def _run_to_end(self, benchmark: Benchmark, options: dict[str, Any]) -> tuple[Benchmark, bool]:
        """Advance until the benchmark is no longer in progress; False where it was interrupted."""
        bar = None if options["quiet"] else sys.stderr
        while True:
            benchmark = benchmark_actions.advance(benchmark.pk)
            links = Run.objects.filter(benchmarks__benchmark=benchmark, state__in=OPEN).distinct()
            active = [run for run in links if run.state in ACTIVE]
            if benchmark.state != Benchmark.State.MAKING:
                return benchmark, True
            if links and not active:
                raise CommandError(f"Run {links[0].pk} is paused: {links[0].pause_reason}")
            if bar is not None and active:
                self.stderr.write(f"{benchmark.step}: {active[0].name}")
            if active and not Drive(active, wait=options["wait"], bar_to=bar).to_the_end():
                return benchmark, False
            if not active:
                time.sleep(_PAUSE)


def _parse_source(text: str) -> Source:
    """Return the corpus of an option, and the name of its source."""
    if exact_match := Corpus.objects.filter(name=text).first():
        return exact_match, exact_match.name
    name, _, called = text.rpartition("=")
    corpus = corpus_named(name or text)
    return corpus, called.strip() or corpus.name


def _read_order(options: dict[str, Any]) -> Order:
    return Order(
        per_source=options["per_source"],
        train=options["train"],
        train_sources=tuple(options["train_from"]),
        per_conversation=options["per_conversation"],
        seed=options["seed"],
        steps=tuple(step.strip() for step in options["steps"].split(",") if step.strip()),
        clean=options["clean"],
        verbatim=tuple(options["verbatim"]),
        part_tokens=options["part_tokens"],
        parameters=parameters_from_options(options, "model"),
        allow_fewer=options["allow_fewer"],
        exclude=options["exclude"],
    )
