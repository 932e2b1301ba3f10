"""`manage.py load_demo`: the demo corpora, simulated ratings, campaigns, a judge's run, and accounts."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import CommandError
from django.db import transaction

from annotation.errors import AnnotationError
from calibration.errors import CalibrationError
from config.commands import DatabaseCommand
from demo import (
    build,
    collecting,
    continued,
    group_chats,
    loading,
    long_dialogues,
    personas,
    reviewing,
    study,
)
from jobs.errors import JobError
from jobs.fake_models import ENDPOINT
from jobs.models import Endpoint
from judges.errors import JudgeError


class Command(DatabaseCommand):
    """Loads missing parts of the demo and prints its accounts."""

    help = (
        "Load the demo: corpora and scenarios written for Concord, simulated ratings, campaigns, two "
        "that simulated people have begun, and a run of the judge rules-baseline; with a fake model, also "
        "continuations that it writes, and what judges and simulated people say of them. Makes the accounts "
        "annotator, researcher and administrator and prints their passwords. Run again, it adds only what "
        "is missing and prints the accounts."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the option with the fake model's URL."""
        parser.add_argument(
            "--fake-model",
            metavar="URL",
            help="base URL of a running fake model (manage.py fake_model): makes it an endpoint and runs two "
            "prompts on it",
        )
        parser.add_argument(
            "--collecting",
            action="store_true",
            help="also collect a small ComperDial with simulated people and the demo's fake model, from "
            "personas to a release check (about a minute)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Load everything, then print the accounts."""
        try:
            accounts = self._load()
            self._judge_and_report(accounts, options["fake_model"])
            if options["collecting"]:
                self._collect(accounts["researcher"].user)
        except (loading.ForeignAccount, AnnotationError, JobError, JudgeError, CalibrationError) as error:
            raise CommandError(str(error)) from None
        self.stdout.write("Demo accounts:")
        for role, account in accounts.items():
            self.stdout.write(f"  {role:<13} password {account.password or 'as you have set it'}")

    @transaction.atomic
    def _load(self) -> dict[str, loading.Account]:
        """Load missing parts in one transaction, and return the accounts by role."""
        accounts = {role: loading.ensure(role) for role in loading.ROLES}
        by = accounts["researcher"].user
        for corpus in loading.CORPORA:
            self._load_corpus(corpus, by)
        for corpus in group_chats.CORPORA:
            self._load_group_chats(corpus, by)
        for demo in loading.CAMPAIGNS:
            loading.campaign(demo, by=by, annotators=[account.user for account in accounts.values()])
        for played in group_chats.agents(by=by):
            self.stdout.write(f"{group_chats.SHORT.name}, {played.sentence()}")
        group_chats.play(by=by, annotators=[account.user for account in accounts.values()])
        visitors = [account.user for account in accounts.values()]
        question_set = long_dialogues.load(by=by)
        self.stdout.write(
            f"{question_set.corpus.name}: the question set {question_set.name!r}, answered by two baselines"
        )
        inventory = personas.load(by=by)
        self.stdout.write(f"{inventory.name}: an inventory of {inventory.heads.count()} heads of personas")
        new = study.load_study(by=by, visitors=visitors)
        self.stdout.write(f"{build.NAME}: a study under way{'' if new else ', there already'}")
        return accounts

    def _collect(self, by: User) -> None:
        endpoint = Endpoint.objects.filter(name=ENDPOINT).first()
        if endpoint is None:
            raise CommandError("--collecting needs the demo's fake model: give its address by --fake-model.")
        corpus = collecting.load(by=by, endpoint=endpoint)
        self.stdout.write(
            f"{corpus.name}: {corpus.dialogues.count()} dialogues, from personas to a release check"
        )

    def _load_corpus(self, corpus: loading.DemoCorpus, by: User) -> None:
        if loading.is_of_another_release(corpus):
            self.stdout.write(f"{corpus.name}: kept as an earlier release of Concord loaded it")
            return
        load_result, rated = loading.dialogues(corpus, by=by), loading.ratings(corpus, by=by)
        counts = f"{load_result.dialogues} dialogues, {rated.labels} labels by simulated raters"
        self.stdout.write(f"{corpus.name}: {counts}{'' if rated.created else ', there already'}")

    def _load_group_chats(self, corpus: loading.DemoCorpus, by: User) -> None:
        if loading.is_of_another_release(corpus):
            self.stdout.write(f"{corpus.name}: kept as an earlier release of Concord loaded it")
            return
        load_result = group_chats.load(corpus, by=by)
        self.stdout.write(
            f"{corpus.name}: {load_result.dialogues} scenarios"
            f"{'' if load_result.created else ', there already'}"
        )

    def _judge_and_report(self, accounts: dict[str, loading.Account], fake: str | None) -> None:
        by, administrator = accounts["researcher"].user, accounts["administrator"].user
        moved = fake is not None and loading.has_moved(fake)
        if fake and moved:
            loading.endpoint(fake, by=administrator)
            self.stdout.write(
                f"The fake model answers at {fake} now, where its judges and writers are others: what it did "
                "at its earlier address stays, and is not done again."
            )
            fake = None
        done = [loading.judge(by=by)]
        if fake:
            self.stdout.write(f"Endpoint “{ENDPOINT}”: A FAKE MODEL at {fake}, for this demo only")
            endpoint = loading.endpoint(fake, by=administrator)
            done += loading.fake_judges(endpoint, by=by)
            done += continued.load(by=by, endpoint=endpoint, finish=loading.finish)
            visitors = [account.user for account in accounts.values()]
            done.append(reviewing.load(by=by, endpoint=endpoint, visitors=visitors, finish=loading.finish))
            done += long_dialogues.load_readers(
                by=by, endpoint=endpoint, annotators=visitors, finish=loading.finish
            )
        for run in done:
            self.stdout.write(f"{run.name} on {run.corpus.name}: {run.get_state_display().lower()}")
        for corpus in loading.CORPORA:
            loading.report(corpus.name, by=by)
        if fake or moved:
            loading.report(continued.NAME, by=by)
