"""What the environment says of the mail server and of single sign-on. Off where it says nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import parseaddr
from typing import Any
from urllib.parse import unquote, urlsplit

# Sending mail: what the environment says of the server. Off where it says nothing.
#
# | variable | meaning | default | |---|---|---| | CONCORD_EMAIL_URL | `smtp://user:password@host:587`
# (encrypted from STARTTLS on), `smtps://…:465` (from the start), `smtp+plain://…:25` (not at all), or
# `console:` for a look | none: no mail | | CONCORD_EMAIL_FROM | who mail is from, as `Concord
# <concord@example.org>` | `concord@` the server |

TIMEOUT = 20
"""Seconds that the server is waited for."""
PORTS = {"smtp": 587, "smtps": 465, "smtp+plain": 25}
BACKENDS = "django.core.mail.backends."


@dataclass(frozen=True)
class Mail:
    """How mail is sent: Django's settings for it, none where it is not, and what is wrong with them."""

    settings: Mapping[str, Any] = field(default_factory=dict, repr=False)
    fault: str = ""


def mail_from_environment(environment: Mapping[str, str]) -> Mail:
    """Return how mail is sent by an environment."""
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


# Single sign-on by OpenID Connect: what the environment says of the provider. Off where it says nothing.
#
# | variable | meaning | default |
# |---|---|---|
# | CONCORD_OIDC_ISSUER | the provider's issuer, as its tokens name it | none: no single sign-on |
# | CONCORD_OIDC_CLIENT_ID, CONCORD_OIDC_CLIENT_SECRET | what the provider knows Concord by | none |
# | CONCORD_OIDC_NAME | what the sign-in page calls the provider | the issuer's host |
# | CONCORD_OIDC_SCOPES | what is asked for | `openid email profile` |
# | CONCORD_OIDC_ALGORITHM | how ID tokens are signed | RS256 |
# | CONCORD_OIDC_NEW_ACCOUNTS | 1 makes an annotator of whoever the provider vouches for | 0 |
# | CONCORD_OIDC_LINK_BY_EMAIL | 1 lets a verified e-mail address open the account that has it | 0 |
# | CONCORD_OIDC_GROUPS_CLAIM | the claim that lists a person's groups | `groups` |
# | CONCORD_OIDC_ROLES | `group=role` by commas: roles follow groups at each sign-in | none |
# | CONCORD_OIDC_AUTHORIZATION_ENDPOINT, likewise TOKEN, JWKS, USERINFO, LOGOUT | addresses | as published |
#
# What the issuer publishes is at `ISSUER/.well-known/openid-configuration`.

PREFIX = "CONCORD_OIDC_"
ALGORITHMS = ("RS256", "RS384", "RS512", "ES256", "ES384", "ES512")
"""Signatures by a key that only the provider has."""
ENDPOINTS = ("authorization", "token", "jwks", "userinfo", "logout")
ROLES = ("annotator", "researcher", "administrator")
"""From the least to the most: of several groups the highest role holds."""
NEAR = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class Provider:
    """What is set about the provider. `endpoints` has what is given singly; the rest is discovered."""

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
        """What pages call the provider."""
        return self.name or urlsplit(self.issuer).hostname or self.issuer

    def faults(self) -> list[str]:
        """Return in one line each what is wrong with the settings; until it is mended nothing is offered."""
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
    """Return why an address cannot be one of a provider, empty where it can: secrets go by HTTPS."""
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.fragment:
        return f"{address} is not an address."
    if parts.scheme == "http" and parts.hostname not in NEAR:
        return f"{address} is not encrypted: it has to begin with https://."
    return ""


def provider_from_environment(environment: Mapping[str, str]) -> Provider | None:
    """Return the provider that an environment speaks of, None where it speaks of none."""
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
