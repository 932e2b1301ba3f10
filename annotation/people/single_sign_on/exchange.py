"""Asking the provider who came back: tokens for the code, their signature, what it says of a person.

mozilla-django-oidc does the protocol: state, nonce, PKCE, the exchange, the provider's keys. It does not look
at whom a token is for, who wrote it and until when it holds; that is done here.
"""

from __future__ import annotations

from typing import Any

import jwt
import requests
from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest
from mozilla_django_oidc.auth import OIDCAuthenticationBackend

from annotation.people.errors import SignOnRefused
from annotation.people.single_sign_on.provider import TIMEOUT, addresses, away
from config.oidc import Provider

CLOCKS_APART = 30
"""Seconds that the provider's clock may be ahead or behind."""
REQUIRED = ["iss", "sub", "aud", "exp", "iat"]


def told(provider: Provider) -> dict[str, Any]:
    """Return the library's settings for a provider. Raises SignOnRefused where it does not answer."""
    found = addresses(provider)
    return {
        "OIDC_OP_AUTHORIZATION_ENDPOINT": found.at["authorization"],
        "OIDC_OP_TOKEN_ENDPOINT": found.at["token"],
        "OIDC_OP_JWKS_ENDPOINT": found.at["jwks"],
        "OIDC_OP_USER_ENDPOINT": found.at.get("userinfo", ""),
        "OIDC_RP_CLIENT_ID": provider.client_id,
        "OIDC_RP_CLIENT_SECRET": provider.client_secret,
        "OIDC_RP_SIGN_ALGO": provider.algorithm,
        "OIDC_RP_SCOPES": provider.scopes,
        "OIDC_AUTHENTICATION_CALLBACK_URL": "sign-in-return",
        "OIDC_TOKEN_USE_BASIC_AUTH": found.secret_in_header,
        "OIDC_TIMEOUT": TIMEOUT,
        "OIDC_USE_PKCE": True,
    }


def claims_of(
    request: HttpRequest, provider: Provider, *, nonce: str, code_verifier: str | None
) -> dict[str, Any]:
    """Return what a provider says of the person who came back with a code. Raises SignOnRefused."""
    asked = _Exchange(provider)
    try:
        asked.authenticate(request, nonce=nonce, code_verifier=code_verifier)
    except jwt.ExpiredSignatureError as error:
        raise SignOnRefused("That took too long. Sign in again.", why="expired token") from error
    except (jwt.PyJWTError, SuspiciousOperation) as error:
        why = f"token: {type(error).__name__}"
        raise SignOnRefused(f"What {provider.title} sent could not be trusted.", why=why) from error
    except (requests.RequestException, ValueError, KeyError, TypeError) as error:
        raise away(provider) from error
    if asked.claims is None:
        raise SignOnRefused(f"{provider.title} did not say who you are. Sign in again.", why="no code")
    return asked.claims


class _Exchange(OIDCAuthenticationBackend):
    """The library's exchange, for one request. It ends with claims instead of an account."""

    def __init__(self, provider: Provider) -> None:
        self.provider, self.told = provider, told(provider)
        self.claims: dict[str, Any] | None = None
        super().__init__()

    def get_settings(self, attr: str, *args: Any) -> Any:
        """Return a setting of the provider at hand."""
        return self.told.get(attr, *args)

    def _verify_jws(self, payload: str, key: Any) -> dict[str, Any]:
        """Return the claims of a token that this provider signed for Concord and that still holds."""
        found: dict[str, Any] = jwt.decode(
            payload,
            key,
            algorithms=[self.provider.algorithm],
            audience=self.provider.client_id,
            issuer=self.provider.issuer,
            leeway=CLOCKS_APART,
            options={"require": REQUIRED},
        )
        for_others = isinstance(found["aud"], list) and len(found["aud"]) > 1
        if found.get("azp", None if for_others else self.provider.client_id) != self.provider.client_id:
            raise jwt.InvalidAudienceError("The token was given to another party.")
        return found

    def get_or_create_user(self, access_token: str, id_token: str, payload: dict[str, Any]) -> None:
        """Keep what is said of the person; an address and whether it was verified come from one place."""
        more = self.get_userinfo(access_token, id_token, payload) if self.OIDC_OP_USER_ENDPOINT else {}
        if not isinstance(more, dict) or more.get("sub", payload["sub"]) != payload["sub"]:
            raise jwt.InvalidTokenError("The provider speaks of two persons.")
        if "email" in payload:
            more = {key: value for key, value in more.items() if key not in ("email", "email_verified")}
        self.claims = more | payload
