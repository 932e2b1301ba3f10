"""Campaigns of form `chat`: their plan, what they need of campaign and corpus, and their continuations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from django.contrib.auth.models import User
from django.db import models, transaction
from django.db.models import Exists, F, Func, IntegerField, OuterRef, QuerySet

from annotation.campaigns import campaign_actions
from annotation.campaigns.settings import Setting, check_values, refuse
from annotation.corpora import exclusion
from annotation.hooks import CampaignForm
from annotation.kinds import DIALOGUE
from annotation.models import Campaign, Continuation, Corpus, Dialogue, System, Turn
from annotation.records import HUMAN, SELF
from annotation.work import leases
from annotation.work.leases import Seat
from suites.collecting import chat_systems
from suites.collecting.chat_systems import NewSystem
from suites.collecting.models import Chat, ChatPlan


class PlanSetting(Setting):
    """A setting of the plan of a campaign's conversations."""

    model: ClassVar[type[models.Model]] = ChatPlan


PLAN_SETTINGS = {
    setting.name: setting
    for setting in (
        PlanSetting("partner", "People talk with", subject="People talk with"),
        PlanSetting(
            "first",
            "Who begins",
            "In a conversation with a system. Between people, person 1 begins.",
            subject="Who begins is",
        ),
        PlanSetting("participants", "People in a conversation", bounds=(2, 6), required=True),
        PlanSetting("turn_order", "Who writes next", subject="Who writes next is"),
        PlanSetting(
            "exchanges",
            "Turns of each participant",
            "With free order: this number times the people, whoever writes them.",
            bounds=(1, 100),
            required=True,
        ),
        PlanSetting(
            "most_characters",
            "Most characters of a turn",
            "Of people. What a system writes is never cut.",
            bounds=(1, 10_000),
            required=True,
        ),
        PlanSetting(
            "remind_minutes",
            "Minutes until a reminder",
            "Whoever is expected to write sees it on the page.",
            bounds=(1, 120),
            required=True,
        ),
        PlanSetting(
            "idle_minutes",
            "Minutes without a turn until it is abandoned",
            "Its task then goes to other people.",
            bounds=(2, 240),
            required=True,
        ),
    )
}
UNUSED = {
    "overlap_raters": "All conversations have the same number of people.",
    "sample_dialogues": "Make a corpus of as many dialogues as there should be conversations.",
    "sample_apart": "A conversation has no answers of a judge before it began.",
    "review": "A conversation has no answers of a judge before it began.",
    "apart_judge": "A conversation has no answers of a judge before it began.",
}
"""Settings of campaigns that have no meaning for conversations, with the reason."""

GUIDELINES = """\
You talk with somebody whom you have not met before, to get to know each other. You play the persona that \
you read first: make up what it does not say, but nothing that contradicts it. If it is hard to imagine \
meeting a stranger, imagine that you meet in a game or a virtual world.

- Answer what was just said, and ask questions, too.
- Write as you would in a chat, in one or two sentences.
- Do not write who you really are, nor anything by which somebody could find you.
- Do not copy from other people or from a language model.
- Report whatever is insulting, or makes you uncomfortable.

Once the conversation is over, you answer a few questions about the whole of it."""
"""What people do in a conversation, where the researcher says nothing else: role play as for ComperDial
(Wakaki et al. 2024, section 3.2.1)."""


@transaction.atomic
def create(
    *,
    by: User,
    name: str,
    corpus: Corpus,
    scheme: str,
    plan: Mapping[str, Any],
    systems: Iterable[NewSystem] = (),
    annotators: Iterable[User] = (),
    guidelines: str | None = None,
    consent: str = "",
    **options: Any,
) -> Campaign:
    """Create a draft campaign whose members play the dialogues without turns of a corpus.

    They talk with each other or with `systems`, which can be added later, too. `plan` has values of
    PLAN_SETTINGS, `scheme` the questions about a whole dialogue that each person answers about the
    conversation; `options` are other settings of the campaign. Without `guidelines` those of GUIDELINES are
    used. Raises CampaignRefused.
    """
    row = ChatPlan(**plan)
    check_values(row, PLAN_SETTINGS)
    if row.idle_minutes <= row.remind_minutes:
        refuse(
            "idle_minutes", "A conversation is abandoned after the reminder: more minutes than until that."
        )
    if row.has_systems and (row.participants, row.turn_order) != (2, ChatPlan.Order.ALTERNATE):
        refuse("participants", "With a system, a conversation has two participants, who write in turn.")
    if not row.has_systems and row.first != ChatPlan.First.PERSON:
        refuse("first", "Between people, person 1 begins.")
    campaign = campaign_actions.create(
        by=by,
        name=name,
        corpus=corpus,
        scheme=scheme,
        annotators=annotators,
        guidelines=GUIDELINES if guidelines is None else guidelines,
        consent=consent,
        shows=(),
        form=Campaign.Form.CHAT,
        raters_per_item=row.people,
        **options,
    )
    if not bare_dialogues(corpus, row.participants).exists():
        refuse(
            "participants",
            f"No dialogue of {corpus.name} without turns has {row.participants} participants.",
        )
    row.campaign = campaign
    row.save()
    for system in systems:
        chat_systems.add(by=by, campaign=campaign, new=system)
    return campaign


def bare_dialogues(corpus: Corpus, participants: int) -> QuerySet[Dialogue]:
    """Return the dialogues of a corpus that people can hold: without turns, with a number of participants."""
    own_turns = Turn.objects.filter(continuation__dialogue=OuterRef("pk"), continuation__key=SELF)
    size = Func(F("participants"), function="jsonb_array_length", output_field=IntegerField())
    rows = Dialogue.objects.filter(corpus=corpus, part="", scenario__isnull=True, script__isnull=True)
    return rows.annotate(size=size).filter(~Exists(own_turns), size=participants)


def check(campaign: Campaign) -> None:
    """Refuse settings that do not fit conversations."""
    if campaign.scheme_version.item_kind != DIALOGUE.key:
        refuse("scheme", "People answer about their whole conversation: choose a scheme about dialogues.")
    if campaign.shows:
        refuse("shows", "Nothing is shown beside a conversation: nobody may learn another one's persona.")
    for name, reason in UNUSED.items():
        if getattr(campaign, name):
            refuse(name, reason)
    plan = ChatPlan.objects.filter(campaign=campaign.pk).first()
    if plan is not None and campaign.raters_per_item != plan.people:
        people = "person" if plan.people == 1 else f"{plan.people} people"
        refuse("raters_per_item", f"Each conversation is rated by the {people} who held it.")


def make(campaign: Campaign) -> int:
    """Give every dialogue that people can hold an empty continuation of the campaign; return how many."""
    plan = ChatPlan.objects.filter(campaign=campaign.pk).first()
    if plan is not None:
        chat_systems.check(campaign, plan)
    system, _ = System.objects.get_or_create(corpus=campaign.corpus, name=HUMAN)
    rows = [
        Continuation(dialogue_id=dialogue, key=campaign.own_key, system=system)
        for dialogue in _lacking(campaign).order_by("pk").values_list("pk", flat=True)
    ]
    return len(Continuation.objects.bulk_create(rows, batch_size=5_000))


def count(campaign: Campaign) -> int:
    """Return the number of continuations that `make` would create."""
    return _lacking(campaign).count()


def _lacking(campaign: Campaign) -> QuerySet[Dialogue]:
    existing = Continuation.objects.filter(dialogue=OuterRef("pk"), key=campaign.own_key)
    plan = ChatPlan.objects.filter(campaign=campaign.pk).first()
    participants = campaign.raters_per_item if plan is None else plan.participants
    passed = exclusion.without(exclusion.excluded_ids(campaign.corpus, campaign.exclude))
    return bare_dialogues(campaign.corpus, participants).filter(~Exists(existing), passed)


def copy(source: Campaign, target: Campaign) -> None:
    """Give a copied campaign the same plan."""
    values = {name: getattr(source.chat_plan, name) for name in PLAN_SETTINGS}
    ChatPlan.objects.create(campaign=target, **values)
    chat_systems.copy(source, target)


def has_work(seat: Seat) -> bool:
    """Whether a member is in a conversation, or one is left for them to hold."""
    mine = Chat.objects.filter(campaign=seat.campaign, state=Chat.State.OPEN, seats__user=seat.user)
    return mine.exists() or leases.has_unwritten(seat)


FORMS = {Campaign.Form.CHAT: CampaignForm("lobby", check, make, count, copy, has_work)}
