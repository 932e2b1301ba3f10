"""Pages of webhooks: a campaign's for researchers, Concord-wide ones for administrators."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from annotation import access
from annotation.models import Campaign
from config.permissions import administrator_only, is_administrator, researcher_only, user_of
from jobs import access as jobs_access
from jobs import webhooks as delivering
from jobs.errors import WebhookRefused
from jobs.models import Delivery, Webhook
from jobs.webhook_events import KINDS
from jobs.webhooks import secret_of

ROWS = 50
DONE = {
    "on": "It is on.",
    "off": "The webhook is off: it no longer receives events.",
    "ping": "A test is on its way. What comes of it is in the list below.",
}
OPEN = (Delivery.State.PENDING, Delivery.State.LEASED)


class WebhookForm(forms.Form):
    """A webhook's address and its events."""

    url = forms.URLField(label="Address", max_length=Webhook.url.field.max_length, assume_scheme="https")
    events = forms.MultipleChoiceField(
        label="Is told",
        choices=[(kind, f"{title} ({kind})") for kind, title in KINDS.items()],
        widget=forms.CheckboxSelectMultiple,
        initial=list(KINDS),
    )
    allow_private = forms.BooleanField(
        required=False,
        label="It may be in the machine's private network",
        help_text="For receivers beside this server. Administrators only.",
    )

    def __init__(self, *args: Any, viewer: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not is_administrator(viewer):
            del self.fields["allow_private"]


@require_http_methods(["GET", "POST"])
@never_cache
@researcher_only
def campaign_webhooks(request: HttpRequest, campaign: int) -> HttpResponse:
    """Researchers: list a campaign's webhooks, with a form for a new webhook."""
    return _list(request, access.campaign(campaign))


@require_http_methods(["GET", "POST"])
@never_cache
@administrator_only
def webhooks(request: HttpRequest) -> HttpResponse:
    """Administrators: list Concord-wide webhooks, with a form for a new webhook."""
    return _list(request, None)


def _list(request: HttpRequest, campaign: Campaign | None) -> HttpResponse:
    form = WebhookForm(request.POST or None, viewer=user_of(request))
    if request.method == "POST" and form.is_valid():
        number = None if campaign is None else campaign.pk
        try:
            hook = delivering.add(by=user_of(request), campaign=number, **form.cleaned_data)
        except WebhookRefused as error:
            form.add_error(error.field or None, str(error))
        else:
            return _webhook_page(request, hook, secret=secret_of(hook))
    context = {
        "campaign": campaign,
        "rows": Webhook.objects.filter(campaign=campaign),
        "form": form,
    }
    return render(request, "webhooks/list.html", context, status=422 if form.errors else 200)


@require_http_methods(["GET", "POST"])
@never_cache
@researcher_only
def webhook(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: show a campaign's webhook with its deliveries, or change it. Administrators: any."""
    hook = jobs_access.webhook(user_of(request), pk)
    if request.method == "GET":
        return _webhook_page(request, hook)
    form = WebhookForm(request.POST, viewer=user_of(request))
    if form.is_valid():
        try:
            delivering.change(by=user_of(request), webhook=hook, fields=form.cleaned_data)
        except WebhookRefused as error:
            form.add_error(error.field or None, str(error))
        else:
            messages.success(request, "The webhook is saved.")
            return redirect("webhook", hook.pk)
    return _webhook_page(request, hook, form=form)


@require_POST
@never_cache
@researcher_only
def webhook_act(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: switch a webhook on or off, test it, rotate its secret, or delete it."""
    hook, verb = jobs_access.webhook(user_of(request), pk), request.POST.get("verb", "")
    if verb == "delete":
        delivering.delete(by=user_of(request), webhook=hook)
        messages.success(request, "The webhook is deleted.")
        return redirect("campaign-webhooks", hook.campaign_id) if hook.campaign_id else redirect("webhooks")
    if verb == "rotate":
        rotated = delivering.rotate(by=user_of(request), webhook=hook)
        return _webhook_page(request, jobs_access.webhook(user_of(request), pk), secret=secret_of(rotated))
    if verb in DONE:
        delivering.VERBS[verb](by=user_of(request), webhook=hook)
        messages.success(request, DONE[verb])
    else:
        messages.error(request, f"A webhook can be told to {', '.join(delivering.VERBS)} or delete.")
    return redirect("webhook", hook.pk)


@require_POST
@researcher_only
def redeliver_webhook(request: HttpRequest, pk: int) -> HttpResponse:
    """Researchers: send a delivery again, under the same id."""
    delivery_row = jobs_access.delivery(user_of(request), pk)
    try:
        delivering.send_again(by=user_of(request), delivery=delivery_row)
    except WebhookRefused as error:
        messages.error(request, str(error))
    else:
        messages.success(request, "It is sent again.")
    return redirect("webhook", delivery_row.webhook_id)


def _webhook_page(
    request: HttpRequest, hook: Webhook, *, form: WebhookForm | None = None, secret: str = ""
) -> HttpResponse:
    stored = {"url": hook.url, "events": hook.events, "allow_private": hook.allow_private}
    page = Paginator(hook.deliveries.select_related("event"), ROWS).get_page(request.GET.get("page"))
    context = {
        "webhook": hook,
        "back": reverse("campaign-webhooks", args=[hook.campaign_id])
        if hook.campaign_id
        else reverse("webhooks"),
        "secret": secret,
        "form": form or WebhookForm(initial=stored, viewer=user_of(request)),
        "page": page,
        "is_under_way": any(row.state in OPEN and (hook.active or row.asked) for row in page),
    }
    return render(
        request, "webhooks/webhook.html", context, status=422 if form is not None and form.errors else 200
    )
