"""How commands name a study."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError

from calibration.management import scope_options as places
from calibration.models import Study
from calibration.studies import actions as studies


def study_named(options: dict[str, Any]) -> Study:
    """Return the study that a command names, or the automatic one of a place. Raises CommandError."""
    if not options["name"]:
        corpus, campaign = places.place(options["corpus"], options["campaign"])
        everyone = bool(options.get("everyone"))
        return studies.automatic(corpus=corpus, campaign=campaign, everyone=everyone)
    found = Study.objects.select_related("corpus", "campaign__corpus").filter(name=options["name"]).first()
    if found is None:
        known = places.there_are(Study.objects.values_list("name", flat=True))
        raise CommandError(
            f"no study {options['name']!r}; {known}. "
            "Every corpus and campaign has a report of its own: --corpus NAME or --campaign NAME"
        )
    return found
