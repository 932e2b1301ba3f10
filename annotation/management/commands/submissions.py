"""List what was submitted in a campaign or is in hand, hand submissions back, void them, take tasks back."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import CommandError
from django.db import transaction

from annotation.errors import SubmissionRefused
from annotation.management import named
from annotation.models import Assignment, Campaign
from annotation.work import submissions
from annotation.work.labels import called
from annotation.work.labels import pseudonyms_of_people as of_people
from annotation.work.submissions import in_hand, key_of
from config.commands import DatabaseCommand
from config.permissions import is_researcher

MOMENT = "%Y-%m-%dT%H:%M:%SZ"


class Command(DatabaseCommand):
    """`manage.py submissions CAMPAIGN [--return|--void|--take-back NUMBER ... --reason WHY --by NAME]`"""

    help = (
        "List what was submitted in a campaign, one line each; or, with --return or --void, hand submissions "
        "back to their annotators or void them: all of those named, or none. Their labels are superseded and "
        "kept, and the act is logged. --held lists what annotators hold now; --take-back takes tasks out of "
        "their hands, for others to find or, with --to, for that annotator; --give gives them one."
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
        verb.add_argument("--held", action="store_true", help="list what annotators hold now")
        verb.add_argument(
            "--take-back",
            nargs="+",
            type=int,
            metavar="NUMBER",
            help="held tasks to take back (see --held)",
        )
        verb.add_argument(
            "--give", metavar="TASK", help="a task to give: its item's key, or its number; with --to"
        )
        parser.add_argument("--to", metavar="USER", help="the annotator who gets the task")
        parser.add_argument("--reason", default="", help="why; the annotator of a returned task reads it")
        parser.add_argument("--by", help="the researcher who does it, for the log")

    def handle(self, *args: Any, **options: Any) -> None:
        """List, or withdraw."""
        campaign = named.campaign(options["campaign"])
        verb = next((name for name in submissions.VERBS if options[name]), None)
        if options["to"] and not (options["take_back"] or options["give"]):
            raise CommandError("--to goes with --take-back or --give.")
        if options["held"]:
            self._held(campaign, options["annotator"])
        elif options["take_back"] or options["give"]:
            self._hand(campaign, options)
        elif verb is None:
            self._list(campaign, options["annotator"])
        else:
            self._withdraw(campaign, verb, options[verb], options)

    def _list(self, campaign: Campaign, annotator: str | None) -> None:
        rows = submissions.submissions(campaign)
        if annotator:
            rows = rows.filter(user=named.annotator(annotator, campaign))
        names = of_people(rows.order_by().values_list("user", flat=True).distinct(), campaign.corpus_id)
        for row in rows.iterator():
            own = row.task.continuation
            attended = "" if row.attended is None else f" ({row.attended:.0f} s attended)"
            self.stdout.write(
                f"{row.pk}\t{names[row.user_id]}\t{row.state}\t{row.submitted_at:%Y-%m-%dT%H:%M:%SZ}"
                f"\t{row.seconds:.0f} s{attended}\t{row.answers} answers\t{own.dialogue.key} / {own.key}"
            )

    def _held(self, campaign: Campaign, annotator: str | None) -> None:
        rows = in_hand(campaign)
        if annotator:
            rows = rows.filter(user=named.annotator(annotator, campaign))
        names = of_people(rows.order_by().values_list("user", flat=True).distinct(), campaign.corpus_id)
        for row in rows.iterator():
            draft = f"draft {row.draft_saved_at:{MOMENT}}" if row.draft_saved_at else "no draft"
            state = "given" if row.state == "leased" and row.given_reason else row.state
            self.stdout.write(
                f"{row.pk}\t{names[row.user_id]}\t{state}\tsince {row.leased_at:{MOMENT}}"
                f"\tuntil {row.lease_expires:{MOMENT}}\t{draft}\t{key_of(row.task)}"
            )

    def _hand(self, campaign: Campaign, options: Any) -> None:
        """Take tasks back, for somebody where `--to` names them, or give one: all of them or none."""
        by = self._researcher(options)
        to = named.annotator(options["to"], campaign) if options["to"] else None
        if to is None and options["give"]:
            raise CommandError("Name the annotator who gets the task with --to.")
        acting: dict[str, Any] = {"by": by, "reason": options["reason"]}
        try:
            with transaction.atomic():
                if options["give"] and to is not None:
                    task = submissions.task_named(campaign, options["give"])
                    made = submissions.give(campaign=campaign, task=task, to=to, **acting)
                    self.stdout.write(
                        f"{made.pk}\t{called(to.pk, campaign.corpus_id)} until {made.lease_expires:{MOMENT}}"
                    )
                for number in options["take_back"] or ():
                    found = Assignment.objects.filter(pk=number, campaign=campaign).first()
                    if found is None:
                        raise CommandError(f"The campaign has no task in hand {number}. Nothing was changed.")
                    if to is None:
                        submissions.take_back(assignment=found, **acting)
                    else:
                        submissions.pass_to(assignment=found, to=to, **acting)
        except SubmissionRefused as error:
            raise CommandError(f"{error} Nothing was changed.") from None
        if options["take_back"]:
            many = len(options["take_back"])
            self.stdout.write(f"{many} task{'' if many == 1 else 's'} taken back")

    def _researcher(self, options: Any) -> User:
        by = User.objects.filter(username=options["by"] or "").first()
        if by is None or not is_researcher(by):
            raise CommandError("Name the researcher who does this with --by.")
        return by

    def _withdraw(self, campaign: Campaign, verb: str, numbers: list[int], options: Any) -> None:
        by = self._researcher(options)
        labels = 0
        with transaction.atomic():
            for number in numbers:
                found = Assignment.objects.filter(pk=number, campaign=campaign).first()
                if found is None:
                    raise CommandError(f"The campaign has no submission {number}. Nothing was changed.")
                try:
                    labels += submissions.VERBS[verb](by=by, assignment=found, reason=options["reason"])
                except SubmissionRefused as error:
                    raise CommandError(f"Submission {number}: {error} Nothing was changed.") from None
        self.stdout.write(f"{len(numbers)} submissions, {labels} labels no longer count")
