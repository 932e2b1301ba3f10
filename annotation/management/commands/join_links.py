"""Links by which people from outside join a campaign, from the command line."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterable
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils.dateparse import parse_datetime
from django.utils.timezone import is_naive, make_aware

from annotation.api.campaigns import JoinLinkSerializer, ParticipantBrowserSerializer, ParticipantSerializer
from annotation.management import named
from annotation.management.commands.people import ADDRESS
from annotation.models import Campaign, JoinLink
from annotation.people import participants
from config.commands import acts_of
from config.files import row_id


class Command(named.ActsCommand):
    """`manage.py join_links ACT CAMPAIGN ...`"""

    help = "Links for Prolific, MTurk or a list of one's own: list, make, revoke; who came by them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """One sub-command an act."""
        assert isinstance(parser, CommandParser)
        act = acts_of(parser)
        listed = act("list", "a campaign's links with their addresses", "campaign")
        made = act("make", "make a link", "campaign", "name")
        made.add_argument("--most", type=int, help="how many people may come by it; no end unless set")
        made.add_argument("--until", help="when it ends, such as 2030-01-31T18:00Z; never unless set")
        made.add_argument("--code", default="", help="the completion code; one each unless set")
        made.add_argument("--return-url", default="", help="where one goes when done; {code} is the code")
        for one in (listed, made):
            one.add_argument("--address", default=ADDRESS, help=f"where Concord is ({ADDRESS})")
        gone = act("revoke", "let nobody in by a link any more; who joined stays", "campaign")
        gone.add_argument("link", help="its number, as `list` says")
        act("participants", "who came by links, with their ids and completion codes", "campaign")
        act("browsers", "other browsers of participants: those that wait, and those confirmed", "campaign")
        let_in = act("confirm", "let a participant go on in another browser", "campaign")
        sent_away = act("dismiss", "dismiss a browser, or take its confirmation back", "campaign")
        for one in (let_in, sent_away):
            one.add_argument("browser", help="its number, as `browsers` says")
        named.takes_by(made, gone, let_in, sent_away)

    def done(self, options: dict[str, Any]) -> Iterable[Any]:
        """Do the act that is chosen."""
        campaign = named.campaign(options["campaign"])
        return list(ACTS[options["act"]](campaign, options))


def _told(link: JoinLink, options: dict[str, Any]) -> dict[str, Any]:
    told = dict(JoinLinkSerializer(link).data)
    return told | {"address": options["address"].rstrip("/") + told["address"]}


def _list(campaign: Campaign, options: dict[str, Any]) -> Iterable[Any]:
    return (_told(link, options) for link in campaign.join_links.all())


def _make(campaign: Campaign, options: dict[str, Any]) -> Iterable[Any]:
    asked = {name: options[name] for name in ("name", "most", "code", "return_url")}
    by, until = named.manager(options["by"], campaign), _moment(options["until"])
    yield _told(participants.make_link(by=by, campaign=campaign, expires_at=until, **asked), options)


def _moment(text: str | None) -> Any:
    if not text:
        return None
    try:
        found = parse_datetime(text)
    except ValueError:
        found = None
    if found is None:
        raise CommandError(f"“{text[:40]}” is no moment. Write it as 2030-01-31T18:00Z.")
    return make_aware(found) if is_naive(found) else found


def _revoke(campaign: Campaign, options: dict[str, Any]) -> Iterable[Any]:
    link = campaign.join_links.filter(pk=row_id(options["link"]) or 0).first()
    if link is None:
        raise CommandError(f"“{campaign.name}” has no link {options['link'][:20]}.")
    participants.revoke(by=named.manager(options["by"], campaign), link=link)
    yield {"revoked": link.pk}


def _participants(campaign: Campaign, options: dict[str, Any]) -> Iterable[Any]:
    return list(ParticipantSerializer(participants.list_participants(campaign), many=True).data)


def _browsers(campaign: Campaign, options: dict[str, Any]) -> Iterable[Any]:
    return list(ParticipantBrowserSerializer(participants.browsers(campaign), many=True).data)


def _confirm(campaign: Campaign, options: dict[str, Any]) -> Iterable[Any]:
    browser = participants.waiting(campaign).filter(pk=row_id(options["browser"]) or 0).first()
    if browser is None:
        raise CommandError(f"In “{campaign.name}” no browser {options['browser'][:20]} waits.")
    participants.confirm(by=named.manager(options["by"], campaign), browser=browser)
    yield {"confirmed": browser.pk}


def _dismiss(campaign: Campaign, options: dict[str, Any]) -> Iterable[Any]:
    browser = participants.browsers(campaign).filter(pk=row_id(options["browser"]) or 0).first()
    if browser is None:
        raise CommandError(f"“{campaign.name}” has no browser {options['browser'][:20]}.")
    number = browser.pk
    participants.dismiss(by=named.manager(options["by"], campaign), browser=browser)
    yield {"dismissed": number}


ACTS = {
    "list": _list,
    "make": _make,
    "revoke": _revoke,
    "participants": _participants,
    "browsers": _browsers,
    "confirm": _confirm,
    "dismiss": _dismiss,
}
