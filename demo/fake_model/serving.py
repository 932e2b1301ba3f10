"""From a request to a response: who answers, with which errors, and what goes wrong on the way."""

from __future__ import annotations

import hashlib
import json
import math
import re
import threading
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from demo.fake_model.batches import Batches
from demo.fake_model.errors import ErrorModel, fold
from demo.fake_model.mind import Mind
from demo.fake_model.misbehaving import Misbehaviour
from demo.fake_model.reading import BadRequest, Request, request
from demo.fake_model.responses import Response, failure, ok
from demo.fake_model.roles import ROLES, Role, recognise
from demo.fake_model.roles.base import Answer

# From what a role says to the body of a completion: spoilt where that is wanted, counted, with chances.

_WORD_COMPLETIONS = re.compile(r"\S+")
REFUSAL = "I cannot help with that."
THOUGHTS = "I look at what is written in braces.\nhumanness - 1\nfinal: 1"
_LEAST = 1e-9


def spoilt(answer: Answer, kinds: Collection[str]) -> str:
    """Return the text of an answer, made wrong in the ways that are named."""
    fields = None if answer.fields is None else dict(answer.fields)
    lines = list(answer.lines)
    if "wrong_count" in kinds:
        fields, lines = _wrong_count(fields), lines[:-1]
    if "wrong_turn" in kinds and fields is not None:
        fields |= {f"{behaviour}_turns": [999] for behaviour in _counted(fields)}
    if "extra_field" in kinds:
        fields, lines = None if fields is None else {**fields, "remark": "none"}, [*lines, "remark - none"]
    text = Answer(fields, lines).text
    if "wrong_form" in kinds:
        text = "All in all: " + "; ".join(lines) + "." if fields is None else json.dumps([fields])
    return "I would rather not say { 'oops': " if "malformed" in kinds else text


def _wrong_count(fields: dict[str, Any] | None) -> dict[str, Any] | None:
    if not fields:
        return fields
    if counted := _counted(fields):
        return fields | {f"{behaviour}_count": fields[f"{behaviour}_count"] + 1 for behaviour in counted}
    return dict(list(fields.items())[:-1])


def _counted(fields: Mapping[str, Any]) -> list[str]:
    """Return the behaviour that is spoilt: the first that was seen, else the first; none without counts."""
    behaviours = [name.removesuffix("_count") for name in fields if name.endswith("_count")]
    return sorted(behaviours, key=lambda behaviour: not fields[f"{behaviour}_count"])[:1]


def choice(
    index: int,
    text: str,
    said: Sequence[tuple[str, Mapping[str, float]]],
    kinds: Collection[str],
    asked: Request,
) -> tuple[dict[str, Any], int]:
    """Return one choice of a completion and the number of its words."""
    finish = "stop"
    if "truncated" in kinds:
        text, finish = text[: len(text) // 2], "length"
    if asked.most_tokens is not None and len(_WORD_COMPLETIONS.findall(text)) > asked.most_tokens:
        text, finish = text[: list(_WORD_COMPLETIONS.finditer(text))[asked.most_tokens - 1].end()], "length"
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if "reasoning" in kinds:
        message["reasoning_content"] = THOUGHTS
    if "content_filter" in kinds:
        message["content"], finish = "", "content_filter"
    if "refusal" in kinds:
        message |= {"content": None, "refusal": REFUSAL}
        finish = "stop"
    found: dict[str, Any] = {"index": index, "message": message, "finish_reason": finish}
    if asked.logprobs is not None:
        tokens = logprobs(message["content"] or "", said, asked.logprobs)
        found["logprobs"] = {"content": tokens, "refusal": None}
    return found, len(_WORD_COMPLETIONS.findall(message["content"] or ""))


def completion(
    model: str, choices: Sequence[Mapping[str, Any]], tokens_in: int, tokens_out: int
) -> dict[str, Any]:
    """Return the body of a completion; tokens are words between white space."""
    return {
        "id": "chatcmpl-fake",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": list(choices),
        "usage": {
            "prompt_tokens": tokens_in,
            "completion_tokens": tokens_out,
            "total_tokens": tokens_in + tokens_out,
        },
    }


def logprobs(text: str, said: Sequence[tuple[str, Mapping[str, float]]], top: int) -> list[dict[str, Any]]:
    """Return the tokens of a text: each answer that stands in it, in order, with the chances of all values;
    what is between answers is one token that is certain."""
    found, at = [], 0
    for value, chances in said:
        match = re.compile(rf"(?<![\w.]){re.escape(value)}(?![\w.])").search(text, at)
        if match is None:
            continue
        if match.start() > at:
            found.append(_token(text[at : match.start()], {}, top))
        found.append(_token(value, chances, top))
        at = match.end()
    return [*found, *([_token(text[at:], {}, top)] if at < len(text) else [])]


def _token(text: str, chances: Mapping[str, float], top: int) -> dict[str, Any]:
    shown = sorted(chances.items(), key=lambda pair: (-pair[1], pair[0])) or [(text, 1.0)]
    alternatives = [_one(value, chance) for value, chance in shown[:top] if chance > 0]
    return _one(text, chances.get(text, 1.0)) | {"top_logprobs": alternatives}


def _one(text: str, chance: float) -> dict[str, Any]:
    return {"token": text, "logprob": math.log(max(chance, _LEAST)), "bytes": list(text.encode())}


# Embeddings of texts: a hashed bag of words, 64 numbers of length 1.

SIZE = 64
_WORD = re.compile(r"\w+")


def embed(text: str) -> list[float]:
    """Return the unit vector of a text: every word adds 1 or -1 to the place that its hash names.

    A text without words, or whose words cancel out, is the first unit vector.
    """
    vector = [0.0] * SIZE
    for word in _WORD.findall(fold(text)):
        digest = hashlib.sha256(word.encode("utf-8", "surrogatepass")).digest()
        vector[digest[0] % SIZE] += 1.0 if digest[1] % 2 else -1.0
    length = math.sqrt(sum(value * value for value in vector))
    return [value / length for value in vector] if length else [1.0, *[0.0] * (SIZE - 1)]


def inputs(body: Any) -> list[str]:
    """Return the texts of a request for embeddings; raise BadRequest where there are none."""
    given = body.get("input") if isinstance(body, dict) else None
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        raise BadRequest("input: a text or a list of texts is needed")
    return texts


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
