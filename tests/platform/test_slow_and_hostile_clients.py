"""Slow, unfinished and oversized requests cost the web server no thread, no disk and little time."""

from __future__ import annotations

import http.client
import socket
import threading
import time
from contextlib import ExitStack, closing
from ipaddress import ip_network

import pytest
from django.test import Client

from annotation.people import accounts
from config.web import front, limits, protocol
from config.web.limits import Refused
from tests.platform.running import wait_until
from tests.platform.web import ask, everything, send, serving

HEAD = b"POST /sign-in/ HTTP/1.1\r\nHost: localhost\r\n"


def echo(environ, start_response):
    """Answers with the size of what was sent."""
    answer = str(len(environ["wsgi.input"].read())).encode()
    start_response("200 OK", [("Content-Length", str(len(answer)))])
    return Whole([answer])


class Whole(list):
    """A body that is there at once, as most of Django's are."""

    streaming = False


def refuse(environ):
    raise Refused(413, "Too large for a request without an account.")


def test_unfinished_requests_hold_up_neither_pages_nor_the_health_check():
    began = time.monotonic()
    with serving(echo) as port:
        held = [send(port, HEAD + b"Content-Length: 100\r\n\r\nuser") for _ in range(40)]
        held += [send(port, HEAD) for _ in range(40)]
        assert ask(port, "/", method="POST", body=b"12345").endswith(b"\r\n\r\n5")
        assert b'{"status": "ok"}' in ask(port, "/healthz")
        assert time.monotonic() - began < protocol.HEADER_SECONDS, "before the first of them was cut off"
        for connection in held:
            connection.close()


def test_headers_that_do_not_end_are_cut_off(monkeypatch):
    monkeypatch.setattr(protocol, "HEADER_SECONDS", 0.2)
    with serving(echo) as port, send(port, HEAD) as slow:
        assert everything(slow) == b""


def test_a_connection_that_says_nothing_is_closed(monkeypatch):
    monkeypatch.setattr(protocol, "HEADER_SECONDS", 0.2)
    with serving(echo) as port, send(port, b"") as silent:
        assert everything(silent) == b""


def test_the_second_request_of_a_connection_is_timed_too(monkeypatch):
    monkeypatch.setattr(protocol, "HEADER_SECONDS", 0.2)
    with serving(echo) as port, send(port, HEAD + b"Content-Length: 0\r\n\r\n") as connection:
        answer = b""
        while not answer.endswith(b"\r\n\r\n0"):  # head and body may come apart
            answer += connection.recv(65536)
        assert answer.startswith(b"HTTP/1.1 200")
        connection.sendall(b"\r\n")
        assert everything(connection) == b""


def test_more_connections_than_files_allow_are_answered_with_503_and_told_once(monkeypatch, caplog):
    monkeypatch.setattr(protocol, "most_connections", lambda: 3)
    monkeypatch.setattr(protocol.LimitedHeaders, "_last_logged_at", -protocol.TELL_EVERY)
    with serving(echo) as port:
        held = [send(port, b"GET / HTTP/1.1\r\n") for _ in range(3)]
        for _ in range(2):
            with send(port, b"") as refused:
                answer = everything(refused)
            assert answer.startswith(b"HTTP/1.1 503 ")
            assert b"\r\nRetry-After: 5\r\n" in answer
        for connection in held:
            connection.close()
        wait_until(lambda: ask(port).startswith(b"HTTP/1.1 200"))
    (line,) = [record.getMessage() for record in caplog.records if record.name == protocol.__name__]
    assert line.startswith("All 3 connections are taken that the limit of open files allows")


def test_endless_headers_are_cut_off_by_size():
    with serving(echo) as port, send(port, HEAD) as connection:
        began = time.monotonic()
        many = b"".join(f"X-{number}: ".encode() + b"x" * 1000 + b"\r\n" for number in range(10_000))
        with pytest.raises((ConnectionResetError, BrokenPipeError)):
            connection.sendall(many)
        assert time.monotonic() - began < protocol.HEADER_SECONDS


def test_a_body_that_comes_too_slowly_is_answered_and_cut_off(monkeypatch):
    monkeypatch.setattr(limits, "GRACE_SECONDS", 0.2)
    with serving(echo) as port, send(port, HEAD + b"Content-Length: 100\r\n\r\nuser") as slow:
        answer = everything(slow)
    assert answer.startswith(b"HTTP/1.1 408")
    assert b"too slowly" in answer


def test_an_upload_that_keeps_coming_is_not_cut_off(monkeypatch):
    monkeypatch.setattr(limits, "GRACE_SECONDS", 0.3)
    with (
        serving(echo) as port,
        send(port, HEAD + b"Connection: close\r\nContent-Length: 60000\r\n\r\n") as steady,
    ):
        for _ in range(6):
            steady.sendall(b"x" * 10_000)
            time.sleep(0.1)
        assert everything(steady).endswith(b"\r\n\r\n60000")


@pytest.mark.exhaustive
def test_300_mib_to_the_sign_in_page_are_refused_at_once(monkeypatch):
    monkeypatch.setattr(limits, "check", lambda environ: pytest.fail("asked who sends it"))
    with serving(echo) as port, send(port, HEAD + b"Content-Length: 314572800\r\n\r\n") as connection:
        began = time.monotonic()
        answer = everything(connection)
    assert answer.startswith(b"HTTP/1.1 413")
    assert time.monotonic() - began < limits.GRACE_SECONDS


@pytest.mark.exhaustive
@pytest.mark.parametrize("declared", [True, False])
def test_nothing_of_a_large_body_is_stored_for_somebody_without_an_account(monkeypatch, declared):
    stored = []
    written = limits.Body.read

    async def read(self, limit):
        try:
            return await written(self, limit)
        finally:
            stored.append(self.file.tell())

    monkeypatch.setattr(limits, "check", refuse)
    monkeypatch.setattr(limits.Body, "read", read)
    head = b"Content-Length: 8000000\r\n\r\n" if declared else b"Transfer-Encoding: chunked\r\n\r\n"
    part = b"x" * 8000 if declared else b"1f40\r\n" + b"x" * 8000 + b"\r\n"
    with serving(echo) as port, send(port, HEAD + head) as connection:
        for _ in range(40):
            connection.sendall(part)
        answer = everything(connection)
    assert answer.startswith(b"HTTP/1.1 413")
    assert all(size <= limits.ANYBODY for size in stored)


def test_a_large_body_of_somebody_who_may_send_it_arrives_whole(monkeypatch):
    monkeypatch.setattr(limits, "check", lambda environ: None)
    with serving(echo) as port:
        size = 3 * 2**20
        assert ask(port, "/work/1/next/", method="POST", body=b"x" * size).endswith(f"{size}".encode())


def test_a_refusal_is_json_for_programs_and_a_page_for_people(monkeypatch):
    monkeypatch.setattr(limits, "check", refuse)
    with serving(echo) as port:
        body = b"x" * (limits.ANYBODY + 1)
        assert b'{"detail": "Too large' in ask(port, "/api/v1/imports/", method="POST", body=body)
        assert b"<h1>" in ask(port, "/sign-in/", method="POST", body=body)


def test_requests_that_take_long_give_their_place_to_others(monkeypatch):
    monkeypatch.setattr(front, "LONG_SECONDS", 0.1)
    go = threading.Event()

    def application(environ, start_response):
        if environ["PATH_INFO"] == "/slow/":
            go.wait(10)
        return echo(environ, start_response)

    with serving(application, threads=1) as port:
        held = [send(port, b"GET /slow/ HTTP/1.1\r\nHost: localhost\r\n\r\n") for _ in range(3)]
        assert ask(port).endswith(b"\r\n\r\n0")
        go.set()
        for connection in held:
            assert connection.recv(100).startswith(b"HTTP/1.1 200")
            connection.close()


def test_a_download_that_fails_breaks_the_connection():
    def application(environ, start_response):
        def blocks():
            yield b"item,rater,value\n" * 20_000
            raise RuntimeError("the database went away")

        start_response("200 OK", [("Content-Type", "text/csv")])
        return blocks()

    with (
        serving(application) as port,
        closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection,
    ):
        connection.request("GET", "/export")
        with closing(connection.getresponse()) as answer, pytest.raises(http.client.IncompleteRead):
            answer.read()


def test_a_download_that_fails_in_its_first_part_is_an_error():
    def application(environ, start_response):
        def blocks():
            yield b"item,rater,value\n"
            raise RuntimeError("the database went away")

        start_response("200 OK", [("Content-Type", "text/csv")])
        return blocks()

    with serving(application) as port:
        assert ask(port).startswith(b"HTTP/1.1 500")


LARGE = 4 * 2**20


def large(environ, start_response):
    """Answers with 4 MiB where a file is asked for, with two letters elsewhere."""
    if "." not in environ["PATH_INFO"]:
        start_response("200 OK", [("Content-Length", "2")])
        return Whole([b"ok"])
    start_response("200 OK", [("Content-Length", str(LARGE))])
    return (b"x" * 4096 for _ in range(LARGE // 4096))


def read_slowly(port, path, requests=1):
    """Ask, several times in one go, and read nothing yet, through as small a buffer as there is."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.settimeout(60)
    connection.connect(("127.0.0.1", port))
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode() * requests)
    return connection


@pytest.mark.exhaustive
def test_slow_readers_hold_no_thread():
    before = set(threading.enumerate())
    with serving(large, threads=1) as port, ExitStack() as held:
        readers = [held.enter_context(read_slowly(port, "/static/a.js", requests=8)) for _ in range(75)]
        readers += [held.enter_context(read_slowly(port, "/export.csv")) for _ in range(120)]
        assert all(reader.recv(12).startswith(b"HTTP/1.1 200") for reader in readers), "each is served"
        running = [thread for thread in threading.enumerate() if thread.name.startswith("request")]
        assert len(set(running) - before) <= 1 + front.MOST_LONG
        for _ in range(20):
            began = time.monotonic()
            assert ask(port, "/sign-in/").endswith(b"\r\n\r\nok")
            assert time.monotonic() - began < 3
        assert ask(port, "/export.csv").count(b"x") == LARGE, "whoever reads is served whole"


@pytest.mark.exhaustive
def test_one_client_cannot_take_all_downloads_and_is_told_when_to_come_back(monkeypatch):
    monkeypatch.setattr(protocol, "MOST_DOWNLOADS", 8)
    with serving(large) as port, ExitStack() as held:
        readers = [held.enter_context(read_slowly(port, "/export.csv")) for _ in range(2)]
        assert all(reader.recv(12).startswith(b"HTTP/1.1 200") for reader in readers)
        for path in "/export.csv", "/static/large.js":
            answer = ask(port, path)
            assert answer.startswith(b"HTTP/1.1 429")
            assert b"\r\nretry-after: 10\r\n" in answer.lower()
            assert b"Too many downloads at once from your address" in answer
        assert ask(port, "/sign-in/").endswith(b"\r\n\r\nok")
        readers[0].close()
        wait_until(lambda: ask(port, "/export.csv").startswith(b"HTTP/1.1 200"))


@pytest.mark.exhaustive
def test_all_downloads_together_have_a_limit(monkeypatch):
    monkeypatch.setattr(front, "OF_ONE_CLIENT", 1)
    monkeypatch.setattr(protocol, "MOST_DOWNLOADS", 1)
    with serving(large) as port, read_slowly(port, "/export.csv") as reader:
        assert reader.recv(12).startswith(b"HTTP/1.1 200")
        monkeypatch.setattr(front, "OF_ONE_CLIENT", 0.5)
        assert ask(port, "/export.csv").startswith(b"HTTP/1.1 503")
        assert ask(port, "/sign-in/").endswith(b"\r\n\r\nok")


def test_behind_the_proxy_a_client_is_who_asked_the_proxy(settings):
    environ = {"REMOTE_ADDR": "10.0.0.1", "HTTP_X_FORWARDED_FOR": "1.2.3.4, 5.6.7.8"}
    assert limits.client_of(environ) == "10.0.0.1"
    settings.PROXIES = [ip_network("10.0.0.0/8")]
    assert limits.client_of(environ) == "5.6.7.8"


def test_a_reader_that_takes_next_to_nothing_is_cut_off(monkeypatch):
    monkeypatch.setattr(front, "GRACE_SECONDS", 0.2)
    monkeypatch.setattr(front, "SLOWEST_RATE", 2**30)
    with serving(large) as port, read_slowly(port, "/export.csv") as reader:
        time.sleep(0.5)
        assert everything(reader).count(b"x") < LARGE


def test_exports_that_are_being_written_leave_room_for_pages(monkeypatch):
    monkeypatch.setattr(front, "LONG_SECONDS", 0.05)
    go = threading.Event()

    def application(environ, start_response):
        if environ["PATH_INFO"] == "/exports/labels.csv":
            go.wait(60)
        return echo(environ, start_response)

    with serving(application) as port, ExitStack() as held:
        asked = b"GET /exports/labels.csv HTTP/1.1\r\nHost: localhost\r\n\r\n"
        waiting = [held.enter_context(send(port, asked)) for _ in range(60)]
        time.sleep(1)
        assert ask(port, "/sign-in/").endswith(b"\r\n\r\n0")
        go.set()
        assert all(connection.recv(100).startswith(b"HTTP/1.1 200") for connection in waiting)


def test_readiness_waits_in_the_line_of_pages_and_liveness_does_not(monkeypatch):
    monkeypatch.setattr(front, "MOST_LONG", 0)
    go = threading.Event()

    def application(environ, start_response):
        if environ["PATH_INFO"] == "/slow/":
            go.wait(60)
        return echo(environ, start_response)

    with serving(application, threads=1) as port, ExitStack() as held:
        held.enter_context(send(port, b"GET /slow/ HTTP/1.1\r\nHost: localhost\r\n\r\n"))
        ready = held.enter_context(send(port, b"GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n"))
        assert b'{"status": "ok"}' in ask(port, "/healthz")
        ready.settimeout(0.3)
        with pytest.raises(TimeoutError):
            ready.recv(100)
        go.set()
        ready.settimeout(60)
        assert ready.recv(100).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/exports/labels.csv", True),
        ("/api/v1/exports/packages/label-studio.zip", True),
        ("/exports/files/3/", True),
        ("/benchmarks/3/file/", True),
        ("/sign-in/", False),
        ("/static/css/concord.css", False),
    ],
)
def test_files_are_known_by_their_address(path, expected):
    assert limits.is_file(path) is expected


def test_a_download_whose_reader_left_is_not_worked_out_to_its_end():
    ended = threading.Event()

    def application(environ, start_response):
        def blocks():
            try:
                while True:
                    yield b"x" * 100_000
            finally:
                ended.set()

        start_response("200 OK", [])
        return blocks()

    with serving(application) as port:
        with send(port, b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n") as reader:
            reader.recv(1000)
        assert ended.wait(5)


def test_a_header_with_underscores_does_not_pass_for_the_proxys():
    seen = {}

    def application(environ, start_response):
        seen.update(environ)
        return echo(environ, start_response)

    with serving(application) as port:
        ask(port, "/a%20b%ff?x=%20", more="X_Forwarded_Proto: https\r\nX-Forwarded-For: 1\r\n")
    assert "HTTP_X_FORWARDED_PROTO" not in seen
    assert seen["HTTP_X_FORWARDED_FOR"] == "1"
    assert (seen["PATH_INFO"], seen["QUERY_STRING"]) == ("/a b\xff", "x=%20")


@pytest.fixture
def people(db):
    return {
        role: accounts.create(by=None, username=role, role=role, password="long enough 1")
        for role in ("annotator", "researcher")
    }


def environ(path: str, **more: str) -> dict[str, str]:
    return {
        "REQUEST_METHOD": "POST",
        "PATH_INFO": path,
        "SERVER_NAME": "localhost",
        "SERVER_PORT": "80",
        **more,
    }


def cookie_of(user) -> str:
    client = Client()
    client.force_login(user)
    return "; ".join(f"{name}={morsel.value}" for name, morsel in client.cookies.items())


@pytest.mark.exhaustive
def test_a_large_body_needs_an_account_and_a_file_a_researcher(people):
    with pytest.raises(Refused, match="Sign in first"):
        limits.check(environ("/corpora/import/new/"))
    with pytest.raises(Refused, match="Only researchers"):
        limits.check(environ("/corpora/import/new/", HTTP_COOKIE=cookie_of(people["annotator"])))
    limits.check(environ("/corpora/import/new/", HTTP_COOKIE=cookie_of(people["researcher"])))
    limits.check(environ("/work/1/next/", HTTP_COOKIE=cookie_of(people["annotator"])))


@pytest.mark.exhaustive
def test_a_token_is_an_account_too(people):
    token = accounts.make(person=people["researcher"], name="program", scope="write", days=1)
    limits.check(environ("/api/v1/imports/", HTTP_AUTHORIZATION=f"Token {token.key}"))
    with pytest.raises(Refused, match="Sign in first"):
        limits.check(environ("/api/v1/imports/", HTTP_AUTHORIZATION="Token made-up"))


def test_only_addresses_that_take_files_take_large_bodies(settings):
    assert limits.largest("/corpora/import/new/") > settings.UPLOAD_LIMIT_BYTES
    assert limits.largest("/api/v1/imports/") > settings.UPLOAD_LIMIT_BYTES
    assert limits.largest("/sign-in/") == limits.largest("/nowhere") == settings.DATA_UPLOAD_MAX_MEMORY_SIZE
