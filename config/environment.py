"""Environment variables of the mail server and of single sign-on. Both are off by default."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import parseaddr
from typing import Any
from urllib.parse import unquote, urlsplit

# Sending mail: environment variables of the mail server. Off if none is set.
#
# | variable | meaning | default |
# |---|---|---|
# | CONCORD_EMAIL_URL | the server, in one of the forms below | none: no mail |
# | CONCORD_EMAIL_FROM | the sender, as `Concord <concord@example.org>` | `concord@` the server |
#
# `smtp://user:password@host:587` (encrypted after STARTTLS), `smtps://…:465` (encrypted from the start),
# `smtp+plain://…:25` (not encrypted), or `console:` (prints mail, for trying out).

TIMEOUT = 20
"""Timeout of the server, in seconds."""
PORTS = {"smtp": 587, "smtps": 465, "smtp+plain": 25}
BACKENDS = "django.core.mail.backends."


@dataclass(frozen=True)
class Mail:
    """Mail configuration: Django's settings, empty if mail is off, and the error in the variables, if any."""

    settings: Mapping[str, Any] = field(default_factory=dict, repr=False)
    fault: str = ""


def mail_from_environment(environment: Mapping[str, str]) -> Mail:
    """Return the mail configuration of an environment."""
    url, sender = (environment.get(f"CONCORD_EMAIL_{name}", "").strip() for name in ("URL", "FROM"))
    if not url:
        return Mail()
    if url.startswith("console:"):
        return Mail(_with_sender(f"{BACKENDS}console.EmailBackend", sender or "concord@localhost"))
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return Mail(fault="CONCORD_EMAIL_URL is not an address.")
    if parts.scheme not in PORTS or not parts.hostname or parts.path.strip("/"):
        return Mail(
            fault=f"CONCORD_EMAIL_URL begins with {', '.join(PORTS)} and names a host, or is console:."
        )
    sender = sender or f"concord@{parts.hostname}"
    if "@" not in parseaddr(sender)[1] or "\n" in sender or "\r" in sender:
        return Mail(fault="CONCORD_EMAIL_FROM holds no e-mail address.")
    settings = _with_sender(f"{BACKENDS}smtp.EmailBackend", sender) | {
        "EMAIL_HOST": parts.hostname,
        "EMAIL_PORT": port or PORTS[parts.scheme],
        "EMAIL_HOST_USER": unquote(parts.username or ""),
        "EMAIL_HOST_PASSWORD": unquote(parts.password or ""),
        "EMAIL_USE_TLS": parts.scheme == "smtp",
        "EMAIL_USE_SSL": parts.scheme == "smtps",
        "EMAIL_TIMEOUT": TIMEOUT,
    }
    return Mail(settings)


def _with_sender(backend: str, sender: str) -> dict[str, Any]:
    return {"EMAIL_BACKEND": backend, "DEFAULT_FROM_EMAIL": sender}


# Single sign-on by OpenID Connect: environment variables of the provider. Off if none is set.
#
# | variable | meaning | default |
# |---|---|---|
# | CONCORD_OIDC_ISSUER | the provider's issuer, as its tokens name it | none: no single sign-on |
# | CONCORD_OIDC_CLIENT_ID, CONCORD_OIDC_CLIENT_SECRET | Concord's credentials at the provider | none |
# | CONCORD_OIDC_NAME | name of the provider on the sign-in page | the issuer's host |
# | CONCORD_OIDC_SCOPES | requested scopes | `openid email profile` |
# | CONCORD_OIDC_ALGORITHM | signature algorithm of ID tokens | RS256 |
# | CONCORD_OIDC_NEW_ACCOUNTS | 1: create an annotator account for any user of the provider | 0 |
# | CONCORD_OIDC_LINK_BY_EMAIL | 1: a verified e-mail address signs in to the account with this address | 0 |
# | CONCORD_OIDC_GROUPS_CLAIM | the claim that lists a person's groups | `groups` |
# | CONCORD_OIDC_ROLES | comma-separated `group=role`: roles follow groups at each sign-in | none |
# | CONCORD_OIDC_AUTHORIZATION_ENDPOINT, likewise TOKEN, JWKS, USERINFO, LOGOUT | URLs | as published |
#
# The issuer publishes its URLs at `ISSUER/.well-known/openid-configuration`.

PREFIX = "CONCORD_OIDC_"
ALGORITHMS = ("RS256", "RS384", "RS512", "ES256", "ES384", "ES512")
"""Signature algorithms with a key that only the provider has."""
ENDPOINTS = ("authorization", "token", "jwks", "userinfo", "logout")
ROLES = ("annotator", "researcher", "administrator")
"""Roles in ascending order: with several groups the highest role applies."""
NEAR = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class Provider:
    """Settings of the provider. `endpoints` has the URLs set individually; the others are discovered."""

    issuer: str
    client_id: str
    client_secret: str = field(repr=False)
    name: str = ""
    scopes: str = "openid email profile"
    algorithm: str = "RS256"
    new_accounts: bool = False
    link_by_email: bool = False
    groups_claim: str = "groups"
    roles: Mapping[str, str] = field(default_factory=dict)
    endpoints: Mapping[str, str] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """Name of the provider on pages."""
        return self.name or urlsplit(self.issuer).hostname or self.issuer

    def faults(self) -> list[str]:
        """Return the errors in the settings, one line each; until they are fixed, single sign-on is off."""
        required = {"ISSUER": self.issuer, "CLIENT_ID": self.client_id, "CLIENT_SECRET": self.client_secret}
        faults = [f"{PREFIX}{name} is not set." for name, value in required.items() if not value]
        if self.algorithm not in ALGORITHMS:
            faults.append(f"{PREFIX}ALGORITHM is {self.algorithm}: it may be {', '.join(ALGORITHMS)}.")
        if "openid" not in self.scopes.split():
            faults.append(f"{PREFIX}SCOPES lacks openid.")
        urls = {"ISSUER": self.issuer} | {f"{key.upper()}_ENDPOINT": at for key, at in self.endpoints.items()}
        faults += [f"{PREFIX}{name}: {fault}" for name, at in urls.items() if at and (fault := fault_of(at))]
        unknown = sorted({role for role in self.roles.values() if role not in ROLES})
        if unknown:
            faults.append(f"{PREFIX}ROLES names {', '.join(unknown)}: a role is {', '.join(ROLES)}.")
        return faults


def fault_of(address: str) -> str:
    """Return the error in a provider's URL, '' if valid: secrets need HTTPS."""
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.fragment:
        return f"{address} is not an address."
    if parts.scheme == "http" and parts.hostname not in NEAR:
        return f"{address} is not encrypted: it has to begin with https://."
    return ""


def provider_from_environment(environment: Mapping[str, str]) -> Provider | None:
    """Return the provider configured in an environment, None if there is none."""
    variables = {
        key.removeprefix(PREFIX): value.strip()
        for key, value in environment.items()
        if key.startswith(PREFIX) and value.strip()
    }
    if not variables.keys() & {"ISSUER", "CLIENT_ID", "CLIENT_SECRET"}:
        return None
    pairs = [part.rpartition("=") for part in variables.get("ROLES", "").split(",") if part.strip()]
    return Provider(
        issuer=variables.get("ISSUER", ""),
        client_id=variables.get("CLIENT_ID", ""),
        client_secret=variables.get("CLIENT_SECRET", ""),
        name=variables.get("NAME", ""),
        scopes=" ".join(variables.get("SCOPES", "openid email profile").replace(",", " ").split()),
        algorithm=variables.get("ALGORITHM", "RS256"),
        new_accounts=_on(variables.get("NEW_ACCOUNTS", "")),
        link_by_email=_on(variables.get("LINK_BY_EMAIL", "")),
        groups_claim=variables.get("GROUPS_CLAIM", "groups"),
        roles={group.strip(): role.strip().lower() for group, _, role in pairs},
        endpoints={
            key: variables[name] for key in ENDPOINTS if (name := f"{key.upper()}_ENDPOINT") in variables
        },
    )


def _on(value: str) -> bool:
    return value.lower() in {"1", "true", "yes", "on"}
