"""Accounts from the command line, for whoever runs this Concord."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Callable
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import CommandError
from django.urls import reverse

from annotation.errors import AnnotationError
from annotation.people import accounts, deletion, links, sign_in
from config.commands import DatabaseCommand

ADDRESS = "http://localhost:8000"


class Command(DatabaseCommand):
    """`manage.py people ACT [NAME]`: each act is a line of ACTS."""

    help = "List, invite, change and delete people. Each act has its own --help."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """One sub-command an act."""
        acts = parser.add_subparsers(dest="act", required=True, metavar="ACT")
        listed = acts.add_parser("list", help="every account, one JSON object a line")
        listed.add_argument("--text", default="", help="only names that hold this")
        first = acts.add_parser("first-administrator", help="a one-time link to make the first administrator")
        invited = acts.add_parser("invite", help="a one-time link with which a person makes an account")
        invited.add_argument("--role", choices=list(accounts.ROLES), default="annotator")
        invited.add_argument("--name", default="", help="the user name that is proposed")
        invited.add_argument("--days", type=int, default=links.INVITATION_DAYS, help="for how long (7)")
        for name, about in NAMED.items():
            act = acts.add_parser(name, help=about)
            act.add_argument("name", help="the user name")
            if name == "role":
                act.add_argument("role", choices=list(accounts.ROLES))
            if name == "email":
                act.add_argument("email", help="the address, or '' for none")
            if name == "token":
                act.add_argument("--scope", choices=["read", "write"], default="read")
                act.add_argument("--days", type=int, default=90, help="for how long (90)")
                act.add_argument("--for", dest="purpose", default="command line", help="what it is for")
            if name == "delete":
                act.add_argument("--by", required=True, help="the administrator who deletes")
                act.add_argument("--confirm", default="", help="the user name again")
                act.add_argument("--despite-use", action="store_true", help="although reports or gold use it")
            if name == "reset-link":
                act.add_argument("--address", default=ADDRESS, help=f"where Concord is ({ADDRESS})")
        for act in (first, invited):
            act.add_argument("--address", default=ADDRESS, help=f"where Concord is ({ADDRESS})")

    def handle(self, *args: Any, **options: Any) -> None:
        """Do the act and print what it gave."""
        try:
            for line in ACTS[options["act"]](options):
                self.stdout.write(line)
        except AnnotationError as error:
            raise CommandError(str(error)) from None


NAMED = {
    "reset-link": "a one-time link for a new password",
    "role": "give another role",
    "email": "say what e-mail address is a person's",
    "deactivate": "keep a person out; their answers stay",
    "activate": "let a deactivated person in again",
    "unlock": "lift the lock after wrong passwords",
    "token": "an API token; its key is printed once",
    "delete": "delete a person with all their answers",
}


def _person(name: str) -> User:
    found = User.objects.prefetch_related("groups").filter(username=name).first()
    if found is None:
        raise CommandError(f"There is no account {name!r}. `manage.py people list` lists them.")
    return found


def address_of(made: links.IssuedLink, base: str) -> str:
    """Return the address of a one-time link, where Concord is found at `base`."""
    return base.rstrip("/") + reverse("use-link", args=[made.token])


def _list(options: dict[str, Any]) -> list[str]:
    found = accounts.rows(list(accounts.accounts(options["text"])))
    return [
        json.dumps(
            {
                "username": row.person.username,
                "role": row.role,
                "active": row.person.is_active,
                "signs_in_with": row.ways,
                "tasks": row.tasks,
                "items": row.items,
            },
            ensure_ascii=False,
        )
        for row in found
    ]


def _first(options: dict[str, Any]) -> list[str]:
    made = links.first_administrator()
    if made is None:
        raise CommandError("There is an administrator already; they invite others on the page People.")
    return [address_of(made, options["address"])]


def _invite(options: dict[str, Any]) -> list[str]:
    asked = {name: options[name] for name in ("role", "name", "days")}
    return [address_of(links.invite(by=None, **asked), options["address"])]


def _reset(options: dict[str, Any]) -> list[str]:
    return [address_of(links.reset(by=None, person=_person(options["name"])), options["address"])]


def _role(options: dict[str, Any]) -> list[str]:
    accounts.set_role(by=None, person=_person(options["name"]), role=options["role"])
    return [f"{options['name']}: {options['role']}"]


def _email(options: dict[str, Any]) -> list[str]:
    person = _person(options["name"])
    accounts.set_email(by=None, person=person, email=options["email"])
    return [f"{options['name']}: {person.email or 'no address'}"]


def _token(options: dict[str, Any]) -> list[str]:
    asked = {"scope": options["scope"], "days": options["days"], "name": options["purpose"]}
    return [accounts.make(person=_person(options["name"]), **asked).key]


def _delete(options: dict[str, Any]) -> list[str]:
    person, by = _person(options["name"]), _person(options["by"])
    if not by.is_superuser:
        raise CommandError(f"{options['by']} is not an administrator.")
    if options["confirm"] != options["name"]:
        told = deletion.destroyed_with(person).as_dict()
        raise CommandError(
            f"This would destroy {json.dumps(told, ensure_ascii=False)}. "
            f"Say --confirm {options['name']} to do it, or deactivate the account instead."
        )
    gone = deletion.delete_person(
        person=person, by=by, confirmation=options["confirm"], despite_use=options["despite_use"]
    )
    return [json.dumps({"deleted": gone})]


def _state(act: Callable[..., None], said: str) -> Callable[[dict[str, Any]], list[str]]:
    def do(options: dict[str, Any]) -> list[str]:
        act(by=None, person=_person(options["name"]))
        return [f"{options['name']}: {said}"]

    return do


ACTS: dict[str, Callable[[dict[str, Any]], list[str]]] = {
    "list": _list,
    "first-administrator": _first,
    "invite": _invite,
    "reset-link": _reset,
    "role": _role,
    "email": _email,
    "deactivate": _state(accounts.deactivate, "deactivated"),
    "activate": _state(accounts.activate, "active"),
    "unlock": _state(sign_in.unlock, "not locked"),
    "token": _token,
    "delete": _delete,
}
