"""Print what annotators of a campaign noted on turns."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from annotation.management import named
from annotation.work import notes
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
        parser.add_argument("--format", choices=sorted(notes.MEDIA), default="jsonl")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the notes."""
        campaign = named.campaign(options["campaign"])
        for text in notes.write_notes(campaign, options["format"]):
            self.stdout.write(text, ending="")
