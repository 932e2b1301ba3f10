"""API of the names of judges and metrics. Researchers only."""

from __future__ import annotations

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.request import Request

from annotation import access
from annotation.models import Rater
from annotation.schemes.definitions import SHORT_NAME
from annotation.work.rater_names import NAMED_KINDS, nameable_raters, rename_rater
from config import api
from config.lists import Filters, one_of, with_name


class RaterSerializer(serializers.ModelSerializer[Rater]):
    """A judge or metric. `name` is its identity in files and references; pages show `short_name`."""

    corpus = serializers.CharField(
        source="corpus.name", default=None, allow_null=True, help_text="Of a rater that a file brought."
    )
    detail = serializers.CharField(help_text="Small print on pages: model and prompt version.")

    class Meta:
        model = Rater
        fields = ("id", "kind", "name", "short_name", "detail", "corpus", "spec", "created_at")
        read_only_fields = fields


class ShortNameSerializer(serializers.Serializer[Rater]):
    """The new short name; empty shows the name again."""

    short_name = serializers.CharField(max_length=SHORT_NAME, allow_blank=True)


RATERS = Filters(
    {
        "kind": one_of("kind", [str(kind) for kind in NAMED_KINDS]),
        "name": with_name("name", "rater"),
        "corpus": with_name("corpus__name", "corpus"),
    },
    order=("id", "created_at"),
)


@api.listing(RaterSerializer, filters=RATERS)
def raters(request: Request) -> QuerySet[Rater]:
    """Researchers: list all judges and metrics, except drafts, latest first."""
    return nameable_raters().order_by("-id")


@api.get(RaterSerializer)
def rater(request: Request, pk: int) -> Rater:
    """Researchers: return a judge or metric with its names."""
    return access.rater(pk)


@api.patch(ShortNameSerializer, RaterSerializer)
def rename(request: Request, pk: int) -> Rater:
    """Change the short name of a judge or metric; files and references keep its name."""
    return rename_rater(by=api.user(request), rater=access.rater(pk), **api.data(request))
