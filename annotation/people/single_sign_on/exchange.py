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
from django.utils import timezone
from mozilla_django_oidc.auth import OIDCAuthenticationBackend

from annotation.people.errors import SignOnRefused
from annotation.people.single_sign_on.provider import (
    TIMEOUT,
    addresses,
    away,
    fetch,
    misconfigured,
    readable,
)
from config.environment import PREFIX, Provider

CLOCKS_APART = 30
"""Seconds that the provider's clock may be ahead or behind."""
KINDS = {"RS": "RSA", "ES": "EC"}
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
    exchange = _Exchange(provider)
    try:
        exchange.authenticate(request, nonce=nonce, code_verifier=code_verifier)
    except jwt.ExpiredSignatureError as error:
        cause = readable(provider, f"The ID token is not valid any more at {_now()} by Concord's clock.")
        message = "That took too long. Sign in again."
        raise SignOnRefused(message, why="expired token", cause=cause) from error
    except (jwt.PyJWTError, SuspiciousOperation) as error:
        message = f"What {provider.title} sent could not be trusted. Tell an administrator."
        cause = readable(provider, f"The ID token is refused: {error}")
        raise SignOnRefused(message, why=f"token: {type(error).__name__}", cause=cause) from error
    if exchange.claims is None:
        message = f"{provider.title} did not say who you are. Sign in again."
        raise SignOnRefused(message, why="no code", cause=f"{provider.title} led back without a code.")
    return exchange.claims


def _now() -> str:
    return f"{timezone.now():%Y-%m-%d %H:%M:%S} UTC"


class _Exchange(OIDCAuthenticationBackend):
    """The library's exchange, for one request. It ends with claims instead of an account."""

    def __init__(self, provider: Provider) -> None:
        self.provider, self.told = provider, told(provider)
        self.claims: dict[str, Any] | None = None
        super().__init__()

    def get_settings(self, attr: str, *args: Any) -> Any:
        """Return a setting of the provider at hand."""
        return self.told.get(attr, *args)

    def get_token(self, payload: dict[str, Any]) -> dict[str, Any]:
        """Return the tokens for a code."""
        found = token_answer(self.provider, self.OIDC_OP_TOKEN_ENDPOINT, payload, self.told)
        if not isinstance(found.get("id_token"), str):
            cause = f"{self.OIDC_OP_TOKEN_ENDPOINT} answered without an ID token."
            raise misconfigured(self.provider, cause)
        return found

    def retrieve_matching_jwk(self, token: str) -> jwt.PyJWK:
        """Return the provider's key that can have signed a token; one alone needs no `kid`."""
        header = jwt.get_unverified_header(token)
        if header.get("alg") != self.provider.algorithm:
            raise jwt.InvalidAlgorithmError(
                f"it is signed by {header.get('alg')}, but {PREFIX}ALGORITHM is {self.provider.algorithm}."
            )
        key = signing_key(
            fetch_keys(self.provider, self.OIDC_OP_JWKS_ENDPOINT), header.get("kid"), self.provider.algorithm
        )
        return jwt.PyJWK(key, algorithm=self.provider.algorithm)

    def _verify_jws(self, payload: str, key: Any) -> dict[str, Any]:
        """Return the claims of a token that this provider signed for Concord and that still holds."""
        try:
            found: dict[str, Any] = jwt.decode(
                payload,
                key,
                algorithms=[self.provider.algorithm],
                audience=self.provider.client_id,
                issuer=self.provider.issuer,
                leeway=CLOCKS_APART,
                options={"require": REQUIRED},
            )
        except (jwt.InvalidIssuerError, jwt.InvalidAudienceError) as error:  # the signature is right
            told = jwt.decode(payload, options={"verify_signature": False})
            raise type(error)(
                f"{error}: it is by {told.get('iss')} for {told.get('aud')}, "
                f"not by {self.provider.issuer} for {self.provider.client_id}."
            ) from error
        except jwt.ImmatureSignatureError as error:
            raise jwt.ImmatureSignatureError(f"{error} It is {_now()} by Concord's clock.") from error
        for_others = isinstance(found["aud"], list) and len(found["aud"]) > 1
        if found.get("azp", None if for_others else self.provider.client_id) != self.provider.client_id:
            raise jwt.InvalidAudienceError("The token was given to another party.")
        return found

    def get_or_create_user(self, access_token: str, id_token: str, payload: dict[str, Any]) -> None:
        """Keep what is said of the person; an address and whether it was verified come from one place."""
        more = self._userinfo(access_token, id_token, payload) if self.OIDC_OP_USER_ENDPOINT else {}
        if not isinstance(more, dict) or more.get("sub", payload["sub"]) != payload["sub"]:
            raise jwt.InvalidTokenError("The provider speaks of two persons.")
        if "email" in payload:
            more = {key: value for key, value in more.items() if key not in ("email", "email_verified")}
        self.claims = more | payload

    def _userinfo(self, access_token: str, id_token: str, payload: dict[str, Any]) -> Any:
        address = self.OIDC_OP_USER_ENDPOINT
        try:
            return self.get_userinfo(access_token, id_token, payload)
        except requests.HTTPError as error:
            if error.response is not None and error.response.status_code >= 500:
                raise away(self.provider, str(error)) from error
            raise misconfigured(self.provider, str(error)) from error
        except requests.JSONDecodeError as error:
            raise misconfigured(self.provider, f"{address} did not answer with a JSON object.") from error
        except requests.RequestException as error:
            raise away(self.provider, f"{address} cannot be reached: {error}") from error


def token_answer(
    provider: Provider, address: str, payload: dict[str, Any], settings: dict[str, Any]
) -> dict[str, Any]:
    """Ask the provider's token address, with the secret where it takes it. Raises SignOnRefused."""
    secret = {"client_secret": provider.client_secret}
    if settings["OIDC_TOKEN_USE_BASIC_AUTH"]:
        form = {name: value for name, value in payload.items() if name != "client_secret"}
        return fetch(provider, "POST", address, data=form, auth=(provider.client_id, provider.client_secret))
    return fetch(provider, "POST", address, data=payload | secret)


def fetch_keys(provider: Provider, address: str) -> list[dict[str, Any]]:
    """Return the keys that a provider publishes. Raises SignOnRefused."""
    keys = fetch(provider, "GET", address).get("keys")
    if not isinstance(keys, list) or not all(isinstance(key, dict) for key in keys):
        raise misconfigured(provider, f"{address} does not list keys.", why="keys")
    return keys


def keys_for(keys: list[dict[str, Any]], algorithm: str) -> list[dict[str, Any]]:
    """Return the keys that can have signed by an algorithm."""
    return [
        key
        for key in keys
        if key.get("kty") == KINDS[algorithm[:2]]
        and key.get("use", "sig") == "sig"
        and key.get("alg", algorithm) == algorithm
    ]


def signing_key(keys: list[dict[str, Any]], kid: str | None, algorithm: str) -> dict[str, Any]:
    """Return the key that a token names by its `kid`, or the only one. Raises InvalidKeyError."""
    usable = keys_for(keys, algorithm)
    named = [key for key in usable if key.get("kid") == kid] if kid is not None else usable
    fitting = named or [key for key in usable if key.get("kid") is None]
    if len(fitting) == 1:
        return fitting[0]
    listed = f"the provider publishes {len(usable)} for {algorithm}"
    if kid is None:
        raise jwt.InvalidKeyError(f"it does not say by which key (no kid), and {listed}.")
    raise jwt.InvalidKeyError(f"{len(fitting)} keys fit the one it names ({kid}); {listed}.")
