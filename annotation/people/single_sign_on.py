"""Single sign-on by OpenID Connect: find the provider, check its answer, open the account."""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import jwt
import requests
from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import SuspiciousOperation
from django.db import IntegrityError, transaction
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from mozilla_django_oidc.auth import OIDCAuthenticationBackend

from annotation.errors import NameRefused, RoleRefused, SignOnRefused
from annotation.models import Participant, SignInIdentity
from annotation.people import accounts, links, names
from config.environment import PREFIX, ROLES, Provider, fault_of
from config.models import Event
from jobs.endpoints.responses import redact

# Provider addresses: configured ones, and those that its issuer publishes.

TIMEOUT = 10
"""Timeout of requests to the provider, in seconds."""
KEPT_SECONDS = 600
LONGEST_CAUSE = 500
CLIENT_ERRORS = ("invalid_client", "unauthorized_client")
"""Token endpoint errors for a client that is unknown, or whose secret is wrong."""
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
    """A provider's addresses by purpose, and whether it accepts the secret in a header only."""

    at: Mapping[str, str]
    secret_in_header: bool = False


_address_cache: dict[str, tuple[float, Addresses]] = {}
_lock = threading.Lock()


def offered() -> Provider | None:
    """Return the provider for signing in, None where none is configured, or not correctly."""
    provider: Provider | None = settings.OIDC
    return provider if provider is not None and not provider.faults() else None


def provider_addresses(provider: Provider) -> Addresses:
    """Return a provider's addresses, fetched at most every ten minutes. Raises SignOnRefused."""
    if all(name in provider.endpoints for name in NEEDED):
        return Addresses(provider.endpoints)
    about = repr(provider)
    with _lock:
        cached = _address_cache.get(about)
    if cached is None or time.monotonic() - cached[0] > KEPT_SECONDS:
        cached = (time.monotonic(), published(provider))
        with _lock:
            _address_cache[about] = cached
    return cached[1]


def forget() -> None:
    """Clear the cached addresses of providers."""
    with _lock:
        _address_cache.clear()


def published(provider: Provider) -> Addresses:
    """Fetch the issuer's addresses; configured ones take precedence. Raises SignOnRefused with the error."""
    document = _document(provider)
    if document.get("issuer") != provider.issuer:
        issuer = str(document.get("issuer"))[:200]
        cause = f"{provider.title} calls itself {issuer}, but {PREFIX}ISSUER is {provider.issuer}."
        raise misconfigured(provider, cause, why="issuer")
    addresses = {name: str(document[key]) for name, key in PUBLISHED.items() if document.get(key)} | dict(
        provider.endpoints
    )
    for name, address in addresses.items():
        if fault := fault_of(address):
            cause = f"{provider.title} publishes a wrong address: {fault}"
            raise misconfigured(provider, cause, why=f"{name} address")
    lacking = [name for name in NEEDED if name not in addresses]
    if lacking:
        cause = f"{provider.title} publishes no address for {', '.join(lacking)}."
        raise misconfigured(provider, cause, why="addresses")
    methods = document.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
    return Addresses(addresses, secret_in_header="client_secret_post" not in methods)


def _document(provider: Provider) -> dict[str, Any]:
    address = provider.issuer.rstrip("/") + "/.well-known/openid-configuration"
    return fetch(provider, "GET", address)


def fetch(provider: Provider, method: str, address: str, **options: Any) -> dict[str, Any]:
    """Send a request to the provider and return its JSON object. Raises SignOnRefused with the cause."""
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
    """Build the refusal from the provider's OAuth error: `error` and `error_description`."""
    error = str(content.get("error") or "")
    reasons = [error, str(content.get("error_description") or "")]
    reason = ": ".join(filter(None, reasons)) or response.reason
    cause = f"{response.url} answered {response.status_code}: {reason}"
    if error in CLIENT_ERRORS or (not error and response.status_code == 401):
        cause += f". Check {PREFIX}CLIENT_ID and {PREFIX}CLIENT_SECRET"
        return misconfigured(provider, f"{cause}.", why="client refused")
    if response.status_code >= 500 or response.status_code == 429:
        return away(provider, f"{cause}.")
    return misconfigured(provider, f"{cause}.")


def away(provider: Provider, cause: str) -> SignOnRefused:
    """Return the refusal for a provider that does not respond at the moment."""
    message = f"{provider.title} does not answer as it should at the moment. Try again in a minute."
    return SignOnRefused(message, why="no answer", cause=readable(provider, cause))


def misconfigured(provider: Provider, cause: str, why: str = "exchange") -> SignOnRefused:
    """Return the refusal where retrying does not help: an administrator has to look at the cause."""
    message = (
        f"Signing in with {provider.title} does not work: something is not set up as it should be. "
        "Tell an administrator, who finds the cause in the audit log."
    )
    return SignOnRefused(message, why=why, cause=readable(provider, cause))


def readable(provider: Provider, cause: str) -> str:
    """Return a cause as one line of bounded length without the client's secret."""
    return redact(" ".join(cause.split()), provider.client_secret)[:LONGEST_CAUSE]


# Identifying the returning person at the provider: tokens for the code, their signature, the claims.
#
# mozilla-django-oidc does the protocol: state, nonce, PKCE, the exchange, the provider's keys. It does not
# check a token's audience, issuer and expiry; that is done here.

CLOCKS_APART = 30
"""Tolerated clock difference of the provider, in seconds."""
KINDS = {"RS": "RSA", "ES": "EC"}
REQUIRED = ["iss", "sub", "aud", "exp", "iat"]


def library_settings(provider: Provider) -> dict[str, Any]:
    """Return the library's settings for a provider. Raises SignOnRefused where it does not respond."""
    addresses = provider_addresses(provider)
    return {
        "OIDC_OP_AUTHORIZATION_ENDPOINT": addresses.at["authorization"],
        "OIDC_OP_TOKEN_ENDPOINT": addresses.at["token"],
        "OIDC_OP_JWKS_ENDPOINT": addresses.at["jwks"],
        "OIDC_OP_USER_ENDPOINT": addresses.at.get("userinfo", ""),
        "OIDC_RP_CLIENT_ID": provider.client_id,
        "OIDC_RP_CLIENT_SECRET": provider.client_secret,
        "OIDC_RP_SIGN_ALGO": provider.algorithm,
        "OIDC_RP_SCOPES": provider.scopes,
        "OIDC_AUTHENTICATION_CALLBACK_URL": "sign-in-return",
        "OIDC_TOKEN_USE_BASIC_AUTH": addresses.secret_in_header,
        "OIDC_TIMEOUT": TIMEOUT,
        "OIDC_USE_PKCE": True,
    }


def claims_of(
    request: HttpRequest, provider: Provider, *, nonce: str, code_verifier: str | None
) -> dict[str, Any]:
    """Return a provider's claims about the person who returned with a code. Raises SignOnRefused."""
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
        self.provider, self.library_settings = provider, library_settings(provider)
        self.claims: dict[str, Any] | None = None
        super().__init__()

    def get_settings(self, attr: str, *args: Any) -> Any:
        """Return a setting of the current provider."""
        return self.library_settings.get(attr, *args)

    def get_token(self, payload: dict[str, Any]) -> dict[str, Any]:
        """Return the tokens for a code."""
        tokens = token_answer(self.provider, self.OIDC_OP_TOKEN_ENDPOINT, payload, self.library_settings)
        if not isinstance(tokens.get("id_token"), str):
            cause = f"{self.OIDC_OP_TOKEN_ENDPOINT} answered without an ID token."
            raise misconfigured(self.provider, cause)
        return tokens

    def retrieve_matching_jwk(self, token: str) -> jwt.PyJWK:
        """Return the provider's key that can have signed a token; a single key needs no `kid`."""
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
        """Return the claims of a valid token that this provider signed for Concord."""
        try:
            claims: dict[str, Any] = jwt.decode(
                payload,
                key,
                algorithms=[self.provider.algorithm],
                audience=self.provider.client_id,
                issuer=self.provider.issuer,
                leeway=CLOCKS_APART,
                options={"require": REQUIRED},
            )
        except (jwt.InvalidIssuerError, jwt.InvalidAudienceError) as error:  # the signature is right
            unverified = jwt.decode(payload, options={"verify_signature": False})
            raise type(error)(
                f"{error}: it is by {unverified.get('iss')} for {unverified.get('aud')}, "
                f"not by {self.provider.issuer} for {self.provider.client_id}."
            ) from error
        except jwt.ImmatureSignatureError as error:
            raise jwt.ImmatureSignatureError(f"{error} It is {_now()} by Concord's clock.") from error
        for_others = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
        if claims.get("azp", None if for_others else self.provider.client_id) != self.provider.client_id:
            raise jwt.InvalidAudienceError("The token was given to another party.")
        return claims

    def get_or_create_user(self, access_token: str, id_token: str, payload: dict[str, Any]) -> None:
        """Store the claims about the person; an address and its verification come from the same source."""
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
    """Call the provider's token endpoint, with the secret where it expects it. Raises SignOnRefused."""
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
    matching = [key for key in usable if key.get("kid") == kid] if kid is not None else usable
    fitting = matching or [key for key in usable if key.get("kid") is None]
    if len(fitting) == 1:
        return fitting[0]
    available = f"the provider publishes {len(usable)} for {algorithm}"
    if kid is None:
        raise jwt.InvalidKeyError(f"it does not say by which key (no kid), and {available}.")
    raise jwt.InvalidKeyError(f"{len(fitting)} keys fit the one it names ({kid}); {available}.")


# Signing out at the provider, too: Concord ends only its own session.


def sign_out_address(request: HttpRequest, provider: Provider) -> str:
    """Return the address for signing out of a provider and coming back, empty where it has none."""
    try:
        place = provider_addresses(provider).at.get("logout", "")
    except SignOnRefused:
        return ""
    if not place:
        return ""
    back = request.build_absolute_uri(reverse("login"))
    parameters = {"client_id": provider.client_id, "post_logout_redirect_uri": back}
    return f"{place}{'&' if '?' in place else '?'}{urlencode(parameters)}"


# Assignment of identities to accounts: an identity is issuer and subject; an e-mail address alone opens none.

log = logging.getLogger(__name__)
REFUSED = "refuse single sign-on"
LONGEST_SUBJECT = 255
TRIES = 50
"""Maximum number of suffixes tried for a user name that is taken."""


def enter(*, claims: dict[str, Any], provider: Provider, address: str = "") -> User:
    """Return the account of the person authenticated by a provider, created where allowed. Logged.

    `address` is where the request came from. Raises SignOnRefused, which leaves only its log entry.
    """
    try:
        with transaction.atomic():
            return _enter(claims, provider, address)
    except IntegrityError:  # two concurrent first sign-ins: the account exists by now
        with transaction.atomic():
            return _enter(claims, provider, address)
    except SignOnRefused as refused:
        refuse(refused, provider, address, claims)
        raise


def refuse(
    error: SignOnRefused, provider: Provider, address: str, claims: dict[str, Any] | None = None
) -> None:
    """Log a refused sign-in with its reason and cause; names and e-mail addresses are not stored."""
    subject = f"account {error.account}" if error.account else "no such account"
    detail = {"why": error.why, "issuer": provider.issuer[:200], "address": address[:45]}
    if error.cause:
        detail["cause"] = error.cause
        log.warning("Signing in with %s failed: %s", provider.title, error.cause)
    if claims:
        detail["sub"] = str(claims.get("sub"))[:LONGEST_SUBJECT]
    Event.objects.create(verb=REFUSED, subject=subject, detail=detail)


def last_fault() -> Event | None:
    """Return the last sign-in that failed between Concord and the provider, with its cause in `detail`."""
    return Event.objects.filter(verb=REFUSED, detail__has_key="cause").order_by("-pk").first()


def email_of(claims: dict[str, Any]) -> str:
    """Return the e-mail address of a person where the provider verified it, else ''."""
    email = claims.get("email")
    if claims.get("email_verified") not in (True, "true") or not isinstance(email, str):
        return ""
    email = names.normal_address(email)
    return "" if names.address_fault(email) else email


def _enter(claims: dict[str, Any], provider: Provider, address: str) -> User:
    subject = claims.get("sub")
    if not isinstance(subject, str) or not 0 < len(subject) <= LONGEST_SUBJECT or "\0" in subject:
        raise SignOnRefused(f"{provider.title} did not say who you are.", why="no subject")
    identity = (
        SignInIdentity.objects.select_related("user").filter(issuer=provider.issuer, subject=subject).first()
    )
    if identity is None:
        identity = SignInIdentity(
            issuer=provider.issuer, subject=subject, user=_account_for(claims, provider)
        )
    person = identity.user
    if not person.is_active:
        raise SignOnRefused("Your account is deactivated. Ask an administrator.", "deactivated", person.pk)
    identity.last_used = timezone.now()
    identity.save()
    _follow_groups(person, claims, provider)
    detail = {"issuer": provider.issuer[:200], "address": address[:45]}
    Event.objects.create(by=person, verb="single sign-on", subject=f"account {person.pk}", detail=detail)
    return person


def _account_for(claims: dict[str, Any], provider: Provider) -> User:
    """Return the account of a person who signs in for the first time."""
    email = email_of(claims)
    matching_users = list(User.objects.filter(email__iexact=email).order_by("pk")[:2]) if email else []
    if matching_users:
        return _linked(matching_users, provider)
    invitation = links.invitation_to(email) if email else None
    if invitation is not None:
        name = invitation.name if _is_free(invitation.name) else _free_name(claims)
        person = accounts.create(by=None, username=name, role=invitation.role, password=None, email=email)
        links.spend(link=invitation, by=person)
        return person
    if not provider.new_accounts:
        raise SignOnRefused(
            f"Nobody has invited you yet. Ask an administrator, and say that you use {provider.title}.",
            why="no account",
        )
    name = _free_name(claims)
    return accounts.create(by=None, username=name, role="annotator", password=None, email=email)


def _linked(matching_users: list[User], provider: Provider) -> User:
    """Return the account with a verified address, where that may open it."""
    person = matching_users[0]
    if len(matching_users) > 1:
        raise SignOnRefused(
            "Several accounts have your e-mail address. Ask an administrator.", why="two accounts"
        )
    if not provider.link_by_email:
        raise SignOnRefused(
            f"An account has your e-mail address already, and is not opened by {provider.title}. "
            "Sign in with its password, or ask an administrator.",
            "account not linked",
            person.pk,
        )
    if Participant.objects.filter(user=person).exists():
        raise SignOnRefused("Your account is for one campaign alone: use its link.", "participant", person.pk)
    detail = {"issuer": provider.issuer[:200]}
    Event.objects.create(by=person, verb="link single sign-on", subject=f"account {person.pk}", detail=detail)
    return person


def _follow_groups(person: User, claims: dict[str, Any], provider: Provider) -> None:
    """Give a person the highest role of their groups; without the claim, or a setting, theirs stays."""
    groups = claims.get(provider.groups_claim)
    groups = [groups] if isinstance(groups, str) else groups
    if not provider.roles or not isinstance(groups, list):
        return
    roles = [provider.roles[group] for group in groups if isinstance(group, str) and group in provider.roles]
    role = max(roles, key=ROLES.index, default="annotator")
    try:
        accounts.set_role(by=None, person=person, role=role)
    except RoleRefused as refused:
        detail = {"asked": role, "why": str(refused)}
        Event.objects.create(by=None, verb="keep role", subject=f"account {person.pk}", detail=detail)


def _free_name(claims: dict[str, Any]) -> str:
    """Return a user name for a new account, adapted from the provider's proposal."""
    for claim in ("preferred_username", "email", "name"):
        proposed = _fitting(claims.get(claim))
        if proposed:
            break
    else:
        proposed = "person"
    for number in range(1, TRIES):
        name = proposed if number == 1 else f"{proposed}-{number}"
        if _is_free(name):
            return name
    return f"{proposed}-{secrets.token_hex(4)}"


def _fitting(proposed: object) -> str:
    """Return the allowed characters of a proposed name, of an e-mail address those before the @."""
    text = names.normal(proposed[:200].partition("@")[0]) if isinstance(proposed, str) else ""
    cleaned = " ".join("".join(c for c in text if c.isalnum() or c in names.PUNCTUATION).split())
    return cleaned.lstrip("._-+@' ")[: names.LONGEST - 9].rstrip()


def _is_free(name: str) -> bool:
    try:
        accounts.checked_name(name)
    except NameRefused:
        return False
    return True
