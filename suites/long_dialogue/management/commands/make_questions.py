"""`manage.py make_questions`: question sets of scripts, drafts by a model, and results of reviews."""

from __future__ import annotations

import json
from typing import Any

from django.core.management import call_command
from django.core.management.base import CommandError, CommandParser

from annotation.errors import QuestionsRefused
from annotation.models import Corpus
from annotation.script_records import FACT, QUESTION
from config.commands import DatabaseCommand
from judges.management.run_options import add_exclude
from suites.long_dialogue.editing import question_editing, question_sets
from suites.long_dialogue.scripts.quiz import POLICIES
from suites.long_dialogue.simulations import material as scripts

GENERATORS = {"facts": "dialsim_facts", "quiz": "dialsim_quiz", "styles": "dialsim_style"}


class Command(DatabaseCommand):
    """Make a question set, or draft its facts and questions."""

    help = (
        "Make a question set: every question about the accepted facts and every accepted quiz question of a "
        "corpus's long dialogues, with all sessions in which it is asked, answerable or not, its key, its "
        "type and why. The same command again changes nothing. With --facts, --quiz or --styles and an "
        "endpoint, a model drafts facts, maps quiz questions to sessions, or words questions as each "
        "character would (those of the set, else those in none); no set is made then. With --apply, reviews "
        "of drafts are taken over first. The last line of output is one JSON object with the counts."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the corpus and the actions."""
        parser.add_argument("--corpus", required=True, help="name of the corpus")
        parser.add_argument("--set", dest="name", default="", metavar="NAME", help="name of the question set")
        parser.add_argument("--seed", type=int, default=0, help="of choices and their order (0)")
        parser.add_argument(
            "--policy", choices=POLICIES, default="body",
            help="questions asked before their evidence: unanswerable (body, the default), or not asked "
            "(appendix)",
        )  # fmt: skip
        parser.add_argument(
            "--no-presence", dest="presence", action="store_false",
            help="what was said in a session counts as known, whether the main character was there or not",
        )  # fmt: skip
        add_exclude(parser)
        parser.add_argument("--apply", action="store_true", help="take over reviews of facts and questions")
        parser.add_argument("--endpoint", default="", help="name of the endpoint that drafts")
        for name, generator in GENERATORS.items():
            parser.add_argument(f"--{name}", action="store_true", help=f"draft with {generator}")
        parser.add_argument("--quiet", action="store_true", help="no progress bar")

    def handle(self, *args: Any, **options: Any) -> None:
        """Draft, apply reviews, make; print the counts."""
        corpus = Corpus.objects.filter(name=options["corpus"]).first()
        if corpus is None:
            raise CommandError(f"There is no corpus {options['corpus']!r}.")
        generators = [name for name in GENERATORS if options[name]]
        if not (generators or options["apply"] or options["name"]):
            raise CommandError("Say what to do: --set NAME, --apply, --facts, --quiz or --styles.")
        if generators and not options["endpoint"]:
            raise CommandError("Say which endpoint drafts: --endpoint NAME.")
        for name in generators:
            self._draft(name, corpus, options)
        report: dict[str, Any] = (
            {"wordings": scripts.take(corpus=corpus, by=None)} if "styles" in generators else {}
        )
        if options["apply"]:
            report["applied"] = [
                question_editing.apply_reviews(corpus=corpus, kind=kind, by=None).as_json()
                for kind in (FACT, QUESTION)
            ]
        if options["name"] and not generators:
            report |= self._make(corpus, options)
        if report:
            self.stdout.write(json.dumps(report, ensure_ascii=False))

    def _draft(self, name: str, corpus: Corpus, options: dict[str, Any]) -> None:
        """Run a generator over the corpus; it prints its own counts."""
        call_command(
            "generate",
            generator=GENERATORS[name],
            corpus=corpus.name,
            endpoint=options["endpoint"],
            set=[f"set={options['name']}"] if name == "styles" and options["name"] else [],
            quiet=options["quiet"],
            stdout=self.stdout,
            stderr=self.stderr,
        )

    def _make(self, corpus: Corpus, options: dict[str, Any]) -> dict[str, Any]:
        try:
            question_set = question_sets.make(
                corpus=corpus,
                name=options["name"],
                seed=options["seed"],
                policy=options["policy"],
                presence=options["presence"],
                exclude=options["exclude"],
                by=None,
            )
        except QuestionsRefused as error:
            raise CommandError(str(error)) from None
        return question_set.as_json()
