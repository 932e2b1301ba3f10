"""`manage.py check_sign_in`: check the single sign-on settings and the provider's responses."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.urls import reverse

from annotation.errors import SignOnRefused
from annotation.people import single_sign_on
from annotation.people.single_sign_on import published
from config.commands import ADDRESS
from config.environment import PREFIX, Provider


class Command(BaseCommand):
    """Prints the settings without the secret, queries the provider, and prints what to register there."""

    help = "Check single sign-on: the settings, the provider's addresses and keys."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the option with Concord's URL."""
        parser.add_argument("--address", default=ADDRESS, help=f"where Concord is ({ADDRESS})")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print settings and results; the exit status tells whether people can sign in."""
        provider: Provider | None = settings.OIDC
        if provider is None:
            raise CommandError(f"Single sign-on is off. Set {PREFIX}ISSUER, CLIENT_ID and CLIENT_SECRET.")
        faults = provider.faults()
        if faults:
            raise CommandError("\n".join(faults))
        self.stdout.write(f"{provider.title}: {provider.issuer}, as client {provider.client_id}")
        if (fault := single_sign_on.last_fault()) is not None:
            self.stdout.write(
                f"The last sign-in that failed, {fault.at:%Y-%m-%d %H:%M} UTC: {fault.detail['cause']}"
            )
        try:
            discovery = published(provider)
        except SignOnRefused as refused:
            if any(name not in provider.endpoints for name in ("authorization", "token", "jwks")):
                raise CommandError(refused.cause) from None
            self.stdout.write(f"Not published, so taken as set: {refused.cause}")
            at = dict(provider.endpoints)
        else:
            at = dict(discovery.at)
        for name, address in at.items():
            self.stdout.write(f"  {name}: {address}")
        self.stdout.write(f"  {_count_keys(provider, at['jwks'])} keys for {provider.algorithm}")
        back = options["address"].rstrip("/") + reverse("sign-in-return")
        self.stdout.write(_try_client(provider, back))
        self.stdout.write(f"Register at the provider that it leads back to {back}")
        self.stdout.write(f"New people: {_describe_new_people(provider)}. {_describe_roles(provider)}")


def _count_keys(provider: Provider, address: str) -> int:
    """Return the number of the provider's keys that can sign a token; CommandError if there are none."""
    try:
        fitting = single_sign_on.keys_for(single_sign_on.fetch_keys(provider, address), provider.algorithm)
    except SignOnRefused as refused:
        raise CommandError(refused.cause) from None
    if not fitting:
        raise CommandError(f"{address} lists no key for {provider.algorithm}. Set {PREFIX}ALGORITHM.")
    return len(fitting)


def _try_client(provider: Provider, back: str) -> str:
    """Test the client's secret with an invalid code; CommandError if the provider refuses it."""
    oidc_settings = single_sign_on.library_settings(provider)
    form = {
        "client_id": provider.client_id,
        "grant_type": "authorization_code",
        "code": "check-sign-in",
        "redirect_uri": back,
    }
    try:
        single_sign_on.token_answer(provider, oidc_settings["OIDC_OP_TOKEN_ENDPOINT"], form, oidc_settings)
    except SignOnRefused as refused:
        if refused.why in ("client refused", "no answer"):
            raise CommandError(refused.cause) from None
        if "invalid_grant" in refused.cause:
            return "The provider knows the client and refuses the made-up code of this check, as it should."
        return f"The client's secret could not be tried with a made-up code: {refused.cause}"
    return "The provider answered a made-up code with tokens, which it should not."


def _describe_new_people(provider: Provider) -> str:
    outcome = "become annotators" if provider.new_accounts else "need an invitation to their e-mail address"
    return outcome + (", or open the account that has their verified address" * provider.link_by_email)


def _describe_roles(provider: Provider) -> str:
    if not provider.roles:
        return "Roles are given in Concord."
    mapping = ", ".join(f"{group} is {role}" for group, role in provider.roles.items())
    return f"Roles follow the claim {provider.groups_claim}: {mapping}, else annotator."
