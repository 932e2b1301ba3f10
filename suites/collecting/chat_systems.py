"""Systems that people talk with: their identity and run, who talks with which, and requests for replies."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import combinations
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import OuterRef, Subquery, Sum

from annotation.campaigns.campaign_actions import log
from annotation.campaigns.settings import check_blind, refuse
from annotation.models import Campaign, Corpus, System
from annotation.records import HUMAN, SELF
from annotation.text.draws import u
from jobs import runs
from jobs.endpoints.ownership import require_use
from jobs.endpoints.parameters import checked
from jobs.errors import JobError
from jobs.models import Call, Endpoint, Run
from jobs.queue.waking import wake
from suites.collecting.models import Chat, ChatPlan, ChatReply, ChatSystem

KIND = "chat"
"""Kind of the runs that ask systems for replies."""
ARENA = "arena"
"""System of the conversations in which two systems answer."""
NAME_LIMIT, INSTRUCTIONS_LIMIT = 120, 20_000
MOST_TRIES = 3
"""How often a reply is asked for, by the conversation and then by its person, until it is abandoned."""
MOST_ATTEMPTS = 4
"""Claims of a call until it fails: with waits of 1, 2 and 4 s, somebody waits for it."""
INSTRUCTIONS = (
    "You talk with a person in a chat, as the person described below if there is a description. Write only "
    "your own next message, in the language of the conversation and about as long as theirs."
)
"""Instructions of a system without its own."""


@dataclass(frozen=True, slots=True)
class NewSystem:
    """A system to talk with: the model of an endpoint with `instructions` (its system prompt).

    `caps` are those of `jobs.runs.CAPS` for all its conversations of a campaign.
    """

    name: str
    endpoint: Endpoint
    instructions: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    caps: Mapping[str, Any] = field(default_factory=dict)

    @property
    def spec(self) -> dict[str, Any]:
        """Its identity: what is sent to which model. Raises JobError for parameters that do not fit."""
        return {
            "instructions": self.instructions.strip() or INSTRUCTIONS,
            "model": self.endpoint.answering_model,
            **self.endpoint.server,
            "parameters": checked(dict(self.parameters)),
        }


def fingerprint_of(spec: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a spec as JSON with sorted keys."""
    return hashlib.sha256(json.dumps(spec, sort_keys=True).encode()).hexdigest()


@transaction.atomic
def add(*, by: User, campaign: Campaign, new: NewSystem) -> ChatSystem:
    """Add a system to a draft campaign whose members talk with systems, with a run that has no calls yet.

    Raises CampaignRefused, also for a name that the corpus has for another system.
    """
    plan = ChatPlan.objects.get(campaign=campaign)
    if not plan.has_systems:
        refuse("partner", "The members of this campaign talk with each other.")
    if campaign.state != Campaign.State.DRAFT:
        refuse("name", "Systems are added while the campaign is a draft: copy it, and add them to the copy.")
    try:
        require_use(by, new.endpoint)
        spec = new.spec
        run = _run(campaign, new, spec, by)
    except JobError as error:
        refuse("endpoint", str(error))
    row = _insert(campaign, new.name.strip(), spec, run)
    log(by, campaign, "add system", system=row.system.name, spec=spec)
    return row


def _run(campaign: Campaign, new: NewSystem, spec: Mapping[str, Any], by: User | None) -> Run:
    name = new.name.strip()
    scope = {"campaign": campaign.pk, "corpus": campaign.corpus.name, "system": name}
    run = Run(
        kind=KIND,
        title=name,
        spec=dict(spec),
        corpus=campaign.corpus,
        campaign=campaign,
        endpoint=new.endpoint,
        queue=Run.Queue.CALLS,
        scope=scope,
        scope_hash=hashlib.sha256(json.dumps(scope, sort_keys=True).encode()).hexdigest(),
        max_attempts=MOST_ATTEMPTS,
        use_cache=False,
        urgent=True,
        created_by=by,
    )
    runs.put_caps(run, new.caps)
    return run


def _insert(campaign: Campaign, name: str, spec: Mapping[str, Any], run: Run) -> ChatSystem:
    """Save a system of a campaign with its run; refuse a name that means something else."""
    if not name or len(name) > NAME_LIMIT or any(ord(letter) < 32 for letter in name):
        refuse("name", f"The name of a system has 1 to {NAME_LIMIT} characters, on one line.")
    if name in (HUMAN, SELF, ARENA):
        refuse("name", f"A system cannot be called {name!r}: choose another name.")
    if ChatSystem.objects.filter(campaign=campaign, system__name=name).exists():
        refuse("name", f"This campaign has a system {name!r} already.")
    Corpus.objects.select_for_update(no_key=True).get(pk=campaign.corpus_id)
    system, created = System.objects.get_or_create(corpus=campaign.corpus, name=name)
    fingerprint = fingerprint_of(spec)
    if not created:
        fingerprints = set(ChatSystem.objects.filter(system=system).values_list("fingerprint", flat=True))
        if fingerprints != {fingerprint}:
            refuse("name", f"The corpus has another system {name!r} already: choose another name.")
    _check_blind(campaign)
    run.save()
    return ChatSystem.objects.create(
        campaign=campaign, system=system, run=run, spec=dict(spec), fingerprint=fingerprint
    )


def _check_blind(campaign: Campaign) -> None:
    """Refuse a system that the campaign's texts for its members name."""
    texts = [("name", campaign.name)]
    texts += [("guidelines", row.text) for row in campaign.guidelines.order_by("-version")[:1]]
    texts += [("consent text", row.text) for row in campaign.consents.order_by("-version")[:1]]
    for title, text in texts:
        check_blind(campaign.corpus, "name", f"The {title} of the campaign has the name of", text)


@transaction.atomic
def remove(*, by: User, campaign: Campaign, system: ChatSystem) -> None:
    """Remove a system from a draft campaign, with its run. Raises CampaignRefused."""
    if campaign.state != Campaign.State.DRAFT:
        refuse("name", "Systems are removed while the campaign is a draft.")
    row = system.system
    system.run.delete()
    if not row.chat_systems.exists() and not row.continuations.exists():
        row.delete()
    log(by, campaign, "remove system", system=row.name)


def copy(source: Campaign, target: Campaign) -> None:
    """Give a copied campaign the same systems, each with a run of its own and the same caps."""
    for row in source.chat_systems.select_related("system", "run__endpoint"):
        caps = {name: getattr(row.run, name) for name in runs.CAPS}
        assert row.run.endpoint is not None
        new = NewSystem(row.system.name, row.run.endpoint, caps=caps)
        _insert(target, row.system.name, row.spec, _run(target, new, row.spec, target.created_by))


def check(campaign: Campaign, plan: ChatPlan) -> None:
    """Refuse to open a campaign without the systems that its members talk with."""
    lacking = plan.systems - campaign.chat_systems.count()
    if lacking > 0:
        refuse("partner", f"Add {lacking} more system{'s' if lacking > 1 else ''} to talk with first.")


def calls_expected(plan: ChatPlan, dialogues: int) -> int:
    """Return the calls of conversations about a number of dialogues, if all are completed."""
    return dialogues * plan.exchanges * plan.systems


# Which systems a person talks with: those that they met least, then those with fewest conversations.


def draw(chat: Chat, plan: ChatPlan, user: int) -> list[ChatSystem]:
    """Draw the systems of a conversation, so that a person and a campaign meet all of them equally often.

    Of equal ones, the campaign's seed decides. The caller holds the lock of the lobbies.
    """
    met: Counter[int] = Counter(
        Chat.systems.through.objects.filter(
            chat__campaign=chat.campaign_id, chat__seats__user=user
        ).values_list("chatsystem", flat=True)
    )
    pairs: dict[int, set[int]] = {}
    rows = Chat.systems.through.objects.filter(chat__campaign=chat.campaign_id)
    for pk, system in rows.exclude(chat__state=Chat.State.ABANDONED).values_list("chat", "chatsystem"):
        pairs.setdefault(pk, set()).add(system)
    pair_counts = Counter(frozenset(pair) for pair in pairs.values())
    used = Counter(system for pair in pairs.values() for system in pair)
    seed = chat.campaign.seed

    def order(group: Iterable[ChatSystem]) -> tuple[float, ...]:
        ids = sorted(system.pk for system in group)
        return (
            sum(met[pk] for pk in ids),
            pair_counts[frozenset(ids)],
            sum(used[pk] for pk in ids),
            u(seed, "systems", chat.task_id, user, *ids),
        )

    return list(min(combinations(chat.campaign.chat_systems.order_by("pk"), plan.systems), key=order))


# Replies: asked for in the transaction of the turn before them.


def ask(chat: Chat, plan: ChatPlan, now: datetime) -> None:
    """Ask the systems of a locked conversation for its next turn; which one is Reply 1, the seed decides."""
    number = chat.messages.count() + 1
    systems = list(chat.systems.select_related("run").order_by("pk"))
    if u(chat.campaign.seed, "place", chat.pk, number) < 0.5:
        systems.reverse()
    part = f"conversation {chat.pk}, turn {number}"
    for place, system in enumerate(systems, start=1):
        call = Call.objects.create(run=system.run, part=part)
        ChatReply.objects.create(chat=chat, number=number, place=place, system=system, call=call, at=now)
        wake_run(system.run_id)


def wake_run(pk: int) -> None:
    """Let a run's new calls be asked: one that was done goes on; one paused or stopped stays so."""
    run = Run.objects.select_for_update().get(pk=pk)
    if run.state == Run.State.DONE:
        runs.reopen(run)
    elif run.state in runs.ACTIVE:
        wake(run.queue)


COST = Subquery(
    ChatReply.objects.filter(chat=OuterRef("pk"))
    .order_by()
    .values("chat")
    .annotate(cost=Sum("call__cost"))
    .values("cost")
)
"""Cost of a conversation's replies, for queries of conversations; null: none, or of unknown price."""


def next_replies(chat: Chat, number: int) -> list[ChatReply]:
    """Return the replies that were asked for as turn `number`, by place, with their calls and runs."""
    return list(chat.replies.filter(number=number).select_related("call__run", "system__run"))


def has_failed(reply: ChatReply) -> bool:
    """Whether a reply does not come by itself: its call failed, or waits for a run that does not go on."""
    call = reply.call
    if call.state in runs.AGAIN:
        return True
    return call.state == Call.State.PENDING and call.run.state not in runs.ACTIVE


def cancel(chat: Chat) -> None:
    """Cancel the calls of a conversation that no worker has begun; others end, and count for nothing."""
    waiting = Call.objects.filter(chat_reply__chat=chat, state=Call.State.PENDING)
    ids = list(waiting.select_for_update(skip_locked=True, of=("self",)).values_list("pk", flat=True))
    Call.objects.filter(pk__in=ids).update(state=Call.State.CANCELLED)
