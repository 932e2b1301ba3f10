"""A real local HTTP server that answers like an OpenAI-compatible one, from a known error model.

What it would say about a text is fixed by the text and the seed, so tests know every label before a
judge asks. It reads the prompts as any model would: the numbered turns, the response. Its modes misbehave
on demand.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from judges.protocols.cocoeval_behaviours import KEYS
from judges.protocols.cpdscore_simple import ASPECTS

TURN = re.compile(r"^\| \[(\d+)\] [^:]*: (.*)$", re.M)
BLOCK = re.compile(r"<<<BEGIN (\w+)>>>\n(.*?)\n<<<END \1>>>", re.S)
TRUTH = re.compile(r"\{([a-z_ ]*)\}")
QUALITY = re.compile(r"\{quality (\d)\}")


@dataclass
class ErrorModel:
    """How the fake errs: a text plants its truth, such as `{repetition off_topic}` or `{quality 4}`."""

    sensitivity: Mapping[str, float] = field(default_factory=dict)
    specificity: Mapping[str, float] = field(default_factory=dict)
    noise: float = 0.0
    seed: int = 0

    def sees(self, behaviour: str, text: str) -> bool:
        """Whether the fake says that a turn shows a behaviour."""
        planted = TRUTH.search(text)
        chance = draw(self.seed, behaviour, text)
        if planted and behaviour in planted[1].split():
            return chance < self.sensitivity.get(behaviour, 1.0)
        return chance >= self.specificity.get(behaviour, 1.0)

    def score(self, aspect: str, text: str) -> int:
        """What the fake scores a response from 1 to 5: its planted quality, one off with chance `noise`."""
        found = QUALITY.search(text)
        quality = int(found[1]) if found else 3
        chance = draw(self.seed, aspect, text)
        step = 0 if chance >= self.noise else (1 if chance < self.noise / 2 else -1)
        return min(5, max(1, quality + step))


def draw(seed: int, *parts: str) -> float:
    """Return a number in [0, 1) that depends on the seed and the parts alone."""
    digest = hashlib.sha256("\x00".join([str(seed), *parts]).encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


class FakeLLM:
    """Use as a context. `mode` may change while it runs; `requests` counts the prompts asked."""

    def __init__(self, model: ErrorModel | None = None, *, delay: float = 0.0) -> None:
        self.model = model or ErrorModel()
        self.delay = delay
        self.mode = "good"
        self.fail_first = 0
        self.retry_after: str | None = None
        self.headers: dict[str, str] = {}
        self.knows_schema = True
        self.requests: Counter[str] = Counter()
        self.bodies: list[dict[str, Any]] = []
        self.keys: set[str] = set()
        self.at_once = 0
        self.most_at_once = 0
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _handler(self))

    @property
    def url(self) -> str:
        """The base URL."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> FakeLLM:
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, body: dict[str, Any]) -> tuple[int, str]:
        """Return status and body of the response to a request."""
        prompt = body["messages"][-1]["content"]
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
        return 200, json.dumps(_completion(self._spoil(self.say(prompt), mode)))

    def say(self, prompt: str) -> str:
        """Return what the fake answers to a prompt."""
        blocks = dict(BLOCK.findall(prompt))
        if "TURNS" in blocks:
            return self.behaviours(blocks["TURNS"])
        text = blocks["RESPONSE"].split(": ", 1)[-1]
        if "Humanness:" in prompt:
            score = self.model.score("humanness", text)
            return f"Explanation: it has a quality.\nHumanness: {score}"
        return "\n".join(f"{aspect} - {self.model.score(aspect, text)}" for aspect in [*ASPECTS, "overall"])

    def behaviours(self, block: str) -> str:
        """Return the JSON reply about numbered turns."""
        reply: dict[str, Any] = {}
        for key in KEYS:
            turns = [int(number) for number, text in TURN.findall(block) if self.model.sees(key, text)]
            reply[f"{key}_explanation"] = f"seen in {turns}" if turns else ""
            reply[f"{key}_turns"] = turns
            reply[f"{key}_count"] = len(turns)
        return json.dumps(reply)

    @staticmethod
    def _spoil(text: str, mode: str) -> str:
        if mode == "malformed":
            return "I would rather not say { 'oops': "
        if mode == "wrong_count":
            return json.dumps(
                json.loads(text) | {"repetition_count": len(json.loads(text)["repetition_turns"]) + 1}
            )
        if mode == "wrong_turn":
            return json.dumps(json.loads(text) | {"repetition_turns": [999], "repetition_count": 1})
        return text


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256


def _completion(text: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {
        "id": "x",
        "object": "chat.completion",
        "created": 0,
        "model": "fake",
        "choices": [choice],
        "usage": usage,
    }


def _handler(fake: FakeLLM) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            body = json.loads(self.rfile.read(length))
            fake.keys.add(self.headers.get("Authorization", ""))
            with fake._lock:
                fake.at_once += 1
                fake.most_at_once = max(fake.most_at_once, fake.at_once)
            try:
                time.sleep(fake.delay)
                status, text = fake.answer(body)
            finally:
                with fake._lock:
                    fake.at_once -= 1
            self._send(status, text.encode())

        def _send(self, status: int, content: bytes) -> None:
            try:
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                if fake.retry_after and status == 429:
                    self.send_header("Retry-After", fake.retry_after)
                for name, value in fake.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)
            except (BrokenPipeError, ConnectionResetError):
                pass  # the client gave up, as some tests want

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler
