"""API of endpoints, the model servers that judges call."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.request import Request

from config import api
from config.permissions import IsAdministrator
from jobs import access
from jobs.endpoints import endpoint_actions, ownership
from jobs.endpoints.limits import width_of
from jobs.endpoints.model_prices import delete_price, save_price
from jobs.endpoints.parameters import FORMS
from jobs.endpoints.presets import Preset, presets_for
from jobs.models.endpoint import Endpoint, ModelPrice


class EndpointSerializer(serializers.ModelSerializer[Endpoint]):
    """An endpoint. `key` stores a key, encrypted; it is never returned: `has_stored_key` says whether one is
    stored. An empty `key` deletes it; without `key` it stays. `key_env` names a variable with a key instead.
    `owner` is the researcher whose endpoint it is, null for one of the installation. `at_once` is
    `concurrency`, or less after rate limiting (429); `reply_form` is the supported form of structured output,
    empty until the first request. `fake_model`: replies carried a fake model's mark, whatever the model is
    called."""

    at_once = serializers.SerializerMethodField()
    reply_form = serializers.ChoiceField(
        choices=[("", "not known yet"), *FORMS.items()], required=False, allow_blank=True
    )

    key = serializers.CharField(write_only=True, required=False, allow_blank=True, max_length=1000)
    has_stored_key = serializers.SerializerMethodField()
    owner: Any = serializers.SlugRelatedField("username", read_only=True, allow_null=True)

    def get_has_stored_key(self, endpoint: Endpoint) -> bool:
        """Return whether a key is stored."""
        return bool(endpoint.stored_key)

    def get_at_once(self, endpoint: Endpoint) -> int:
        """Return the current limit on concurrent requests."""
        return width_of(endpoint, getattr(endpoint, "pace", None))

    class Meta:
        model = Endpoint
        fields = (
            *("id", "name", "base_url", "model", "revision", "family", "tokenizer", "key_env", "price_in"),
            *("key", "has_stored_key", "owner", "shared"),
            *("price_out", "currency"),
            *("concurrency", "at_once", "requests_per_minute", "tokens_per_minute"),
            *("reply_form", "fake_model"),
            *("batch_share", "batch_most", "keep_batch_files"),
            *("timeout_s", "allow_private", "active", "from_environment"),
            *("test_asked", "test_done", "test_error", "test_ms", "test_reply"),
        )
        read_only_fields = (
            "fake_model",
            "from_environment",
            "test_asked",
            "test_done",
            "test_error",
            "test_ms",
            "test_reply",
        )


SHARE = serializers.DecimalField(max_digits=5, decimal_places=4, allow_null=True)
PresetSerializer = api.serializer_of(Preset, "EndpointPreset", batch_share=SHARE)


class ReencryptedSerializer(serializers.Serializer[Any]):
    """Keys that were encrypted anew, and names of endpoints whose key no secret decrypts."""

    reencrypted = serializers.IntegerField()
    unreadable = serializers.ListField(child=serializers.CharField())


@api.listing(EndpointSerializer)
def endpoints(request: Request) -> QuerySet[Endpoint]:
    """List the endpoints of the installation, one's own and shared ones; administrators see all."""
    endpoint_actions.sync_environment()
    rows = ownership.visible_to(api.user(request))
    return rows.select_related("owner", "pace").order_by("name")


@api.post(EndpointSerializer, EndpointSerializer, status=201)
def create(request: Request) -> Endpoint:
    """Add an endpoint: an administrator's is there for everybody, a researcher's is their own."""
    return endpoint_actions.save(by=api.user(request), fields=api.data(request), endpoint=None)


@api.get(PresetSerializer, many=True)
def presets(request: Request) -> list[Preset]:
    """List addresses and careful limits of common providers and servers, to add an endpoint with."""
    return presets_for(api.user(request))


@api.post(gives=ReencryptedSerializer, permission=IsAdministrator)
def reencrypt(request: Request) -> dict[str, Any]:
    """Administrators: encrypt stored keys with the first value of CONCORD_SECRET_KEY."""
    return endpoint_actions.reencrypt_keys(by=api.user(request))


@api.get(EndpointSerializer)
def endpoint(request: Request, pk: int) -> Endpoint:
    """Return an endpoint."""
    return access.endpoint(api.user(request), pk)


@api.put(EndpointSerializer, EndpointSerializer)
def replace(request: Request, pk: int) -> Endpoint:
    """Replace all settings of an endpoint: administrators, and its owner."""
    return _save(request, pk)


@api.patch(EndpointSerializer, EndpointSerializer, partial=True)
def change(request: Request, pk: int) -> Endpoint:
    """Change the given settings of an endpoint: administrators, and its owner."""
    return _save(request, pk)


def _save(request: Request, pk: int) -> Endpoint:
    person = api.user(request)
    row = access.changeable_endpoint(person, pk)
    return endpoint_actions.save(by=person, fields=api.data(request, row), endpoint=row)


@api.post(gives=EndpointSerializer, status=202)
def test(request: Request, pk: int) -> Endpoint:
    """Let a worker ask the endpoint for one word; the `test_` fields have the reply, or why there is none."""
    person = api.user(request)
    return endpoint_actions.ask_for_test(by=person, endpoint=access.endpoint(person, pk))


# Prices by model.


class ModelPriceSerializer(serializers.ModelSerializer[ModelPrice]):
    """Prices in `currency` per million tokens of the model of that name, or with one `*` at the end of all
    models whose names begin so. Endpoints without prices of their own, in the same currency, take those of
    the exact name, else of the longest prefix."""

    changed_by: Any = serializers.SlugRelatedField("username", read_only=True, allow_null=True)

    class Meta:
        model = ModelPrice
        fields = ("id", "model", "price_in", "price_out", "currency", "changed_by", "changed_at")


@api.listing(ModelPriceSerializer)
def model_prices(request: Request) -> QuerySet[ModelPrice]:
    """Researchers: list the prices by model."""
    return ModelPrice.objects.select_related("changed_by").order_by("model")


@api.post(ModelPriceSerializer, ModelPriceSerializer, status=201)
def add_model_price(request: Request) -> ModelPrice:
    """Administrators: add the prices of a model."""
    return save_price(by=api.user(request), fields=api.data(request))


@api.patch(ModelPriceSerializer, ModelPriceSerializer, partial=True, permission=IsAdministrator)
def change_model_price(request: Request, pk: int) -> ModelPrice:
    """Administrators: change prices of a model. Costs of earlier calls stay as they are."""
    row = access.model_price(pk)
    return save_price(by=api.user(request), fields=api.data(request, row), price=row)


@api.delete(permission=IsAdministrator)
def delete_model_price(request: Request, pk: int) -> None:
    """Administrators: delete prices of a model. Costs of earlier calls stay as they are."""
    delete_price(by=api.user(request), price=access.model_price(pk))
