"""Invitations by e-mail over HTTP. Administrators only."""

from __future__ import annotations

from typing import Any

from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.decorators import api_view, permission_classes
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import access
from annotation.api import people_serializers as serializers
from annotation.api.people import field_errors, user_of
from annotation.people import invitations as mailed_invitations
from annotation.people import links, mailing
from config.idempotency import told_once
from config.permissions import IsAdministrator


@extend_schema(
    request=serializers.NewInvitationsByMail,
    responses={201: serializers.InvitationByMailSerializer(many=True)},
)
@told_once
@api_view(["POST"])
@permission_classes([IsAdministrator])
@field_errors
def by_mail(request: Request) -> Response:
    """Invite e-mail addresses, all or none of them; a worker sends the links where mail is set up.

    Where it is not, `address` of each is its link, told in this answer alone. Nothing here says whether an
    address has an account.
    """
    given = serializers.NewInvitationsByMail(data=request.data)
    given.is_valid(raise_exception=True)
    asked, by = dict(given.validated_data), user_of(request)
    emails = mailed_invitations.listed("\n".join(asked.pop("emails")))
    made = mailed_invitations.invite(by=by, emails=emails, **asked)
    if mailing.is_set_up():
        mailed_invitations.send(
            by=by, invitations=[one.link for one in made], base=request.build_absolute_uri("/")
        )
    return Response([_told(request, one) for one in made], status=status.HTTP_201_CREATED)


def _told(request: Request, made: links.Made) -> dict[str, Any]:
    made.link.refresh_from_db()
    address = request.build_absolute_uri(reverse("use-link", args=[made.token]))
    made.link.address = None if mailing.is_set_up() else address  # type: ignore[attr-defined]
    return dict(serializers.InvitationByMailSerializer(made.link).data)


@extend_schema(request=None, responses={202: serializers.InvitationSerializer})
@api_view(["POST"])
@permission_classes([IsAdministrator])
@field_errors
def send(request: Request, pk: int) -> Response:
    """Send an invitation to its e-mail address once more, with a new link."""
    found = access.invitation(pk)
    mailed_invitations.send(by=user_of(request), invitations=[found], base=request.build_absolute_uri("/"))
    found.refresh_from_db()
    return Response(serializers.InvitationSerializer(found).data, status=status.HTTP_202_ACCEPTED)
