"""`manage.py serve`: run all of Concord from one command, until Ctrl-C."""

from __future__ import annotations

import os
from argparse import ArgumentParser
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connection

from config.commands import migrations_wait
from config.embedded import supervisor as children
from config.embedded.layout import layout
from config.embedded.supervisor import Stopped, Supervisor
from config.web.protocol import listen

FAKE_MODEL_HOST = "127.0.0.1"
LOOPBACK = {"127.0.0.1", "::1", "localhost"}


class Command(BaseCommand):
    help = (
        "Run Concord: PostgreSQL (unless DATABASE_URL names one), the web server and the workers. "
        "Ctrl-C or SIGTERM stops all of it."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the options, each with its environment variable."""
        parser.add_argument(
            "--host", default=os.environ.get("HOST") or "127.0.0.1", help="address to listen on"
        )
        parser.add_argument("--port", default=os.environ.get("PORT") or "8000", help="port (PORT, 8000)")
        parser.add_argument(
            "--demo", action="store_true", help="load the demo corpora and show the demo accounts"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Serve until stopped."""
        port, processes = _port(options["port"]), _web_processes()
        supervisor = Supervisor(
            layout(settings.HOME), host=options["host"], port=port, say=self._say, keys=_take_keys()
        )
        try:
            supervisor.claim()
            self._serve(supervisor, processes=processes, demo=options["demo"])
        except Stopped:
            self._say("Stopping...")
        finally:
            connection.close()
            supervisor.stop()
        self._say("Stopped.")

    def _serve(self, supervisor: Supervisor, *, processes: int, demo: bool) -> None:
        if settings.DATABASES["default"].get("EMBEDDED_HOME"):
            self._say("Starting PostgreSQL...")
            supervisor.start_database()
        self._migrate()
        self._retire_fake_model()
        self._say("Starting the web server and the workers...")
        web = supervisor.start_web(settings.BASE_DIR, processes=processes)
        broker = bool(settings.CELERY_BROKER_URL)
        for program in children.worker_programs(settings.BASE_DIR, broker=broker, run=supervisor.places.run):
            supervisor.start(program, settings.BASE_DIR)
        if demo:
            self._say("Loading the demo...")
            call_command("load_demo", fake_model=self._start_fake_model(supervisor), stdout=self.stdout)
        supervisor.wait_for_answer(web)
        first = self._first_link(supervisor)
        connection.close()
        self._greet(supervisor, first)
        supervisor.watch()

    def _start_fake_model(self, supervisor: Supervisor) -> str:
        """Start the fake model and return its base URL: the same as before if possible, else on a free port.

        The URL is part of its judges' identity: at another URL they would be different judges.
        """
        from jobs.fake_models import ENDPOINT  # the apps are loaded by now
        from jobs.models import Endpoint

        earlier = Endpoint.objects.filter(name=ENDPOINT).values_list("base_url", flat=True).first()
        try:
            listening = listen(FAKE_MODEL_HOST, urlsplit(earlier or "").port or 0)
        except OSError:
            listening = listen(FAKE_MODEL_HOST, 0)
        port = listening.getsockname()[1]
        supervisor.start(children.fake_model_program(listening.detach()), settings.BASE_DIR)
        return f"http://{FAKE_MODEL_HOST}:{port}/v1"

    def _retire_fake_model(self) -> None:
        """Retire the fake model of an earlier demo: it ended with that demo."""
        from jobs.endpoints.endpoint_actions import retire  # the apps are loaded by now
        from jobs.fake_models import ENDPOINT

        retire(by=None, name=ENDPOINT)

    def _migrate(self) -> None:
        """Migrate the tables if needed; checking for unapplied migrations is fast."""
        if migrations_wait():
            self._say("Preparing the database...")
            call_command("migrate", interactive=False, verbosity=0)

    def _first_link(self, supervisor: Supervisor) -> str:
        """Return the link that creates the first administrator, '' if there is one already."""
        from annotation.management.commands.people import address_of  # the apps are loaded by now
        from annotation.people.links import first_administrator

        link = first_administrator()
        return address_of(link, supervisor.address) if link else ""

    def _greet(self, supervisor: Supervisor, first: str) -> None:
        self._say(f"Concord is ready: {supervisor.address}")
        if first:
            self._say("Nobody manages it yet. Create the administrator here, once and within a day:")
            self._say(f"  {first}")
        if supervisor.host not in LOOPBACK and not os.environ.get("CONCORD_ALLOWED_HOSTS"):
            self._say("Set CONCORD_ALLOWED_HOSTS to the names that others will use for this machine.")
        self._say(f"Logs are in {supervisor.places.logs}. Ctrl-C stops everything.")

    def _say(self, line: str) -> None:
        with suppress(OSError):  # output closed, or its disk full: no reason to stop serving
            self.stdout.write(line)
            self.stdout.flush()


def _web_processes() -> int:
    """Return the number of web processes; CommandError for an invalid number."""
    text = os.environ.get("CONCORD_WEB_PROCESSES") or str(children.WEB_PROCESSES)
    if not text.isdecimal() or not 1 <= int(text) <= children.MOST_WEB_PROCESSES:
        raise CommandError(
            f"CONCORD_WEB_PROCESSES={text}: choose a number between 1 and {children.MOST_WEB_PROCESSES}."
        )
    return int(text)


def _take_keys() -> dict[str, str]:
    """Remove endpoints' keys from the environment, which every program inherits, and return them."""
    from jobs.endpoints.endpoint_actions import key_variables  # the apps are loaded by now

    return {name: os.environ.pop(name) for name in key_variables() if name in os.environ}


def _port(text: str) -> int:
    """Return a port number; CommandError if invalid."""
    if not text.isdecimal() or not 1 <= int(text) <= 65535:
        raise CommandError(f"PORT={text} is not a port number: choose one between 1 and 65535.")
    return int(text)
