"""Invitations by e-mail from the command line, for whoever runs this Concord."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.errors import AnnotationError
from annotation.management.commands.people import ADDRESS, address_of
from annotation.models import OneTimeLink
from annotation.people import accounts, links, names
from config.commands import DatabaseCommand, acts_of


class Command(DatabaseCommand):
    """`manage.py invite send ADDRESS ...`, `list`, `again`, `withdraw`."""

    help = "Invite people by e-mail, see what was sent, send again, withdraw. Each act has its own --help."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """One sub-command an act."""
        assert isinstance(parser, CommandParser)
        act = acts_of(parser)
        told = "invite addresses; sends at once where mail is set up, else prints the links"
        sent = act("send", told)
        sent.add_argument("emails", nargs="+", help="addresses, or - for a list on standard input")
        sent.add_argument("--role", choices=list(accounts.ROLES), default="annotator")
        sent.add_argument("--days", type=int, default=links.INVITATION_DAYS, help="for how long (7)")
        again = act("again", "send an open invitation once more, with a new link", "email")
        for one in (sent, again):
            one.add_argument("--address", default=ADDRESS, help=f"where Concord is ({ADDRESS})")
        act("list", "open invitations to e-mail addresses, and what became of them")
        act("withdraw", "make the invitation to an address useless", "email")

    def handle(self, *args: Any, **options: Any) -> None:
        """Do the act, print what it gave, and fail where something was not sent."""
        try:
            rows = ACTS[options["act"]](options)
        except AnnotationError as error:
            raise CommandError(str(error)) from None
        for row in () if options["json"] else rows:
            self.stdout.write(_line(row))
        if options["json"]:
            self.stdout.write(json.dumps(rows, ensure_ascii=False))
        if any(row["mail"] == "failed" for row in rows) and options["act"] in ("send", "again"):
            raise CommandError("Not everything was sent. `manage.py invite again ADDRESS` tries once more.")


def _line(row: dict[str, Any]) -> str:
    said = row["mail_error"] or row["link"] or row["mail"] or "not by e-mail"
    return f"{row['email']}: {said}"


def _row(link: OneTimeLink, address: str = "") -> dict[str, Any]:
    told = {"email": link.email, "role": link.role, "mail": link.mail, "mail_error": link.mail_error}
    return told | {"link": address, "expires_at": link.expires_at.isoformat()}


def _open(email: str) -> OneTimeLink:
    found = links.open_invitations().filter(email=names.normal_address(email)).exclude(email="").first()
    if found is None:
        raise CommandError("There is no open invitation to that address. `manage.py invite list` lists them.")
    return found


def _mailed(found: Sequence[OneTimeLink], base: str) -> list[dict[str, Any]]:
    numbers = links.queue(by=None, invitations=found)
    links.send_letters(numbers, base, lambda done, total: None)
    return [_row(link) for link in OneTimeLink.objects.filter(pk__in=numbers).order_by("pk")]


def _send(options: dict[str, Any]) -> list[dict[str, Any]]:
    given = sys.stdin.read() if options["emails"] == ["-"] else "\n".join(options["emails"])
    asked = {"role": options["role"], "days": options["days"]}
    made = links.invite_by_mail(by=None, emails=links.addresses_in(given), **asked)
    if links.mail_is_set_up():
        return _mailed([one.link for one in made], options["address"])
    return [_row(one.link, address_of(one, options["address"])) for one in made]


def _again(options: dict[str, Any]) -> list[dict[str, Any]]:
    if not links.mail_is_set_up():
        raise CommandError(links.NO_MAIL)
    return _mailed([_open(options["email"])], options["address"])


def _list(options: dict[str, Any]) -> list[dict[str, Any]]:
    return [_row(link) for link in links.open_invitations().exclude(email="")]


def _withdraw(options: dict[str, Any]) -> list[dict[str, Any]]:
    found = _open(options["email"])
    links.withdraw(by=None, link=found)
    return [_row(found) | {"mail": "withdrawn", "mail_error": ""}]


ACTS = {"send": _send, "again": _again, "list": _list, "withdraw": _withdraw}
