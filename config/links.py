"""Buttons that suites add to pages of the core."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple


class Link(NamedTuple):
    """A button. `address` returns where it leads, from what the page shows; '' where it is not there."""

    text: str
    address: Callable[[Mapping[str, Any]], str]


LINKS: defaultdict[str, list[Link]] = defaultdict(list)
"""By page: corpora, corpus, dialogue, run, runs."""


def links_of(page: str, shown: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the texts and addresses of a page's buttons."""
    links = ((link.text, link.address(shown)) for link in LINKS[page])
    return [(text, address) for text, address in links if address]
