"""`manage.py copy_without_turns`: dialogues with their people and topics, and nothing that was said."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.corpora.copy_without_turns import USUAL, copy_without_turns
from annotation.formats import ImportProblem
from annotation.models import Corpus
from config.commands import DatabaseCommand


class Command(DatabaseCommand):
    """Copy a corpus's dialogues without their turns."""

    help = (
        "Copy the dialogues of a corpus into a new one without their turns: participants, metadata, agenda, "
        "and the summary as topic where the metadata have none. Conversations can then be written from "
        "scratch for the same people and topics. The last line of output is one JSON object with the counts."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the corpora, and which dialogues."""
        parser.add_argument("corpus", help="name of the corpus to copy from")
        parser.add_argument("--name", required=True, help="name of the new corpus")
        parser.add_argument("--first", type=int, default=USUAL, help="how many dialogues at most")
        turns = "only dialogues with at {} so many turns of their own"
        parser.add_argument("--min-turns", type=int, default=0, help=turns.format("least"))
        parser.add_argument("--max-turns", type=int, default=0, help=turns.format("most"))

    def handle(self, *args: Any, **options: Any) -> None:
        """Copy, and print the counts."""
        corpus = Corpus.objects.filter(name=options["corpus"]).first()
        if corpus is None:
            raise CommandError(f"There is no corpus {options['corpus']!r}.")
        try:
            result = copy_without_turns(
                by=None,
                corpus=corpus,
                name=options["name"],
                first=options["first"],
                least=options["min_turns"],
                most=options["max_turns"],
            )
        except ImportProblem as problem:
            raise CommandError(problem.lines()) from None
        for note in result.notes:
            self.stdout.write(note)
        self.stdout.write(json.dumps(result.as_dict(), ensure_ascii=False))
