"""`manage.py load_demo` leaves data alone that it did not create."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from annotation.models import Corpus


@pytest.mark.django_db
def test_an_account_that_the_demo_did_not_make_is_never_taken_over() -> None:
    User.objects.create_user("researcher", "someone@example.org", "their own words")
    with pytest.raises(CommandError, match="“researcher” was not made by the demo"):
        call_command("load_demo")
    assert not Corpus.objects.exists()
    assert User.objects.count() == 1
