"""What the command `workbench` shares: finding what is named, and its subcommands' options."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.models import Item, Question
from calibration.models import Mark
from calibration.workbench.checks import CHECKS
from calibration.workbench.marks import FORMS, item_keys
from calibration.workbench.sheets import Judged, items_of, judged_on
from calibration.workbench.versions import DIRECTIONS
from jobs.endpoints.parameter_inputs import add_parameters
from judges.drafts.benches import USUAL
from judges.management.run_options import add_needs
from judges.models import Bench, Draft
from judges.prompts.examples import RULES

ITEMS = ("5", "20", "all")


def add_options(parser: CommandParser) -> Any:
    """Add the subcommands and their options; return what takes more of them."""
    parts = parser.add_subparsers(dest="what", required=True, metavar="WHAT")
    parts.add_parser("list", help="all benches, one JSON object a line")
    opening = parts.add_parser("open", help="open a bench on the dev part of a corpus or campaign")
    opening.add_argument("bench", metavar="NAME")
    opening.add_argument("--protocol", required=True)
    place = opening.add_mutually_exclusive_group(required=True)
    place.add_argument("--corpus", default="", help="name of a corpus")
    place.add_argument("--campaign", default="", help="name of a campaign")
    opening.add_argument("--scheme", default="", help="whose questions a rubric asks: KEY or KEY@VERSION")
    opening.add_argument("--variant", default="", help="how a rubric asks: json (its first), line, expected")
    opening.add_argument(
        "--include-self", action="store_true", help="dialogues' own turns, too, where they have continuations"
    )
    opening.add_argument("--seed", type=int, default=0, help="decides which dev items come first (0)")
    _add_try(parts.add_parser("try", help="write a draft and try it on the bench's first items"))
    for name, help_text in (
        ("show", "a draft: how far, agreement so far, answers"),
        ("keep", "keep a draft as a version; its answers become labels"),
        ("discard", "throw a draft away; it stays counted"),
    ):
        part = _of_draft(parts.add_parser(name, help=help_text))
        if name == "keep":
            part.add_argument(
                "--name", default="", help="of the prompt: a new one, or one that gets a version"
            )
            part.add_argument("--note", default="")
    _add_findings(parts)
    return parts


def _add_try(part: CommandParser) -> None:
    part.add_argument("bench", metavar="NAME")
    part.add_argument("--from", dest="begin", default="", metavar="REF", help="draft-3 or NAME@NUMBER")
    part.add_argument("--system", metavar="FILE", help="the system part; else that of what it begins from")
    part.add_argument("--user", metavar="FILE", help="the user part; else that of what it begins from")
    part.add_argument("--variant", default=None)
    part.add_argument("--endpoint", required=True, help="name of an endpoint")
    part.add_argument("--items", choices=ITEMS, default="5", help="how many (5)")
    part.add_argument("--samples", type=int, default=1)
    part.add_argument("--budget", type=int, help="most characters of a prompt")
    part.add_argument("--examples", choices=list(RULES), default="", help="pick worked examples by this rule")
    part.add_argument("--examples-n", type=int, default=USUAL, help=f"examples in a call ({USUAL})")
    part.add_argument(
        "--example", action="append", default=[], metavar="KEY", help="an item picked by_hand; again for more"
    )
    part.add_argument("--examples-judge", default="", help="for most_disagreed: a judge (between people)")
    part.add_argument("--examples-seed", type=int, default=0)
    add_parameters(part)
    add_needs(part, drafts=True)
    _working(part)


def examples_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return how a draft's worked examples are to be picked."""
    rest = {name: options[f"examples_{name}"] for name in ("n", "judge", "seed")}
    return rest | {"rule": options["examples"], "items": options["example"]}


def _working(part: CommandParser) -> None:
    part.add_argument("--estimate", action="store_true", help="say what it takes and stop")
    part.add_argument("--wait", action="store_true", help="leave the work to the running workers")
    part.add_argument("--quiet", action="store_true", help="no progress bar")


def _of_draft(part: CommandParser) -> CommandParser:
    part.add_argument("bench", metavar="NAME")
    part.add_argument("draft", type=int, metavar="DRAFT", help="a draft's number")
    return part


def _add_findings(parts: Any) -> None:
    listing = parts.add_parser(
        "disagreements", help="where a draft and people disagree, one JSON object a line"
    )
    listing.add_argument("bench", metavar="NAME")
    listing.add_argument("--judged", default="", metavar="KEY", help="draft-3 or judge-17 (the latest draft)")
    listing.add_argument("--question", default="", metavar="KEY")
    listing.add_argument("--direction", choices=DIRECTIONS, default="")
    listing.add_argument("--system", default="")
    marking = parts.add_parser("mark", help="say who is wrong about an item; `withdrawn` takes it back")
    for name in ("bench", "judged", "item", "question"):
        marking.add_argument(name, metavar=name.upper())
    marking.add_argument("verdict", choices=Mark.Verdict.values)
    marking.add_argument("--note", default="")
    marking.add_argument("--adjudicate", action="store_true", help="send it on to adjudication")
    marks = parts.add_parser("marks", help="the marks of a bench")
    marks.add_argument("bench", metavar="NAME")
    marks.add_argument("--format", choices=list(FORMS), default="csv")
    beside = parts.add_parser("versions", help="all versions and drafts side by side, as JSON")
    beside.add_argument("bench", metavar="NAME")
    beside.add_argument("--with", dest="key", default="", metavar="KEY", help="draft-3 or judge-17")
    checking = _of_draft(parts.add_parser("check", help="what a check of a draft finds, as JSON"))
    checking.add_argument("check", choices=list(CHECKS))
    checking.add_argument("--own", action="append", default=[], metavar="SYSTEM", help="of the own family")
    checking.add_argument("--ask", action="store_true", help="ask what it needs first")
    _working(checking)
    waiting = parts.add_parser("adjudication", help="what waits for adjudication, one JSON object a line")
    waiting.add_argument("--withdraw", type=int, metavar="ID", help="take one off the list")


def bench_named(name: str) -> Bench:
    """Return a bench by its name."""
    found = Bench.objects.select_related("corpus", "campaign", "split").filter(name=name).first()
    if found is None:
        names = ", ".join(Bench.objects.values_list("name", flat=True)[:10])
        raise CommandError(f"There is no bench {name!r}; there are: {names or 'none yet'}.")
    return found


def draft_numbered(bench: Bench, number: int) -> Draft:
    """Return a draft of a bench."""
    rows = bench.drafts.select_related("bench", "rater", "kept_rater", "text", "endpoint")
    found = rows.filter(number=number).first()
    if found is None:
        raise CommandError(f"The bench {bench.name} has no draft {number}.")
    return found


def judged_keyed(bench: Bench, key: str) -> Judged:
    """Return who is judged on a bench: by key, or the latest draft."""
    found = next((one for one in judged_on(bench) if key in ("", one.key)), None)
    if found is None:
        raise CommandError(f"The bench {bench.name} has nobody {key!r} who was tried.")
    return found


def item_keyed(bench: Bench, key: str) -> Item:
    """Return an item of a bench by its key."""
    named = item_keys(list(items_of(bench)))
    found = next((pk for pk, one in named.items() if one == key), None)
    if found is None:
        raise CommandError(f"The bench {bench.name} has no item {key!r}.")
    return Item.objects.get(pk=found)


def question_keyed(bench: Bench, key: str) -> Question:
    """Return a question of a bench by its key."""
    found = Question.objects.filter(pk__in=bench.questions.values(), key=key).first()
    if found is None:
        raise CommandError(
            f"The bench {bench.name} has no question {key!r}; it has {', '.join(bench.questions)}."
        )
    return found


def texts_of(options: dict[str, Any]) -> dict[str, str]:
    """Return the parts of a text that files give."""
    found = {}
    for name in ("system", "user"):
        if path := options[name]:
            try:
                found[name] = Path(path).read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise CommandError(f"{path} cannot be read: {error}") from None
    return found
