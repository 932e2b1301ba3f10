"""Endpoints of LLM judges: declared in the environment, or added by administrators and researchers.

`CONCORD_ENDPOINT_<NAME>=base_url|model|KEY_ENV|price_in|price_out|at_once|requests|tokens|family|share|most|files|revision`
declares an endpoint; all fields after the model are optional. After the prices come limits: concurrent
requests, requests and tokens per minute; then the model family, the share of the price that a batched call
costs, the maximum requests per batch, `keep` to keep batch files at the provider, and the served revision of
the model.

`KEY_ENV` names the environment variable that holds the key. An endpoint added on the page may use only
variables listed in CONCORD_KEY_VARIABLES or used by endpoints of the environment: otherwise any secret of the
process could be sent to any server. Or its key is stored, encrypted here, too.

An administrator's endpoint belongs to the installation and is there for all researchers. A researcher's
belongs to its owner (`jobs.endpoints.ownership`).
"""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Collection, Mapping
from datetime import timedelta
from decimal import Decimal, InvalidOperation
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import connection, transaction
from django.db.models import Q
from django.utils import timezone

from config.models import Event
from config.permissions import is_administrator
from jobs.endpoints.ownership import administrators, may_add, may_change, require_use
from jobs.endpoints.wire import literal, refusal
from jobs.errors import JobError
from jobs.models import Worker
from jobs.models.endpoint import LONGEST_ADDRESS, Endpoint
from jobs.models.run import Run
from jobs.queue import timing
from jobs.queue.waking import wake

_KEY = re.compile(r"[!-~]{1,1000}")
_PURPOSE = b"concord: keys of endpoints"


class UnreadableKey(JobError):
    """None of the values of CONCORD_SECRET_KEY decrypts the key, or it is for another address."""


def encrypt(key: str, base_url: str) -> str:
    """Return a key encrypted for the origin of a URL; raise JobError for a key that no header can carry."""
    if not _KEY.fullmatch(key):
        raise JobError("The key must be 1 to 1000 printable characters without spaces: copy it again.")
    payload = json.dumps({"key": key, "origin": origin(base_url)}).encode()
    return _fernet(settings.SECRET_KEY).encrypt(payload).decode()


def decrypt(stored_key: str, base_url: str) -> str:
    """Return the key that `encrypt` stored for the origin of a URL; raise UnreadableKey."""
    secrets = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    try:
        payload = json.loads(MultiFernet([_fernet(secret) for secret in secrets]).decrypt(stored_key))
    except InvalidToken:
        raise UnreadableKey(
            "CONCORD_SECRET_KEY is not the one that it was stored with. Add the earlier value after the "
            "present one, separated by a comma, or enter the key again"
        ) from None
    if payload["origin"] != origin(base_url):
        raise UnreadableKey(f"it was stored for {payload['origin']}: enter the key again")
    key: str = payload["key"]
    return key


def is_outdated(stored_key: str) -> bool:
    """Whether a key is encrypted with another value than the first of CONCORD_SECRET_KEY."""
    try:
        _fernet(settings.SECRET_KEY).decrypt(stored_key)
    except InvalidToken:
        return True
    return False


def origin(base_url: str) -> str:
    """Return scheme, host and port of a URL: where its key is sent."""
    parts = urlsplit(base_url)
    port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    return f"{parts.scheme}://{(parts.hostname or '').rstrip('.')}:{port}"


@cache
def _fernet(secret: str) -> Fernet:
    derived = HKDF(algorithm=SHA256(), length=32, salt=None, info=_PURPOSE).derive(secret.encode())
    return Fernet(base64.urlsafe_b64encode(derived))


PREFIX = "CONCORD_ENDPOINT_"
_KEY_NAME = re.compile(r"^[A-Z][A-Z0-9_]{0,80}_(API_)?(KEY|TOKEN)$")
METADATA_NAMES = ("metadata.google.internal", "metadata")
_LIMITS = ("concurrency", "requests_per_minute", "tokens_per_minute")
_USUAL = ("concurrency", "batch_most")
"""Fields that fall back to the model's default when not declared."""
_DECLARED = {
    **{"from_environment": True, "active": True, "allow_private": True},
    **{"owner_id": None, "shared": False, "stored_key": ""},
}
_SERVERS = {
    "key_env": "a key in the environment",
    "tokenizer": "a tokenizer file",
    "allow_private": "an address at this machine or in its private network",
}
"""Settings that use something of the server, which only administrators give to an endpoint."""
_NOT_KEYS = ("CONCORD_SECRET", "DJANGO_", "DATABASE_", "CELERY_", "AWS_SECRET", "POSTGRES", "PG")


@transaction.atomic
def save(*, by: User, fields: Mapping[str, Any], endpoint: Endpoint | None = None) -> Endpoint:
    """Add or change an endpoint; raise JobError for an address or a key that is not allowed.

    A new endpoint of a researcher is their own. `key` in the fields stores a key, or deletes it where empty.
    Raises PermissionDenied for a person who may not change it.
    """
    if endpoint is not None and endpoint.from_environment:
        raise JobError(f"{endpoint.name} is declared in the environment: change it there.")
    if not (may_add(by) if endpoint is None else may_change(by, endpoint)):
        raise PermissionDenied
    target = endpoint or Endpoint(owner=None if is_administrator(by) else by)
    if fields.get("shared") and not target.shared and target.owner_id not in (None, by.pk):
        raise JobError(f"Only {target.owner} shares {target.name}: its calls are paid with their key.")
    fields = dict(fields)
    key = fields.pop("key", None)
    if any(fields.get(name, "") != getattr(target, name) for name in ("base_url", "model") if name in fields):
        target.fake_model = False  # the mark belongs to the server that answered before
    for name, value in fields.items():
        setattr(target, name, value)
    check(base_url=target.base_url, key_env=target.key_env)
    _require_own(target)
    _require_listed(target.key_env)
    if key is not None:
        target.stored_key = encrypt(key, target.base_url) if key else ""
    _require_fitting_key(target)
    target.save()
    detail = {"base_url": target.base_url, "allow_private": target.allow_private}
    if target.owner_id is not None:
        detail["shared"] = target.shared
    if key is not None:
        detail["key"] = "stored" if key else "deleted"
    Event.objects.create(by=by, verb="save endpoint", subject=target.name, detail=detail)
    return target


def _require_own(endpoint: Endpoint) -> None:
    """Raise JobError for an owner's endpoint that uses something of the server."""
    if endpoint.owner_id is None:
        if endpoint.shared:
            raise JobError(f"{endpoint.name or 'It'} belongs to nobody alone: everybody uses it already.")
        return
    used = [words for name, words in _SERVERS.items() if getattr(endpoint, name)]
    if used:
        raise JobError(
            f"Only administrators add an endpoint with {' or '.join(used)}: ask {administrators()}."
        )


def _require_fitting_key(endpoint: Endpoint) -> None:
    """Raise JobError for two keys, and for a stored key on its way to another server or unencrypted."""
    if not endpoint.stored_key:
        return
    if endpoint.key_env:
        raise JobError("Choose one: a stored key, or the variable of a key.")
    if urlsplit(endpoint.base_url).scheme != "https" and not endpoint.allow_private:
        raise JobError("The key would travel unencrypted: give an https address.")
    try:
        decrypt(endpoint.stored_key, endpoint.base_url)
    except UnreadableKey as error:
        raise JobError(f"The stored key cannot be used: {error}.") from None


@transaction.atomic
def disown(*, by: User, owner: User) -> None:
    """Deactivate the endpoints of a person whose account goes, and delete their keys."""
    for endpoint in Endpoint.objects.select_for_update().filter(owner=owner):
        endpoint.owner, endpoint.shared, endpoint.stored_key, endpoint.active = None, False, "", False
        endpoint.save(update_fields=["owner", "shared", "stored_key", "active"])
        Event.objects.create(by=by, verb="disown endpoint", subject=endpoint.name)


# Stored keys after a change of CONCORD_SECRET_KEY.


def outdated_keys() -> list[Endpoint]:
    """Return the endpoints whose stored key is encrypted with an earlier value of CONCORD_SECRET_KEY."""
    return [row for row in Endpoint.objects.exclude(stored_key="") if is_outdated(row.stored_key)]


@transaction.atomic
def reencrypt_keys(*, by: User) -> dict[str, Any]:
    """Encrypt outdated keys with the first value of CONCORD_SECRET_KEY.

    Returns the number of keys encrypted anew, and the names of endpoints whose key cannot be read any more.
    """
    if not is_administrator(by):
        raise PermissionDenied
    number, unreadable = 0, []
    for endpoint in Endpoint.objects.select_for_update().exclude(stored_key=""):
        if not is_outdated(endpoint.stored_key):
            continue
        try:
            key = decrypt(endpoint.stored_key, endpoint.base_url)
        except UnreadableKey:
            unreadable.append(endpoint.name)
            continue
        endpoint.stored_key = encrypt(key, endpoint.base_url)
        endpoint.save(update_fields=["stored_key"])
        number += 1
    Event.objects.create(by=by, verb="re-encrypt keys", detail={"keys": number, "unreadable": unreadable})
    return {"reencrypted": number, "unreadable": unreadable}


@transaction.atomic
def retire(*, by: User | None, name: str) -> None:
    """Deactivate a removed endpoint; no effect if it is already inactive."""
    if Endpoint.objects.filter(name=name, active=True).update(active=False):
        Event.objects.create(by=by, verb="retire endpoint", subject=name)


@transaction.atomic
def ask_for_test(*, by: User, endpoint: Endpoint) -> Endpoint:
    """Request a test of an endpoint: a worker asks for one word and stores the result on the endpoint."""
    if endpoint.active:
        require_use(by, endpoint)
    endpoint.test_asked, endpoint.test_done = timezone.now(), None
    endpoint.test_error, endpoint.test_ms, endpoint.test_reply = "", None, ""
    endpoint.save(update_fields=["test_asked", "test_done", "test_error", "test_ms", "test_reply"])
    Event.objects.create(by=by, verb="test endpoint", subject=endpoint.name)
    wake(Run.Queue.CALLS)
    return endpoint


def key_variables(environment: Mapping[str, str] | None = None) -> list[str]:
    """Return the names of variables that may hold keys, according to this process's environment."""
    source = os.environ if environment is None else environment
    declared = (text.split("|") for name, text in source.items() if name.startswith(PREFIX))
    own = {parts[2].strip() for parts in declared if len(parts) > 2 and parts[2].strip()}
    return sorted({*settings.KEY_VARIABLES, *own})


def check(*, base_url: str, key_env: str) -> None:
    """Raise JobError unless the URL is plain http(s) and the variable may hold a key."""
    parts = urlsplit(base_url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise JobError(f"{base_url!r} is not an http or https address.")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise JobError("The address must hold no user, password, query or fragment.")
    name = parts.hostname.casefold().rstrip(".")
    address = literal(name)
    if name in METADATA_NAMES or (address and refusal(address, allow_private=True)):
        raise JobError(
            "Addresses of the machine's own network segment (169.254.x, fe80::) and of clouds' metadata "
            "are refused."
        )
    if key_env and (not _KEY_NAME.match(key_env) or key_env.startswith(_NOT_KEYS)):
        raise JobError(
            f"{key_env!r} cannot name a key: use an environment variable such as OPENAI_API_KEY, "
            "in capitals and ending in _KEY or _TOKEN."
        )


def key_of(endpoint: Endpoint) -> str:
    """Return the endpoint's key, '' where it needs none; raise JobError if this process lacks it."""
    if endpoint.stored_key:
        try:
            return decrypt(endpoint.stored_key, endpoint.base_url)
        except UnreadableKey as error:
            raise JobError(
                f"The stored key of the endpoint {endpoint.name} cannot be used: {error}."
            ) from None
    if not endpoint.key_env:
        return ""
    if not endpoint.from_environment:
        _require_listed(endpoint.key_env)
    key = os.environ.get(endpoint.key_env, "")
    if not key:
        raise JobError(
            f"The endpoint {endpoint.name} takes its key from {endpoint.key_env}, which is not set where the "
            "worker runs."
        )
    return key


def _require_listed(key_env: str) -> None:
    """Raise JobError for a variable that the environment does not list as a key variable."""
    if key_env and key_env not in key_variables():
        raise JobError(
            f"{key_env} is not among the variables that may hold keys. Whoever runs the server adds it to "
            f"CONCORD_KEY_VARIABLES (now: {', '.join(key_variables()) or 'none'})."
        )


def sync_environment(environment: Mapping[str, str] | None = None) -> list[Endpoint]:
    """Mirror the declared endpoints in the database and return them; endpoints no longer declared become
    inactive.

    Called before every listing or lookup of endpoints, so it takes one query if nothing changed. Anyone who
    can set the environment runs the machine, so private addresses are allowed. Raises JobError for an invalid
    declaration.
    """
    source = os.environ if environment is None else environment
    declared = dict(
        _declared(name, text) for name, text in sorted(source.items()) if name.startswith(PREFIX) and text
    )
    mirrored = Q(from_environment=True, active=True)
    endpoints = {row.name: row for row in Endpoint.objects.filter(Q(name__in=declared) | mirrored)}
    same = [name for name in declared if name in endpoints and _is_as(endpoints[name], declared[name])]
    if not len(same) == len(declared) == len(endpoints):
        endpoints = _mirror(declared)
    return [endpoints[name] for name in declared]


@transaction.atomic
def _mirror(declared: Mapping[str, Mapping[str, Any]]) -> dict[str, Endpoint]:
    """Write the declared endpoints and retire others of the environment, under a lock shared by all
    processes.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended('endpoints of the environment', 0))")
    endpoints = {row.name: row for row in Endpoint.objects.select_for_update().filter(name__in=declared)}
    for name, fields in declared.items():
        if name not in endpoints or not _is_as(endpoints[name], fields):
            detail = {"base_url": fields["base_url"]}
            Event.objects.create(verb="declare endpoint", subject=name, detail=detail)
            defaults = {**fields, **_DECLARED, "fake_model": False}
            endpoints[name], _ = Endpoint.objects.update_or_create(name=name, defaults=defaults)
    gone = Endpoint.objects.select_for_update().filter(from_environment=True, active=True)
    gone = gone.exclude(name__in=declared)
    for name in gone.values_list("name", flat=True):
        Event.objects.create(verb="endpoint no longer declared", subject=name)
    gone.update(active=False)
    return endpoints


def _is_as(endpoint: Endpoint, fields: Mapping[str, Any]) -> bool:
    return all(getattr(endpoint, name) == value for name, value in {**fields, **_DECLARED}.items())


def _declared(variable: str, text: str) -> tuple[str, dict[str, Any]]:
    parts = [part.strip() for part in text.split("|")]
    if not 2 <= len(parts) <= 13 or not parts[1]:
        raise JobError(
            f"{variable}: expected base_url|model|KEY_ENV|price_in|price_out|at_once|requests|tokens|family"
            "|share|most|files|revision (requests at once, requests a minute, tokens a minute; the model's "
            "family; share of the prices that a call in a batch costs, the most requests of a batch, keep "
            "where its files stay at the provider; the served revision of the model)."
        )
    base_url, model, key_env, price_in, price_out, *most = parts + [""] * (13 - len(parts))
    family, share, batch_most, files, revision = most[3:]
    try:
        check(base_url=base_url, key_env=key_env)
        prices = {name: _price(price) for name, price in (("price_in", price_in), ("price_out", price_out))}
        limits: dict[str, Any] = {name: _limit(text) for name, text in zip(_LIMITS, most[:3], strict=True)}
        limits |= {"batch_share": _share(share), "batch_most": _limit(batch_most)}
        limits |= {"keep_batch_files": _is_kept(files)}
    except JobError as error:
        raise JobError(f"{variable}: {error}") from None
    name = variable.removeprefix(PREFIX).lower().replace("_", "-")
    given_fields: dict[str, Any] = {
        field: limit for field, limit in limits.items() if limit is not None or field not in _USUAL
    }
    given_fields |= {"family": family, "revision": revision}
    fields = {"base_url": base_url, "model": model, "key_env": key_env, **prices, **given_fields}
    _require_storable(variable, name, fields)
    return name, fields


def _require_storable(variable: str, name: str, fields: Mapping[str, Any]) -> None:
    """Raise JobError for values that are too long or have too many digits. `check` has validated the URL."""
    endpoint = Endpoint(name=name, **fields)
    if len(endpoint.base_url) > LONGEST_ADDRESS:
        raise JobError(f"{variable}: the address has more than {LONGEST_ADDRESS} characters.")
    try:
        endpoint.clean_fields(exclude=["base_url"])
    except ValidationError as error:
        field, (message, *_) = next(iter(error.message_dict.items()))
        raise JobError(f"{variable}: {field}: {message}") from None


def _limit(text: str) -> int | None:
    if not text:
        return None
    if not text.isascii() or not text.isdigit() or not 0 < int(text) < 2**31:
        raise JobError(f"{text!r} is not a limit: a whole number from 1.")
    return int(text)


def _is_kept(text: str) -> bool:
    if text not in ("", "keep"):
        raise JobError(f"{text!r} says nothing of a batch's files: keep, or nothing.")
    return bool(text)


def _share(text: str) -> Decimal | None:
    share = _price(text)
    if share is not None and share > 1:
        raise JobError(f"{text!r} is not a share of the prices: a number from 0 to 1.")
    return share


def _price(text: str) -> Decimal | None:
    if not text:
        return None
    try:
        price = Decimal(text)
    except InvalidOperation:
        raise JobError(f"{text!r} is not a price per million tokens.") from None
    if not price.is_finite() or price < 0:
        raise JobError(f"{text!r} is not a price per million tokens.")
    return price


# Endpoint keys of workers: a worker without a key leaves the endpoint's calls to others.
#
# A run whose key no worker has waits `jobs.queue.timing.KEY_WAIT` seconds for a worker that has it, then
# fails.

# Facts learned about endpoints from their replies.


def remember(forms: Mapping[int, str], fakes: Collection[int] = ()) -> None:
    """Store the form of structured output per endpoint id, and which endpoints serve a fake model."""
    Endpoint.objects.filter(pk__in=fakes, fake_model=False).update(fake_model=True)
    for endpoint, form in forms.items():
        Endpoint.objects.filter(pk=endpoint).exclude(reply_form=form).update(reply_form=form)


_ACTIVE = (Run.State.QUEUED, Run.State.RUNNING)


def has_key(endpoint: Endpoint) -> bool:
    """Whether this process can use an endpoint: it needs no key, or the key is in the environment."""
    try:
        key_of(endpoint)
    except JobError:
        return False
    return True


def lacking() -> list[int]:
    """Return the ids of endpoints whose key this process lacks."""
    keyed = Endpoint.objects.exclude(key_env="", stored_key="")
    return sorted(endpoint.pk for endpoint in keyed if not has_key(endpoint))


def others_have(endpoint: Endpoint) -> bool:
    """Whether a recently seen worker has an endpoint's key."""
    return any(endpoint.pk not in lacks for lacks in _lacks())


def key_note(run: Run) -> str:
    """Return a note on workers that lack the key of an active run; '' if none does."""
    if run.state not in _ACTIVE or run.endpoint is None or not run.endpoint.needs_key:
        return ""
    seen = _lacks()
    without = sum(run.endpoint_id in lacks for lacks in seen)
    variable = run.endpoint.key_env
    if not without:
        return ""
    if without < len(seen):
        lack = f"have no {variable} in their environment" if variable else "cannot read the stored key"
        return f"{without} of {len(seen)} workers {lack} and leave the calls of this run to the others."
    lack = f"has {variable} in its environment" if variable else "can read the stored key"
    return (
        f"No worker {lack}: the calls wait for one that {'has' if variable else 'can'}. The run fails where "
        f"none comes within {timing.KEY_WAIT:.0f} seconds."
    )


def sweep_keys() -> None:
    """Mark runs whose key no worker has, and fail those that waited too long."""
    active = Run.objects.filter(queue=Run.Queue.CALLS, state__in=_ACTIVE, endpoint__isnull=False)
    keyed = list(active.exclude(endpoint__key_env="", endpoint__stored_key="").select_related("endpoint"))
    seen = _lacks() if keyed else []
    now = timezone.now()
    for run in keyed if seen else ():
        if any(run.endpoint_id not in lacks for lacks in seen):
            Run.objects.filter(pk=run.pk, unserved_since__isnull=False).update(unserved_since=None)
        elif run.unserved_since is None:
            Run.objects.filter(pk=run.pk).update(unserved_since=now)
        elif now - run.unserved_since > timedelta(seconds=timing.KEY_WAIT):
            _fail(run)


def _fail(run: Run) -> None:
    from jobs import runs  # imports the workers' wake-up, which imports this module

    assert run.endpoint is not None
    endpoint, seconds = run.endpoint, f"{timing.KEY_WAIT:.0f} seconds"
    runs.stop_with_error(
        run.pk,
        f"The endpoint {endpoint.name} takes its key from {endpoint.key_env}, which is not set where "
        f"the workers run: none had it for {seconds}. Set it there, restart the workers, and resume the run."
        if endpoint.key_env
        else f"No worker could read the stored key of the endpoint {endpoint.name} for {seconds}: start the "
        "workers with the CONCORD_SECRET_KEY of the web process, or enter the key again, and resume the run.",
    )


def _lacks() -> list[list[int]]:
    since = timezone.now() - timedelta(seconds=timing.SEEN_LATELY)
    return list(
        Worker.objects.filter(queue=Run.Queue.CALLS, last_seen__gte=since).values_list("lacks", flat=True)
    )
