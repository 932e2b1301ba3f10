"""Roles in one campaign from the command line: who adjudicates it, and who looks after it."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterable
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.management import named
from annotation.models import CampaignRole
from annotation.people import accounts
from config.commands import acts_of


class Command(named.ActsCommand):
    """`manage.py campaign_roles list CAMPAIGN`, `give CAMPAIGN PERSON ROLE`, `take CAMPAIGN PERSON ROLE`."""

    help = "Who adjudicates or looks after a campaign: list, give, take."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """One sub-command an act."""
        assert isinstance(parser, CommandParser)
        act = acts_of(parser)
        act("list", "who has a role in a campaign", "campaign")
        given = act("give", "give a person a role in a campaign", "campaign", "person")
        taken = act("take", "take a role in a campaign away again", "campaign", "person")
        for one in (given, taken):
            one.add_argument("role", choices=CampaignRole.Role.values)
        named.takes_by(given, taken)

    def done(self, options: dict[str, Any]) -> Iterable[Any]:
        """Do the act that is chosen; return who has a role then."""
        campaign = named.campaign(options["campaign"])
        if options["act"] != "list":
            by, person, role = named.researcher(options["by"]), options["person"], options["role"]
            if options["act"] == "give":
                accounts.give_campaign_role(by=by, campaign=campaign, person=named.person(person), role=role)
            else:
                given = campaign.roles.filter(user=named.person(person), role=role).first()
                if given is None:
                    raise CommandError(f"{person} is no {role} of “{campaign.name}”.")
                accounts.take_campaign_role(by=by, campaign_role=given)
        return accounts.campaign_roles_of(campaign)
