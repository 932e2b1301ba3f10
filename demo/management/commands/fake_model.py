"""`manage.py fake_model`: a local server that simulates a model, for demos and tests."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from demo.fake_model import running


class Command(BaseCommand):
    help = (
        "Run the fake model on 127.0.0.1 until Ctrl-C or SIGTERM: an OpenAI-compatible server that answers "
        "from what stands in braces in the texts, with known errors. It needs no key, no network and no "
        "database, and nothing that it says is a result."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the options of the fake model."""
        running.arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        """Serve until stopped."""
        try:
            running.run(running.Namespace(**options), self._say)
        except running.Trouble as trouble:
            raise CommandError(str(trouble)) from None

    def _say(self, text: str) -> None:
        self.stdout.write(text, ending="")
        self.stdout.flush()
