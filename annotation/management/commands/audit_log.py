"""The audit log from the command line."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from annotation.people import accounts
from config.commands import DatabaseCommand


class Command(DatabaseCommand):
    """`manage.py audit_log`"""

    help = "Print who did what and when, newest first, one JSON object a line."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """What to show."""
        parser.add_argument("--verb", default="", help="only this act, as in `change role`")
        parser.add_argument("--person", default="", help="only acts by or about this user name")
        parser.add_argument("--text", default="", help="only acts about something that holds this")
        parser.add_argument("--limit", type=int, default=100, help="how many at most (100)")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the acts."""
        if options["limit"] < 1:
            raise CommandError("--limit takes a whole number of 1 or more.")
        found = accounts.events(verb=options["verb"], person=options["person"], text=options["text"])
        for event in found[: options["limit"]]:
            told = {
                "at": event.at.isoformat(),
                "by": event.by.username if event.by else None,
                "verb": event.verb,
                "subject": event.subject,
                "detail": event.detail,
            }
            self.stdout.write(json.dumps(told, ensure_ascii=False))
