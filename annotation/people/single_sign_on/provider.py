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
from config.oidc import Provider, fault_of

TIMEOUT = 10
"""Seconds that the provider is waited for."""
KEPT_SECONDS = 600
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
        raise SignOnRefused(f"{provider.title} calls itself {str(told.get('issuer'))[:200]}.", why="issuer")
    found = {name: str(told[key]) for name, key in PUBLISHED.items() if told.get(key)} | dict(
        provider.endpoints
    )
    for name, address in found.items():
        if fault := fault_of(address):
            raise SignOnRefused(f"{provider.title} publishes a wrong address: {fault}", why=f"{name} address")
    lacking = [name for name in NEEDED if name not in found]
    if lacking:
        raise SignOnRefused(
            f"{provider.title} publishes no address for {', '.join(lacking)}.", why="addresses"
        )
    methods = told.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
    return Addresses(found, secret_in_header="client_secret_post" not in methods)


def _document(provider: Provider) -> dict[str, Any]:
    address = provider.issuer.rstrip("/") + "/.well-known/openid-configuration"
    try:
        answer = requests.get(address, timeout=TIMEOUT)
        answer.raise_for_status()
        told = answer.json()
    except (requests.RequestException, ValueError) as error:
        raise away(provider) from error
    if not isinstance(told, dict):
        raise away(provider)
    return told


def away(provider: Provider) -> SignOnRefused:
    """Return the refusal where a provider does not answer as it should."""
    told = f"{provider.title} does not answer as it should at the moment. Try again in a minute."
    return SignOnRefused(told, why="no answer")
