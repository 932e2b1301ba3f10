"""What commands about one script share: which script, and values by name on the command line."""

from __future__ import annotations

from django.core.management.base import CommandError, CommandParser

from annotation.models import Dialogue


def add_script(parser: CommandParser) -> None:
    """Add the arguments that name a script."""
    parser.add_argument("--corpus", required=True, help="name of the corpus")
    parser.add_argument("--dialogue", help="id of the script; may be left out where the corpus has but one")


def script_named(corpus: str, dialogue: str | None) -> Dialogue:
    """Return the script that a command names; raise CommandError where there is none, or several."""
    rows = Dialogue.objects.select_related("corpus").filter(corpus__name=corpus, script__isnull=False)
    found = list(rows.filter(key=dialogue)[:2] if dialogue else rows.order_by("key")[:2])
    if not found:
        which = f"script {dialogue!r}" if dialogue else "script"
        raise CommandError(f"There is no {which} in a corpus {corpus!r}.")
    if len(found) > 1:
        raise CommandError(f"The corpus {corpus!r} has several scripts: name one with --dialogue.")
    return found[0]


def by_name(option: str, told: list[str] | None) -> dict[str, str]:
    """Return what `s01=1994-09-23` says, by name; raise CommandError for another form, or a name twice."""
    values: dict[str, str] = {}
    for part in told or ():
        name, mark, value = part.partition("=")
        if not mark or not name.strip() or name.strip() in values:
            raise CommandError(f"{option} is told as NAME=VALUE, each name once, not {part[:80]!r}.")
        values[name.strip()] = value.strip()
    return values


def listed(text: str) -> list[str]:
    """Return the parts of a text with commas."""
    return [part.strip() for part in text.split(",") if part.strip()]
