"""Text is compressed in transit, except responses with a secret."""

from __future__ import annotations

import gzip

import pytest
from django.http import FileResponse, HttpResponse, StreamingHttpResponse
from django.test import RequestFactory

from config.middleware import Compression

TEXT = "the same words again and again " * 100


def compressed(response):
    request = RequestFactory().get("/", headers={"accept-encoding": "gzip"})
    return Compression(lambda _request: response)(request)


@pytest.mark.parametrize("kind", ["text/html", "application/json", "text/csv", "image/svg+xml"])
def test_text_is_compressed(kind):
    answer = compressed(HttpResponse(TEXT, content_type=kind))
    assert answer["Content-Encoding"] == "gzip"
    assert gzip.decompress(answer.content).decode() == TEXT
    assert len(answer.content) < len(TEXT) / 5


def test_a_task_page_goes_stale_but_holds_no_secret():
    answer = compressed(HttpResponse(TEXT, headers={"Cache-Control": "no-store"}))
    assert answer["Content-Encoding"] == "gzip"


def test_the_size_of_a_page_says_little_of_what_is_in_it():
    assert len({len(compressed(HttpResponse(TEXT)).content) for _ in range(20)}) > 1


def test_a_download_is_compressed_as_it_goes():
    answer = compressed(StreamingHttpResponse([TEXT.encode()] * 3, content_type="text/csv"))
    assert gzip.decompress(b"".join(answer)).decode() == TEXT * 3


@pytest.mark.parametrize(
    "answer",
    [
        HttpResponse(TEXT, headers={"Cache-Control": "private, no-store"}),
        HttpResponse(TEXT, content_type="application/vnd.apache.parquet"),
        HttpResponse(TEXT, status=206),
        FileResponse([b"x" * 1000], content_type="image/png"),
    ],
)
def test_secrets_parts_and_what_is_compressed_already_stay_as_they_are(answer):
    assert "Content-Encoding" not in compressed(answer)


def test_the_style_sheet_and_the_sign_in_page_arrive_compressed(client, db):
    for path in ("/static/css/concord.css", "/sign-in/"):
        answer = client.get(path, headers={"accept-encoding": "gzip"})
        assert answer.status_code == 200
        is_secret = "private" in answer.get("Cache-Control", "")
        assert is_secret or answer["Content-Encoding"] == "gzip"
