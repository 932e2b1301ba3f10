"""Where the provider is asked: addresses that are set, and those that its issuer publishes."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import requests
from django.conf import settings

from annotation.people.errors import SignOnRefused
from config.environment import PREFIX, Provider, fault_of
from jobs.endpoints.responses import redact

TIMEOUT = 10
"""Seconds that the provider is waited for."""
KEPT_SECONDS = 600
LONGEST_CAUSE = 500
CLIENT_ERRORS = ("invalid_client", "unauthorized_client")
"""What a token address says to a client that it does not know, or whose secret is wrong."""
PUBLISHED = {
    "authorization": "authorization_endpoint",
    "token": "token_endpoint",
    "jwks": "jwks_uri",
    "userinfo": "userinfo_endpoint",
    "logout": "end_session_endpoint",
}
NEEDED = ("authorization", "token", "jwks")


@dataclass(frozen=True)
class Addresses:
    """A provider's addresses by what they are for, and whether it takes the secret in a header only."""

    at: Mapping[str, str]
    secret_in_header: bool = False


_kept: dict[str, tuple[float, Addresses]] = {}
_lock = threading.Lock()


def offered() -> Provider | None:
    """Return the provider that people can sign in with, None where none is set, or not rightly."""
    provider: Provider | None = settings.OIDC
    return provider if provider is not None and not provider.faults() else None


def addresses(provider: Provider) -> Addresses:
    """Return a provider's addresses, asked for at most every ten minutes. Raises SignOnRefused."""
    if all(name in provider.endpoints for name in NEEDED):
        return Addresses(provider.endpoints)
    about = repr(provider)
    with _lock:
        kept = _kept.get(about)
    if kept is None or time.monotonic() - kept[0] > KEPT_SECONDS:
        kept = (time.monotonic(), published(provider))
        with _lock:
            _kept[about] = kept
    return kept[1]


def forget() -> None:
    """Forget what providers published."""
    with _lock:
        _kept.clear()


def published(provider: Provider) -> Addresses:
    """Ask the issuer for its addresses; those that are set win. Raises SignOnRefused, with what is wrong."""
    told = _document(provider)
    if told.get("issuer") != provider.issuer:
        named = str(told.get("issuer"))[:200]
        cause = f"{provider.title} calls itself {named}, but {PREFIX}ISSUER is {provider.issuer}."
        raise misconfigured(provider, cause, why="issuer")
    found = {name: str(told[key]) for name, key in PUBLISHED.items() if told.get(key)} | dict(
        provider.endpoints
    )
    for name, address in found.items():
        if fault := fault_of(address):
            cause = f"{provider.title} publishes a wrong address: {fault}"
            raise misconfigured(provider, cause, why=f"{name} address")
    lacking = [name for name in NEEDED if name not in found]
    if lacking:
        cause = f"{provider.title} publishes no address for {', '.join(lacking)}."
        raise misconfigured(provider, cause, why="addresses")
    methods = told.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
    return Addresses(found, secret_in_header="client_secret_post" not in methods)


def _document(provider: Provider) -> dict[str, Any]:
    address = provider.issuer.rstrip("/") + "/.well-known/openid-configuration"
    return fetch(provider, "GET", address)


def fetch(provider: Provider, method: str, address: str, **options: Any) -> dict[str, Any]:
    """Ask the provider and return the JSON object that it answers. Raises SignOnRefused with the cause."""
    try:
        response = requests.request(method, address, timeout=TIMEOUT, **options)
    except requests.RequestException as error:
        raise away(provider, f"{address} cannot be reached: {error}") from error
    content = _json_object(response)
    if not response.ok:
        raise _refusal(provider, response, content or {})
    if content is None:
        raise away(provider, f"{address} did not answer with a JSON object.")
    return content


def _json_object(response: requests.Response) -> dict[str, Any] | None:
    try:
        content = response.json()
    except ValueError:
        return None
    return content if isinstance(content, dict) else None


def _refusal(provider: Provider, response: requests.Response, content: dict[str, Any]) -> SignOnRefused:
    """Name what the provider says against a request, as OAuth does: `error` and `error_description`."""
    error = str(content.get("error") or "")
    reasons = [error, str(content.get("error_description") or "")]
    said = ": ".join(filter(None, reasons)) or response.reason
    cause = f"{response.url} answered {response.status_code}: {said}"
    if error in CLIENT_ERRORS or (not error and response.status_code == 401):
        cause += f". Check {PREFIX}CLIENT_ID and {PREFIX}CLIENT_SECRET"
        return misconfigured(provider, f"{cause}.", why="client refused")
    if response.status_code >= 500 or response.status_code == 429:
        return away(provider, f"{cause}.")
    return misconfigured(provider, f"{cause}.")


def away(provider: Provider, cause: str) -> SignOnRefused:
    """Return the refusal where a provider does not answer at the moment."""
    message = f"{provider.title} does not answer as it should at the moment. Try again in a minute."
    return SignOnRefused(message, why="no answer", cause=readable(provider, cause))


def misconfigured(provider: Provider, cause: str, why: str = "exchange") -> SignOnRefused:
    """Return the refusal where trying again does not help: an administrator has to look at the cause."""
    message = (
        f"Signing in with {provider.title} does not work: something is not set up as it should be. "
        "Tell an administrator, who finds the cause in the audit log."
    )
    return SignOnRefused(message, why=why, cause=readable(provider, cause))


def readable(provider: Provider, cause: str) -> str:
    """Return a cause as one line of bounded length without the client's secret."""
    return redact(" ".join(cause.split()), provider.client_secret)[:LONGEST_CAUSE]
