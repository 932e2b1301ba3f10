"""Buttons that suites add to pages of the core."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from jobs.tables import added


class Link(NamedTuple):
    """A button. `address` returns where it leads, from what the page shows; '' where it is not there."""

    text: str
    address: Callable[[Mapping[str, Any]], str]


def links_of(page: str, subject: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the texts and addresses of a page's buttons: of corpora, corpus, dialogue, run or runs."""
    links: Iterable[Link] = (link for more in added("links") for link in more.get(page, ()))
    buttons = ((link.text, link.address(subject)) for link in links)
    return [(text, address) for text, address in buttons if address]
