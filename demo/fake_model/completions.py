"""From what a role says to the body of a completion: spoilt where that is wanted, counted, with chances."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from demo.fake_model.reading import Request
from demo.fake_model.roles.base import Answer

_WORD = re.compile(r"\S+")
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
    if asked.most_tokens is not None and len(_WORD.findall(text)) > asked.most_tokens:
        text, finish = text[: list(_WORD.finditer(text))[asked.most_tokens - 1].end()], "length"
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
    return found, len(_WORD.findall(message["content"] or ""))


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
