"""Responses of an endpoint: keys redacted, and validated before they count as a reply."""

from __future__ import annotations

import html
import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate
from typing import Any

from jobs import errors
from jobs.prompt import Token, Tokens

# Keys in an endpoint's output: redacted before anything is truncated, stored or shown. Pure.
#
# A server may repeat the key that it was sent, in full or in parts, in an error, a reply, or a bad header,
# and escape it on the way (JSON, HTML and URLs, also several times over). Any part of the key with at least
# PART characters is redacted.

PART = 8
"""Key parts of this many characters are redacted anywhere; a shorter key only as a separate word."""
LEAST = 4
"""A shorter key is a placeholder."""
MARK = "[key]"
ROUNDS = 4
"""Maximum levels of escaping."""
_ESCAPED = re.compile(
    r"\\+(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([^\w\s]))"  # JSON, also inside JSON
    r"|%(?:25)*([0-9a-fA-F]{2})"  # URLs
    r"|&(?:amp;)*(#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]{2,10});"  # HTML
)


def redact(text: str, key: str) -> str:
    """Return a text without the key and its parts, however they are escaped."""
    if not may_hold(text, key):
        return text
    plain, starts = _unescaped(text)
    pieces, at = [], 0
    for start, end in _spans(plain, key):
        pieces += [text[at : starts[start]], MARK]
        at = starts[end]
    return "".join([*pieces, text[at:]])


def decoded(body: bytes, key: str) -> Any:
    """Decode and redact a JSON document; raise ValueError or RecursionError for invalid JSON."""
    text = body.decode(json.detect_encoding(body), "surrogatepass")
    data = json.loads(text)
    return redacted(data, key) if may_hold(text, key) else data


def redacted(data: Any, key: str) -> Any:
    """Return decoded JSON with every text redacted, including field names."""
    if isinstance(data, str):
        return redact(data, key)
    if isinstance(data, list):
        return [redacted(value, key) for value in data]
    if isinstance(data, dict):
        return {redact(name, key): redacted(value, key) for name, value in data.items()}
    return data


def may_hold(text: str, key: str) -> bool:
    """Whether a text contains a part of the key; fast, as almost no text does."""
    if len(key) < LEAST:
        return False
    for _ in range(ROUNDS):
        if any(part in text for part in _parts(key)):
            return True
        plain = _ESCAPED.sub(_character, text)
        if plain == text:
            return False
        text = plain
    return any(part in text for part in _parts(key))


@lru_cache(maxsize=64)
def _parts(key: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(key[at : at + PART] for at in range(max(1, len(key) - PART + 1))))


def _unescaped(text: str) -> tuple[str, Sequence[int]]:
    """Return a text with its escapes decoded, and the original position of each character (and the end)."""
    plain = text
    starts: Sequence[int] = range(len(text) + 1)
    for _ in range(ROUNDS):
        if _ESCAPED.search(plain) is None:
            break
        plain, inner = _unescaped_once(plain)
        starts = [starts[at] for at in inner]
    return plain, starts


def _unescaped_once(text: str) -> tuple[str, list[int]]:
    plain: list[str] = []
    starts: list[int] = []
    at = 0
    for match in _ESCAPED.finditer(text):
        plain.append(text[at : match.start()])
        starts += range(at, match.start())
        character = _character(match)
        plain.append(character)
        starts += [match.start()] * len(character)
        at = match.end()
    plain.append(text[at:])
    return "".join(plain), [*starts, *range(at, len(text) + 1)]


def _character(match: re.Match[str]) -> str:
    wide, narrow, itself, percent, entity = match.groups()
    if itself:
        return str(itself)
    if entity:
        return html.unescape(f"&{entity};") or match.group()
    return chr(int(wide or narrow or percent, 16))


def _spans(plain: str, key: str) -> list[tuple[int, int]]:
    """Return the positions of the key and its parts, without overlaps and in order."""
    spans: list[tuple[int, int]] = []
    for part in _parts(key):
        at = plain.find(part)
        while at >= 0:
            end = at + len(part)
            if len(part) == PART or _alone(plain, at, end):
                spans.append((at, end))
            at = plain.find(part, at + 1)
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _alone(plain: str, start: int, end: int) -> bool:
    around = plain[max(0, start - 1) : start] + plain[end : end + 1]
    return not any(letter.isalnum() for letter in around)


# Validation of a response: after this, a reply is a text and two plausible counts.
#
#     CallError (jobs.endpoints.client)
#       Again         the body is no completion at all: a proxy's page, an error with status 200
#       Malformed     a completion whose content is not text, or too long
#       Withheld      an incomplete answer: cut off, filtered, or a refusal by the model
#
# An answer with implausible token counts is kept, without the counts and with a flag.

# Log probabilities of a reply's tokens, as chat completions return them; pure, and strict.
#
# A list in another format than the API's is treated as missing: a judge that scores by probabilities then
# reports that it got none.

MOST = 20_000
"""Maximum tokens of a reply whose probabilities are stored."""


def tokens_of(logprobs: Any) -> Tokens:
    """Return the tokens of `choices[0].logprobs`; empty if missing or invalid."""
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    if not isinstance(content, list) or len(content) > MOST:
        return ()
    parsed = [_token(entry) for entry in content]
    return tuple(token for token in parsed if token is not None) if None not in parsed else ()


def of_text(tokens: Tokens, text: str) -> Tokens:
    """Return the tokens at the end of a reply that belong to its text: tokens of reasoning before it are
    dropped.

    A token may be part of a character, so if the texts differ only their lengths are compared.
    """
    if not tokens or "".join(token.text for token in tokens) == text:
        return tokens
    length = 0
    for number in range(len(tokens) - 1, -1, -1):
        length += len(tokens[number].text)
        if length >= len(text):
            return tokens[number:]
    return tokens


def as_json(tokens: Tokens) -> list[list[Any]] | None:
    """Return tokens as stored with a call: [text, logprob, [[text, logprob], ...]] each."""
    return [[token.text, token.logprob, [list(pair) for pair in token.top]] for token in tokens] or None


def from_json(stored: list[list[Any]] | None) -> Tokens:
    """Return tokens that were stored with a call."""
    return tuple(
        Token(text, logprob, tuple((other, value) for other, value in top))
        for text, logprob, top in stored or ()
    )


def _token(entry: Any) -> Token | None:
    spelling = _pair(entry)
    top = entry.get("top_logprobs") or [] if spelling else None
    if spelling is None or not isinstance(top, list):
        return None
    others = [_pair(other) for other in top]
    return Token(*spelling, tuple(pair for pair in others if pair is not None))


def _pair(entry: Any) -> tuple[str, float] | None:
    """Return a token and its log probability, at most 0; None for anything else."""
    if not isinstance(entry, dict):
        return None
    text, value = entry.get("token"), entry.get("logprob")
    if not isinstance(text, str) or isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if math.isnan(value) or value > 1e-6:
        return None
    # JSON has no infinity; servers that mean "impossible" send -9999.
    # PostgreSQL can hold neither NUL nor lone surrogates.
    plain = text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()
    return plain, max(min(float(value), 0.0), -9999.0)


MOST_CHARACTERS = 200_000
"""Maximum characters of a reply. No protocol's answer has a tenth of that."""
MOST_TOKENS = 100_000_000
"""Beyond any model's context; a larger count is a server's mistake."""
LONGEST_NAME = 200
"""Maximum characters of the name of a served model or build."""
_ODD_COUNT = "the endpoint's token counts make no sense and were not kept"
_CUT_OFF = frozenset({"length", "max_tokens", "model_length"})
"""Finish reasons of a reply that was cut off."""
_THINKS, _THOUGHT = "<think>", "</think>"
_CHANNEL, _FINAL = "<|channel|>", "<|channel|>final<|message|>"
_CONTROL = re.compile(r"<\|(?:end|return|start|call)\|>.*", re.S)
REFUSES = re.compile(
    r"\W*(?:(?:i['’]?m|i am|we['’]?re|we are) (?:so |very |really )?(?:sorry|afraid)\b[^.!?]{0,60}\b"
    r"(?:can['’]?t|cannot|can not|unable|not able|won['’]?t|not comfortable)\b"
    r"|(?:sorry,? )?(?:but )?i (?:can['’]?t|cannot|can not|won['’]?t|must decline|am unable|am not able)\b"
    r"[^.!?]{0,30}\b(?:assist|help|comply|provide|rate|evaluate|judge|engage|continue|fulfil|fulfill|do|answer)\b"
    r"|as an ai\b[^.!?]{0,80}\b(?:can['’]?t|cannot|unable|not able)\b"
    r"|(?:抱歉|对不起|很抱歉)[^。！？]{0,20}(?:无法|不能))",
    re.I,
)
"""Beginnings of a refusal in plain text."""
LONGEST_REFUSAL = 1_000
_TEXT_PARTS = frozenset({"text", "output_text"})
_THOUGHT_PARTS = frozenset({"thinking", "reasoning"})


class CallError(Exception):
    """A request without a usable reply, with its kind in `jobs.errors`.

    `status` is the response's error status; `unsent` means that nothing was sent.
    """

    kind = errors.REQUEST
    status: int | None = None
    unsent: bool = False

    def __init__(self, message: str, *, kind: str = "") -> None:
        super().__init__(message)
        self.kind = kind or type(self).kind


class Again(CallError):
    """Worth a retry; `delay` is the server's requested delay in seconds, None if it gave none."""

    kind = errors.TRANSPORT

    def __init__(self, message: str, delay: float | None = None, *, kind: str = "") -> None:
        super().__init__(message, kind=kind)
        self.delay = delay


class Malformed(CallError):
    """A completion without readable text; retried once, like an unparseable reply.

    `reply` holds the content received and its cost; None if even that is unknown.
    """

    kind = errors.UNPARSEABLE

    def __init__(self, message: str, reply: Reply | None = None) -> None:
        super().__init__(message)
        self.reply = reply


class Withheld(CallError):
    """An incomplete answer that a retry would not complete. It was paid for."""

    def __init__(self, message: str, reply: Reply, kind: str) -> None:
        super().__init__(message, kind=kind)
        self.reply = reply


class NoLogprobs(CallError):
    """A completion without the log-probabilities of its prompt, which no other request would bring. It was
    paid for."""

    kind = errors.PARAMETER

    def __init__(self, message: str, reply: Reply) -> None:
        super().__init__(message)
        self.reply = reply


@dataclass(frozen=True, slots=True)
class Reply:
    """Reply of a model. Token counts are None if the server reports none, or implausible ones.

    `reasoning` is its thinking, if the server separates it; `tokens` are the text's tokens with their
    probabilities, if requested; `form` is the reply form of the request (`jobs.endpoints.parameters`).
    `served_model` and `system_fingerprint` are the model and the build that the server names; '' if none.
    """

    text: str
    tokens_in: int | None
    tokens_out: int | None
    latency_ms: int
    flags: tuple[str, ...] = ()
    reasoning: str = ""
    tokens: Tokens = ()
    form: str = ""
    served_model: str = ""
    system_fingerprint: str = ""


def received(body: bytes, latency_ms: int, key: str = "", *, prompt_has_mark: bool = False) -> Reply:
    """Parse the reply in a response body, with the key redacted; `prompt_has_mark` as for `completion`.

    Raises Again, Malformed or Withheld.
    """
    return completion(_data(body, key), latency_ms, key, prompt_has_mark=prompt_has_mark)


def _data(body: bytes, key: str) -> Any:
    """Decode a response body; raise Again or Malformed."""
    try:
        return _streamed(body, key) if body.lstrip()[:5] == b"data:" else decoded(body, key)
    except RecursionError:
        raise Malformed("the response is nested too deeply") from None
    except ValueError as error:
        raise Again(f"the response was not valid: {redact(str(error), key)[:200]}") from None


def _streamed(body: bytes, key: str) -> Any:
    """Return the completion that a server sent in parts (server-sent events), though it was not asked to."""
    joined: dict[str, Any] = {}
    message: dict[str, Any] = {}
    ended = None
    for line in body.splitlines():
        content = line[5:].strip()
        if not line.startswith(b"data:"):
            continue
        if content == b"[DONE]":
            ended = ended or "stop"
            continue
        part = decoded(content, key)
        if not isinstance(part, dict):
            raise ValueError("a part of the stream is not an object")
        joined |= {name: value for name, value in part.items() if value is not None}
        choices = part.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
        ended = choice.get("finish_reason") or ended
        delta = choice.get("delta")
        for name, value in delta.items() if isinstance(delta, dict) else ():
            if isinstance(value, str) and name != "role":
                message[name] = message.get(name, "") + value
            elif isinstance(value, list) and name == "tool_calls":
                message[name] = _joined_calls(message.get(name, []), value)
    if not message:
        return joined
    if not ended:
        raise ValueError("the stream broke off")
    return {**joined, "choices": [{"message": redacted(message, key), "finish_reason": ended}]}


def _joined_calls(calls: list[dict[str, Any]], parts: list[Any]) -> list[dict[str, Any]]:
    """Add streamed parts of tool calls to the calls so far: parts of one call have the same `index`."""
    by_index = {call["index"]: call for call in calls}
    for part in parts:
        function = part.get("function") if isinstance(part, dict) else None
        if not isinstance(function, dict):
            raise ValueError("a part of a tool call is not an object")
        call = by_index.setdefault(part.get("index", 0), {"index": part.get("index", 0), "function": {}})
        for name, value in function.items():
            if isinstance(value, str):
                call["function"][name] = call["function"].get(name, "") + value
    return list(by_index.values())


def completion(data: Any, latency_ms: int, key: str = "", *, prompt_has_mark: bool = False) -> Reply:
    """Parse the reply in a completion (decoded, redacted JSON); raise Again, Malformed or Withheld.

    Tokens that spell out the key piece by piece are dropped. `prompt_has_mark`: the prompt has a mark of the
    end of thinking, so such a mark in the reply may be a quotation, and does not end its reasoning.
    """
    choices = data.get("choices") if isinstance(data, dict) else None
    if not choices:
        raise Again(_no_choice(data))
    flags: list[str] = []
    usage = data.get("usage")
    tokens_in, tokens_out = (_count(usage, name, flags) for name in ("prompt_tokens", "completion_tokens"))
    text, trouble = _text(choices)
    served_model, fingerprint = (_name(data.get(name)) for name in ("model", "system_fingerprint"))
    reply = Reply(
        text,
        tokens_in,
        tokens_out,
        latency_ms,
        tuple(dict.fromkeys(flags)),
        served_model=served_model,
        system_fingerprint=fingerprint,
    )
    if trouble:
        raise Malformed(trouble, reply)
    complete = _complete_reply(choices[0], reply, prompt_has_mark=prompt_has_mark)
    spelt = "".join(token.text for token in complete.tokens)
    return replace(complete, tokens=()) if may_hold(spelt, key) else complete


def _complete_reply(choice: dict[str, Any], reply: Reply, *, prompt_has_mark: bool) -> Reply:
    """Return the reply with reasoning and tokens separated; raise Withheld for an incomplete answer."""
    message = choice["message"]
    reasoning, text = _apart(message, reply.text, prompt_has_mark=prompt_has_mark)
    reply = replace(reply, text=text, reasoning=reasoning)
    refusal, ended = message.get("refusal"), choice.get("finish_reason")
    if isinstance(refusal, str) and refusal.strip():
        refused_reply = replace(reply, text=reply.text or refusal[:MOST_CHARACTERS])
        raise Withheld(f"the model refuses: {refusal.strip()[:300]}", refused_reply, errors.REFUSAL)
    if ended == "content_filter":
        raise Withheld("the endpoint's content filter held it back", reply, errors.CONTENT_FILTER)
    if isinstance(ended, str) and ended in _CUT_OFF:
        why = f"the reply was cut off at its most tokens (finish_reason {ended}): allow more"
        raise Withheld(why, reply, errors.TRUNCATED)
    return replace(reply, tokens=of_text(tokens_of(choice.get("logprobs")), text))


def _apart(message: dict[str, Any], text: str, *, prompt_has_mark: bool) -> tuple[str, str]:
    """Split a reply into reasoning and answer: by a field, a part, a channel, or a block that ends before the
    answer; its opening mark may be missing, since some servers send that with the prompt."""
    for name in ("reasoning_content", "reasoning"):
        reasoning = message.get(name)
        if isinstance(reasoning, str) and reasoning:
            return reasoning[:MOST_CHARACTERS], text
    if reasoning := _joined(message.get("content"), _THOUGHT_PARTS):
        return reasoning[:MOST_CHARACTERS], text
    if text.lstrip().startswith(_CHANNEL):
        thought, final, answer = text.rpartition(_FINAL)
        return thought.strip(), _CONTROL.sub("", answer).strip() if final else ""
    opened = text.lstrip().startswith(_THINKS)
    if not opened and (prompt_has_mark or _THINKS in text or _THOUGHT not in text):
        return "", text
    thought, end, answer = text.lstrip().removeprefix(_THINKS).partition(_THOUGHT)
    return thought.strip(), answer.lstrip() if end else ""


def _text(choices: Any) -> tuple[str, str]:
    """Return the first choice's text and "", or the raw content and the reason why it is not text.

    Without content, the arguments of the only call of a tool are the text; other calls are kept raw.
    """
    first = choices[0] if isinstance(choices, list) else None
    message = first.get("message") if isinstance(first, dict) else None
    if not isinstance(message, dict):
        return _raw(choices), "the reply has no message"
    content = message.get("content")
    text = _joined(content, _TEXT_PARTS) if isinstance(content, list) else content
    if not text:
        text = _arguments(message) or text
    if not text and (calls := message.get("tool_calls")):
        return _raw(calls), "the reply calls tools, and not one with the answer as its arguments"
    if text is None:
        return (_raw(content), "the message's content is a list without a text") if content else ("", "")
    if not isinstance(text, str):
        return _raw(text), f"the message's content is {_kind(text)}, not a text"
    if len(text) > MOST_CHARACTERS:
        return text, f"the reply has {len(text):,} characters; at most {MOST_CHARACTERS:,} are read"
    return text, ""


def _joined(content: Any, kinds: frozenset[str]) -> str | None:
    """Join the texts of the parts of these kinds in a content list; None if it has none of them."""
    parts = content if isinstance(content, list) else ()
    texts = [
        part.get("text") or part.get("thinking") or part.get("reasoning")
        for part in parts
        if isinstance(part, dict) and part.get("type") in kinds
    ]
    return "".join(text for text in texts if isinstance(text, str)) if texts else None


def _arguments(message: dict[str, Any]) -> str | None:
    """Return the arguments of the message's only call of a tool, None if there is not exactly one."""
    calls = message.get("tool_calls")
    calls = calls if isinstance(calls, list) and calls else [{"function": message.get("function_call")}]
    call = calls[0].get("function") if len(calls) == 1 and isinstance(calls[0], dict) else None
    arguments = call.get("arguments") if isinstance(call, dict) else None
    return arguments if isinstance(arguments, str) and arguments.strip() else None


def _name(value: Any) -> str:
    """Return a name that a server gives, on one line and printable; '' if it is not a text."""
    text = " ".join(value.split()) if isinstance(value, str) else ""
    return "".join(filter(str.isprintable, text))[:LONGEST_NAME]


def _count(usage: Any, name: str, flags: list[str]) -> int | None:
    """Return a token count, None if missing; flag an implausible count."""
    value = usage.get(name) if isinstance(usage, dict) else usage
    if value is None:
        return None
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_TOKENS:
        return value
    flags.append(_ODD_COUNT)
    return None


def is_refusal(text: str) -> bool:
    """Whether a reply that could not be read is a short refusal in plain text."""
    return len(text) <= LONGEST_REFUSAL and REFUSES.match(text) is not None


def holds_mark(messages: Sequence[dict[str, str]]) -> bool:
    """Whether a message holds a mark of the end of thinking."""
    return any(_THOUGHT in message["content"] for message in messages)


def _no_choice(data: Any) -> str:
    """Describe a response without a choice: some servers report an error with status 200."""
    error = data.get("error") if isinstance(data, dict) else None
    message = error.get("message") if isinstance(error, dict) else error
    detail = f": {message[:300]}" if isinstance(message, str) and message else ""
    return f"the reply holds no choice{detail}"


def _raw(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)[:MOST_CHARACTERS]


def _kind(value: Any) -> str:
    names = {list: "a list", dict: "an object", bool: "true or false"}
    return names.get(type(value), "a number")


# Log-probabilities of a prompt: what the completions API returns for `echo` with `logprobs`.
#
# The boundary is found by the texts of the tokens, not by `text_offset`: that counts the mark of a text's
# beginning at some servers, and each part of a broken character as one.

_BROKEN = re.compile(r"\ufffd|^bytes:")
"""Text of a token that is a part of a character."""
_SPACES = re.compile(r"[\s\u2581]+")
"""Spaces, as servers write them or leave them out at the beginning of a token."""


def echoed(body: bytes, latency_ms: int, prompt: str, start: int, key: str = "", *, name: str = "") -> Reply:
    """Parse the reply to a prompt that is scored itself: its `tokens` are those of `prompt[start:]`.

    `name` is the endpoint's. The text before `start` must not end with a space. The reply has no tokens where
    none begins at `start`, or the tokens do not spell the prompt. Raises Again, Malformed, or NoLogprobs.
    """
    data = _data(body, key)
    choices = data.get("choices") if isinstance(data, dict) else None
    if not choices:
        raise Again(_no_choice(data))
    flags: list[str] = []
    usage = data.get("usage")
    tokens_in, tokens_out = (_count(usage, field, flags) for field in ("prompt_tokens", "completion_tokens"))
    choice = choices[0] if isinstance(choices, list) and isinstance(choices[0], dict) else {}
    text = choice.get("text")
    reply = Reply(
        text if isinstance(text, str) else _raw(choices),
        tokens_in,
        tokens_out,
        latency_ms,
        tuple(dict.fromkeys(flags)),
        served_model=_name(data.get("model")),
        system_fingerprint=_name(data.get("system_fingerprint")),
    )
    if not isinstance(text, str) or len(text) > MOST_CHARACTERS:
        raise Malformed(f"the reply has no text of at most {MOST_CHARACTERS:,} characters", reply)
    if tokens_out is None:
        raise Malformed("the reply does not say how many tokens were written", reply)
    scored = _scored_tokens(choice.get("logprobs"), tokens_out)
    if not scored:
        raise NoLogprobs(
            f"The endpoint {name} gives no log-probabilities of a prompt: its reply to echo and logprobs has "
            "none. Choose a server that does, such as vLLM.",
            reply,
        )
    # llama-cpp-python shifts the values by a token where a text has no mark at its beginning. Its tokens then
    # lack the last one, and do not spell the prompt, unless nothing was written.
    may_shift = not tokens_out and tokens_in == len(scored)
    spellings = [spelling for spelling, _ in scored]
    place = None if may_shift else boundary(spellings, prompt[:start], prompt[start:])
    own = [] if place is None else scored[place:]
    tokens = tuple(Token(spelling, value) for spelling, value in own if value is not None)
    if len(tokens) < len(own):
        raise Malformed("a token of the reply has no log-probability", reply)
    spelt = "".join(token.text for token in tokens)
    return reply if may_hold(spelt, key) else replace(reply, tokens=tokens)


def _scored_tokens(logprobs: Any, tokens_out: int) -> list[tuple[str, float | None]]:
    """Return the prompt's tokens of `choices[0].logprobs`, each with its log probability; empty if missing.

    The first token has none, and an invalid one counts as none. The last `tokens_out` tokens are the model's.
    """
    fields = logprobs if isinstance(logprobs, dict) else {}
    texts, values = fields.get("tokens"), fields.get("token_logprobs")
    if not isinstance(texts, list) or not isinstance(values, list) or len(texts) != len(values):
        return []
    pairs: list[tuple[str, float | None]] = [
        _pair({"token": text, "logprob": value}) or (str(text), None)
        for text, value in zip(texts, values, strict=True)
    ]
    own = pairs[: len(pairs) - tokens_out]
    return own if any(value is not None for _, value in own) else []


def boundary(texts: Sequence[str], before: str, after: str) -> int | None:
    """Return the index of the first token of `after` among the tokens of `before + after`; None if none
    begins there, or the tokens do not spell the text.

    Spaces are not compared: those between the two belong to `after`. The first token may be a mark of the
    text's beginning. A broken token stands for any characters; if it leaves several places, there is none.
    """
    context, end = _squeezed(before), _squeezed(after)
    spelt = [_squeezed(text) for text in texts]
    for first in (0, 1):
        if "".join(spelt[first:]) == context + end:
            lengths = [0, *accumulate(map(len, spelt[first:]))]
            return first + lengths.index(len(context)) if len(context) in lengths else None
    if not any(_BROKEN.search(text) for text in texts):
        return None
    patterns = [None if _BROKEN.search(text) else _squeezed(text) for text in texts]
    places = [
        place
        for place in range(1, len(texts))
        if patterns[place] != ""
        and (tail := next((text for text in reversed(patterns[:place]) if text != ""), None)) is not None
        and context.endswith(tail)
        and any(_spells(patterns[first:place], context) for first in (0, 1))
        and _spells(patterns[place:], end)
    ]
    if len(places) != 1:
        return None
    (place,) = places
    while patterns[place - 1] == "":
        place -= 1
    return place


def _spells(patterns: Sequence[str | None], text: str) -> bool:
    """Whether texts in this order, with anything in place of None, are a text."""
    at, is_open = 0, False
    last = len(patterns) - 1
    for number, pattern in enumerate(patterns):
        if pattern is None:
            is_open = True
            continue
        if is_open and number == last:
            position = len(text) - len(pattern)
            position = position if position >= at and text.endswith(pattern) else -1
        else:
            position = text.find(pattern, at) if is_open else at if text.startswith(pattern, at) else -1
        if position < 0:
            return False
        at, is_open = position + len(pattern), is_open and not pattern
    return is_open or at == len(text)


def _squeezed(text: str) -> str:
    return _SPACES.sub("", text)
