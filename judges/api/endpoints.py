"""The HTTP API of endpoints: where judges ask. Administrators only."""

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
    """An endpoint; the key is only named. `at_once` is `concurrency`, or less after it refused requests for
    their number (429); `reply_form` is the form of structured output that it takes, empty until it was asked.
    `fake_model`: replies had the mark of one, whatever its model is called."""

    at_once = serializers.SerializerMethodField()
    reply_form = serializers.ChoiceField(
        choices=[("", "not known yet"), *FORMS.items()], required=False, allow_blank=True
    )

    def get_at_once(self, endpoint: Endpoint) -> int:
        """Return how many requests at once it takes now."""
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
    """Administrators: where judges ask, with what the environment declares."""
    endpoint_actions.sync_environment()
    return Endpoint.objects.order_by("name")


@api.post(EndpointSerializer, EndpointSerializer, status=201, permission=IsAdministrator)
def create(request: Request) -> Endpoint:
    """Administrators: add an endpoint."""
    return endpoint_actions.save(by=api.user(request), fields=api.data(request), endpoint=None)


@api.get(EndpointSerializer, permission=IsAdministrator)
def endpoint(request: Request, pk: int) -> Endpoint:
    """Administrators: one endpoint."""
    return access.endpoint(pk)


@api.put(EndpointSerializer, EndpointSerializer, permission=IsAdministrator)
def replace(request: Request, pk: int) -> Endpoint:
    """Administrators: set all of an endpoint."""
    return _save(request, pk)


@api.patch(EndpointSerializer, EndpointSerializer, partial=True, permission=IsAdministrator)
def change(request: Request, pk: int) -> Endpoint:
    """Administrators: change what is named of an endpoint."""
    return _save(request, pk)


def _save(request: Request, pk: int) -> Endpoint:
    row = access.endpoint(pk)
    return endpoint_actions.save(by=api.user(request), fields=api.data(request, row), endpoint=row)


@api.post(gives=EndpointSerializer, status=202, permission=IsAdministrator)
def test(request: Request, pk: int) -> Endpoint:
    """Administrators: let a worker ask the endpoint something; its `test_` fields say the result."""
    return endpoint_actions.ask_for_test(by=api.user(request), endpoint=access.endpoint(pk))
