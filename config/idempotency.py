"""Requests that may be sent twice but take effect once: a POST with an `Idempotency-Key`.

The view's changes and the stored response are one transaction. A request with the same key waits for its end;
a process killed in between leaves neither. Successful responses (2xx) are stored for RETENTION: a refusal has
changed nothing, so the request can simply be retried. A key belongs to an account and a route. Responses with
a secret are not stored: their routes take no key (`told_once`).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any, TypeVar

from django.contrib.auth.models import User
from django.db import OperationalError, connection, transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.views.decorators.cache import never_cache
from rest_framework.exceptions import APIException

from config.middleware import storable_query
from config.models import KeptAnswer
from config.request_json import LIMIT

HEADER = "Idempotency-Key"
REPLAYED = "Idempotency-Replayed"
RETENTION = timedelta(hours=24)
WAIT = "10s"
"""Maximum wait of a second request for the first."""
MOST_BYTES = 1_000_000
"""Longer responses are not stored."""
LONGEST = 255
FORM = r"^[!-~]{1,255}$"
SECRET = "its answer holds a secret, which Concord keeps nowhere"
FILE = "it answers with a file"
_LOCK_TIMEOUT = "55P03"
_INSERT = """
INSERT INTO config_keptanswer (user_id, name, request, at) VALUES (%s, %s, %s, now())
ON CONFLICT DO NOTHING RETURNING id
"""
Viewed = TypeVar("Viewed", bound=Callable[..., Any])


def told_once(view: Viewed) -> Viewed:
    """Decorate a DRF view whose response holds a secret, stored neither here nor by browsers."""
    view.cls.without_keys = SECRET  # type: ignore[attr-defined]
    return never_cache(view)


class Idempotency:
    """Middleware: replays the stored response to a POST with a known key, and stores those to new keys."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Any, args: Any, kwargs: dict[str, Any]
    ) -> HttpResponseBase | None:
        """Handle a POST to the API with a key; leave all other requests to their views."""
        key = request.headers.get(HEADER)
        if key is None or request.method != "POST" or not hasattr(view, "cls"):
            return None
        person = _person(request, view)
        if person is None:
            return None  # the view refuses them with its reason
        if reason := getattr(view.cls, "without_keys", ""):
            return _refused(422, "idempotency_key_refused", f"This route takes no {HEADER}: {reason}.")
        if not re.fullmatch(FORM, key):
            say = f"{HEADER}: 1 to {LONGEST} printable characters of ASCII, without spaces."
            return _refused(400, "idempotency_key_invalid", say)
        digest = _digest(request)
        if digest is None:
            return None  # too large: the view refuses it
        name = _hash(request.get_full_path(), key)
        try:
            return _once(person, name, digest, lambda: view(request, *args, **kwargs))
        except OperationalError as error:
            if getattr(error.__cause__, "sqlstate", None) != _LOCK_TIMEOUT:
                raise
            return _refused(
                409, "idempotency_key_busy", "The first request with this key is still being done."
            )


def clear() -> int:
    """Delete expired responses; return their number."""
    return KeptAnswer.objects.filter(at__lt=timezone.now() - RETENTION).delete()[0]


@transaction.atomic
def _once(person: User, name: str, digest: str, do: Callable[[], Any]) -> HttpResponseBase:
    KeptAnswer.objects.filter(user=person, name=name, at__lt=timezone.now() - RETENTION).delete()
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('lock_timeout', %s, true)", [WAIT])
        cursor.execute(_INSERT, [person.pk, name, digest])
        mine = cursor.fetchone()
        cursor.execute("SET LOCAL lock_timeout TO DEFAULT")
    if mine is None:
        return _again(KeptAnswer.objects.get(user=person, name=name), digest)
    response: HttpResponseBase = do()
    if callable(render := getattr(response, "render", None)):
        response = render()
    stored = KeptAnswer.objects.filter(pk=mine[0])
    if response.status_code >= 500:
        transaction.set_rollback(True)
    elif _can_be_kept(response):
        assert isinstance(response, HttpResponse)
        stored.update(status=response.status_code, body=response.content.decode())
    else:
        stored.delete()
    return response


def _again(stored: KeptAnswer, digest: str) -> HttpResponse:
    if stored.request != digest:
        return _refused(
            422, "idempotency_key_reused", "This key came with another request before: make a new one."
        )
    answer = HttpResponse(stored.body, status=stored.status, content_type="application/json")
    answer.headers[REPLAYED] = "true"
    return answer


def _can_be_kept(response: HttpResponseBase) -> bool:
    if response.streaming or not 200 <= response.status_code < 300:
        return False
    headers = response.headers
    is_json = headers.get("Content-Type", "application/json").startswith("application/json")
    is_secret = "no-store" in headers.get("Cache-Control", "")
    return is_json and not is_secret and len(getattr(response, "content", b"")) <= MOST_BYTES


def _person(request: HttpRequest, view: Any) -> User | None:
    """Return the request's user as the view would see it; None if the view will refuse the request."""
    try:
        user = view.cls().initialize_request(request).user
    except APIException:
        return None
    return user if isinstance(user, User) else None


def _digest(request: HttpRequest) -> str | None:
    """Return a hash of the request's content; None if it exceeds the size limit."""
    if request.content_type != "multipart/form-data":
        length = request.headers.get("Content-Length") or "0"
        if not length.isdigit() or int(length) > LIMIT:
            return None
        return _hash(request.content_type or "", request.body)
    request.POST = storable_query(request.POST)
    parts: list[str | bytes] = []
    for name, values in sorted(request.POST.lists()):
        parts += [name, *values]
    for name, files in sorted(request.FILES.lists()):
        for file in files:
            file_hash = hashlib.sha256()
            for chunk in file.chunks():
                file_hash.update(chunk)
            file.seek(0)
            parts += [str(name), file.name or "", file_hash.hexdigest()]
    return _hash(*parts)


def _hash(*parts: str | bytes) -> str:
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogateescape") if isinstance(part, str) else part
        digest.update(b"%d:" % len(data))
        digest.update(data)
    return digest.hexdigest()


def _refused(status: int, code: str, detail: str) -> HttpResponse:
    return JsonResponse({"detail": detail, "code": code}, status=status)
