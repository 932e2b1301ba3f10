"""Short answers that need neither a template nor the database: JSON for scripts, a small page for people."""

from __future__ import annotations

import html
import json
from dataclasses import dataclass
from http import HTTPStatus

from config.middleware import POLICY
from config.refusals import shaped

RETRY_SECONDS = 5
PAGE = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title} · Concord</title>'
    '<meta name="viewport" content="width=device-width,initial-scale=1">'
    '<link rel="stylesheet" href="/static/css/concord.css"></head>'
    '<body><main class="page"><div class="empty">'
    "<h1>{title}</h1><p>{sentence}</p></div></main></body></html>"
)


@dataclass(frozen=True)
class Answer:
    """A status with its headers and its body."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes


def short(status: int, sentence: str, *, for_scripts: bool, retry: int | None = None) -> Answer:
    """An answer that says in one sentence what happened. `retry`: seconds after which to try again."""
    if for_scripts:
        kind, body = "application/json", json.dumps(shaped(status, {"detail": sentence}))
    else:
        kind, title = "text/html; charset=utf-8", HTTPStatus(status).phrase
        body = PAGE.format(title=title, sentence=html.escape(sentence))
    headers = [
        ("Content-Type", kind),
        ("Content-Length", str(len(body.encode()))),
        ("Cache-Control", "no-store"),
        ("Content-Security-Policy", POLICY),
        ("X-Content-Type-Options", "nosniff"),
    ]
    if retry is not None:
        headers.append(("Retry-After", str(retry)))
    return Answer(status, headers, body.encode())


def wants_json(path: str, accept: str, content_type: str, requested_with: str = "") -> bool:
    """Whether a script asks: over the API, with or for JSON, or from a page of ours."""
    return (
        path.startswith("/api/")
        or "json" in content_type
        or ("json" in accept and "html" not in accept)
        or bool(requested_with)
    )
