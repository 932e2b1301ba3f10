"""Groups of people, the languages that a person reads, and the names under which they write in dialogues."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import ProtectedError, QuerySet

from annotation.errors import GroupRefused
from annotation.models import PeopleGroup, PersonLanguage, WritingName
from annotation.models.people import NAME_LIMIT, WRITING_LIMIT
from annotation.people import names
from config.models import Event

MOST_LANGUAGES, MOST_NAMES = 50, 50
LANGUAGE = re.compile(r"[a-z]{2,40}")


@transaction.atomic
def create(*, by: User, name: str, people: Iterable[User] = ()) -> PeopleGroup:
    """Create a group of people. Raises GroupRefused for a name that is empty, too long or taken."""
    group = PeopleGroup.objects.create(name=_checked(name))
    group.people.set(people)
    _log(by, "create group", group, people=_names(group))
    return group


@transaction.atomic
def change(
    *, by: User, group: PeopleGroup, name: str | None = None, people: Iterable[User] | None = None
) -> PeopleGroup:
    """Rename a group, or set its members; campaigns apply this to the next task they hand out.

    Held tasks stay with their holders. Raises GroupRefused.
    """
    group = PeopleGroup.objects.select_for_update().get(pk=group.pk)
    if name is not None and name.strip() != group.name:
        group.name = _checked(name)
        group.save(update_fields=["name"])
    if people is not None:
        group.people.set(people)
    _log(by, "change group", group, people=_names(group))
    return group


@transaction.atomic
def delete(*, by: User, group: PeopleGroup) -> None:
    """Delete a group, not its people. Raises GroupRefused while a campaign's rules name it."""
    _log(by, "delete group", group)
    try:
        with transaction.atomic():
            group.delete()
    except ProtectedError:
        raise GroupRefused(f"The rules of a campaign name {group.name}. Take it out of them first.") from None


@transaction.atomic
def describe(
    *, by: User, person: User, languages: Sequence[str] | None = None, writes_as: Sequence[str] | None = None
) -> None:
    """Set the languages that a person reads (tags: `zh`, `pt-BR`) and their names as authors of dialogues.

    None leaves a value unchanged. Raises GroupRefused.
    """
    if languages is not None:
        tags = {_language(tag) for tag in languages if tag.strip()}
        _must_be_few(tags, MOST_LANGUAGES, "languages")
        PersonLanguage.objects.filter(user=person).exclude(language__in=tags).delete()
        PersonLanguage.objects.bulk_create(
            (PersonLanguage(user=person, language=tag) for tag in sorted(tags)), ignore_conflicts=True
        )
    if writes_as is not None:
        rows = {names.folded(name): names.normal(name)[:WRITING_LIMIT] for name in writes_as if name.strip()}
        rows.pop("", None)
        _must_be_few(rows, MOST_NAMES, "names")
        WritingName.objects.filter(user=person).delete()
        WritingName.objects.bulk_create(
            WritingName(user=person, name=name, folded=folded[:800]) for folded, name in rows.items()
        )
    description = described(person)
    Event.objects.create(by=by, verb="describe person", subject=f"account {person.pk}", detail=description)


def described(person: User) -> dict[str, list[str]]:
    """Return a person's `languages` and their names as an author (`writes_as`)."""
    return {
        "languages": list(person.languages.values_list("language", flat=True)),
        "writes_as": list(person.writes_as.values_list("name", flat=True)),
    }


def people() -> QuerySet[User]:
    """Return the active accounts with their groups, languages and writing names, by name."""
    users = User.objects.filter(is_active=True).order_by("username")
    return users.prefetch_related("people_groups", "languages", "writes_as")


def primary(tag: str) -> str:
    """Return the part of a language tag used for comparison: `zh` of `zh-Hant`."""
    return tag.strip().replace("_", "-").partition("-")[0].lower()


def _language(tag: str) -> str:
    language = primary(tag)
    if not LANGUAGE.fullmatch(language):
        error = GroupRefused(f"“{tag.strip()[:40]}” is not the tag of a language. Write en, zh or pt-BR.")
        error.field = "languages"
        raise error
    return language


def _must_be_few(values: Collection[Any], most: int, noun: str) -> None:
    if len(values) > most:
        raise GroupRefused(f"A person has at most {most} {noun}.")


def _checked(name: str) -> str:
    name = name.replace("\0", "").strip()
    if not name or len(name) > NAME_LIMIT:
        raise GroupRefused(f"Give the group a name of at most {NAME_LIMIT} characters.")
    if PeopleGroup.objects.filter(name=name).exists():
        raise GroupRefused(f"There is a group “{name}” already. Choose another name.")
    return name


def _names(group: PeopleGroup) -> list[str]:
    return list(group.people.order_by("username").values_list("username", flat=True))


def _log(by: User, verb: str, group: PeopleGroup, **detail: Any) -> None:
    Event.objects.create(by=by, verb=verb, subject=f"group {group.name}", detail=detail)
