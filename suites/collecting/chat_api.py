"""The API of conversations: as the pages, for members and for researchers."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, QuerySet
from django.shortcuts import get_object_or_404
from django.urls import path
from rest_framework import serializers
from rest_framework.request import Request

from annotation import access
from annotation.access import IsCampaignResearcher
from annotation.api.campaigns import CampaignSerializer, SettingsSerializer
from annotation.models import Campaign, Corpus
from config import api
from config.lists import Filters, one_of
from config.permissions import IsSignedIn
from jobs.endpoints.parameter_inputs import parameter_serializer_fields, parameters_from_data
from jobs.runs import CAPS
from judges.api.runs import cap_fields
from judges.runs.lookup import endpoint_named
from suites.collecting import chat_actions, chat_dialogues, chat_lobby, chat_plans, chat_replies, chat_systems
from suites.collecting.chat_plans import PLAN_SETTINGS
from suites.collecting.chat_systems import NewSystem
from suites.collecting.inventory_actions import LONGEST_NAME
from suites.collecting.models import Chat, ChatPlan, ChatSystem

Plain = serializers.Serializer[Any]


class ChatPlanSerializer(SettingsSerializer):
    """How the members of a campaign talk with each other."""

    settings = PLAN_SETTINGS

    class Meta:
        model = ChatPlan
        fields = [*PLAN_SETTINGS]


class NewChatSystemSerializer(Plain):
    """A system that people talk with: the model of an endpoint, with instructions (its system prompt)."""

    name = serializers.CharField(max_length=chat_systems.NAME_LIMIT)
    endpoint = serializers.CharField()
    instructions = api.optional_text(
        max_length=chat_systems.INSTRUCTIONS_LIMIT, help_text="Empty: Concord's own."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Gather the sampling parameters and the caps."""
        caps = {name: attrs[name] for name in CAPS if name in attrs}
        own = {name: attrs[name] for name in ("name", "endpoint", "instructions")}
        return {**own, "parameters": parameters_from_data(attrs), "caps": caps}

    def get_fields(self) -> dict[str, Any]:
        """Return the fields above, a field for each sampling parameter, and the caps."""
        return super().get_fields() | parameter_serializer_fields() | cap_fields()


class ChatSystemSerializer(serializers.ModelSerializer[ChatSystem]):
    """A system of a campaign: what identifies it, and the run that asks it."""

    name = serializers.CharField(source="system.name")
    endpoint = serializers.CharField(source="run.endpoint.name")
    conversations = serializers.IntegerField(source="number")

    class Meta:
        model = ChatSystem
        fields = ("id", "name", "endpoint", "run", "spec", "conversations")


class NewChatCampaignSerializer(Plain):
    """A new campaign of conversations about the dialogues without turns of a corpus."""

    name = serializers.CharField()
    corpus = serializers.SlugRelatedField(slug_field="name", queryset=Corpus.objects.all())
    scheme = serializers.CharField(help_text="Of questions about a dialogue: key, or key@version")
    plan = ChatPlanSerializer(default=dict)
    systems = NewChatSystemSerializer(many=True, required=False)
    guidelines = serializers.CharField(
        required=False, allow_blank=True, help_text="Without it, those of role play between strangers"
    )
    consent = api.optional_text()


LobbySerializer = api.serializer_of(chat_lobby.Lobby, "Lobby")


class TurnOfChatSerializer(Plain):
    """A turn: `person` is the number of who wrote it."""

    number = serializers.IntegerField()
    person = serializers.IntegerField()
    text = serializers.CharField()
    at = serializers.DateTimeField()


class ReplyChoiceSerializer(Plain):
    """A reply to choose from: Reply 1 or Reply 2."""

    place = serializers.IntegerField()
    text = serializers.CharField()


ChatViewSerializer = api.serializer_of(
    chat_actions.ChatView,
    "ChatView",
    messages=TurnOfChatSerializer(many=True),
    replies=ReplyChoiceSerializer(many=True),
)


class PickSerializer(Plain):
    """The reply to go on with: `place` 1 or 2 of those for turn `number`."""

    number = serializers.IntegerField(min_value=1, max_value=2**15 - 1)
    place = serializers.IntegerField(min_value=1, max_value=2)


class AfterSerializer(api.QuerySerializer):
    """The turns after this number."""

    after = serializers.IntegerField(default=0, min_value=0, max_value=2**31 - 1)


class SendSerializer(Plain):
    """A turn to send; the same `key` again is the same turn."""

    text = serializers.CharField(trim_whitespace=False, max_length=20_000)
    key = serializers.CharField(max_length=chat_actions.KEY_LIMIT)


class LeaveSerializer(Plain):
    """With a `report`, possibly empty, the conversation is reported; null only leaves it."""

    report = serializers.CharField(
        allow_null=True, allow_blank=True, default=None, max_length=chat_actions.REPORT_LIMIT
    )


class EndSerializer(Plain):
    """Why a conversation is ended."""

    reason = serializers.CharField(max_length=chat_actions.REPORT_LIMIT)


class ConversationSerializer(Plain):
    """A conversation: its people by pseudonym and systems by name, in the order of their numbers.

    `turns` is the number of turns, `cost` that of the systems' replies; null: none, or of unknown price.
    """

    id = serializers.IntegerField(source="pk")
    dialogue = serializers.CharField(source="task.continuation.dialogue.key")
    continuation = serializers.CharField(source="task.continuation.key")
    state = serializers.ChoiceField(choices=Chat.State.choices)
    reason = serializers.CharField()
    report = serializers.CharField()
    people = serializers.SerializerMethodField()
    turns = serializers.IntegerField(source="number")
    cost = serializers.FloatField(allow_null=True)
    started_at = serializers.DateTimeField()
    last_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True)

    def get_people(self, row: Chat) -> list[str]:
        """Pseudonyms of people and names of systems, in the order of their numbers."""
        return [name for _, name, _ in chat_actions.transcript(row).seats]


class ConversationTextSerializer(ConversationSerializer):
    """A conversation with its turns."""

    messages = TurnOfChatSerializer(many=True)


@api.post(NewChatCampaignSerializer, CampaignSerializer, status=201)
def create(request: Request) -> Campaign:
    """Create a draft campaign of conversations; state, members and other settings are as for any campaign."""
    values = api.data(request)
    values["systems"] = [_new_system(request, system) for system in values.get("systems") or ()]
    return chat_plans.create(by=api.user(request), **values)


def _new_system(request: Request, values: dict[str, Any]) -> NewSystem:
    return NewSystem(**{**values, "endpoint": endpoint_named(values["endpoint"], api.user(request))})


def _systems(campaign: int) -> QuerySet[ChatSystem]:
    get_object_or_404(ChatPlan, campaign=campaign)
    rows = ChatSystem.objects.filter(campaign=campaign).select_related("system", "run__endpoint")
    return rows.annotate(number=Count("chats")).order_by("pk")


@api.get(ChatSystemSerializer, many=True, permission=IsCampaignResearcher)
def systems(request: Request, campaign: int) -> QuerySet[ChatSystem]:
    """Campaign researchers: list the systems that a campaign's members talk with."""
    return _systems(campaign)


@api.post(NewChatSystemSerializer, ChatSystemSerializer, status=201, permission=IsCampaignResearcher)
def add_system(request: Request, campaign: int) -> ChatSystem:
    """Campaign researchers: add a system to a draft campaign whose members talk with systems."""
    get_object_or_404(ChatPlan, campaign=campaign)
    new = _new_system(request, api.data(request))
    row = chat_systems.add(by=api.user(request), campaign=access.campaign(campaign), new=new)
    return _systems(campaign).get(pk=row.pk)


@api.delete(permission=IsCampaignResearcher)
def remove_system(request: Request, campaign: int, system: int) -> None:
    """Campaign researchers: remove a system from a draft campaign."""
    row = get_object_or_404(_systems(campaign), pk=system)
    chat_systems.remove(by=api.user(request), campaign=access.campaign(campaign), system=row)


@api.post(gives=LobbySerializer, permission=IsSignedIn)
def wait(request: Request, campaign: int) -> chat_lobby.Lobby:
    """Members: wait for a conversation, or go on waiting.

    Ask again every few seconds: who has not asked for 15 seconds waits no more.
    """
    _member(request, campaign)
    return chat_lobby.wait(by=api.user(request), campaign=campaign)


@api.delete(permission=IsSignedIn)
def stop_waiting(request: Request, campaign: int) -> None:
    """Members: leave the lobby."""
    _member(request, campaign)
    chat_lobby.stop_waiting(by=api.user(request), campaign=campaign)


def _member(request: Request, campaign: int) -> None:
    access.membership(api.user(request), campaign)
    get_object_or_404(ChatPlan, campaign=campaign)


@api.get(ChatViewSerializer, takes=AfterSerializer, permission=IsSignedIn)
def own_chat(request: Request, chat: int) -> chat_actions.ChatView:
    """Members: read an own conversation, with the turns after number `after`."""
    chat_actions.must_be_in(api.user(request), chat)
    return chat_actions.view(by=api.user(request), chat=chat, **api.data(request))


@api.post(SendSerializer, TurnOfChatSerializer, permission=IsSignedIn)
def send(request: Request, chat: int) -> dict[str, Any]:
    """Members: send a turn of an own conversation; the response is the stored turn."""
    chat_actions.must_be_in(api.user(request), chat)
    return chat_actions.as_json(chat_actions.send(by=api.user(request), chat=chat, **api.data(request)))


@api.post(permission=IsSignedIn)
def set_typing(request: Request, chat: int) -> None:
    """Members: show the others of an own conversation that you write."""
    chat_actions.set_typing(by=api.user(request), chat=chat)


@api.post(LeaveSerializer, permission=IsSignedIn)
def leave(request: Request, chat: int) -> None:
    """Members: leave an own conversation, or report it: it is abandoned, and others get its task."""
    chat_actions.must_be_in(api.user(request), chat)
    chat_actions.leave(by=api.user(request), chat=chat, **api.data(request))


@api.post(permission=IsSignedIn)
def retry(request: Request, chat: int) -> None:
    """Members: ask again for a reply of the partner that did not come; the third failure ends it."""
    chat_actions.must_be_in(api.user(request), chat)
    chat_replies.retry(by=api.user(request), chat=chat)


@api.post(PickSerializer, TurnOfChatSerializer, permission=IsSignedIn)
def pick(request: Request, chat: int) -> dict[str, Any]:
    """Members: choose the reply with which an own conversation goes on; the response is the stored turn."""
    chat_actions.must_be_in(api.user(request), chat)
    return chat_actions.as_json(chat_replies.pick(by=api.user(request), chat=chat, **api.data(request)))


@api.get(
    ConversationSerializer,
    permission=IsCampaignResearcher,
    paged=True,
    filters=Filters({"state": one_of("state", [value for value, _ in Chat.State.choices])}),
)
def conversations(request: Request, campaign: int) -> QuerySet[Chat]:
    """Campaign researchers: list a campaign's conversations, newest first."""
    get_object_or_404(ChatPlan, campaign=campaign)
    return _rows(campaign)


def _rows(campaign: int) -> QuerySet[Chat]:
    rows = Chat.objects.filter(campaign=campaign)
    rows = rows.annotate(number=Count("messages"), cost=chat_systems.COST)
    return rows.select_related("campaign", "task__continuation__dialogue").order_by("-pk")


@api.get(ConversationTextSerializer, permission=IsCampaignResearcher)
def conversation(request: Request, campaign: int, chat: int) -> dict[str, Any]:
    """Campaign researchers: read a conversation with its turns, also while it is open."""
    row = get_object_or_404(_rows(campaign), pk=chat)
    return {**ConversationSerializer(row).data, "messages": chat_actions.transcript(row).messages}


@api.post(EndSerializer, permission=IsCampaignResearcher)
def end_conversation(request: Request, campaign: int, chat: int) -> dict[str, Any]:
    """Campaign researchers: end an open conversation, with a reason; it is abandoned."""
    row = get_object_or_404(_rows(campaign), pk=chat)
    chat_actions.end(by=api.user(request), chat=row, **api.data(request))
    return ConversationSerializer(get_object_or_404(_rows(campaign), pk=chat)).data


class NewConversationDialoguesSerializer(Plain):
    """A corpus to make of a campaign's finished conversations."""

    name = serializers.CharField(max_length=LONGEST_NAME)


class ConversationDialoguesSerializer(Plain):
    """The corpus and its number of dialogues."""

    corpus = serializers.CharField(source="corpus.name")
    dialogues = serializers.IntegerField()


@api.post(
    NewConversationDialoguesSerializer,
    ConversationDialoguesSerializer,
    permission=IsCampaignResearcher,
    status=201,
)
def make_dialogues(request: Request, campaign: int) -> chat_dialogues.FixedDialogues:
    """Campaign researchers: make a corpus whose dialogues are the campaign's finished conversations."""
    row = get_object_or_404(ChatPlan.objects.select_related("campaign"), campaign=campaign).campaign
    return chat_dialogues.make_dialogues(by=api.user(request), campaign=row, **api.data(request))


urlpatterns = [
    path("chat-campaigns/", api.route(create), name="api-chat-campaigns"),
    path("work/<int:campaign>/lobby/", api.route(wait, stop_waiting), name="api-lobby"),
    path("work/chats/<int:chat>/", api.route(own_chat), name="api-own-chat"),
    path("work/chats/<int:chat>/turns/", api.route(send), name="api-chat-send"),
    path("work/chats/<int:chat>/typing/", api.route(set_typing), name="api-chat-typing"),
    path("work/chats/<int:chat>/leave/", api.route(leave), name="api-chat-leave"),
    path("work/chats/<int:chat>/retry/", api.route(retry), name="api-chat-retry"),
    path("work/chats/<int:chat>/pick/", api.route(pick), name="api-chat-pick"),
    path("campaigns/<int:campaign>/systems/", api.route(systems, add_system), name="api-chat-systems"),
    path("campaigns/<int:campaign>/systems/<int:system>/", api.route(remove_system), name="api-chat-system"),
    path("campaigns/<int:campaign>/conversations/", api.route(conversations), name="api-conversations"),
    path(
        "campaigns/<int:campaign>/conversations/dialogues/",
        api.route(make_dialogues),
        name="api-conversation-dialogues",
    ),
    path(
        "campaigns/<int:campaign>/conversations/<int:chat>/", api.route(conversation), name="api-conversation"
    ),
    path(
        "campaigns/<int:campaign>/conversations/<int:chat>/end/",
        api.route(end_conversation),
        name="api-end-conversation",
    ),
]
