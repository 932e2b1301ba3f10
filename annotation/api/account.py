"""One's own account over HTTP: its password and its tokens. Everyone signed in."""

from __future__ import annotations

from django.contrib.auth import update_session_auth_hash
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.decorators import api_view, permission_classes
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access
from annotation.api import people_serializers as serializers
from annotation.api.people import field_errors, user_of
from annotation.people import accounts, comfort, tokens
from config.idempotency import told_once
from config.permissions import IsSignedIn


@extend_schema(request=serializers.NewPassword, responses={204: None})
@api_view(["POST"])
@permission_classes([IsSignedIn])
@field_errors
def password(request: Request) -> Response:
    """Change one's own password; all other sessions end."""
    given = serializers.NewPassword(data=request.data)
    given.is_valid(raise_exception=True)
    accounts.change_password(person=user_of(request), **given.validated_data)
    if request.auth is None:  # a session, which goes on with the new password
        update_session_auth_hash(request._request, user_of(request))
    return Response(status=status.HTTP_204_NO_CONTENT)


@extend_schema(methods=["GET"], responses=serializers.TokenSerializer(many=True))
@extend_schema(
    methods=["POST"], request=serializers.NewToken, responses={201: serializers.MadeTokenSerializer}
)
@told_once
@api_view(["GET", "POST"])
@permission_classes([IsSignedIn])
@field_errors
def own_tokens(request: Request) -> Response:
    """List one's own tokens without their keys, or make one; its key is in this answer alone."""
    person = user_of(request)
    if request.method == "GET":
        return Response(serializers.TokenSerializer(person.api_tokens.all(), many=True).data)
    given = serializers.NewToken(data=request.data)
    given.is_valid(raise_exception=True)
    made = tokens.make(person=person, **given.validated_data)
    told = serializers.TokenSerializer(made.token).data | {"key": made.key}
    return Response(told, status=status.HTTP_201_CREATED)


@extend_schema(responses={204: None})
@api_view(["DELETE"])
@permission_classes([IsSignedIn])
def own_token(request: Request, pk: int) -> Response:
    """Revoke one of one's own tokens."""
    found = access.own_token(user_of(request), pk)
    tokens.revoke(by=user_of(request), token=found)
    return Response(status=status.HTTP_204_NO_CONTENT)


@extend_schema(methods=["GET"], responses=serializers.ComfortSerializer)
@extend_schema(
    methods=["PATCH"],
    request=serializers.ComfortSerializer(partial=True),
    responses=serializers.ComfortSerializer,
)
@api_view(["GET", "PATCH"])
@permission_classes([IsSignedIn])
@field_errors
def own_comfort(request: Request) -> Response:
    """One's own settings of the annotation page, and the key of each command."""
    mine = comfort.comfort_of(user_of(request))
    if request.method == "PATCH":
        given = serializers.ComfortSerializer(data=request.data, partial=True)
        given.is_valid(raise_exception=True)
        mine = comfort.change(by=user_of(request), **given.validated_data)
    return Response(comfort.as_json(mine))
