"""What commands about campaigns and people share: whom and what a name means, files, and how answers look."""

from __future__ import annotations

import json
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml
from django.contrib.auth.models import User
from django.core.management.base import CommandError, CommandParser
from rest_framework import serializers
from rest_framework.renderers import JSONRenderer

from annotation import access
from annotation.errors import AnnotationError
from annotation.models import Campaign
from annotation.work.labels import person_called
from config.commands import DatabaseCommand
from config.permissions import is_researcher

BY = "the researcher who does it, for the log"


class ActsCommand(DatabaseCommand, ABC):
    """A command that does one of several things. `done` does it and returns what it gave, a row each."""

    def handle(self, *args: Any, **options: Any) -> None:
        """Do the act and print a JSON object a line, or with --json one list."""
        try:
            rows = [plain(row) for row in self.done(options)]
        except AnnotationError as error:
            where = f"{field}: " if (field := getattr(error, "field", "")) else ""
            raise CommandError(f"{where}{error}") from None
        for row in [rows] if options["json"] else rows:
            self.stdout.write(json.dumps(row, ensure_ascii=False))

    @abstractmethod
    def done(self, options: dict[str, Any]) -> Iterable[Any]:
        """Do the act that is chosen."""


def takes_by(*acts: CommandParser) -> None:
    """Let acts that change something say who does it."""
    for act in acts:
        act.add_argument("--by", required=True, help=BY)


def plain(value: Any) -> Any:
    """Return what the API would answer as plain data."""
    return json.loads(JSONRenderer().render(value))


def campaign(name: str) -> Campaign:
    """Return a campaign by its name. Raises CommandError."""
    found = Campaign.objects.select_related("corpus", "scheme_version__scheme").filter(name=name).first()
    if found is None:
        raise CommandError(f"There is no campaign “{name}”. `manage.py campaigns list` lists them.")
    return found


def person(name: str) -> User:
    """Return an account by its user name. Raises CommandError."""
    found = User.objects.filter(username=name).first()
    if found is None:
        raise CommandError(f"There is no account “{name}”. `manage.py people list` lists them.")
    return found


def annotator(name: str, about: Campaign) -> User:
    """Return an annotator of a campaign by pseudonym, or an account by user name. Raises CommandError."""
    return person_called(name, about) or person(name)


def people(names: Iterable[str]) -> list[User]:
    """Return accounts by their user names. Raises CommandError."""
    return [person(name) for name in names]


def researcher(name: str | None) -> User:
    """Return a researcher by user name. Raises CommandError."""
    found = User.objects.filter(username=name or "").first()
    if found is None or not is_researcher(found):
        raise CommandError(f"“{name or ''}” is not a researcher here. Name one with --by.")
    return found


def manager(name: str, about: Campaign) -> User:
    """Return who may manage a campaign, by user name. Raises CommandError."""
    found = person(name)
    if not access.may_manage(found, about):
        raise CommandError(f"“{name}” does not look after “{about.name}” and is no researcher.")
    return found


def names_in(name: str) -> dict[str, Any]:
    """Return the names and values of a YAML or JSON file (- is standard input). Raises CommandError."""
    try:
        text = sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8")
        told = yaml.safe_load(text)
    except OSError as error:
        raise CommandError(f"{name}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise CommandError(f"{name}: not a text in UTF-8.") from None
    except yaml.YAMLError as error:
        raise CommandError(f"{name}: {' '.join(str(error).split())}") from None
    if not isinstance(told, dict):
        raise CommandError(f"{name}: expected names with values, such as `name: Pilot`.")
    return told


def told_in(name: str, kind: type[serializers.Serializer[Any]]) -> serializers.Serializer[Any]:
    """Return what a YAML or JSON file (- is standard input) says, checked. Raises CommandError."""
    told = names_in(name)
    given = kind(data=told)
    names = [field for field, made in given.fields.items() if not made.read_only]
    unknown = sorted(str(field) for field in told if field not in names)
    if unknown:
        raise CommandError(f"{name}: there is no {unknown[0]!r} here. There is {', '.join(names)}.")
    if not given.is_valid():
        field, problems = next(iter(given.errors.items()))
        raise CommandError(f"{name}: {field}: {line(problems)}")
    return given


def line(problems: Any) -> str:
    """Return the first problem of a field as one line."""
    while isinstance(problems, dict | list):
        filled = problems.values() if isinstance(problems, dict) else problems
        problems = next(problem for problem in filled if problem)
    return " ".join(str(problems).split())
