"""Counting the tokens of a text as an endpoint's model does, where somebody said which tokenizer it has."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from jobs.errors import JobError
from jobs.models import Endpoint
from jobs.prompt import about_tokens

Count = Callable[[str], int]
BY_CHARACTERS = "four characters to a token"
FILE = "tokenizer.json"


def counter(endpoint: Endpoint) -> tuple[Count, str]:
    """Return what counts an endpoint's tokens, and how in words; raise JobError for a tokenizer that is not
    there."""
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
    """Return the tokenizer of a file, or of a folder that has one; raise OSError or ValueError."""
    from tokenizers import Tokenizer

    path = Path(name)
    text = (path / FILE if path.is_dir() else path).read_text(encoding="utf-8")
    told = json.loads(text)
    if not isinstance(told, dict) or not isinstance(told.get("model"), dict):
        raise ValueError("it is no tokenizer.json: it has no model")
    tokenizer = Tokenizer.from_str(text)

    def count(text: str) -> int:
        return len(tokenizer.encode(text, add_special_tokens=False).ids)

    return count
