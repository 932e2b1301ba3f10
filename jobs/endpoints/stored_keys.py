"""Keys of endpoints, encrypted in the database with CONCORD_SECRET_KEY.

A key is stored with the origin (scheme, host, port) that it is for, so that a changed address never gets it.
Of several comma-separated values of CONCORD_SECRET_KEY the first encrypts and every one decrypts.
"""

from __future__ import annotations

import base64
import json
import re
from functools import cache
from urllib.parse import urlsplit

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings

from jobs.errors import JobError

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
