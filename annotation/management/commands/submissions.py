"""List what was submitted in a campaign, hand submissions back, or void them."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import CommandError
from django.db import transaction

from annotation.errors import SubmissionRefused
from annotation.models import Assignment, Campaign
from annotation.work import withdrawing
from config.commands import DatabaseCommand
from config.permissions import is_researcher


class Command(DatabaseCommand):
    """`manage.py submissions CAMPAIGN [--return|--void NUMBER ... --reason WHY --by NAME]`"""

    help = (
        "List what was submitted in a campaign, one line each; or, with --return or --void, hand submissions "
        "back to their annotators or void them: all of those named, or none. Their labels are superseded and "
        "kept, and the act is logged."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        parser.add_argument("campaign", help="the campaign's name")
        parser.add_argument("--annotator", help="list the submissions of this person only")
        verb = parser.add_mutually_exclusive_group()
        for name, does in (("return", "hand back to the annotator"), ("void", "take out for good")):
            verb.add_argument(
                f"--{name}", nargs="+", type=int, metavar="NUMBER", help=f"submissions to {does}"
            )
        parser.add_argument("--reason", default="", help="why; the annotator of a returned task reads it")
        parser.add_argument("--by", help="the researcher who does it, for the log")

    def handle(self, *args: Any, **options: Any) -> None:
        """List, or withdraw."""
        campaign = Campaign.objects.filter(name=options["campaign"]).first()
        if campaign is None:
            raise CommandError(f"There is no campaign “{options['campaign']}”.")
        verb = next((name for name in withdrawing.VERBS if options[name]), None)
        if verb is None:
            self._list(campaign, options["annotator"])
        else:
            self._withdraw(campaign, verb, options[verb], options)

    def _list(self, campaign: Campaign, annotator: str | None) -> None:
        rows = withdrawing.submissions(campaign)
        if annotator:
            rows = rows.filter(user__username=annotator)
        for row in rows.iterator():
            own = row.task.continuation
            attended = "" if row.attended is None else f" ({row.attended:.0f} s attended)"
            self.stdout.write(
                f"{row.pk}\t{row.user.get_username()}\t{row.state}\t{row.submitted_at:%Y-%m-%dT%H:%M:%SZ}"
                f"\t{row.seconds:.0f} s{attended}\t{row.answers} answers\t{own.dialogue.key} / {own.key}"
            )

    def _withdraw(self, campaign: Campaign, verb: str, numbers: list[int], options: Any) -> None:
        by = User.objects.filter(username=options["by"] or "").first()
        if by is None or not is_researcher(by):
            raise CommandError("Name the researcher who does this with --by.")
        labels = 0
        with transaction.atomic():
            for number in numbers:
                found = Assignment.objects.filter(pk=number, campaign=campaign).first()
                if found is None:
                    raise CommandError(f"The campaign has no submission {number}. Nothing was changed.")
                try:
                    labels += withdrawing.VERBS[verb](by=by, assignment=found, reason=options["reason"])
                except SubmissionRefused as error:
                    raise CommandError(f"Submission {number}: {error} Nothing was changed.") from None
        self.stdout.write(f"{len(numbers)} submissions, {labels} labels no longer count")
