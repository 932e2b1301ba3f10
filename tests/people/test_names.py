"""User names cannot be mistaken for one another, and contain nothing but a name."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from annotation.errors import NameRefused, PasswordRefused
from annotation.people import accounts, names
from tests import factories

TWINS = [
    ("ana", "Ana"),
    ("ana", "\u0430na"),  # a Cyrillic a
    ("ana", "\uff21\uff2e\uff21"),  # full width
    ("Ian", "lan"),
    ("ann1", "annl"),
    ("mike", "rnike"),
    ("coco", "\u0441\u043e\u0441\u043e"),  # all Cyrillic
    ("jos\u00e9", "jose\u0301"),
    ("stra\u00dfe", "STRASSE"),
    ("ann lee", "annlee"),
]


@pytest.mark.django_db
@pytest.mark.parametrize("first,second", TWINS)
def test_names_that_look_alike_are_refused_by_action_and_by_table(first: str, second: str) -> None:
    factories.user(first)
    with pytest.raises(NameRefused, match="taken, or looks like one that is"):
        accounts.create(by=None, username=second, role="annotator", password="a long password")
    with pytest.raises(IntegrityError), transaction.atomic():
        User.objects.create_user(second)


@pytest.mark.django_db
def test_a_name_with_a_zero_width_letter_is_refused_by_action_and_by_table() -> None:
    factories.user("ana")
    with pytest.raises(NameRefused, match=r"U\+200B"):
        accounts.create(by=None, username="an\u200ba", role="annotator", password="a long password")
    with pytest.raises(IntegrityError), transaction.atomic():
        User.objects.create_user("an\u200ba")


@pytest.mark.parametrize(
    "name",
    [
        "<b>ana</b>",
        "ana<script>",
        "",
        " ",
        "=cmd",
        "-ana",
        "a" * 61,
        "a\0b",
        "ana\nben",
        "ana\u202eben",
        "a&b",
        "😀",
    ],
)
def test_markup_control_characters_and_the_like_are_refused(name: str) -> None:
    assert names.fault(names.normal(name))


@pytest.mark.parametrize(
    "name", ["ana", "Ana Lee", "O'Neil", "नेहा", "李雷", "x.y@example.org", "r2-d2", "José"]
)
def test_names_of_people_are_allowed(name: str) -> None:
    assert names.fault(names.normal(name)) == ""


@pytest.mark.parametrize("first,second", [("ian", "lan"), ("ann1", "ann2"), ("person-1", "person-10")])
def test_names_that_differ_are_different(first: str, second: str) -> None:
    assert names.folded(first) != names.folded(second)
    assert names.look(first) != names.look(second)


@pytest.mark.django_db
@pytest.mark.parametrize("password", ["annabelle", "Annabelle", "annabelle1", "short", "password123"])
def test_a_password_like_the_name_or_easy_to_guess_is_refused(password: str) -> None:
    with pytest.raises(PasswordRefused):
        accounts.create(by=None, username="annabelle", role="annotator", password=password)
    assert not User.objects.exists()


@pytest.mark.django_db
def test_an_account_that_is_renamed_keeps_its_name_apart() -> None:
    ana = factories.user("ana")
    ana.username = "anna"
    ana.save()
    factories.user("ana")
    with pytest.raises(IntegrityError), transaction.atomic():
        factories.user("Anna")
