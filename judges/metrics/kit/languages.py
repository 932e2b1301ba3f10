"""Which languages an embedding model is made for, as far as its name or its own card says."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from judges.metrics.kit.embedding import DEFAULT_MODEL

ENGLISH = frozenset({"en"})
_ENGLISH_ONLY = re.compile(
    r"(all-minilm|all-mpnet|all-distilroberta|multi-qa|msmarco|bge-\w+-en|gte-\w+-en|e5-\w+-en)"
)
_FRONT = re.compile(r"\A---\n(.*?)\n---", re.DOTALL)
_CODE = re.compile(r"^[a-z]{2,3}$")


@lru_cache(maxsize=32)
def languages_of(model: str) -> frozenset[str]:
    """Return the ISO 639 codes of the languages a model is made for; empty where that is not known."""
    folder = Path(model)
    if folder.is_dir() and (card := _from_card(folder / "README.md")):
        return card
    name = model.rsplit("/", 1)[-1].casefold()
    return ENGLISH if model == DEFAULT_MODEL or _ENGLISH_ONLY.search(name) else frozenset()


def is_made_for(model: str, language: str) -> bool:
    """Whether a model is made for a language (a code such as `en` or `zh-Hant`), or may be."""
    known = languages_of(model)
    code = re.split(r"[-_]", language.strip().casefold())[0]
    return not known or not code or code in known


def _from_card(path: Path) -> frozenset[str]:
    """Read `language: en` or a list of codes from a model card's head."""
    try:
        head = _FRONT.match(path.read_text(encoding="utf-8", errors="replace")[:20_000])
    except OSError:
        return frozenset()
    found: set[str] = set()
    inside = False
    for line in (head[1] if head else "").splitlines():
        key, colon, rest = line.partition(":")
        if colon and not line.startswith((" ", "-")):
            inside = key.strip() == "language"
            words = rest.strip(" []").split(",")
        else:
            words = [line.strip(" -")]
        if inside:
            found |= {word.strip(" '\"").casefold() for word in words}
    codes = {code for code in found if _CODE.match(code)}
    return frozenset() if "multilingual" in found else frozenset(codes)
