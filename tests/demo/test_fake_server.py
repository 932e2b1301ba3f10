"""The fake model over HTTP: deliberate misbehaviours, and the command that runs it."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from demo.fake_model import running
from demo.fake_model.running import LocalServer
from demo.fake_model.serving import FakeModel
from jobs.fake_models import HEADER
from tests.demo.asking import asked, rating

ROOT = Path(__file__).resolve().parents[2]
BODY = asked(rating("It is so. {quality 4}"))


def fake(*misbehaviours: dict[str, Any], seed: int = 0) -> FakeModel:
    return FakeModel(running.parse({"misbehaviours": list(misbehaviours)}), seed=seed)


def answered(model: FakeModel, body: dict[str, Any] = BODY) -> tuple[int, dict[str, Any]]:
    response = model.respond("POST", "/v1/chat/completions", body)
    return response.status, json.loads(response.body) if response.body else {}


def test_trouble_of_the_first_requests_passes() -> None:
    model = fake({"kind": "429", "first": 2, "retry_after": 3}, {"kind": "500", "first": 3})
    first = model.respond("POST", "/v1/chat/completions", BODY)
    assert (first.status, first.headers) == (429, {"Retry-After": "3"})
    assert [answered(model)[0] for _ in range(3)] == [429, 500, 200]


def test_a_rate_is_drawn_from_the_prompt_and_how_often_it_was_asked() -> None:
    statuses = [
        [answered(model, asked(rating(f"{i}")))[0] for i in range(300)]
        for model in (fake({"kind": "429", "rate": 0.3}), fake({"kind": "429", "rate": 0.3}))
    ]
    assert statuses[0] == statuses[1]
    assert statuses[0].count(429) / 300 == pytest.approx(0.3, abs=0.08)
    once = fake({"kind": "500", "rate": 0.5})
    assert {answered(once)[0] for _ in range(12)} == {200, 500}


def test_a_refusal_is_the_same_every_time() -> None:
    model = fake({"kind": "refusal", "rate": 0.5})

    def refused(text: str) -> bool:
        return "refusal" in answered(model, asked(rating(text)))[1]["choices"][0]["message"]

    seen = [{refused(f"{number}") for _ in range(4)} for number in range(12)]
    assert all(len(each) == 1 for each in seen)
    assert set().union(*seen) == {True, False}


@pytest.mark.parametrize(
    ("kind", "message", "finish"),
    [
        ("truncated", {"content": "overa"}, "length"),
        ("refusal", {"content": None, "refusal": "I cannot help with that."}, "stop"),
        ("content_filter", {"content": ""}, "content_filter"),
        ("malformed", {"content": "I would rather not say { 'oops': "}, "stop"),
        ("wrong_form", {"content": "All in all: overall - 4."}, "stop"),
        ("extra_field", {"content": "overall - 4\nremark - none"}, "stop"),
    ],
)
def test_a_reply_goes_wrong_as_named(kind: str, message: dict[str, Any], finish: str) -> None:
    choice = answered(fake({"kind": kind, "rate": 1.0}))[1]["choices"][0]
    assert choice["message"] == {"role": "assistant", **message}
    assert choice["finish_reason"] == finish


def test_reasoning_stands_beside_the_text() -> None:
    message = answered(fake({"kind": "reasoning", "rate": 1.0}))[1]["choices"][0]["message"]
    assert message["content"] == "overall - 4"
    assert "humanness - 1" in message["reasoning_content"]


def test_structured_output_and_single_parameters_can_be_refused() -> None:
    model = fake({"kind": "no_schema", "rate": 1.0}, {"kind": "no_parameter:top_p", "rate": 1.0})
    status, body = answered(model, BODY | {"response_format": {"type": "text"}})
    assert (status, body["error"]["param"]) == (400, "response_format")
    status, body = answered(model, BODY | {"top_p": 0.5})
    assert (status, body["error"]["param"]) == (400, "top_p")
    assert answered(model, BODY | {"temperature": 0.5})[0] == 200


def test_trouble_can_be_kept_to_one_role() -> None:
    model = fake({"kind": "500", "rate": 1.0, "roles": ["behaviour_judge"]})
    assert answered(model)[0] == 200


def test_tokens_are_words_and_most_tokens_cut() -> None:
    body = answered(fake())[1]
    words = sum(len(message["content"].split()) for message in BODY["messages"])
    assert body["usage"] == {"prompt_tokens": words, "completion_tokens": 3, "total_tokens": words + 3}
    choice = answered(fake(), BODY | {"max_tokens": 2})[1]["choices"][0]
    assert (choice["message"]["content"], choice["finish_reason"]) == ("overall -", "length")


@pytest.fixture
def troubled() -> Iterator[LocalServer]:
    model = fake(
        {"kind": "reset", "first": 1}, {"kind": "hang", "first": 2}, {"kind": "slow:150", "rate": 1.0}
    )
    with LocalServer(lambda method, path, body, _: model.respond(method, path, body)) as server:
        yield server


def post(server: LocalServer, content: bytes, timeout: float = 5.0, **headers: str) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=timeout)
    try:
        connection.request("POST", "/v1/chat/completions", content, headers)
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


def test_a_connection_is_closed_kept_silent_and_answered_late(troubled: LocalServer) -> None:
    content = json.dumps(BODY).encode()
    with pytest.raises((ConnectionResetError, http.client.RemoteDisconnected)):
        post(troubled, content)
    with pytest.raises(TimeoutError):
        post(troubled, content, timeout=0.4)
    begun = time.monotonic()
    assert post(troubled, content)[0] == 200
    assert time.monotonic() - begun >= 0.15


def test_bodies_that_make_no_sense_are_refused(troubled: LocalServer) -> None:
    assert post(troubled, b"{")[0] == 400
    assert post(troubled, b"[" * 100_000)[0] == 400
    assert post(troubled, b"x", **{"Content-Length": "99999999999"})[0] == 413
    assert troubled.server_address[0] == "127.0.0.1"


def start(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "demo.fake_model", *arguments]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    return subprocess.Popen(
        command, cwd=ROOT, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def line_of(process: subprocess.Popen[str], beginning: str) -> str:
    assert process.stdout is not None
    return next(line for line in process.stdout if line.startswith(beginning)).strip()


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT])
def test_the_program_says_what_it_is_answers_and_ends_cleanly(ending: signal.Signals) -> None:
    process = start("--port", "0", "--errors", "perfect")
    assert line_of(process, "THIS IS A FAKE MODEL").isupper()
    declared = line_of(process, "CONCORD_ENDPOINT_FAKE=")
    url, model = declared.partition("=")[2].strip('"').split("|")[:2]
    assert url.startswith("http://127.0.0.1:")
    assert model.startswith("fake")
    connection = http.client.HTTPConnection("127.0.0.1", int(url.split(":")[2].split("/")[0]), timeout=5)
    connection.request("GET", "/v1/models")
    response = connection.getresponse()
    assert (json.loads(response.read())["data"][0]["id"], response.headers[HEADER]) == (model, "1")
    connection.close()
    process.send_signal(ending)
    assert process.communicate(timeout=10) == ("Stopped.\n", "")
    assert process.returncode == 0


def test_a_port_that_is_taken_and_a_wrong_error_model_are_said_in_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        process = start("--port", port)
        _, told = process.communicate(timeout=10)
    assert (process.returncode, told.count("\n")) == (1, 1)
    assert f"cannot listen on 127.0.0.1 port {port} (Address already in use): choose another --port" in told
    with pytest.raises(CommandError, match="there is no such file and no such error model; there are busy"):
        call_command("fake_model", "--errors", "nobody")
    path = tmp_path / "errors.json"
    path.write_text('{"roles": {"turn_judge": {"nose": 1}}}')
    process = start("--port", "0", "--errors", str(path))
    _, told = process.communicate(timeout=10)
    assert (process.returncode, told.count("\n")) == (1, 1)
    assert "errors.json: roles.turn_judge.nose: no such key; there are sensitivity, " in told
