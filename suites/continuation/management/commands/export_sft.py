"""Examples for fine-tuning, as chat-format JSONL."""

from __future__ import annotations

from typing import IO, Any

from django.core.management.base import CommandError, CommandParser

from calibration.errors import CalibrationError
from calibration.exports.writing import FileSummary, write_blocks
from calibration.management import options as command_options
from config.commands import DatabaseCommand
from suites.continuation import tuning
from suites.continuation.generators.cocoeval_continuation import CocoevalContinuation


class Command(DatabaseCommand):
    """`manage.py export_sft --corpus B --part training --turns-per-call 5 --output sft.jsonl`"""

    help = (
        "Write examples for fine-tuning as chat-format JSONL: for each window of people's own continuations "
        "the messages that the generator cocoeval_continuation would send, and the reply that says what "
        "people said. Every line is read back with the generator's own reader before it is written. The last "
        "line is one JSON object with rows, dialogues, what was left out and why, and sha256."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add corpus, part, settings of the generator and output."""
        parser.add_argument("--corpus", required=True, metavar="NAME", help="a benchmark, or any corpus")
        parser.add_argument(
            "--part",
            choices=tuning.CHOICES,
            default="",
            help="training (default) or evaluation of a benchmark; else dev, test or all of a split",
        )
        parser.add_argument(
            "--purpose", default="", metavar="TEXT", help="what test is taken out for: logged as a look at it"
        )
        parser.add_argument(
            "--exclude", default="", metavar="ANSWER", help="leave out dialogues, such as 'objection>=1'"
        )
        for setting in CocoevalContinuation.settings:
            parser.add_argument(
                f"--{setting.name.replace('_', '-')}",
                default=setting.default,
                metavar="TEXT" if isinstance(setting.default, str) else "N",
                help=f"{setting.help} (default {setting.default})",
            )
        parser.add_argument(
            "--output", metavar="PATH", default="-", help="file to write; - is standard output"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Write the file."""
        command_options.refuse_purpose(options, ("test", "all"))
        corpus, _ = command_options.find_place(options["corpus"], None)
        names = [setting.name for setting in CocoevalContinuation.settings]
        facts: dict[str, Any] = {"what": tuning.SFT, "corpus": corpus.name}

        def write_into(file: IO[bytes]) -> FileSummary:
            result = write_blocks(examples.blocks(), file)
            facts.update(examples.facts())
            return result

        try:
            settings = tuning.settings_of({name: options[name] for name in names})
            selection, part = tuning.taken_for(
                corpus=corpus,
                part=options["part"],
                purpose=options["purpose"],
                exclude=options["exclude"],
                by=None,
            )
            examples = tuning.Tuning(corpus, selection, part, settings)
            command_options.export_file(self, write_into, "jsonl", options["output"], facts)
        except CalibrationError as refused:
            raise CommandError(str(refused)) from refused
