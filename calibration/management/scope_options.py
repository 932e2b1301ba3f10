"""How commands name a corpus or campaign."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.models import Campaign, Corpus
from config.commands import refuse_unused


def add_arguments(parser: CommandParser) -> None:
    """Add --corpus and --campaign, of which one is given."""
    parser.add_argument("--corpus", metavar="NAME", help="labels of a whole corpus")
    parser.add_argument("--campaign", metavar="NAME", help="labels of a campaign")


def place(corpus: str | None, campaign: str | None) -> tuple[Corpus, Campaign | None]:
    """Return what was named. Raises CommandError with the names that there are."""
    if bool(corpus) == bool(campaign):
        raise CommandError("name either --corpus or --campaign")
    if campaign:
        found = Campaign.objects.select_related("corpus").filter(name=campaign).first()
        if found is None:
            raise CommandError(
                f"no campaign {campaign!r}; {there_are(Campaign.objects.values_list('name', flat=True))}"
            )
        return found.corpus, found
    whole = Corpus.objects.filter(name=corpus).first()
    if whole is None:
        raise CommandError(
            f"no corpus {corpus!r}; {there_are(Corpus.objects.values_list('name', flat=True))}"
        )
    return whole, None


def refuse_purpose(options: Mapping[str, Any], opening: Collection[str] = ("test",)) -> None:
    """Raise CommandError for a --purpose where the --part does not open test."""
    if options["part"] not in opening:
        refuse_unused(options, ["purpose"], f"it says what --part {' or '.join(opening)} is opened for")


def there_are(names: Iterable[str]) -> str:
    """Return the names that could have been meant."""
    listed = sorted(names)[:20]
    return f"there are {', '.join(listed)}" if listed else "there are none yet"
