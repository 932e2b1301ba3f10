"""Pages of conversations: the lobby and the chat for members, and what researchers see of them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django import forms
from django.contrib import messages
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path, reverse
from django.utils import timezone
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation import access
from annotation.access import campaign_researcher_only
from annotation.errors import AnswerRefused, CampaignRefused, NotTaskHolder
from annotation.kinds import DIALOGUE
from annotation.models import Campaign, Guidelines
from annotation.pages.work import as_json
from annotation.work import task_actions, task_page
from annotation.work.checking import parse
from annotation.work.labels import pseudonyms_of_people
from calibration.reports.wording import counted
from config.files import row_id
from config.listing import Column, Listing
from config.permissions import researcher_only, user_of
from config.web.events import EventStream
from jobs.endpoints.parameter_inputs import WithParameters, given_parameters
from jobs.models import Endpoint
from jobs.runs import CAPS, PAUSES
from judges.pages.forms import CapsForm
from judges.pages.runs import offer_endpoints, sync_endpoints
from suites.collecting import chat_actions, chat_dialogues, chat_lobby, chat_plans, chat_replies, chat_systems
from suites.collecting.campaign_forms import WritersCampaignForm, new_campaign
from suites.collecting.chat_plans import PLAN_SETTINGS
from suites.collecting.chat_systems import NewSystem
from suites.collecting.errors import ChatRefused, PersonasRefused
from suites.collecting.inventory_actions import LONGEST_NAME
from suites.collecting.models import Chat, ChatPlan, ChatSystem

# For members: the lobby.


@require_GET
@cache_control(no_store=True)
def lobby(request: HttpRequest, campaign: int) -> HttpResponse:
    """Members: wait for a conversation; what comes first, such as a consent, is on the annotation page."""
    member = access.membership(user_of(request), campaign)
    _of_chats(campaign)
    chat = chat_lobby.open_chat(member.user_id)
    if chat is not None and chat.campaign_id == campaign:
        return redirect("chat", campaign, chat.pk)
    seat, hold = task_actions.start(by=user_of(request), campaign=campaign)
    if hold is not None or not task_page.own_page(seat):
        return redirect("work", campaign)
    context = {
        "campaign": member.campaign,
        "plan": member.campaign.chat_plan,
        "elsewhere": chat,
        "guidelines": Guidelines.objects.filter(campaign=campaign).order_by("-version").first(),
        "base": reverse("lobby", args=[campaign]),
        "limits": seat.limits.ahead,
    }
    return render(request, "collecting/lobby.html", context)


@require_POST
@as_json
def lobby_wait(request: HttpRequest, campaign: int) -> HttpResponse:
    """Members: wait for a conversation, or go on waiting; the response says where to go, if anywhere."""
    access.membership(user_of(request), campaign)
    _of_chats(campaign)
    place = chat_lobby.wait(by=user_of(request), campaign=campaign)
    address = "" if place.state == "waiting" else reverse("lobby", args=[campaign])
    return JsonResponse({**asdict(place), "address": address})


@require_POST
@as_json
def lobby_stop(request: HttpRequest, campaign: int) -> HttpResponse:
    """Members: leave the lobby."""
    access.membership(user_of(request), campaign)
    chat_lobby.stop_waiting(by=user_of(request), campaign=campaign)
    return JsonResponse({})


@require_GET
def lobby_events(request: HttpRequest, campaign: int) -> HttpResponse:
    """Members: a stream of server-sent events, one when their conversation begins."""
    member = access.membership(user_of(request), campaign)
    return EventStream(chat_lobby.topic(campaign, member.user_id))


def _of_chats(campaign: int) -> None:
    if not ChatPlan.objects.filter(campaign=campaign).exists():
        raise Http404


# For members: the conversation. Every view is for the people in it; others get 404.


def _must_be_own(request: HttpRequest, campaign: int, chat: int) -> None:
    try:
        chat_actions.must_be_in(user_of(request), chat, campaign)
    except NotTaskHolder as error:
        raise Http404 from error


@require_GET
@cache_control(no_store=True)
def chat(request: HttpRequest, campaign: int, chat: int) -> HttpResponse:
    """Members: the page of an own conversation."""
    _must_be_own(request, campaign, chat)
    seat = chat_actions.seat_of(user_of(request), chat)
    plan = seat.chat.campaign.chat_plan
    context = {
        "campaign": seat.chat.campaign,
        "plan": plan,
        "own": seat.number,
        "persona": chat_actions.persona(seat),
        "base": reverse("chat", args=[campaign, chat]),
        "report_limit": chat_actions.REPORT_LIMIT,
    }
    return render(request, "collecting/chat.html", context)


@require_GET
@cache_control(no_store=True)
@as_json
def chat_state(request: HttpRequest, campaign: int, chat: int) -> HttpResponse:
    """Members: an own conversation, with the turns after number `after`."""
    _must_be_own(request, campaign, chat)
    after = row_id(request.GET.get("after", "0")) or 0
    seen = chat_actions.view(by=user_of(request), chat=chat, after=after)
    return JsonResponse(asdict(seen))


@require_GET
def chat_events(request: HttpRequest, campaign: int, chat: int) -> HttpResponse:
    """Members: a stream of server-sent events: `changed`, and `typing N`."""
    _must_be_own(request, campaign, chat)
    return EventStream(chat_actions.topic(chat))


@require_POST
@as_json
def chat_send(request: HttpRequest, campaign: int, chat: int) -> HttpResponse:
    """Members: send a turn; the same `key` again is the same turn."""
    _must_be_own(request, campaign, chat)
    body = parse(request.body)
    text, key = body.get("text"), body.get("key")
    if not isinstance(text, str) or not isinstance(key, str):
        raise AnswerRefused("A turn has a text and a key.")
    message = chat_actions.send(by=user_of(request), chat=chat, text=text, key=key)
    return JsonResponse({"number": message.number})


@require_POST
@as_json
def chat_typing(request: HttpRequest, campaign: int, chat: int) -> HttpResponse:
    """Members: show the others that they write."""
    _must_be_own(request, campaign, chat)
    chat_actions.set_typing(by=user_of(request), chat=chat)
    return JsonResponse({})


@require_POST
@as_json
def chat_leave(request: HttpRequest, campaign: int, chat: int) -> HttpResponse:
    """Members: leave an own conversation, or report it, with a `report`."""
    _must_be_own(request, campaign, chat)
    report = parse(request.body).get("report")
    chat_actions.leave(by=user_of(request), chat=chat, report=None if report is None else str(report))
    return JsonResponse({})


@require_POST
@as_json
def chat_retry(request: HttpRequest, campaign: int, chat: int) -> HttpResponse:
    """Members: ask again for a reply of the partner that did not come."""
    _must_be_own(request, campaign, chat)
    chat_replies.retry(by=user_of(request), chat=chat)
    return JsonResponse({})


@require_POST
@as_json
def chat_pick(request: HttpRequest, campaign: int, chat: int) -> HttpResponse:
    """Members: choose the reply, 1 or 2, with which an own conversation goes on."""
    _must_be_own(request, campaign, chat)
    body = parse(request.body)
    number, place = body.get("number"), body.get("place")
    if not isinstance(number, int) or not isinstance(place, int):
        raise AnswerRefused("A choice has the number of a turn and a place.")
    message = chat_replies.pick(by=user_of(request), chat=chat, number=number, place=place)
    return JsonResponse({"number": message.number})


# For researchers.


class ChatCampaignForm(WritersCampaignForm):
    """A new campaign of conversations over one corpus."""

    plan_settings = PLAN_SETTINGS
    guidelines_text = chat_plans.GUIDELINES
    kinds = (DIALOGUE.key,)
    scheme = forms.ChoiceField(
        label="Annotation scheme",
        help_text="What each person answers about the conversation, once it is over.",
    )

    def create_draft(self, **values: Any) -> Campaign:
        """Create the campaign from the values of its fields, the plan and the corpus."""
        return chat_plans.create(**values)

    def next_page(self, draft: Campaign) -> str:
        """Return the page that adds systems where people talk with these."""
        return "new-chat-system" if draft.chat_plan.has_systems else super().next_page(draft)


@require_http_methods(["GET", "POST"])
@researcher_only
def new_chat_campaign(request: HttpRequest, name: str) -> HttpResponse:
    """Researchers: set up a campaign whose members talk about the dialogues of a corpus without turns."""
    lead = (
        "Members play one participant each of a dialogue without turns, and write to each other or to a "
        "system. A finished conversation becomes a continuation of its dialogue, and its people answer the "
        "questions of the scheme."
    )
    return new_campaign(request, name, ChatCampaignForm, title="Conversations", lead=lead)


class ChatSystemForm(CapsForm, WithParameters):
    """A system that the members of a campaign talk with."""

    name = forms.CharField(
        max_length=chat_systems.NAME_LIMIT,
        help_text="For researchers; members see “Partner”. A name is that of one system for good.",
    )
    endpoint = forms.ModelChoiceField(
        Endpoint.objects.filter(active=True),
        empty_label="Choose an endpoint",
        help_text="Where the model is asked: what people write goes there.",
    )
    instructions = forms.CharField(
        required=False,
        max_length=chat_systems.INSTRUCTIONS_LIMIT,
        widget=forms.Textarea(attrs={"rows": 5}),
        help_text="Its system prompt; the persona of its side follows. Left empty: "
        f"“{chat_systems.INSTRUCTIONS}”",
    )

    def new_system(self) -> NewSystem:
        """Return the system that the form describes."""
        data = self.cleaned_data
        caps = {name: data[name] for name in CAPS if data[name] is not None}
        return NewSystem(data["name"], data["endpoint"], data["instructions"], given_parameters(self), caps)


@require_http_methods(["GET", "POST"])
@campaign_researcher_only
def new_chat_system(request: HttpRequest, campaign: int) -> HttpResponse:
    """Campaign researchers: add a system to a draft campaign whose members talk with systems."""
    row, plan = access.campaign(campaign), get_object_or_404(ChatPlan, campaign=campaign)
    sync_endpoints(request)
    form = ChatSystemForm(request.POST or None)
    offer_endpoints(request, form)
    if request.method == "POST" and form.is_valid():
        try:
            system = chat_systems.add(by=user_of(request), campaign=row, new=form.new_system())
        except CampaignRefused as error:
            form.add_error(error.field if error.field in form.fields else None, str(error))
        else:
            messages.success(request, f"{system.system.name} is added.")
            return redirect("conversations", campaign)
    dialogues = row.tasks.count() or chat_plans.count(row)
    calls = chat_systems.calls_expected(plan, dialogues)
    lead = (
        f"If all {dialogues:,} conversations are completed, about {calls:,} calls are made, by all systems "
        f"together. A cap holds for all conversations of this system: {PAUSES}."
    )
    context = {"form": form, "title": "Add a system", "lead": lead, "action": "Add"}
    context["back"] = reverse("conversations", args=[campaign])
    return render(request, "accounts/form.html", context, status=422 if form.errors else 200)


@require_POST
@campaign_researcher_only
def remove_chat_system(request: HttpRequest, campaign: int, system: int) -> HttpResponse:
    """Campaign researchers: remove a system from a draft campaign."""
    rows = ChatSystem.objects.select_related("system", "run", "campaign__corpus")
    row = get_object_or_404(rows, pk=system, campaign=campaign)
    try:
        chat_systems.remove(by=user_of(request), campaign=row.campaign, system=row)
    except CampaignRefused as error:
        messages.error(request, str(error))
    return redirect("conversations", campaign)


CONVERSATIONS = Listing(
    Column("Conversation", "pk"),
    Column("State", "state"),
    Column("About"),
    Column("People"),
    Column("Turns", "number", is_numeric=True),
    Column("Cost", "cost", is_numeric=True),
    Column("Started", "started_at", is_numeric=True),
    Column("Last turn", "last_at", is_numeric=True),
    size=50,
)


@require_GET
@campaign_researcher_only
def conversations(request: HttpRequest, campaign: int) -> HttpResponse:
    """Campaign researchers: list a campaign's conversations live, and who waits in the lobby."""
    campaign_row = access.campaign(campaign)
    plan = get_object_or_404(ChatPlan, campaign=campaign)
    rows = campaign_row.chats.select_related("task__continuation__dialogue")
    rows = rows.prefetch_related("seats", "systems__system")
    rows = rows.annotate(number=Count("messages"), cost=chat_systems.COST)
    page = CONVERSATIONS.page(request, rows.order_by("-pk"))
    users = {seat.user_id for row in page for seat in row.seats.all() if seat.user_id is not None}
    counts = dict(campaign_row.chats.order_by().values_list("state").annotate(n=Count("pk")))
    context = {
        "campaign": campaign_row,
        "plan": plan,
        "page": page,
        "names": pseudonyms_of_people(users, campaign_row.corpus_id),
        "waiting": chat_lobby.present(campaign, timezone.now()).count(),
        "finished": counts.get("finished", 0),
        "facts": [
            ("Finished", f"{counts.get('finished', 0):,} of {campaign_row.tasks.count():,}"),
            ("Open", f"{counts.get('open', 0):,}"),
            ("Abandoned", f"{counts.get('abandoned', 0):,}"),
        ],
        "systems": campaign_row.chat_systems.select_related("system", "run__endpoint"),
        "settings": [(setting.label, _value(plan, name)) for name, setting in PLAN_SETTINGS.items()],
    }
    return render(request, "collecting/conversations.html", context)


def _value(plan: ChatPlan, name: str) -> Any:
    display = getattr(plan, f"get_{name}_display", None)
    return getattr(plan, name) if display is None else display()


def _chat(campaign: int, pk: int) -> Chat:
    rows = Chat.objects.select_related(
        "campaign__corpus", "campaign__chat_plan", "task__continuation__dialogue"
    )
    return get_object_or_404(rows, pk=pk, campaign=campaign)


@require_GET
@campaign_researcher_only
def conversation(request: HttpRequest, campaign: int, chat: int) -> HttpResponse:
    """Campaign researchers: read one conversation, live; it cannot be written in."""
    row = _chat(campaign, chat)
    context = {
        "campaign": row.campaign,
        "chat": row,
        "plan": row.campaign.chat_plan,
        "dialogue": row.task.continuation.dialogue,
        "transcript": chat_actions.transcript(row),
        "turns": row.messages.select_related("seat"),
        "replies": row.replies.select_related("system__system", "call"),
        "report_limit": chat_actions.REPORT_LIMIT,
    }
    return render(request, "collecting/conversation.html", context)


@require_POST
@campaign_researcher_only
def end_conversation(request: HttpRequest, campaign: int, chat: int) -> HttpResponse:
    """Campaign researchers: end an open conversation, with a reason."""
    row = _chat(campaign, chat)
    try:
        chat_actions.end(by=user_of(request), chat=row, reason=request.POST.get("reason", ""))
    except ChatRefused as error:
        messages.error(request, str(error))
    else:
        messages.success(request, "The conversation is ended.")
    return redirect("conversation", campaign, chat)


class ConversationDialoguesForm(forms.Form):
    """The name of a corpus to make of a campaign's conversations."""

    name = forms.CharField(max_length=LONGEST_NAME, label="Name of the corpus")


@require_http_methods(["GET", "POST"])
@campaign_researcher_only
def conversation_dialogues(request: HttpRequest, campaign: int) -> HttpResponse:
    """Campaign researchers: make a corpus of the finished conversations, for responses to them."""
    campaign_row = access.campaign(campaign)
    get_object_or_404(ChatPlan, campaign=campaign)
    form = ConversationDialoguesForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            made = chat_dialogues.make_dialogues(
                by=user_of(request), campaign=campaign_row, name=form.cleaned_data["name"]
            )
        except PersonasRefused as refused:
            form.add_error(refused.field or None, str(refused))
        else:
            messages.success(request, f"{counted(made.dialogues, 'dialogue')} made.")
            return redirect("corpus", made.corpus.name)
    context = {
        "form": form,
        "title": "Make dialogues",
        "lead": "Finished conversations become dialogues of a new corpus, for responses to them.",
        "action": "Make",
        "back": reverse("conversations", args=[campaign]),
    }
    return render(request, "accounts/form.html", context, status=422 if form.errors else 200)


urlpatterns = [
    path("chat/<int:campaign>/", lobby, name="lobby"),
    path("chat/<int:campaign>/wait/", lobby_wait, name="lobby-wait"),
    path("chat/<int:campaign>/stop/", lobby_stop, name="lobby-stop"),
    path("chat/<int:campaign>/events/", lobby_events, name="lobby-events"),
    path("chat/<int:campaign>/<int:chat>/", chat, name="chat"),
    path("chat/<int:campaign>/<int:chat>/state/", chat_state, name="chat-state"),
    path("chat/<int:campaign>/<int:chat>/events/", chat_events, name="chat-events"),
    path("chat/<int:campaign>/<int:chat>/send/", chat_send, name="chat-send"),
    path("chat/<int:campaign>/<int:chat>/typing/", chat_typing, name="chat-typing"),
    path("chat/<int:campaign>/<int:chat>/leave/", chat_leave, name="chat-leave"),
    path("chat/<int:campaign>/<int:chat>/retry/", chat_retry, name="chat-retry"),
    path("chat/<int:campaign>/<int:chat>/pick/", chat_pick, name="chat-pick"),
    path("campaigns/<int:campaign>/systems/new/", new_chat_system, name="new-chat-system"),
    path(
        "campaigns/<int:campaign>/systems/<int:system>/remove/", remove_chat_system, name="remove-chat-system"
    ),
    path("corpora/<str:name>/conversations/new/", new_chat_campaign, name="new-chat-campaign"),
    path("campaigns/<int:campaign>/conversations/", conversations, name="conversations"),
    path(
        "campaigns/<int:campaign>/conversations/dialogues/",
        conversation_dialogues,
        name="conversation-dialogues",
    ),
    path("campaigns/<int:campaign>/conversations/<int:chat>/", conversation, name="conversation"),
    path("campaigns/<int:campaign>/conversations/<int:chat>/end/", end_conversation, name="end-conversation"),
]
