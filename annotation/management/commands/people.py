"""Accounts from the command line, for administrators of the server who cannot sign in yet."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import CommandError
from django.urls import reverse

from annotation.errors import AnnotationError
from annotation.people import accounts, links
from config.commands import ADDRESS, DatabaseCommand


class Command(DatabaseCommand):
    """`manage.py people ACT [NAME]`: the subcommands are listed in ACTS."""

    help = (
        "Make the first administrator, or give an account a new password, a role or an API token. Each act "
        "has its own --help. Everything else about people is on the page People and in the API: "
        "`manage.py api GET people/`."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add one subcommand per action."""
        acts = parser.add_subparsers(dest="act", required=True, metavar="ACT")
        first = acts.add_parser("first-administrator", help="a one-time link to make the first administrator")
        reset = acts.add_parser("reset-link", help="a one-time link for a new password")
        role = acts.add_parser("role", help="give another role")
        token = acts.add_parser("token", help="an API token; its key is printed once")
        for act in (reset, role, token):
            act.add_argument("name", help="the user name")
        role.add_argument("role", choices=list(accounts.ROLES))
        token.add_argument("--scope", choices=["read", "write"], default="read")
        token.add_argument("--days", type=int, default=90, help="for how long (90)")
        token.add_argument("--for", dest="purpose", default="command line", help="what it is for")
        for act in (first, reset):
            act.add_argument("--address", default=ADDRESS, help=f"where Concord is ({ADDRESS})")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the action and print its result."""
        try:
            self.stdout.write(ACTS[options["act"]](options))
        except AnnotationError as error:
            raise CommandError(str(error)) from None


def address_of(link: links.IssuedLink, base: str) -> str:
    """Return the URL of a one-time link for the Concord at `base`."""
    return base.rstrip("/") + reverse("use-link", args=[link.token])


def _person(name: str) -> User:
    person = User.objects.prefetch_related("groups").filter(username=name).first()
    if person is None:
        raise CommandError(f"There is no account {name!r}. `manage.py api GET people/` lists them.")
    return person


def _make_first(options: dict[str, Any]) -> str:
    link = links.first_administrator()
    if link is None:
        raise CommandError("There is an administrator already; they invite others on the page People.")
    return address_of(link, options["address"])


def _reset(options: dict[str, Any]) -> str:
    return address_of(links.reset(by=None, person=_person(options["name"])), options["address"])


def _set_role(options: dict[str, Any]) -> str:
    accounts.set_role(by=None, person=_person(options["name"]), role=options["role"])
    return f"{options['name']}: {options['role']}"


def _make_token(options: dict[str, Any]) -> str:
    token = {"scope": options["scope"], "days": options["days"], "name": options["purpose"]}
    return accounts.make(person=_person(options["name"]), **token).key


ACTS: dict[str, Callable[[dict[str, Any]], str]] = {
    "first-administrator": _make_first,
    "reset-link": _reset,
    "role": _set_role,
    "token": _make_token,
}
