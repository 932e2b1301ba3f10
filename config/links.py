"""Buttons that suites add to pages of the core."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from jobs.tables import added


class Link(NamedTuple):
    """A button. `address` returns its URL for the object that the page shows; '' if the button is absent."""

    text: str
    address: Callable[[Mapping[str, Any]], str]


def links_of(page: str, subject: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the labels and URLs of a page's links; `page` is corpora, tabs, annotation,
    campaign, results, settings, dialogue or run."""
    links: Iterable[Link] = (link for more in added("links") for link in more.get(page, ()))
    buttons = ((link.text, link.address(subject)) for link in links)
    return [(text, address) for text, address in buttons if address]
