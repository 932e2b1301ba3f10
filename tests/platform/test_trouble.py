"""While the database is unavailable, pages and API say so and ask to retry, and report no server error."""

from __future__ import annotations

import errno
import logging

import psycopg
import pytest
from django.contrib.sessions.backends.db import SessionStore
from django.db import IntegrityError, InterfaceError, OperationalError
from django.test import Client

from config import trouble
from config.embedded.layout import EmbeddedError


def of_code(code: str | None) -> OperationalError:
    """An error as Django raises it for one of PostgreSQL's codes."""
    error = OperationalError("the database says no")
    error.__cause__ = psycopg.errors.lookup(code)() if code else psycopg.OperationalError()
    return error


@pytest.fixture
def visitor(client: Client, monkeypatch) -> Client:
    """Somebody with a session that cannot be read, because the database is away."""

    def refuse(self):
        raise of_code(None)

    monkeypatch.setattr(SessionStore, "load", refuse)
    client.raise_request_exception = False
    client.cookies["concord_session"] = "x" * 32
    return client


def test_a_person_gets_a_page_that_asks_to_try_again(visitor):
    answer = visitor.get("/corpora/", headers={"accept": "text/html"})
    assert answer.status_code == 503
    assert int(answer["Retry-After"]) > 0
    assert "What was confirmed is kept" in answer.text
    assert answer["Content-Type"].startswith("text/html")


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/api/v1/corpora/", {}),
        ("/corpora/", {"accept": "application/json"}),
        ("/corpora/", {"hx-request": "true"}),
    ],
)
def test_a_script_gets_json(visitor, path, headers):
    answer = visitor.get(path, headers=headers)
    assert (answer.status_code, answer["Content-Type"]) == (503, "application/json")
    assert "Retry-After" in answer
    assert answer.json()["detail"] == trouble.AWAY


def test_json_that_was_sent_is_answered_with_json(visitor):
    answer = visitor.post("/work/1/next/", {}, content_type="application/json")
    assert (answer.status_code, answer["Content-Type"]) == (503, "application/json")


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (of_code(None), trouble.AWAY),
        (of_code("57P01"), trouble.AWAY),
        (of_code("57P03"), trouble.AWAY),
        (of_code("08006"), trouble.AWAY),
        (of_code("53100"), trouble.FULL),
        (of_code("53300"), trouble.BUSY),
        (of_code("57014"), None),
        (EmbeddedError("away"), trouble.AWAY),
        (InterfaceError("closed"), trouble.AWAY),
        (OSError(errno.ENOSPC, "No space left on device"), trouble.FULL),
        (OSError(errno.EMFILE, "Too many open files"), trouble.BUSY),
        (FileNotFoundError(errno.ENOENT, "No such file"), None),
        (IntegrityError("twice"), None),
        (ValueError("ours"), None),
    ],
)
def test_only_what_passes_by_itself_is_to_be_tried_again(error, sentence):
    assert trouble.temporary_trouble(error) == sentence


def test_the_log_has_one_line_for_each_such_request(visitor, caplog):
    short = trouble.ShortWhilePassing()
    with caplog.at_level(logging.ERROR, logger="django.request"):
        visitor.get("/corpora/")
    (record,) = [record for record in caplog.records if record.name == "django.request"]
    assert short.filter(record)
    assert record.exc_info is None
    assert record.getMessage() == "the database says no (answered with 503)"


def test_other_faults_keep_their_traceback(client, monkeypatch):
    def fail(self):
        raise ValueError("ours")

    monkeypatch.setattr(SessionStore, "load", fail)
    client.raise_request_exception = False
    client.cookies["concord_session"] = "x" * 32
    assert client.get("/corpora/").status_code == 500
