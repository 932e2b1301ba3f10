"""Local OpenID Connect provider, which lets everybody in and signs whatever it is told to sign."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

CLIENT, SECRET = "concord", "the client's secret"
KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
"""Key that the provider publishes."""
ANOTHER_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
"""Key that it does not publish."""
PERSON = {"sub": "0815", "email": "ana@example.org", "email_verified": True, "preferred_username": "ana"}


class Provider(ThreadingHTTPServer):
    """The provider: the person who signs in, and the faults of the tokens (`amiss`, `key`, `kid`).

    `secret` is the client's registered secret, `kids` names the published keys, and `instead` has the
    response (a status and a body) that replaces an address's own.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.issuer = f"http://127.0.0.1:{self.server_address[1]}"
        self.person: dict[str, Any] = dict(PERSON)
        self.info: dict[str, Any] = {}
        self.amiss: dict[str, Any] = {}
        self.key = KEY
        self.kid: str | None = "one"
        self.kids: list[str | None] = ["one"]
        self.secret = SECRET
        self.instead: dict[str, tuple[int, Any]] = {}
        self.codes: dict[str, dict[str, str]] = {}
        self.away = False

    def token(self, nonce: str) -> str:
        """Return an ID token for the person who signed in."""
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": CLIENT, "iat": now, "exp": now + 300, "nonce": nonce}
        claims |= self.person | self.amiss
        kept = {name: value for name, value in claims.items() if value is not None}
        return jwt.encode(kept, self.key, algorithm="RS256", headers={"kid": self.kid} if self.kid else None)

    @property
    def published(self) -> dict[str, Any]:
        """Discovery document: the provider's endpoints."""
        places = {
            "authorization": "authorize",
            "token": "token",
            "userinfo": "userinfo",
            "end_session": "out",
        }
        found: dict[str, Any] = {f"{name}_endpoint": f"{self.issuer}/{at}" for name, at in places.items()}
        return found | {"issuer": self.issuer, "jwks_uri": f"{self.issuer}/jwks"}


class _Handler(BaseHTTPRequestHandler):
    server: Provider

    def do_GET(self) -> None:
        asked = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(asked.query).items()}
        if self.server.away:
            self._answer({"error": "away"}, 503)
        elif asked.path in self.server.instead:
            status, told = self.server.instead[asked.path]
            self._answer(told, status)
        elif asked.path == "/.well-known/openid-configuration":
            self._answer(self.server.published)
        elif asked.path == "/jwks":
            public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(KEY.public_key()))
            public |= {"alg": "RS256", "use": "sig"}
            self._answer({"keys": [public | ({"kid": kid} if kid else {}) for kid in self.server.kids]})
        elif asked.path == "/userinfo":
            self._answer({"sub": self.server.person["sub"]} | self.server.info)
        elif asked.path == "/authorize":
            code = f"code-{len(self.server.codes)}"
            self.server.codes[code] = query
            back = urlencode({"code": code, "state": query["state"]})
            self.send_response(302)
            self.send_header("Location", f"{query['redirect_uri']}?{back}")
            self.end_headers()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        given = {name: values[0] for name, values in parse_qs(body).items()}
        if "/token" in self.server.instead:
            status, told = self.server.instead["/token"]
            self._answer(told, status)
            return
        if not self._is_client():
            self._answer({"error": "invalid_client", "error_description": "Bad client credentials"}, 401)
            return
        begun = self.server.codes.pop(given.get("code", ""), None)
        if begun is None or not _proves(given, begun):
            self._answer({"error": "invalid_grant"}, 400)
            return
        token = self.server.token(begun["nonce"])
        self._answer({"access_token": "opaque", "token_type": "Bearer", "id_token": token})

    def _is_client(self) -> bool:
        told = base64.b64encode(f"{CLIENT}:{self.server.secret}".encode()).decode()
        return self.headers.get("Authorization") == f"Basic {told}"

    def _answer(self, told: Any, status: int = 200) -> None:
        body = told.encode() if isinstance(told, str) else json.dumps(told).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Log nothing."""


def _proves(given: dict[str, str], begun: dict[str, str]) -> bool:
    """Whether the client that redeems a code is the one that requested it (PKCE)."""
    hashed = hashlib.sha256(given.get("code_verifier", "").encode()).digest()
    return base64.urlsafe_b64encode(hashed).rstrip(b"=").decode() == begun["code_challenge"]


@contextmanager
def running() -> Iterator[Provider]:
    """Run a provider until the context ends."""
    provider = Provider()
    thread = threading.Thread(target=provider.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        provider.shutdown()
        provider.server_close()
