"""People over HTTP: accounts, invitations, reset links, the audit log. Administrators only."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.decorators import api_view, permission_classes
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access
from annotation.api import people_serializers as serializers
from annotation.errors import AnnotationError
from annotation.people import accounts, audit, deletion, links, roles, sign_in
from annotation.people.errors import EmailRefused
from config.idempotency import told_once
from config.lists import Pages, paged
from config.permissions import IsAdministrator

TEXTS = [OpenApiParameter(name, str) for name in ("verb", "person", "text")]


def field_errors(view: Callable[..., Response]) -> Callable[..., Response]:
    """Decorator: a refusal becomes 400 with its line under the field at fault, one about e-mail 422."""

    @wraps(view)
    def guarded(request: Request, *args: Any, **kwargs: Any) -> Response:
        try:
            return view(request, *args, **kwargs)
        except AnnotationError as error:
            code = 422 if isinstance(error, EmailRefused) else status.HTTP_400_BAD_REQUEST
            return Response({error.field or "detail": [str(error)]}, status=code)

    return guarded


def user_of(request: Request) -> User:
    """Return who asks."""
    assert isinstance(request.user, User)
    return request.user


def _text(request: Request, name: str) -> str:
    return request.query_params.get(name, "").replace("\0", "")


def _account(person: User) -> dict[str, Any]:
    (row,) = accounts.rows([User.objects.prefetch_related("groups").get(pk=person.pk)])
    return dict(serializers.AccountSerializer(row).data)


@extend_schema(
    methods=["GET"],
    parameters=[OpenApiParameter("text", str)],
    responses=serializers.AccountSerializer(many=True),
)
@extend_schema(
    methods=["POST"], request=serializers.NewAccount, responses={201: serializers.AccountSerializer}
)
@paged
@api_view(["GET", "POST"])
@permission_classes([IsAdministrator])
@field_errors
def people(request: Request) -> Response:
    """List accounts, those whose name holds `text`, or make one."""
    if request.method == "GET":
        pager = Pages()
        page = pager.paginate_queryset(accounts.accounts(_text(request, "text")), request) or []
        return pager.get_paginated_response(
            serializers.AccountSerializer(accounts.rows(page), many=True).data
        )
    given = serializers.NewAccount(data=request.data)
    given.is_valid(raise_exception=True)
    made = accounts.create(by=user_of(request), **given.validated_data)
    return Response(_account(made), status=status.HTTP_201_CREATED)


@extend_schema(methods=["GET"], responses=serializers.AccountSerializer)
@extend_schema(methods=["PATCH"], request=serializers.AccountChange, responses=serializers.AccountSerializer)
@extend_schema(
    methods=["DELETE"],
    parameters=[serializers.PersonDeletion],
    responses={200: OpenApiTypes.OBJECT},
)
@api_view(["GET", "PATCH", "DELETE"])
@permission_classes([IsAdministrator])
@field_errors
def person(request: Request, pk: int) -> Response:
    """Read an account, change its role or state, or delete it with all its answers.

    To delete it, `confirmation` is the person's user name, in the query or in a JSON body.
    """
    found = access.account(pk)
    if request.method == "DELETE":
        asked = serializers.PersonDeletion(data=request.data or request.query_params)
        asked.is_valid(raise_exception=True)
        gone = deletion.delete_person(person=found, by=user_of(request), **asked.validated_data)
        return Response({"deleted": gone})
    if request.method == "PATCH":
        change = serializers.AccountChange(data=request.data)
        change.is_valid(raise_exception=True)
        _change(found, user_of(request), **change.validated_data)
    return Response(_account(found))


@transaction.atomic
def _change(
    found: User,
    by: User,
    *,
    role: str = "",
    active: bool | None = None,
    locked: bool | None = None,
    email: str | None = None,
) -> None:
    if email is not None:
        accounts.set_email(by=by, person=found, email=email)
    if role:
        roles.set_role(by=by, person=found, role=role)
    if active is not None:
        (accounts.activate if active else accounts.deactivate)(by=by, person=found)
    if locked is False:
        sign_in.unlock(by=by, person=found)


@extend_schema(request=None, responses={201: serializers.LinkSerializer})
@told_once
@api_view(["POST"])
@permission_classes([IsAdministrator])
@field_errors
def reset_link(request: Request, pk: int) -> Response:
    """Make a one-time link for a new password; its address is in this answer alone."""
    made = links.reset(by=user_of(request), person=access.account(pk))
    return _made(request, made)


def _made(request: Request, made: links.Made) -> Response:
    address = request.build_absolute_uri(reverse("use-link", args=[made.token]))
    told = {"id": made.link.pk, "address": address, "expires_at": made.link.expires_at}
    return Response(serializers.LinkSerializer(told).data, status=status.HTTP_201_CREATED)


@extend_schema(methods=["GET"], responses=serializers.InvitationSerializer(many=True))
@extend_schema(
    methods=["POST"], request=serializers.NewInvitation, responses={201: serializers.LinkSerializer}
)
@told_once
@paged
@api_view(["GET", "POST"])
@permission_classes([IsAdministrator])
@field_errors
def invitations(request: Request) -> Response:
    """List open invitations, or make one; its address is in this answer alone."""
    if request.method == "GET":
        pager = Pages()
        page = pager.paginate_queryset(links.open_invitations(), request) or []
        return pager.get_paginated_response(serializers.InvitationSerializer(page, many=True).data)
    given = serializers.NewInvitation(data=request.data)
    given.is_valid(raise_exception=True)
    return _made(request, links.invite(by=user_of(request), **given.validated_data))


@extend_schema(responses={204: None})
@api_view(["DELETE"])
@permission_classes([IsAdministrator])
def invitation(request: Request, pk: int) -> Response:
    """Withdraw an invitation."""
    found = access.invitation(pk)
    links.withdraw(by=user_of(request), link=found)
    return Response(status=status.HTTP_204_NO_CONTENT)


@extend_schema(parameters=TEXTS, responses=serializers.EventSerializer(many=True))
@paged
@api_view(["GET"])
@permission_classes([IsAdministrator])
def events(request: Request) -> Response:
    """List logged acts, newest first: of one `verb`, by or about a `person`, with a `text` in the subject."""
    found = audit.events(**{name: _text(request, name) for name in ("verb", "person", "text")})
    pager = Pages()
    page = pager.paginate_queryset(found, request) or []
    return pager.get_paginated_response(serializers.EventSerializer(page, many=True).data)
