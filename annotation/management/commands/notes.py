"""Print what annotators of a campaign noted on turns."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from annotation.models import Campaign
from annotation.notes import files
from config.commands import DatabaseCommand


class Command(DatabaseCommand):
    """`manage.py notes CAMPAIGN [--format csv|jsonl]`"""

    help = (
        "Print what annotators of a campaign noted on turns: comments and flags as they stand, oldest first. "
        "Bookmarks are private and not among it."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        parser.add_argument("campaign", help="the campaign's name")
        parser.add_argument("--format", choices=sorted(files.MEDIA), default="jsonl")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the notes."""
        campaign = Campaign.objects.filter(name=options["campaign"]).first()
        if campaign is None:
            raise CommandError(f"There is no campaign “{options['campaign']}”.")
        for text in files.written(campaign, options["format"]):
            self.stdout.write(text, ending="")
