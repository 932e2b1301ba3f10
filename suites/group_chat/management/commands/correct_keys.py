"""`manage.py correct_keys`: other keys for scenarios that have been decided on."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.formats import ImportProblem
from annotation.models import Corpus
from config.commands import DatabaseCommand
from suites.group_chat.editing.answer_keys import correct_several, current, from_file


class Command(DatabaseCommand):
    """`manage.py correct_keys CORPUS FILE`"""

    help = (
        "Correct the keys, probes or secrets of a corpus's scenarios: FILE holds them in the native format, "
        "told by their ids, with the same scripts. All of the file is taken or nothing. Corrected keys "
        "answer as another rater, and what the earlier ones said stays. Prints one JSON object for each "
        "scenario of the file with the fields that changed, and last the keys' rater."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the corpus and the file."""
        parser.add_argument("corpus", help="name of a corpus")
        parser.add_argument("file", help="scenarios in Concord's own JSON Lines")

    def handle(self, *args: Any, **options: Any) -> None:
        """Do it, and print what changed."""
        corpus = Corpus.objects.filter(name=options["corpus"]).first()
        if corpus is None:
            raise CommandError(f"There is no corpus {options['corpus']!r}.")
        try:
            changes = from_file(corpus, options["file"])
            made = correct_several(corpus=corpus, changes=changes, by=None)
        except ImportProblem as problem:
            raise CommandError(problem.lines()) from None
        for pk, dialogue in made.items():
            row = {"dialogue": dialogue.id, "changed": sorted(changes[pk])}
            self.stdout.write(json.dumps(row, ensure_ascii=False))
        rater = current(corpus)
        self.stdout.write(json.dumps({"rater": rater and rater.name}, ensure_ascii=False))
