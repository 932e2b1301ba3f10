"""List webhooks, add one, or send one a test."""

from __future__ import annotations

import json
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import CommandError, CommandParser

from annotation.management import named
from config.commands import DatabaseCommand, acts_of
from config.files import row_id
from config.permissions import is_researcher
from jobs import webhooks
from jobs.errors import WebhookRefused
from jobs.models import Webhook
from jobs.webhook_events import KINDS
from jobs.webhooks import secret_of


class Command(DatabaseCommand):
    """`manage.py webhooks list|add|test`"""

    help = (
        "Addresses of other programs that are told of events: a submitted task, a campaign that has all its "
        "ratings, a run that ended. `add` prints the secret that signs, this once; `test` sends a ping from "
        "this machine and says what came of it."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the acts and their options."""
        act = acts_of(parser)
        act("list", "list all webhooks, one line each")
        add = act("add", "add a webhook and print its secret", "url")
        add.add_argument("--campaign", help="the campaign's name; without it, all of Concord")
        add.add_argument(
            "--events", default=",".join(KINDS), help=f"separated by commas; of {', '.join(KINDS)}"
        )
        add.add_argument("--private", action="store_true", help="the address may be in a private network")
        add.add_argument("--by", required=True, help="the researcher or administrator who adds it")
        test = act("test", "send a webhook a test", "number")
        test.add_argument("--by", required=True, help="who tests it")

    def handle(self, *args: Any, **options: Any) -> None:
        """Do what was chosen, and say it."""
        told, lines = getattr(self, f"_{options['act']}")(options)
        for line in lines:
            self.stdout.write(line)
        if options["json"]:
            self.stdout.write(json.dumps(told))

    def _list(self, options: Any) -> tuple[Any, list[str]]:
        told, lines = [], []
        for row in Webhook.objects.select_related("campaign"):
            campaign = row.campaign and row.campaign.name
            state = "on" if row.active else f"off ({row.off_reason or 'by hand'})"
            told.append({"webhook": row.pk, "url": row.url, "events": row.events, "campaign": campaign})
            told[-1] |= {"active": row.active, "off_reason": row.off_reason}
            where = campaign or "all of Concord"
            lines.append(f"{row.pk}\t{state}\t{where}\t{','.join(row.events)}\t{row.url}")
        return told, lines

    def _add(self, options: Any) -> tuple[Any, list[str]]:
        campaign = None
        if options["campaign"] is not None:
            campaign = named.campaign(options["campaign"])
        try:
            made = webhooks.add(
                by=_researcher(options["by"]),
                url=options["url"],
                events=[kind.strip() for kind in options["events"].split(",") if kind.strip()],
                campaign=campaign.pk if campaign else None,
                allow_private=options["private"],
            )
        except WebhookRefused as error:
            raise CommandError(str(error)) from None
        secret = secret_of(made)
        return {"webhook": made.pk, "secret": secret}, [f"webhook {made.pk}; its secret, told once: {secret}"]

    def _test(self, options: Any) -> tuple[Any, list[str]]:
        number = options["number"]
        known = Webhook.objects.filter(pk=row_id(number) or 0).first()
        if known is None:
            raise CommandError(f"There is no webhook {number}: `webhooks list` says which there are.")
        delivery = webhooks.ping(by=_researcher(options["by"]), webhook=known)
        webhooks.deliver()
        delivery.refresh_from_db()
        if delivery.error or delivery.code is None:
            raise CommandError(f"{known.url}: {delivery.error or 'a worker is sending it; see its page'}")
        told = {"webhook": known.pk, "code": delivery.code, "ms": delivery.ms}
        return told, [f"{known.url}: HTTP {delivery.code} after {delivery.ms} ms"]


def _researcher(name: str) -> User:
    by = User.objects.filter(username=name).first()
    if by is None or not is_researcher(by):
        raise CommandError("Name the researcher or administrator who does this with --by.")
    return by
