"""Pages of written responses: the writer's page, and what researchers see of it."""

from __future__ import annotations

from typing import Any

from django import forms
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path, reverse
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation import access
from annotation.access import campaign_researcher_only
from annotation.campaigns.settings import SETTINGS
from annotation.errors import AnswerRefused, NotTaskHolder
from annotation.kinds import DIALOGUE, TURN
from annotation.models import Campaign
from annotation.pages.campaign_form import setting_field
from annotation.pages.work import as_json
from annotation.work.checking import parse
from annotation.work.labels import pseudonyms_of_people
from annotation.work.shortcuts import REASONS
from config.listing import Column, Listing
from config.permissions import researcher_only, user_of
from suites.collecting import writing_actions, writing_plans
from suites.collecting.campaign_forms import WritersCampaignForm, new_campaign
from suites.collecting.models import WritingPlan
from suites.collecting.writing_plans import PLAN_SETTINGS

# For members.


@require_GET
@cache_control(no_store=True)
def write(request: HttpRequest, campaign: int) -> HttpResponse:
    """Members: write the next response; what comes first, such as a consent, is on the annotation page."""
    member = access.membership(user_of(request), campaign)
    get_object_or_404(WritingPlan, campaign=campaign)
    try:
        place = writing_actions.start(by=user_of(request), campaign=campaign)
    except NotTaskHolder as error:
        raise Http404 from error
    if place.writing is None:
        return redirect("work", campaign)
    context = {
        "campaign": member.campaign,
        "writing": place.writing,
        "guidelines": member.campaign.guidelines.order_by("-version").first(),
        "base": reverse("write", args=[campaign]),
        "reasons": REASONS,
    }
    return render(request, "collecting/write.html", context)


def _body(request: HttpRequest, campaign: int) -> dict[str, Any]:
    """Return the assignment, number and text of a request by a member."""
    access.membership(user_of(request), campaign)
    body = parse(request.body)
    place = body.get("assignment"), body.get("number")
    if not all(isinstance(value, int) and 0 < value < 2**31 for value in place):
        raise AnswerRefused("A response names its assignment and its number.")
    if not isinstance(text := body.get("text"), str):
        raise AnswerRefused("A response has a text.")
    return {"assignment": place[0], "number": place[1], "text": text}


@require_POST
@as_json
def write_send(request: HttpRequest, campaign: int) -> HttpResponse:
    """Members: send a response; the same again is the same response."""
    sent = writing_actions.send(by=user_of(request), campaign=campaign, **_body(request, campaign))
    return JsonResponse({"number": sent.number, "is_last": sent.is_last, "real": sent.real})


@require_POST
@as_json
def write_draft(request: HttpRequest, campaign: int) -> HttpResponse:
    """Members: save the text begun for a response."""
    writing_actions.save_draft(by=user_of(request), campaign=campaign, **_body(request, campaign))
    return JsonResponse({})


@require_POST
@as_json
def write_skip(request: HttpRequest, campaign: int) -> HttpResponse:
    """Members: skip a dialogue, with the `text` as the reason."""
    body = _body(request, campaign)
    writing_actions.skip(
        by=user_of(request), campaign=campaign, assignment=body["assignment"], reason=body["text"]
    )
    return JsonResponse({})


# For researchers.


class WriteCampaignForm(WritersCampaignForm):
    """A new campaign of written responses over one corpus."""

    plan_settings = PLAN_SETTINGS
    guidelines_text = writing_plans.GUIDELINES
    kinds = (DIALOGUE.key, TURN.key)
    field_order = ("name", "raters_per_item", "guidelines", "consent", "scheme")
    raters_per_item = setting_field(
        SETTINGS["raters_per_item"], label="Writers of a dialogue", help_text="Nobody writes twice for one."
    )
    scheme = forms.ChoiceField(
        required=False,
        label="Scheme of training and tests",
        help_text="Nothing is asked about what members write. Choose one only if key tasks are to train or "
        "test them.",
    )

    def create_draft(self, **values: Any) -> Campaign:
        """Create the campaign from the values of its fields, the plan and the corpus."""
        return writing_plans.create(**values)


@require_http_methods(["GET", "POST"])
@researcher_only
def new_write_campaign(request: HttpRequest, name: str) -> HttpResponse:
    """Researchers: set up a campaign whose members write responses to the dialogues of a corpus."""
    lead = (
        "Members write, at each turn of the second speaker, what they would say there, before they see the "
        "real reply. What they write is rated like the responses of systems."
    )
    return new_campaign(request, name, WriteCampaignForm, title="Responses by people", lead=lead)


WRITINGS = Listing(
    Column("Task", "pk"),
    Column("State", "state"),
    Column("Dialogue"),
    Column("Writer"),
    Column("Responses", "number", is_numeric=True),
    Column("Began", "leased_at", is_numeric=True),
    Column("Last response", "last_at", is_numeric=True),
    size=50,
)


@require_GET
@campaign_researcher_only
def writings(request: HttpRequest, campaign: int) -> HttpResponse:
    """Campaign researchers: list who writes, or wrote, for which dialogue of a campaign, live."""
    campaign_row = access.campaign(campaign)
    plan = get_object_or_404(WritingPlan, campaign=campaign)
    page = WRITINGS.page(request, writing_actions.writings(campaign))
    counts = dict(campaign_row.assignments.order_by().values_list("state").annotate(n=Count("pk")))
    context = {
        "campaign": campaign_row,
        "page": page,
        "names": pseudonyms_of_people({row.user_id for row in page}, campaign_row.corpus_id),
        "facts": [
            ("Finished", f"{counts.get('submitted', 0):,} of {campaign_row.slots.count():,}"),
            ("Being written", f"{counts.get('leased', 0):,}"),
            ("Writers see", plan.get_personas_display()),
            ("Most characters", plan.most_characters),
        ],
    }
    return render(request, "collecting/writings.html", context)


@require_GET
@campaign_researcher_only
def writing(request: HttpRequest, campaign: int, assignment: int) -> HttpResponse:
    """Campaign researchers: read what one person wrote for a dialogue, beside the real replies."""
    get_object_or_404(WritingPlan, campaign=campaign)
    row = get_object_or_404(writing_actions.writings(campaign), pk=assignment)
    context = {
        "campaign": row.campaign,
        "row": row,
        "dialogue": row.task.continuation.dialogue,
        "writer": pseudonyms_of_people([row.user_id], row.campaign.corpus_id)[row.user_id],
        "responses": writing_actions.responses(row),
    }
    return render(request, "collecting/writing.html", context)


urlpatterns = [
    path("write/<int:campaign>/", write, name="write"),
    path("write/<int:campaign>/send/", write_send, name="write-send"),
    path("write/<int:campaign>/draft/", write_draft, name="write-draft"),
    path("write/<int:campaign>/skip/", write_skip, name="write-skip"),
    path("corpora/<str:name>/responses/new/", new_write_campaign, name="new-write-campaign"),
    path("campaigns/<int:campaign>/writings/", writings, name="writings"),
    path("campaigns/<int:campaign>/writings/<int:assignment>/", writing, name="writing"),
]
