"""The fake model of `demo/fake_model` inside the test's own process, with modes that misbehave on demand.

Its judgement of a text is fixed by the text and the seed, so tests know every label before a judge runs.
"""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from demo.fake_model.errors import ErrorModel as Errors
from demo.fake_model.errors import RoleErrors
from demo.fake_model.errors import u as draw
from demo.fake_model.requests import Request, request
from demo.fake_model.role import Sampler
from demo.fake_model.roles import Answer, recognise
from demo.fake_model.running import MARKED, LocalServer
from demo.fake_model.serving import Batches, FakeModel, Response, completion, spoilt

__all__ = ["ErrorModel", "FakeLLM", "draw"]
TOKENS_IN, TOKENS_OUT = 100, 20
"""Tokens reported for every request, so that tests can add up the cost."""
SPOILING = ("malformed", "wrong_form", "wrong_count", "wrong_turn", "extra_field")


@dataclass
class ErrorModel:
    """Error rates of the fake, for all roles: a text plants its truth, as `{repetition off_topic}`."""

    sensitivity: Mapping[str, float] = field(default_factory=dict)
    specificity: Mapping[str, float] = field(default_factory=dict)
    noise: float = 0.0
    seed: int = 0
    position_bias: float = 0.0

    @property
    def errors(self) -> Errors:
        """The same rates as the fake model's own type."""
        noise = {"*": self.noise}
        bias = self.position_bias
        return Errors({"*": RoleErrors(self.sensitivity, self.specificity, noise, position_bias=bias)})

    def sees(self, behaviour: str, text: str) -> bool:
        """Whether the fake detects a behaviour in a turn."""
        return Sampler("behaviour_judge", self.seed, self.errors.errors("behaviour_judge")).sees(
            behaviour, text
        )

    def score(self, aspect: str, text: str) -> int:
        """Return the fake's score of a response, 1 to 5: the planted quality, one off with chance `noise`."""
        sampler = Sampler("turn_judge", self.seed, self.errors.errors("turn_judge"))
        return sampler.score(aspect, text, (1, 2, 3, 4, 5))


def prompt_of(body: Mapping[str, Any]) -> str:
    """Return the first user message of a request: what follows an earlier reply asks for the same again."""
    content: str = next(m["content"] for m in body["messages"] if m["role"] == "user")
    return content


class FakeLLM:
    """Context manager of a fake endpoint. `mode` may change while it runs; `requests` counts prompts.

    `served` is what its responses say of the model that answers.
    """

    def __init__(self, model: ErrorModel | None = None, *, delay: float = 0.0) -> None:
        self.model = model or ErrorModel()
        self.delay = delay
        self.mode = "good"
        self.fail_first = 0
        self.retry_after: str | None = None
        self.headers: dict[str, str] = {}
        self.knows_schema = True
        self.served: dict[str, Any] = {"model": "fake"}
        self.requests: Counter[str] = Counter()
        self.bodies: list[dict[str, Any]] = []
        self.keys: set[str] = set()
        self.arrivals: list[float] = []
        self.at_once = 0
        self.most_at_once = 0
        self._lock = threading.Lock()
        self.batches = Batches(self._line)
        self._server = LocalServer(self._respond)

    @property
    def url(self) -> str:
        """Base URL."""
        return self._server.url

    def say_that_it_is_fake(self) -> None:
        """Send the fake model's header; otherwise it passes for the model that a test names."""
        self._server.headers = dict(MARKED)

    def __enter__(self) -> FakeLLM:
        self._server.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.__exit__()

    def _respond(self, method: str, path: str, body: Any, headers: Mapping[str, str]) -> Response:
        """Record the request, wait for `delay`, and respond."""
        self.keys.add(headers.get("authorization", ""))
        with self._lock:
            self.arrivals.append(time.monotonic())
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            time.sleep(self.delay)
            if (found := self.batches.respond(method, path, body)) is not None:
                return found
            if method != "POST" or "messages" not in body:
                return FakeModel(self.model.errors, seed=self.model.seed).respond(method, path, body)
            status, text = self.answer(body)
        finally:
            with self._lock:
                self.at_once -= 1
        pause = {"Retry-After": self.retry_after} if self.retry_after and status == 429 else {}
        return Response(status, text.encode(), pause | self.headers)

    def _line(self, body: dict[str, Any]) -> Response:
        """Return the response to a line of a batch."""
        status, text = self.answer(body)
        return Response(status, text.encode())

    def answer(self, body: dict[str, Any]) -> tuple[int, str]:
        """Return status and body of the response to a request."""
        prompt = prompt_of(body)
        with self._lock:
            self.requests[prompt] += 1
            self.bodies.append(body)
            fail = self.fail_first > 0
            self.fail_first -= fail
        mode = self.mode if self.mode != "fail_first" else ("500" if fail else "good")
        if mode.isdigit():
            return int(mode), json.dumps({"error": {"message": f"the fake answers {mode}", "type": "fake"}})
        if "response_format" in body and not self.knows_schema:
            message = "response_format is not supported by this server"
            return 400, json.dumps({"error": {"message": message, "type": "invalid_request_error"}})
        if mode == "not_json":
            return 200, "this is not JSON"
        text = spoilt(Answer(lines=[self.say(prompt)]), [mode] if mode == "malformed" else [])
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return 200, json.dumps(completion("fake", [choice], TOKENS_IN, TOKENS_OUT) | self.served)

    def say(self, prompt: str) -> str:
        """Return the fake's reply to a prompt, spoilt as `mode` says."""
        asked = self._request(prompt)
        role = recognise(asked)[0]
        sampler = FakeModel(self.model.errors, seed=self.model.seed).sampler_for(role.key, asked)
        return spoilt(role.answer(asked, sampler), [self.mode] if self.mode in SPOILING else [])

    def _request(self, prompt: str) -> Request:
        """Return the last request with a prompt, or a request with the prompt alone."""
        with self._lock:
            bodies = [body for body in self.bodies if prompt_of(body) == prompt]
        return request(bodies[-1] if bodies else {"messages": [{"role": "user", "content": prompt}]})
