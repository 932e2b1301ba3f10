"""A campaign's rules from the command line: who may, and who must, rate what."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterable
from typing import Any

from django.core.management.base import CommandParser

from annotation.api.people import RulesSerializer
from annotation.campaigns import rules
from annotation.management import named
from annotation.models import Campaign
from config.commands import acts_of

FILE = "YAML or JSON with the fields of /api/v1/campaigns/ID/rules/; - reads standard input"


class Command(named.ActsCommand):
    """`manage.py campaign_rules show CAMPAIGN`, `set CAMPAIGN FILE`."""

    help = "Who may, and who must, rate what in a campaign: by language, group and stratum."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """One sub-command an act."""
        assert isinstance(parser, CommandParser)
        act = acts_of(parser)
        act("show", "the rules, in words too, and the tasks that nobody can take", "campaign")
        written = act("set", "set the rules from a file; what it does not name is not asked", "campaign")
        written.add_argument("file", help=FILE)
        named.takes_by(written)

    def done(self, options: dict[str, Any]) -> Iterable[Any]:
        """Do the act that is chosen; return the rules as they are then."""
        campaign = named.campaign(options["campaign"])
        if options["act"] == "set":
            by, given = (
                named.manager(options["by"], campaign),
                named.told_in(options["file"], RulesSerializer),
            )
            assert isinstance(given, RulesSerializer)
            rules.set_rules(by=by, campaign=campaign, rules=given.rules())
            campaign = Campaign.objects.select_related("corpus").get(pk=campaign.pk)
        found = rules.rules_of(campaign)
        told = {"in_words": rules.sentences(found), "unclaimable": rules.unclaimable_tasks(campaign)}
        return [
            rules.as_json(found)
            | {
                "strata": [{"stratum": name, "group": group.name} for name, group in found.strata.items()],
                "required": [
                    {"group": group.name, "raters": raters} for group, raters in found.required.items()
                ],
            }
            | told
        ]
