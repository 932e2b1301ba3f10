"""API of endpoints, the model servers that judges call. Administrators only."""

from __future__ import annotations

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.request import Request

from config import api
from config.permissions import IsAdministrator
from jobs import access
from jobs.endpoints import endpoint_actions
from jobs.endpoints.limits import width_of
from jobs.endpoints.parameters import FORMS
from jobs.models.endpoint import Endpoint


class EndpointSerializer(serializers.ModelSerializer[Endpoint]):
    """An endpoint; its key is only named. `at_once` is `concurrency`, or less after rate limiting (429);
    `reply_form` is the supported form of structured output, empty until the first request.
    `fake_model`: replies carried a fake model's mark, whatever the model is called."""

    at_once = serializers.SerializerMethodField()
    reply_form = serializers.ChoiceField(
        choices=[("", "not known yet"), *FORMS.items()], required=False, allow_blank=True
    )

    def get_at_once(self, endpoint: Endpoint) -> int:
        """Return the current limit on concurrent requests."""
        return width_of(endpoint, getattr(endpoint, "pace", None))

    class Meta:
        model = Endpoint
        fields = (
            *("id", "name", "base_url", "model", "revision", "family", "tokenizer", "key_env", "price_in"),
            *("price_out", "currency"),
            *("concurrency", "at_once", "requests_per_minute", "tokens_per_minute"),
            *("reply_form", "fake_model"),
            *("batch_share", "batch_most", "keep_batch_files"),
            *("timeout_s", "allow_private", "active", "from_environment"),
            *("test_asked", "test_done", "test_error", "test_ms"),
        )
        read_only_fields = (
            "fake_model",
            "from_environment",
            "test_asked",
            "test_done",
            "test_error",
            "test_ms",
        )


@api.listing(EndpointSerializer, permission=IsAdministrator)
def endpoints(request: Request) -> QuerySet[Endpoint]:
    """Administrators: list all endpoints, including those declared in the environment."""
    endpoint_actions.sync_environment()
    return Endpoint.objects.order_by("name")


@api.post(EndpointSerializer, EndpointSerializer, status=201, permission=IsAdministrator)
def create(request: Request) -> Endpoint:
    """Administrators: add an endpoint."""
    return endpoint_actions.save(by=api.user(request), fields=api.data(request), endpoint=None)


@api.get(EndpointSerializer, permission=IsAdministrator)
def endpoint(request: Request, pk: int) -> Endpoint:
    """Administrators: return an endpoint."""
    return access.endpoint(pk)


@api.put(EndpointSerializer, EndpointSerializer, permission=IsAdministrator)
def replace(request: Request, pk: int) -> Endpoint:
    """Administrators: replace all settings of an endpoint."""
    return _save(request, pk)


@api.patch(EndpointSerializer, EndpointSerializer, partial=True, permission=IsAdministrator)
def change(request: Request, pk: int) -> Endpoint:
    """Administrators: change the given settings of an endpoint."""
    return _save(request, pk)


def _save(request: Request, pk: int) -> Endpoint:
    row = access.endpoint(pk)
    return endpoint_actions.save(by=api.user(request), fields=api.data(request, row), endpoint=row)


@api.post(gives=EndpointSerializer, status=202, permission=IsAdministrator)
def test(request: Request, pk: int) -> Endpoint:
    """Administrators: let a worker send the endpoint a test request; the `test_` fields have the result."""
    return endpoint_actions.ask_for_test(by=api.user(request), endpoint=access.endpoint(pk))
