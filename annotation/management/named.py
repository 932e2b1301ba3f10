"""What commands about campaigns and people share: whom and what a name means."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.core.management.base import CommandError

from annotation.models import Campaign
from annotation.work.labels import person_called
from config.permissions import is_researcher


def campaign(name: str) -> Campaign:
    """Return a campaign by its name. Raises CommandError."""
    found = Campaign.objects.select_related("corpus", "scheme_version__scheme").filter(name=name).first()
    if found is None:
        raise CommandError(f"There is no campaign “{name}”. `manage.py api GET campaigns/` lists them.")
    return found


def person(name: str) -> User:
    """Return an account by its user name. Raises CommandError."""
    found = User.objects.filter(username=name).first()
    if found is None:
        raise CommandError(f"There is no account “{name}”. `manage.py api GET people/` lists them.")
    return found


def annotator(name: str, about: Campaign) -> User:
    """Return an annotator of a campaign by pseudonym, or an account by user name. Raises CommandError."""
    return person_called(name, about) or person(name)


def researcher(name: str | None) -> User:
    """Return a researcher by user name. Raises CommandError."""
    found = User.objects.filter(username=name or "").first()
    if found is None or not is_researcher(found):
        raise CommandError(f"“{name or ''}” is not a researcher here. Name one with --by.")
    return found
