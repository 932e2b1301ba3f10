"""How commands name gold labels."""

from __future__ import annotations

from django.core.management.base import CommandError

from calibration.models import Gold


def stored(number: int) -> Gold:
    """Return a gold by its number. Raises CommandError where there is none."""
    related = ("corpus", "campaign", "scheme_version__scheme")
    gold = Gold.objects.select_related(*related).filter(pk=number).first()
    if gold is None:
        raise CommandError(f"there is no gold {number}")
    return gold
