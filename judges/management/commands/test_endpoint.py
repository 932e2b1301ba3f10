"""`manage.py test_endpoint NAME`: does the endpoint answer?"""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from jobs.endpoints import client
from jobs.errors import JobError
from judges.runs.lookup import endpoint_named


class Command(BaseCommand):
    """Ask an endpoint one short question, from here and with the environment of here."""

    help = (
        "Send an endpoint one short question. The last line of the output is one JSON object; the exit "
        "status is 1 where no reply came. Run it where the workers run: it uses its own environment's keys."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """One argument: the endpoint's name."""
        parser.add_argument("name", help="name of the endpoint")

    def handle(self, *args: Any, **options: Any) -> None:
        """Ask, and say what came of it."""
        try:
            endpoint = endpoint_named(options["name"])
        except JobError as error:
            raise CommandError(str(error)) from None
        endpoint.test_asked = timezone.now()
        endpoint.save(update_fields=["test_asked"])
        tested = client.test(endpoint)
        found = {"endpoint": tested.name, "answered": not tested.test_error, "milliseconds": tested.test_ms}
        self.stdout.write(json.dumps(found | {"error": tested.test_error}))
        if tested.test_error:
            raise CommandError(f"{tested.name}: {tested.test_error}")
