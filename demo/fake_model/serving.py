"""From a request to a response: who answers, with which errors, and what goes wrong on the way."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from demo.fake_model.batches import Batches
from demo.fake_model.completions import choice, completion, spoilt
from demo.fake_model.embeddings import embed, inputs
from demo.fake_model.errors import ErrorModel
from demo.fake_model.mind import Mind
from demo.fake_model.misbehaving import Misbehaviour
from demo.fake_model.reading import BadRequest, Request, request
from demo.fake_model.responses import Response, failure, ok
from demo.fake_model.roles import ROLES, Role, recognise

MODEL = "fake-1"
PREFIX = "fake"
"""Every model's name begins with it: what such a model says is never taken for a real one's."""


class FakeModel:
    """One error model with a seed, and how often each request came. Safe to ask from many threads."""

    def __init__(self, errors: ErrorModel | None = None, *, seed: int = 0) -> None:
        self.errors = errors or ErrorModel()
        self.seed = seed
        self._lock = threading.Lock()
        self._asked: Counter[str] = Counter()
        self.batches = Batches(self._answered, self.errors.misbehaviours, seed=seed)

    def respond(self, method: str, path: str, body: Any = None) -> Response:
        """Return the response to one request; `body` is its JSON."""
        route = (method, path.partition("?")[0].rstrip("/"))
        try:
            if route == ("GET", "/v1/models"):
                return ok(
                    {"object": "list", "data": [{"id": MODEL, "object": "model", "owned_by": "nobody"}]}
                )
            if route == ("POST", "/v1/embeddings"):
                return self._embeddings(body)
            if route == ("POST", "/v1/chat/completions"):
                return self._chat(body)
            if (told := self.batches.respond(method, path, body)) is not None:
                return told
        except BadRequest as problem:
            return failure(400, str(problem))
        return failure(404, f"there is no {path[:80]} here; there is /v1/chat/completions", "not_found")

    def _answered(self, body: Any) -> Response:
        """Return the response to a line of a batch."""
        try:
            return self._chat(body)
        except BadRequest as problem:
            return failure(400, str(problem))

    def _embeddings(self, body: Any) -> Response:
        texts = inputs(body)
        data = [{"object": "embedding", "index": i, "embedding": embed(text)} for i, text in enumerate(texts)]
        words = sum(len(text.split()) for text in texts)
        usage = {"prompt_tokens": words, "total_tokens": words}
        return ok({"object": "list", "model": MODEL, "data": data, "usage": usage})

    def _chat(self, body: Any) -> Response:
        asked = request(body)
        model = body.get("model")
        if not isinstance(model, str) or not model.startswith(PREFIX):
            return failure(
                404, f"there is no model {str(model)[:80]!r}; names begin with {PREFIX}", "model_not_found"
            )
        if body.get("stream"):
            raise BadRequest("stream: this server does not stream")
        role = sole(asked)
        with self._lock:
            number, times = self._asked.total(), self._asked[asked.key()]
            self._asked[asked.key()] += 1
        text = "\n".join(text for _, text in asked.messages)
        met = [
            one
            for one in self.errors.misbehaviours
            if one.meets(seed=self.seed, role=role.key, text=text, number=number, times=times)
        ]
        delay = sum(int(one.amount) for one in met if one.kind.startswith("slow:")) / 1000
        if refused := _refused(met, body):
            return Response(refused.status, refused.body, refused.headers, delay, refused.instead)
        return ok(self.complete(asked, role, times=times, kinds=[one.kind for one in met]), delay)

    def complete(
        self, asked: Request, role: Role, *, times: int = 0, kinds: Sequence[str] = ()
    ) -> dict[str, Any]:
        """Return the completion of a prompt whose role is known."""
        choices, words = [], 0
        for index in range(asked.choices):
            mind = self.mind(role.key, asked, times=times + index)
            text = spoilt(role.answer(asked, mind), kinds)
            found, count = choice(index, text, mind.said, kinds, asked)
            choices.append(found)
            words += count
        return completion(str(asked.raw.get("model", MODEL)), choices, asked.words, words)

    def mind(self, role: str, asked: Request, *, times: int = 0) -> Mind:
        """Return the mind with which a role answers a request, asked `times` times before."""
        errors = self.errors.errors(role, asked.instruction)
        return Mind(role, self.seed, errors, asked.instruction, asked.seed, times, self.errors.proposals)


def sole(asked: Request) -> Role:
    """Return the one role that a prompt is for; raise BadRequest where there is none, or more than one."""
    found = recognise(asked)
    if len(found) == 1:
        return found[0]
    blocks = ", ".join(asked.titles[:20]) or "none"
    if not found:
        raise BadRequest(
            f"the fake model does not recognise this prompt (quoted blocks: {blocks}); it plays "
            f"{', '.join(ROLES)}"
        )
    raise BadRequest(
        f"the fake model takes this prompt for several roles: {', '.join(one.key for one in found)}"
    )


def _refused(met: Sequence[Misbehaviour], body: Mapping[str, Any]) -> Response | None:
    """Return what is sent in place of an answer; the error model's first misbehaviour of that sort counts."""
    for one in met:
        if one.kind == "429":
            pause = {} if one.retry_after is None else {"retry_after": f"{one.retry_after:g}"}
            return failure(429, "rate limit reached, as the error model says", "rate_limit_exceeded", **pause)
        if one.kind == "500":
            return failure(500, "the fake model fails, as its error model says", "server_error")
        if one.kind in ("hang", "reset"):
            return Response(0, b"", instead="hang" if one.kind == "hang" else "reset")
        if one.kind == "no_schema" and "response_format" in body:
            message = "response_format is not supported by this server"
            return failure(400, message, "unsupported_parameter", "response_format")
        if one.kind.startswith("no_parameter:") and one.amount in body:
            message = f"Unsupported parameter: '{one.amount}' is not supported with this model."
            return failure(400, message, "unsupported_parameter", one.amount)
    return None
