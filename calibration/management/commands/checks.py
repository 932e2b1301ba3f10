"""Training, tests and checks of a campaign from the command line."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import yaml
from django.contrib.auth.models import User
from django.core.management.base import CommandError
from django.db import transaction

from annotation.errors import CampaignRefused
from annotation.management import named
from annotation.models import Campaign, CheckPlan, KeyTask
from annotation.work import check_actions
from calibration import campaign_checks
from calibration.api.campaigns import CheckPlanSerializer, NewKeySerializer
from calibration.campaign_checks import FORMS, render_results
from config.commands import DatabaseCommand

FILE = "YAML or JSON as /api/v1/campaigns/ID/checks/ takes it; - reads stdin"
USES = ", ".join(KeyTask.OCCASIONS)


class Command(DatabaseCommand):
    """`manage.py checks ACT CAMPAIGN ...`"""

    help = (
        "Train, test and check the annotators of a campaign: set it up, key tasks, read the results, and "
        "decide about people. Each act has its own --help."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """One sub-command an act."""
        acts = parser.add_subparsers(dest="act", required=True, metavar="ACT")
        acts.add_parser("show", help="the settings and the tasks with a key, as JSON")
        results = acts.add_parser("results", help="each annotator's state and scores")
        results.add_argument("--format", choices=list(FORMS), default="json", help="json")
        acts.add_parser("set", help="change the settings that a file names")
        acts.add_parser("key", help="key the tasks that a file lists, all of them or none")
        taken = acts.add_parser("key-from", help="key tasks by answers that are known")
        taken.add_argument("source", help=campaign_checks.HOW)
        taken.add_argument("--occasion", required=True, choices=KeyTask.OCCASIONS, help=f"for what: {USES}")
        taken.add_argument("--most", type=int, default=10, help="how many tasks, drawn by the seed (10)")
        taken.add_argument("--tolerance", type=float, default=0.0, help="right within, on ordered scales (0)")
        for verb, does in check_actions.VERBS.items():
            about = (does.__doc__ or "").split("\n")[0].split(". Raises")[0].rstrip(".")
            decided = acts.add_parser(verb, help=about[:1].lower() + about[1:])
            decided.add_argument("annotator", help="the user name")
            decided.add_argument("--reason", required=True, help="why; it is logged")
        for name, made in acts.choices.items():
            made.add_argument("campaign", help="the campaign's name")
            if name in ("set", "key"):
                made.add_argument("file", help=FILE)
            if name not in ("show", "results"):
                made.add_argument("--by", required=True, help="the researcher who does it, for the log")

    def handle(self, *args: Any, **options: Any) -> None:
        """Do the act, and print what came of it."""
        campaign = named.campaign(options["campaign"])
        act = options["act"]
        if act == "results":
            self.stdout.write(render_results(campaign, options["format"]), ending="")
            return
        if act != "show":
            try:
                _do(act, named.researcher(options["by"]), campaign, options)
            except CampaignRefused as error:
                where = f"{error.field}: " if error.field else ""
                raise CommandError(f"{where}{error}") from None
        self.stdout.write(_shown(campaign))


def _do(act: str, by: User, campaign: Campaign, options: dict[str, Any]) -> None:
    if act == "set":
        given = CheckPlanSerializer(data=_read(options["file"], dict), partial=True)
        if not given.is_valid():
            raise CommandError(f"{options['file']}: {_line(given.errors)}")
        check_actions.set_up(by=by, campaign=campaign, **given.validated_data)
    elif act == "key":
        _key(by, campaign, options["file"])
    elif act == "key-from":
        chosen = {name: options[name] for name in ("source", "occasion", "most", "tolerance")}
        campaign_checks.add(by=by, campaign=campaign, **chosen)
    else:
        person = named.annotator(options["annotator"], campaign)
        check_actions.VERBS[act](by=by, campaign=campaign, user=person, reason=options["reason"])


def _key(by: User, campaign: Campaign, file: str) -> None:
    given = NewKeySerializer(data=_read(file, list), many=True)
    if not given.is_valid():
        raise CommandError(f"{file}: {_line(given.errors)}")
    with transaction.atomic():
        for number, row in enumerate(given.validated_data, start=1):
            try:
                spot = check_actions.spot_named(campaign, row["about"])
                answers = check_actions.answers_told(campaign, spot, row["answers"])
                check_actions.add_key(
                    by=by,
                    campaign=campaign,
                    occasion=row["occasion"],
                    spot=spot,
                    answers=answers,
                    explanation=row["explanation"],
                )
            except CampaignRefused as error:
                raise CommandError(f"{file}: entry {number}: {error} Nothing was keyed.") from None


def _read(name: str, kind: type) -> Any:
    try:
        text = sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8")
        found = yaml.safe_load(text)
    except OSError as error:
        raise CommandError(f"{name}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise CommandError(f"{name}: not a text in UTF-8.") from None
    except yaml.YAMLError as error:
        raise CommandError(f"{name}: {' '.join(str(error).split())}") from None
    if not isinstance(found, kind):
        raise CommandError(f"{name}: expected {'a list of keys' if kind is list else 'names with values'}.")
    return found


def _line(problems: Any, where: str = "") -> str:
    """Return the first problem as one line, with its place."""
    if isinstance(problems, dict):
        name, inner = next(iter(problems.items()))
        return _line(inner, f"{where}{name}: ")
    if isinstance(problems, list):
        number, inner = next((n, one) for n, one in enumerate(problems) if one)
        return _line(inner, f"{where}entry {number + 1}: " if isinstance(inner, dict) else where)
    return where + " ".join(str(problems).split())


def _shown(campaign: Campaign) -> str:
    plan = CheckPlan.objects.filter(campaign=campaign).first()
    settings = dict(CheckPlanSerializer(plan).data) if plan else None
    listed = [check_actions.key_as_json(key) for key in check_actions.listed(campaign)]
    return json.dumps({"settings": settings, "keys": listed}, ensure_ascii=False, default=str)
