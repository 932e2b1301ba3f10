"""Groups of people, and what a person reads and writes as, from the command line."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterable
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.api.people import AnnotatorSerializer, GroupSerializer
from annotation.management import named
from annotation.models import PeopleGroup
from annotation.people import groups
from config.commands import acts_of


class Command(named.ActsCommand):
    """`manage.py groups ACT ...`"""

    help = "Groups of people, for the rules of campaigns: list, make, change, delete; describe a person."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """One sub-command an act."""
        assert isinstance(parser, CommandParser)
        act = acts_of(parser)
        act("list", "every group with its people")
        made = act("create", "make a group", "name")
        made.add_argument("people", nargs="*", help="user names")
        changed = act("change", "rename a group, take people in or out", "name")
        changed.add_argument("--rename", help="its new name")
        changed.add_argument("--add", nargs="+", default=[], metavar="NAME", help="who is in it from now on")
        changed.add_argument("--remove", nargs="+", default=[], metavar="NAME", help="who is not any more")
        gone = act("delete", "delete a group, not its people", "name")
        act("people", "every active account with groups, languages and writing names")
        told = act("describe", "say what a person reads and writes as", "person")
        told.add_argument(
            "--languages", nargs="*", metavar="TAG", help="languages, such as pt-BR; none empties"
        )
        told.add_argument("--writes-as", nargs="*", metavar="NAME", help="names in dialogues; none empties")
        named.takes_by(made, changed, gone, told)

    def done(self, options: dict[str, Any]) -> Iterable[Any]:
        """Do the act that is chosen."""
        return ACTS[options["act"]](options)


def _group(name: str) -> PeopleGroup:
    found = PeopleGroup.objects.filter(name=name).first()
    if found is None:
        raise CommandError(f"There is no group “{name}”. `manage.py groups list` lists them.")
    return found


def _list(options: dict[str, Any]) -> list[Any]:
    found = PeopleGroup.objects.prefetch_related("people").order_by("name")
    return list(GroupSerializer(found, many=True).data)


def _create(options: dict[str, Any]) -> list[Any]:
    by, people = named.researcher(options["by"]), named.people(options["people"])
    return [GroupSerializer(groups.create(by=by, name=options["name"], people=people)).data]


def _change(options: dict[str, Any]) -> list[Any]:
    by, found = named.researcher(options["by"]), _group(options["name"])
    people = None
    if options["add"] or options["remove"]:
        added, removed = named.people(options["add"]), named.people(options["remove"])
        people = (set(found.people.all()) | set(added)) - set(removed)
    groups.change(by=by, group=found, name=options["rename"], people=people)
    return [GroupSerializer(PeopleGroup.objects.get(pk=found.pk)).data]


def _delete(options: dict[str, Any]) -> list[Any]:
    groups.delete(by=named.researcher(options["by"]), group=_group(options["name"]))
    return [{"deleted": options["name"]}]


def _people(options: dict[str, Any]) -> list[Any]:
    return list(AnnotatorSerializer(groups.people(), many=True).data)


def _describe(options: dict[str, Any]) -> list[Any]:
    by, person = named.researcher(options["by"]), named.person(options["person"])
    told = {"languages": options["languages"], "writes_as": options["writes_as"]}
    if told == {"languages": None, "writes_as": None}:
        raise CommandError("Say --languages, --writes-as or both.")
    groups.describe(by=by, person=person, **told)
    return [AnnotatorSerializer(person).data]


ACTS = {
    "list": _list,
    "create": _create,
    "change": _change,
    "delete": _delete,
    "people": _people,
    "describe": _describe,
}
