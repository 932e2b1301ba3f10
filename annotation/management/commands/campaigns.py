"""Campaigns from the command line: set up, changed, opened and put away as on the pages."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import CommandError
from rest_framework.renderers import JSONRenderer

from annotation.api.work import CampaignSerializer
from annotation.campaigns import actions, editing
from annotation.campaigns import progress as campaign_progress
from annotation.errors import CampaignRefused
from annotation.management import named
from annotation.models import Campaign
from config.commands import DatabaseCommand

VERBS: dict[str, tuple[Callable[..., Any], str]] = {
    "open": (actions.open, "open it, making the tasks that it lacks"),
    "open-batch": (actions.open_next, "open the next batch of its tasks"),
    "pause": (actions.pause, "stop handing out and accepting for a while"),
    "close": (actions.close, "end the work"),
    "archive": (editing.archive, "put it away: in no list, and no more work"),
    "bring-back": (editing.bring_back, "take it out of the archive"),
}
FILE = "YAML or JSON with the fields that /api/v1/campaigns/ takes; - reads standard input"


class Command(DatabaseCommand):
    """`manage.py campaigns ACT ...`"""

    help = "List, set up, change, open, copy and archive campaigns. Each act has its own --help."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """One sub-command an act."""
        acts = parser.add_subparsers(dest="act", required=True, metavar="ACT")
        listed = acts.add_parser("list", help="every campaign, one JSON object a line")
        listed.add_argument("--archived", action="store_true", help="those that were put away instead")
        acts.add_parser("show", help="one campaign with its counts, as JSON").add_argument("name")
        made = acts.add_parser("create", help="set a draft up from a file")
        made.add_argument("file", help=FILE)
        changed = acts.add_parser("change", help="change what a file names, and leave the rest")
        changed.add_argument("name")
        changed.add_argument("file", help=FILE)
        raters = acts.add_parser("add-raters", help="more raters per item, while people work, too")
        raters.add_argument("name")
        raters.add_argument("raters", type=int, help="how many raters each item has from now on")
        copied = acts.add_parser("copy", help="a draft like it, without its people's work")
        copied.add_argument("name")
        copied.add_argument("new", help="the name of the copy")
        ordered = acts.add_parser("reorder", help="draw the order of the tasks anew that nobody has begun")
        ordered.add_argument("name")
        ordered.add_argument("--order", choices=Campaign.Order.values, help="in this order from now on")
        ordered.add_argument("--by-field", metavar="metadata.FIELD", help="for the order by priority")
        ordered.add_argument("--judge", help="the judge that is compared with people")
        for verb, (_, about) in VERBS.items():
            acts.add_parser(verb, help=about).add_argument("name")
        for act in (name for name in acts.choices if name not in ("list", "show")):
            acts.choices[act].add_argument(
                "--by", required=True, help="the researcher who does it, for the log"
            )

    def handle(self, *args: Any, **options: Any) -> None:
        """Do the act and print the campaign, or each of them, as JSON."""
        act = options["act"]
        if act == "list":
            for campaign in Campaign.objects.filter(archived_at__isnull=not options["archived"]):
                self.stdout.write(_json(campaign))
            return
        if act == "show":
            self.stdout.write(_json(named.campaign(options["name"]), counts=True))
            return
        try:
            self.stdout.write(_json(_done(act, named.researcher(options["by"]), options)))
        except CampaignRefused as error:
            where = f"{error.field}: " if error.field else ""
            raise CommandError(f"{where}{error}") from None


def _done(act: str, by: User, options: dict[str, Any]) -> Campaign:
    """Do an act and return the campaign as it is then."""
    if act == "create":
        return actions.create(by=by, **_read(options["file"]))
    campaign = named.campaign(options["name"])
    if act == "change":
        editing.change(by=by, campaign=campaign, **_read(options["file"], campaign))
    elif act == "add-raters":
        editing.change(by=by, campaign=campaign, raters_per_item=options["raters"])
    elif act == "reorder":
        told = {"order_by": options["by_field"], "apart_judge": options["judge"]}
        editing.reorder(by=by, campaign=campaign, task_order=options["order"], **told)
    elif act == "copy":
        return editing.copy(by=by, campaign=campaign, name=options["new"])
    else:
        VERBS[act][0](by=by, campaign=campaign)
    return Campaign.objects.get(pk=campaign.pk)


def _read(name: str, campaign: Campaign | None = None) -> dict[str, Any]:
    """Return what a file says of a campaign; raise CommandError with the place and what is wrong there."""
    told = named.names_in(name)
    given = CampaignSerializer(campaign, data=told, partial=campaign is not None)
    unknown = sorted(str(field) for field in told if field not in given.writable)
    if unknown:
        raise CommandError(f"{name}: a campaign has no {unknown[0]!r}. It has {', '.join(given.writable)}.")
    if not given.is_valid():
        field, problems = next(iter(given.errors.items()))
        raise CommandError(f"{name}: {field}: {named.line(problems)}")
    return given.arguments()


def _json(campaign: Campaign, *, counts: bool = False) -> str:
    told = dict(CampaignSerializer(campaign).data)
    if counts:
        told["counts"] = asdict(campaign_progress.counts(campaign))
        found = actions.batches(campaign)
        told["batches"] = found and found.as_json()
    return json.dumps(json.loads(JSONRenderer().render(told)), ensure_ascii=False)
