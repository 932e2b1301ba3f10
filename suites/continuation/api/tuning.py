"""Examples for fine-tuning over HTTP. For researchers."""

from __future__ import annotations

from typing import Any

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.decorators import api_view
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.corpora import splits
from annotation.models.corpora import Corpus
from calibration.api.exports import response_of
from calibration.api.serializers import ExportPartSerializer
from calibration.errors import CalibrationError
from calibration.exports import downloads
from calibration.exports.downloads import Order
from config.idempotency import FILE as AS_FILE
from config.idempotency import without_keys
from config.openapi import files
from suites.continuation import tuning
from suites.continuation.generators.base import Setting
from suites.continuation.generators.cocoeval_continuation import CocoevalContinuation
from suites.continuation.tuning import SFT

PARAMETERS = [
    OpenApiParameter("corpus", int, required=True),
    OpenApiParameter("part", str, enum=["", *tuning.CHOICES]),
    *(
        OpenApiParameter(
            setting.name,
            type(setting.default),
            enum=list(setting.choices) or None,
            description=setting.help,
        )
        for setting in CocoevalContinuation.settings
    ),
]
LINES = files(["application/x-ndjson"]) | {(202, "application/json"): OpenApiTypes.OBJECT}


def _field(setting: Setting) -> serializers.Field[Any, Any, Any, Any]:
    if setting.choices:
        choices = [str(choice) for choice in setting.choices]
        return serializers.ChoiceField(choices, default=setting.default, help_text=setting.help)
    return serializers.IntegerField(
        min_value=setting.low, max_value=setting.high, default=int(setting.default), help_text=setting.help
    )


class SftSerializer(ExportPartSerializer):
    """A corpus, the part of it that is taken out (and what for where that is test), the settings."""

    corpus = serializers.PrimaryKeyRelatedField(queryset=Corpus.objects.all())
    part = serializers.ChoiceField(choices=list(tuning.CHOICES), required=False, default="", allow_blank=True)

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        """Add the generator's settings."""
        return super().get_fields() | {
            setting.name: _field(setting) for setting in CocoevalContinuation.settings
        }


@extend_schema(methods=["GET"], parameters=PARAMETERS, responses=LINES)
@extend_schema(methods=["POST"], request=SftSerializer, responses=LINES)
@without_keys(AS_FILE)
@api_view(["GET", "POST"])
def sft(request: Request) -> Response | StreamingHttpResponse:
    """Send examples for fine-tuning as chat-format JSONL; `Concord-Rows` counts them.

    One line for each window of people's own continuations: what `cocoeval_continuation` would send, and the
    reply that says what people said. `part` is training (without it) or evaluation of a benchmark, else a
    part of the split: test by POST with its purpose. Many are written by a job, as labels are.
    """
    serializer = SftSerializer(data=request.query_params.dict() if request.method == "GET" else request.data)
    serializer.is_valid(raise_exception=True)
    data, user = serializer.validated_data, request.user
    corpus, part = data["corpus"], data["part"]
    if part in ("test", "all") and request.method == "GET" and splits.lock_of(corpus):
        raise ValidationError({"part": ["Test is locked: use POST with a part and a purpose."]})
    try:
        settings = tuning.settings_of(
            {setting.name: data[setting.name] for setting in CocoevalContinuation.settings}
        )
        selection, named_part = tuning.taken_for(corpus=corpus, part=part, purpose=data["purpose"], by=user)  # type: ignore[arg-type]
        order = Order(SFT, corpus, None, selection, "jsonl", choice={"part": named_part, **settings})
        return response_of(downloads.order_or_job(order=order, by=user), order.name)  # type: ignore[arg-type]
    except CalibrationError as refused:
        raise ValidationError({"detail": f"{refused}."}) from refused
