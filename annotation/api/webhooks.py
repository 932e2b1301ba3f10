"""The API of webhooks: of a campaign for researchers, of all of Concord for administrators."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.models import User
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import api_view, permission_classes
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access
from annotation.models import Campaign
from config.idempotency import told_once
from config.lists import Filters, Pages, one_of, paged, since
from config.permissions import IsAdministrator, IsResearcher
from jobs import access as jobs_access
from jobs import webhooks as delivering
from jobs.errors import WebhookRefused
from jobs.models import Delivery, Webhook
from jobs.webhook_events import KINDS, PING
from jobs.webhooks import secret_of


class WebhookSerializer(serializers.ModelSerializer[Webhook]):
    """A webhook: `campaign` is null for one of all of Concord; `off_reason` says why it was switched off."""

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
    """A webhook with the secret that signs, which is told this once."""

    secret = serializers.SerializerMethodField()

    class Meta(WebhookSerializer.Meta):
        fields = [*WebhookSerializer.Meta.fields, "secret"]

    def get_secret(self, webhook: Webhook) -> str:
        """Return the secret."""
        return secret_of(webhook)


class WebhookVerbSerializer(serializers.Serializer[Any]):
    """What to do with a webhook."""

    verb = serializers.ChoiceField(choices=["on", "off", "ping"])


class DeliverySerializer(serializers.ModelSerializer[Delivery]):
    """An event on its way: what the last of its `attempts` came to. `message` is the header `webhook-id`."""

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
        """Return the id of the event, as its body says it."""
        return f"evt_{row.event.public.hex}"

    def get_message(self, row: Delivery) -> str:
        """Return the id of the message, the same at every attempt."""
        return f"msg_{row.public.hex}"


DELIVERIES = Filters(
    {
        "state": one_of("state", Delivery.State.values),
        "kind": one_of("event__kind", [*KINDS, PING]),
        "since": since("event__at"),
    }
)


def answered(view: Callable[..., Response]) -> Callable[..., Response]:
    """Decorator: a webhook that is refused answers 422, with the field that is at fault."""

    @wraps(view)
    def guarded(request: Request, *args: Any, **kwargs: Any) -> Response:
        try:
            return view(request, *args, **kwargs)
        except WebhookRefused as error:
            fields = {"fields": {error.field: [str(error)]}} if error.field else {}
            return Response({"detail": str(error), "code": "webhook_refused", **fields}, status=422)

    return guarded


def _user(request: Request) -> User:
    assert isinstance(request.user, User)
    return request.user


@extend_schema(methods=["GET"], responses=WebhookSerializer(many=True))
@extend_schema(methods=["POST"], request=WebhookSerializer, responses={201: MadeWebhookSerializer})
@told_once
@paged
@api_view(["GET", "POST"])
@permission_classes([IsResearcher])
@answered
def campaign_webhooks(request: Request, campaign: int) -> Response:
    """Researchers: the webhooks of a campaign, or add one; its secret is in this answer alone."""
    return _list(request, access.campaign(campaign))


@extend_schema(methods=["GET"], responses=WebhookSerializer(many=True))
@extend_schema(methods=["POST"], request=WebhookSerializer, responses={201: MadeWebhookSerializer})
@told_once
@paged
@api_view(["GET", "POST"])
@permission_classes([IsAdministrator])
@answered
def webhooks(request: Request) -> Response:
    """Administrators: the webhooks of all of Concord, or add one; its secret is in this answer alone."""
    return _list(request, None)


def _list(request: Request, campaign: Campaign | None) -> Response:
    if request.method == "GET":
        pager = Pages()
        page = pager.paginate_queryset(Webhook.objects.filter(campaign=campaign), request)
        return pager.get_paginated_response(WebhookSerializer(page, many=True).data)
    serializer = WebhookSerializer(data=request.data)
    serializer.is_valid(raise_exception=True)
    number = None if campaign is None else campaign.pk
    made_webhook = delivering.add(by=_user(request), campaign=number, **serializer.validated_data)
    return Response(MadeWebhookSerializer(made_webhook).data, status=201)


@extend_schema(methods=["GET"], responses=WebhookSerializer)
@extend_schema(methods=["PATCH"], request=WebhookSerializer(partial=True), responses=WebhookSerializer)
@extend_schema(methods=["DELETE"], responses={204: None})
@api_view(["GET", "PATCH", "DELETE"])
@permission_classes([IsResearcher])
@answered
def webhook(request: Request, pk: int) -> Response:
    """Researchers: a campaign's webhook; change or delete it. Administrators: any."""
    hook = jobs_access.webhook(_user(request), pk)
    if request.method == "DELETE":
        delivering.delete(by=_user(request), webhook=hook)
        return Response(status=204)
    if request.method == "PATCH":
        serializer = WebhookSerializer(hook, data=request.data, partial=True)
        serializer.is_valid(raise_exception=True)
        hook = delivering.change(by=_user(request), webhook=hook, fields=serializer.validated_data)
    return Response(WebhookSerializer(hook).data)


@extend_schema(request=WebhookVerbSerializer, responses=WebhookSerializer)
@api_view(["POST"])
@permission_classes([IsResearcher])
def webhook_act(request: Request, pk: int) -> Response:
    """Researchers: switch a webhook on or off, or send it a test (a delivery of kind `ping`)."""
    serializer = WebhookVerbSerializer(data=request.data)
    serializer.is_valid(raise_exception=True)
    hook = jobs_access.webhook(_user(request), pk)
    delivering.VERBS[serializer.validated_data["verb"]](by=_user(request), webhook=hook)
    return Response(WebhookSerializer(jobs_access.webhook(_user(request), pk)).data)


@extend_schema(request=None, responses=MadeWebhookSerializer)
@told_once
@api_view(["POST"])
@permission_classes([IsResearcher])
def rotate_webhook(request: Request, pk: int) -> Response:
    """Researchers: give a webhook another secret, told this once; for a day the former one signs, too."""
    hook = jobs_access.webhook(_user(request), pk)
    return Response(MadeWebhookSerializer(delivering.rotate(by=_user(request), webhook=hook)).data)


@extend_schema(parameters=DELIVERIES.parameters, responses=DeliverySerializer(many=True))
@paged
@api_view(["GET"])
@permission_classes([IsResearcher])
def deliveries(request: Request, pk: int) -> Response:
    """Researchers: what a webhook was told, or is to be told, latest first."""
    rows = jobs_access.webhook(_user(request), pk).deliveries.select_related("event")
    pager = Pages()
    page = pager.paginate_queryset(DELIVERIES.of(request, rows), request)
    return pager.get_paginated_response(DeliverySerializer(page, many=True).data)


@extend_schema(request=None, responses=DeliverySerializer)
@api_view(["POST"])
@permission_classes([IsResearcher])
@answered
def redeliver(request: Request, pk: int) -> Response:
    """Researchers: send a delivery once more, now and under the same id."""
    delivery_row = jobs_access.delivery(_user(request), pk)
    return Response(DeliverySerializer(delivering.send_again(by=_user(request), delivery=delivery_row)).data)
