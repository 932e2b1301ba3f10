"""Export of gold labels to a file, derived first if requested."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.corpora.splits import TRAINING
from annotation.models import Campaign, Corpus, SchemeVersion
from calibration.errors import CalibrationError
from calibration.gold import export as gold_export
from calibration.gold import rules
from calibration.gold.derivation import TIE, described, make
from calibration.gold.rules import MEANING, RULES, help_line
from calibration.management import options as command_options
from calibration.management.options import find_gold
from calibration.models import Gold
from config.commands import DatabaseCommand, refuse_unused


class Command(DatabaseCommand):
    """Write gold labels, with the rule that chose them on the last line."""

    help = (
        "Write gold labels as CSV, JSONL or Parquet: a stored derivation (--gold NUMBER), or one chosen now "
        "from a corpus or campaign (--scheme and --rule). The last line is one JSON object that says how."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options for the gold or its rule, format and output."""
        parser.add_argument("--gold", type=int, metavar="NUMBER", help="a derivation that is stored")
        command_options.add_place_arguments(parser)
        parser.add_argument(
            "--scheme", help="the questions, as key or key@version; may be left out where there is one"
        )
        meanings = "; ".join(f"{rule.key}: {rule.explanation}" for rule in RULES.values())
        parser.add_argument(
            "--rule",
            choices=list(RULES),
            help=f"how to choose ({MEANING}). {meanings}".replace("%", "%%"),
        )
        for name, option in rules.known_options().items():
            help_text = help_line(name, option).replace("%", "%%")
            parser.add_argument(f"--{name}", metavar="VALUE", help=help_text)
        parser.add_argument("--raters", nargs="*", default=[], help="whose answers count (all people)")
        command_options.add_export_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        """Find or derive the gold, and write it."""
        if options["gold"]:
            unread = ["corpus", "campaign", "scheme", "rule", *rules.known_options(), "raters"]
            refuse_unused(options, unread, "gold that is stored is written as it was made")
        gold = find_gold(options["gold"]) if options["gold"] else _derive_gold(options)
        selection = command_options.take_part(gold.corpus, gold, options)
        self.stderr.write(_summary(gold))
        facts = gold_export.provenance(gold) | {"part": selection.part or "all"}
        if selection.left_out:
            facts["excluded"] = selection.left_out.as_json()
        command_options.export_query(self, gold_export.query(gold, selection), options, facts)


def _derive_gold(options: dict[str, Any]) -> Gold:
    corpus, campaign = command_options.find_place(options["corpus"], options["campaign"])
    version = _find_version(corpus, campaign, options["scheme"])
    part = options["part"] if options["part"] == TRAINING else ""
    try:
        return make(
            corpus=corpus,
            campaign=campaign,
            part=part,
            exclude=options["exclude"],
            scheme_version=version,
            rule=options["rule"] or "",
            options={n: options[n] for n in rules.known_options() if options[n] is not None},
            raters=options["raters"],
            by=None,
        )
    except CalibrationError as error:
        raise CommandError(str(error)) from error


def _summary(gold: Gold) -> str:
    """Return the number of items with and without a value, as a line for standard error."""
    ties = gold.labels.filter(reason__startswith=TIE).count() if gold.without else 0
    because = f", {ties:,} of them because answers tie" if ties else ""
    items = "item stays" if gold.without == 1 else "items stay"
    return f"{described(gold)}: {gold.without:,} of {gold.n:,} {items} without a value{because}"


def _find_version(corpus: Corpus, campaign: Campaign | None, scheme: str | None) -> SchemeVersion:
    """Return the named scheme version, or the only version with labels by people."""
    if campaign is not None and not scheme:
        return campaign.scheme_version
    labelled = SchemeVersion.objects.filter(
        questions__labels__item__corpus=corpus, questions__labels__rater__kind="human"
    )
    versions = {f"{v.scheme.key}@{v.version}": v for v in labelled.select_related("scheme").distinct()}
    if not scheme and len(versions) == 1:
        return next(iter(versions.values()))
    fitting = [version for ref, version in versions.items() if scheme in (ref, version.scheme.key)]
    if len(fitting) != 1:
        raise CommandError(
            f"name one scheme with --scheme; people answered {', '.join(sorted(versions)) or 'none'}"
        )
    return fitting[0]
