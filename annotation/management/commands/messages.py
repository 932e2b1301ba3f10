"""Messages between the researchers of a campaign and its annotators, from the command line."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterable
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db.models import QuerySet

from annotation.management import named
from annotation.models import Campaign, Thread
from annotation.work import messages, screens
from config.commands import acts_of
from config.files import row_id

VERBS = {"close": messages.close, "open": messages.open_again}


class Command(named.ActsCommand):
    """`manage.py messages ACT CAMPAIGN ...`"""

    help = "Write to annotators of a campaign, read their questions, answer, close a thread."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """One sub-command an act."""
        assert isinstance(parser, CommandParser)
        act = acts_of(parser)
        listed = act("list", "the threads of a campaign, latest first", "campaign")
        listed.add_argument("--waiting", action="store_true", help="those that wait for an answer")
        written = act("write", "write to annotators, each by themselves", "campaign", "text")
        to = written.add_mutually_exclusive_group(required=True)
        to.add_argument(
            "--to", nargs="+", default=[], metavar="NAME", help="annotators, by pseudonym or user name"
        )
        to.add_argument("--everybody", action="store_true", help="all who take part")
        to.add_argument("--assignment", help="the number of a task: its annotator, about it")
        written.add_argument("--line", type=int, help="the line of that task that it is about, from 1")
        answered = act("answer", "answer in a thread", "campaign", "thread", "text")
        closed = act("close", "close a thread: nothing more is said in it", "campaign", "thread")
        opened = act("open", "open a closed thread again", "campaign", "thread")
        named.takes_by(written, answered, closed, opened)

    def done(self, options: dict[str, Any]) -> Iterable[Any]:
        """Do the act that is chosen; return the threads that it is about."""
        campaign, act = named.campaign(options["campaign"]), options["act"]
        rows = messages.of_campaign(campaign)
        if act == "list":
            return _told(rows.filter(waits=True, closed_at=None) if options["waiting"] else rows)
        by = named.manager(options["by"], campaign)
        if act == "write":
            made = _write(campaign, by, options)
            return _told(rows.filter(pk__in=[thread.pk for thread in made]))
        number = row_id(options["thread"]) or 0
        thread = rows.filter(pk=number).first()
        if thread is None:
            raise CommandError(f"“{campaign.name}” has no thread {options['thread'][:20]}.")
        if act == "answer":
            messages.answer(by=by, thread=thread, text=options["text"])
        else:
            VERBS[act](by=by, thread=thread)
        return _told(rows.filter(pk=number))


def _write(campaign: Campaign, by: Any, options: dict[str, Any]) -> list[Thread]:
    about, turn, line = None, None, options["line"]
    to = [named.annotator(name, campaign) for name in options["to"]]
    if options["everybody"]:
        to = [member.user for member in campaign.members.select_related("user")]
    if options["assignment"]:
        about = campaign.assignments.filter(pk=row_id(options["assignment"]) or 0).first()
        if about is None:
            raise CommandError("The campaign has no such task.")
        to = [about.user]
    if line is not None:
        turns = screens.load(about.task_id).turns if about else ()
        if not 1 <= line <= len(turns):
            raise CommandError(f"There is no line {line} in what was shown. Say --assignment, too.")
        turn = turns[line - 1]
    return messages.write(by=by, campaign=campaign, to=to, text=options["text"], assignment=about, turn=turn)


def _told(threads: QuerySet[Thread]) -> list[dict[str, Any]]:
    names = messages.pseudonyms(threads)
    found = []
    for thread in threads:
        annotator = names[thread.annotator_id]
        said = messages.list_messages(thread, thread.annotator, annotator=annotator)
        found.append(
            {
                "thread": thread.pk,
                "annotator": annotator,
                "messages": [{"by": one.by, "text": one.text, "at": one.at} for one in said],
                "assignment": thread.assignment_id,
                "waits": thread.waits,
                "closed": thread.closed_at,
            }
        )
    return found
