"""`manage.py adjudication`: rounds of adjudication without pages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import CommandError, CommandParser

from annotation.management import named
from annotation.models import Corpus
from annotation.scheme_store import find
from calibration.adjudication import agreement, cases, decisions, rounds
from calibration.adjudication.rounds import Plan
from calibration.errors import CalibrationError
from calibration.management.options import give_out
from calibration.models import AdjudicationRound
from config.commands import DatabaseCommand, acts_of

SWITCHES = {
    "no_majority": "no answer has more than half of the people",
    "flagged": "an annotator flagged the task",
    "commented": "an annotator left a comment on the task",
    "marked": "marked for adjudication on a page of disagreements",
    "everything": "all that people answered",
}
BOUNDS = {
    "spread": "people's answers lie at least so far apart",
    "judge_apart": "how far --judge lies from the people at least",
    "confidence": "--confidence-rule is at most so sure, 0 to 1",
}


class Command(DatabaseCommand):
    """Preview and begin rounds, top them up, list them, take queue and decisions out, bring decisions in."""

    help = (
        "Adjudication: rules pick items on which raters disagree, somebody decides, and what is decided "
        "comes first in gold. What is listed is one JSON object a line, everything else one object."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the acts."""
        act = acts_of(parser)
        _plan_options(act("preview", "how many cases each rule would pick now; nothing is kept"))
        begin = act("begin", "draw the cases of a new round and freeze them", "name")
        _plan_options(begin)
        begin.add_argument("--adjudicators", type=int, default=1, help="1, or 2 who must agree (1)")
        begin.add_argument("--lease-minutes", type=int, default=30, help="how long a case is held (30)")
        for name, told in (
            ("--own-items", "adjudicators may decide on what they rated"),
            ("--shows-names", "adjudicators see who answered"),
            ("--shows-systems", "adjudicators see which system is rated"),
        ):
            begin.add_argument(name, action="store_true", help=told)
        act("list", "all rounds, newest first")
        act("show", "a round and how far it is", "name")
        act("report", "what the decisions say of the raters", "name")
        act("top-up", "add what the rules pick of the answers of now", "name")
        act("close", "close a round: nothing is handed out or decided", "name")
        act("reopen", "open a closed round again", "name")
        for what in decisions.TABLES:
            out = act(what, f"the {what} of a round as a file", "name")
            out.add_argument(
                "--format", choices=list(decisions.FORMS), default="jsonl", help="csv or jsonl (jsonl)"
            )
            out.add_argument("--output", help="a file; without it the standard output")
        brought = act(
            "import", "record decisions that were made elsewhere: all of them, or none", "name", "file"
        )
        brought.add_argument("--by", required=True, help="whose decisions they are: an account's name")

    def handle(self, *args: Any, **options: Any) -> None:
        """Do what was asked; exit with one line on a mistake."""
        try:
            getattr(self, f"_{options['act'].replace('-', '_')}")(options)
        except CalibrationError as error:
            raise CommandError(str(error)) from error

    def _say(self, told: Any) -> None:
        self.stdout.write(json.dumps(told, ensure_ascii=False, default=str))

    def _preview(self, options: dict[str, Any]) -> None:
        self._say(rounds.preview(_plan_of(options)).as_dict())

    def _begin(self, options: dict[str, Any]) -> None:
        how = ("adjudicators", "lease_minutes", "own_items", "shows_names", "shows_systems")
        made = rounds.begin(
            by=None, name=options["name"], plan=_plan_of(options), **{name: options[name] for name in how}
        )
        self._say(rounds.round_as_dict(made))

    def _list(self, options: dict[str, Any]) -> None:
        for found in rounds.rounds():
            self._say(rounds.round_as_dict(found))

    def _show(self, options: dict[str, Any]) -> None:
        self._say(rounds.round_as_dict(_named(options)))

    def _report(self, options: dict[str, Any]) -> None:
        self._say(agreement.report(_named(options)).as_dict())

    def _top_up(self, options: dict[str, Any]) -> None:
        self._say({"added": rounds.top_up(by=None, adjudication_round=_named(options))})

    def _close(self, options: dict[str, Any]) -> None:
        found = _named(options)
        rounds.VERBS[options["act"]](by=None, adjudication_round=found)
        self._say(rounds.round_as_dict(found))

    _reopen = _close

    def _queue(self, options: dict[str, Any]) -> None:
        rows = decisions.write_table(_named(options), options["act"], options["format"])
        give_out(self, "".join(rows), options["output"])

    _decisions = _queue

    def _import(self, options: dict[str, Any]) -> None:
        by = User.objects.filter(username=options["by"]).first()
        if by is None:
            raise CommandError(f"There is no account {options['by']!r}.")
        path = Path(options["file"])
        try:
            content = path.read_bytes()
        except OSError as error:
            raise CommandError(f"{path} cannot be read: {error.strerror}.") from error
        found = _named(options)
        self._say(
            {
                "decisions": decisions.import_decisions(
                    by=by, adjudication_round=found, content=content, name=path.name
                )
            }
        )


def _plan_options(parser: CommandParser) -> None:
    place = parser.add_mutually_exclusive_group(required=True)
    place.add_argument("--campaign", help="the campaign's name")
    place.add_argument("--corpus", help="the corpus's name")
    parser.add_argument("--scheme", help="key@version; may be left out where a campaign is named")
    parser.add_argument("--questions", nargs="+", metavar="KEY", help="only these questions")
    for name, told in SWITCHES.items():
        parser.add_argument(f"--{name.replace('_', '-')}", action="store_true", help=told)
    for name, told in BOUNDS.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=float, metavar="X", help=told)
    parser.add_argument("--judge", help="this judge says otherwise than the people")
    parser.add_argument("--confidence-rule", choices=cases.CONFIDENCE_RULES, help="(dawid_skene)")
    parser.add_argument("--combine", choices=cases.COMBINE, help="any rule picks, or all (any)")
    parser.add_argument("--control", type=int, metavar="N", help="agreed items per question, for control (0)")
    parser.add_argument("--seed", type=int, default=0, help="of the sample for control and the order (0)")
    parser.add_argument("--takes-locked", action="store_true", help="also a test part that nobody has opened")


def _plan_of(options: dict[str, Any]) -> Plan:
    campaign = corpus = None
    if options["campaign"]:
        campaign = named.campaign(options["campaign"])
        corpus = campaign.corpus
    else:
        corpus = Corpus.objects.filter(name=options["corpus"]).first()
    if corpus is None:
        raise CommandError(f"There is no corpus “{options['corpus']}”.")
    if not options["scheme"] and campaign is None:
        raise CommandError("Name the questions with --scheme KEY@VERSION.")
    version = find(options["scheme"]) if options["scheme"] else campaign.scheme_version  # type: ignore[union-attr]
    if version is None:
        raise CommandError(f"There is no scheme {options['scheme']!r}.")
    names = (*SWITCHES, *BOUNDS, "judge", "confidence_rule", "combine", "control", "questions")
    rules = {name: options[name] for name in names if options[name] not in (None, False)}
    return Plan(corpus, campaign, version, rules, options["seed"], options["takes_locked"])


def _named(options: dict[str, Any]) -> AdjudicationRound:
    found = rounds.rounds().filter(name=options["name"]).first()
    if found is None:
        raise CommandError(f"There is no round of adjudication “{options['name']}”.")
    return found
