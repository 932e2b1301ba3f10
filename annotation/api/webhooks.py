"""API of webhooks: a campaign's for researchers, Concord-wide ones for administrators."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.request import Request

from annotation import access
from config import api
from config.lists import Filters, one_of, since
from config.permissions import IsAdministrator
from jobs import access as jobs_access
from jobs import webhooks as delivering
from jobs.models import Delivery, Webhook
from jobs.webhook_events import KINDS, PING
from jobs.webhooks import secret_of


class WebhookSerializer(serializers.ModelSerializer[Webhook]):
    """A webhook; `campaign` is null for a Concord-wide one, `off_reason` is why it was switched off."""

    events = serializers.ListField(child=serializers.ChoiceField(choices=list(KINDS)), min_length=1)
    allow_private = serializers.BooleanField(
        default=False, help_text="It may be in the private network: administrators only."
    )

    class Meta:
        model = Webhook
        fields = ["id", "url", "events", "campaign", "active", "allow_private", "off_reason"]
        fields += ["failing_since", "created_at"]
        read_only_fields = ["campaign", "active", "off_reason", "failing_since"]


class MadeWebhookSerializer(WebhookSerializer):
    """A webhook with its signing secret, which is shown only once."""

    secret = serializers.SerializerMethodField()

    class Meta(WebhookSerializer.Meta):
        fields = [*WebhookSerializer.Meta.fields, "secret"]

    def get_secret(self, webhook: Webhook) -> str:
        """Signing secret of the webhook."""
        return secret_of(webhook)


class WebhookVerbSerializer(serializers.Serializer[Any]):
    """An action on a webhook."""

    verb = serializers.ChoiceField(choices=["on", "off", "ping"])


class DeliverySerializer(serializers.ModelSerializer[Delivery]):
    """Delivery of an event, with the result of the last of its `attempts`; `message` is the `webhook-id`."""

    kind = serializers.CharField(source="event.kind")
    event = serializers.SerializerMethodField()
    message = serializers.SerializerMethodField()
    data: Any = serializers.JSONField(source="event.data")
    at = serializers.DateTimeField(source="event.at")

    class Meta:
        model = Delivery
        fields = ["id", "message", "event", "kind", "data", "at", "state", "attempts", "not_before"]
        fields += ["tried_at", "code", "said", "error", "ms"]

    def get_event(self, row: Delivery) -> str:
        """Id of the event, as in the request body."""
        return f"evt_{row.event.public.hex}"

    def get_message(self, row: Delivery) -> str:
        """Id of the message (header `webhook-id`), the same at every attempt."""
        return f"msg_{row.public.hex}"


DELIVERIES = Filters(
    {
        "state": one_of("state", Delivery.State.values),
        "kind": one_of("event__kind", [*KINDS, PING]),
        "since": since("event__at"),
    }
)


@api.listing(WebhookSerializer)
def campaign_webhooks(request: Request, campaign: int) -> QuerySet[Webhook]:
    """Researchers: list the webhooks of a campaign."""
    return Webhook.objects.filter(campaign=access.campaign(campaign))


@api.post(WebhookSerializer, MadeWebhookSerializer, status=201, secret=True)
def add_to_campaign(request: Request, campaign: int) -> Webhook:
    """Researchers: add a webhook to a campaign; only this response has its secret."""
    number = access.campaign(campaign).pk
    return delivering.add(by=api.user(request), campaign=number, **api.data(request))


@api.listing(WebhookSerializer, permission=IsAdministrator)
def webhooks(request: Request) -> QuerySet[Webhook]:
    """Administrators: list the Concord-wide webhooks."""
    return Webhook.objects.filter(campaign=None)


@api.post(WebhookSerializer, MadeWebhookSerializer, status=201, permission=IsAdministrator, secret=True)
def add(request: Request) -> Webhook:
    """Administrators: add a Concord-wide webhook; only this response has its secret."""
    return delivering.add(by=api.user(request), campaign=None, **api.data(request))


@api.get(WebhookSerializer)
def webhook(request: Request, pk: int) -> Webhook:
    """Researchers: read a campaign's webhook. Administrators: any."""
    return jobs_access.webhook(api.user(request), pk)


@api.patch(WebhookSerializer, WebhookSerializer, partial=True)
def change(request: Request, pk: int) -> Webhook:
    """Researchers: change a campaign's webhook. Administrators: any."""
    hook = jobs_access.webhook(api.user(request), pk)
    return delivering.change(by=api.user(request), webhook=hook, fields=api.data(request))


@api.delete()
def delete(request: Request, pk: int) -> None:
    """Researchers: delete a campaign's webhook. Administrators: any."""
    delivering.delete(by=api.user(request), webhook=jobs_access.webhook(api.user(request), pk))


@api.post(WebhookVerbSerializer, WebhookSerializer)
def webhook_act(request: Request, pk: int) -> Webhook:
    """Researchers: switch a webhook on or off, or send it a test (a delivery of kind `ping`)."""
    verb = delivering.VERBS[api.data(request)["verb"]]
    verb(by=api.user(request), webhook=jobs_access.webhook(api.user(request), pk))
    return jobs_access.webhook(api.user(request), pk)


@api.post(gives=MadeWebhookSerializer, secret=True)
def rotate_webhook(request: Request, pk: int) -> Webhook:
    """Researchers: rotate a webhook's secret, shown only once; the old secret also signs for a day."""
    return delivering.rotate(by=api.user(request), webhook=jobs_access.webhook(api.user(request), pk))


@api.listing(DeliverySerializer, filters=DELIVERIES)
def deliveries(request: Request, pk: int) -> QuerySet[Delivery]:
    """Researchers: list a webhook's deliveries, past and pending, latest first."""
    return jobs_access.webhook(api.user(request), pk).deliveries.select_related("event")


@api.post(gives=DeliverySerializer)
def redeliver(request: Request, pk: int) -> Delivery:
    """Researchers: send a delivery again now, under the same id."""
    delivery_row = jobs_access.delivery(api.user(request), pk)
    return delivering.send_again(by=api.user(request), delivery=delivery_row)
