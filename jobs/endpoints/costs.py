"""Cost of a call: request bodies, token counts and prices."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any

from jobs.endpoints.parameters import response_format
from jobs.errors import JobError
from jobs.fake_models import requested_name
from jobs.models import Run
from jobs.models.endpoint import Endpoint
from jobs.prompt import Prompt, about_tokens

# Body of a request, built in one place: the same for sending and for previews.


def request_body(model: str, prompt: Prompt, parameters: Mapping[str, Any], form: str) -> dict[str, Any]:
    """Return the body of a request, in the order in which the client sends it.

    Chat completions, or completions with `echo` for a prompt that is scored itself. `form` is one of
    `jobs.endpoints.parameters`.
    """
    rest = dict(parameters)
    if prompt.scored_from is not None:
        rest |= {"echo": True, "logprobs": 1}
        return {"model": requested_name(model), "prompt": prompt.user, **dict(sorted(rest.items()))}
    messages = prompt.messages(rest.pop("system_role", "system"))
    rest |= rest.pop("extra_body", {}) | response_format(form, prompt)
    return {"model": requested_name(model), "messages": messages, **dict(sorted(rest.items()))}


def as_sent(body: Mapping[str, Any]) -> bytes:
    """Return the bytes of a body as the client writes them."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


# Token counts of a text by the tokenizer of an endpoint's model, if one is set.

Count = Callable[[str], int]
BY_CHARACTERS = "four characters to a token"
FILE = "tokenizer.json"


def counter(endpoint: Endpoint) -> tuple[Count, str]:
    """Return the token counter of an endpoint and its description; raise JobError for a missing tokenizer."""
    if not endpoint.tokenizer:
        return about_tokens, BY_CHARACTERS
    try:
        return _loaded(endpoint.tokenizer), f"by the tokenizer {endpoint.tokenizer}"
    except (OSError, ValueError) as error:
        why = (str(error) or type(error).__name__).splitlines()[0][:200]
        raise JobError(
            f"The tokenizer {endpoint.tokenizer!r} of the endpoint {endpoint.name} cannot be loaded ({why}): "
            "correct it on the endpoint's page, or leave it empty."
        ) from None


@lru_cache(maxsize=4)
def _loaded(name: str) -> Count:
    """Return the token counter from a file, or a folder with one; raise OSError or ValueError."""
    from tokenizers import Tokenizer

    path = Path(name)
    text = (path / FILE if path.is_dir() else path).read_text(encoding="utf-8")
    definition = json.loads(text)
    if not isinstance(definition, dict) or not isinstance(definition.get("model"), dict):
        raise ValueError("it is no tokenizer.json: it has no model")
    tokenizer = Tokenizer.from_str(text)

    def count(text: str) -> int:
        return len(tokenizer.encode(text, add_special_tokens=False).ids)

    return count


_MILLION = Decimal(1_000_000)


FULL_SHARE = Decimal(1)


def cost(
    endpoint: Endpoint, tokens_in: int | None, tokens_out: int | None, share: Decimal = FULL_SHARE
) -> Decimal | None:
    """Return the cost in the endpoint's currency; None if a price or a count is unknown.

    `share` is the part of the price that is paid.
    """
    if tokens_in is None or tokens_out is None or (prices := endpoint.prices) is None:
        return None
    price_in, price_out = prices
    return (price_in * tokens_in + price_out * tokens_out) * share / _MILLION


def share_of(run: Run) -> Decimal:
    """Return the share of the full price that a run's next calls cost."""
    if run.mode == Run.Mode.BATCH and run.endpoint is not None and run.endpoint.batch_share is not None:
        return run.endpoint.batch_share
    return FULL_SHARE
