"""`manage.py families`: of which family of models the systems of a corpus are."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.corpora import queries
from annotation.corpora.families import set_families
from annotation.errors import FamilyRefused
from annotation.models import Corpus
from config.commands import DatabaseCommand


class Command(DatabaseCommand):
    """Say of which family systems are, and list all of a corpus."""

    help = (
        "List the systems of a corpus with their families of models (gpt, llama and so on), one JSON object "
        "a line; with --set, say first of which family one is. The workbench's check `family` compares how a "
        "judge rates systems of its own family with how it rates the others."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the corpus, and what to say."""
        parser.add_argument("corpus", help="name of a corpus")
        parser.add_argument(
            "--set",
            action="append",
            default=[],
            metavar="SYSTEM=FAMILY",
            help="SYSTEM is of FAMILY; nothing behind the last = takes it back; may be repeated",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Do it, and print the systems."""
        corpus = Corpus.objects.filter(name=options["corpus"]).first()
        if corpus is None:
            raise CommandError(f"There is no corpus {options['corpus']!r}.")
        families: dict[str, str] = {}
        for told in options["set"]:
            name, sign, family = told.rpartition("=")
            if not sign:
                raise CommandError(f"--set {told}: expected SYSTEM=FAMILY.")
            families[name] = family
        try:
            set_families(by=None, corpus=corpus, families=families)
        except FamilyRefused as refused:
            raise CommandError(str(refused)) from None
        for one in queries.systems(corpus):
            produced: int = one.produced  # type: ignore[attr-defined]
            row = {"system": one.name, "family": one.family, "continuations": produced}
            self.stdout.write(json.dumps(row, ensure_ascii=False))
