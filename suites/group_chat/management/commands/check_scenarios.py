"""`manage.py check_scenarios`: contents of a set of scenarios, and its problems."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.formats import ImportProblem, jsonl
from annotation.formats.source import Faults, Source
from annotation.models import Corpus
from annotation.records import Dialogue
from config.commands import DatabaseCommand
from suites.group_chat.answer_keys import of_corpus, scenarios
from suites.group_chat.editing import native, text_of
from suites.group_chat.scenario_text import is_json, read_scenario
from suites.group_chat.scenarios.probes import Summary, overview, summary


class Command(DatabaseCommand):
    """Check scenarios in files or in a corpus."""

    help = (
        "Check scenarios: those of files (lines of the native format, or a script in plain text), of folders "
        "of such files, or of a corpus. What an import would refuse is told by file, line, field and reason; "
        "the oracle plays every key; probes are counted by kind. The last line of output is one JSON object. "
        "The command fails where anything is wrong; probes without a control are told, and do not fail it."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the source, and the option to print in another form."""
        parser.add_argument("path", nargs="*", help="files and folders (.jsonl, .txt)")
        parser.add_argument("--corpus", default="", help="name of a corpus whose scenarios are checked")
        parser.add_argument("--any-size", action="store_true", help="take any number of people")
        parser.add_argument(
            "--write",
            choices=["jsonl", "script"],
            help="print the scenarios themselves: as lines of the native format, or as scripts",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Check; print a line for each scenario and each kind of probe, and the totals."""
        if bool(options["path"]) == bool(options["corpus"]):
            raise CommandError("Name files, or a corpus with --corpus: one of the two.")
        problems: list[str] = []
        dialogues = list(
            _read_corpus(options["corpus"])
            if options["corpus"]
            else _read_files(options["path"], options["any_size"], problems)
        )
        if not dialogues and not problems:
            raise CommandError("There is no scenario: a dialogue is one where it says kind: scenario.")
        duplicates = _find_duplicates(dialogues)
        problems += [f"the scenario {key!r} is there twice" for key in duplicates]
        if options["write"] and not problems:
            self._write(dialogues, options["write"])
            return
        summaries = [summary(dialogue) for dialogue in dialogues]
        problems += [
            f"{scenario.dialogue.id}, turn {wrong.point}, field {wrong.field}: {wrong.reason}"
            for scenario in summaries
            for wrong in scenario.problems
        ]
        self._print_summaries(summaries)
        for problem in problems:
            self.stderr.write(problem)
        report = overview(summaries).as_dict() | {"problems": problems}
        self.stdout.write(json.dumps(report, ensure_ascii=False))
        if problems:
            raise CommandError(f"{len(problems)} problem{'s' if len(problems) > 1 else ''}: see above.")

    def _write(self, dialogues: list[Dialogue], form: str) -> None:
        for number, dialogue in enumerate(dialogues):
            if form == "jsonl":
                self.stdout.write(json.dumps(native(dialogue), ensure_ascii=False))
            else:
                self.stdout.write(("\n" if number else "") + text_of(dialogue), ending="")

    def _print_summaries(self, summaries: list[Summary]) -> None:
        for scenario in summaries:
            kinds = ", ".join(scenario.kinds) or "no probe"
            people, turns = scenario.people, len(scenario.dialogue.turns)
            oracle = "fails" if scenario.problems else "right"
            self.stdout.write(
                f"{scenario.dialogue.id} ({scenario.dialogue.cluster or scenario.dialogue.id}): "
                f"{people} people, {turns} turns, {scenario.points} points, {kinds}; oracle {oracle}"
            )
        for count in overview(summaries).kinds:
            lack = "; no control in the set" if count.lacks_control else ""
            self.stdout.write(
                f"{count.kind}: {count.probes} probes at {count.points} points, {count.controls} controls at "
                f"{count.control_points}, in {count.scenarios} scenarios of {count.families} families{lack}"
            )


def _read_corpus(name: str) -> Iterator[Dialogue]:
    corpus = Corpus.objects.filter(name=name).first()
    if corpus is None:
        raise CommandError(f"There is no corpus {name!r}.")
    stored = of_corpus(corpus)
    if not stored:
        raise CommandError(f"The corpus {name!r} has no scenarios.")
    records = scenarios(stored)
    yield from (records[row.pk] for row in stored)


def _read_files(paths: list[str], any_size: bool, problems: list[str]) -> Iterator[Dialogue]:
    for path in map(Path, paths):
        files = (
            sorted(p for p in path.iterdir() if p.suffix in (".jsonl", ".txt")) if path.is_dir() else [path]
        )
        if not files:
            raise CommandError(f"{path}: the folder holds no .jsonl and no .txt file.")
        for file in files:
            yield from _read_file(file, any_size, problems)


def _read_file(file: Path, any_size: bool, problems: list[str]) -> Iterator[Dialogue]:
    """Yield the scenarios of a file; problems of one scenario are collected, and reading goes on."""
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise CommandError(f"{file}: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise CommandError(f"{file}: not a text in UTF-8.") from None
    try:
        if not is_json(text):
            yield read_scenario(text, any_size=any_size)
            return
        faults = Faults()
        settings = {"any_size": "yes"} if any_size else {}
        for entry in jsonl.read(Source(file, settings=settings, faults=faults)):
            if isinstance(entry.record, Dialogue) and entry.record.scenario is not None:
                yield entry.record
        faults.refuse()
    except ImportProblem as problem:
        problems += [str(fault) for fault in problem.placed(file=str(file)).all()]


def _find_duplicates(dialogues: list[Dialogue]) -> list[str]:
    ids = [dialogue.id for dialogue in dialogues]
    return sorted({key for key in ids if ids.count(key) > 1})
