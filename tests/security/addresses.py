"""Every address of Concord with concrete arguments, found by walking the URL configuration."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.urls import URLPattern, URLResolver, get_resolver

SAMPLES = {"int": "1", "str": "x", "slug": "x", "path": "x", "uuid": "0" * 8 + "-0000-0000-0000-" + "0" * 12}


@dataclass(frozen=True)
class Address:
    """One route: its name and a path with made-up arguments."""

    name: str
    path: str


def addresses() -> list[Address]:
    """Return all routes, including the API's."""
    return list(_walk(get_resolver().url_patterns, "/"))


def _walk(patterns: list[URLPattern | URLResolver], prefix: str) -> Iterator[Address]:
    for pattern in patterns:
        path = prefix + _concrete(pattern)
        if isinstance(pattern, URLResolver):
            yield from _walk(pattern.url_patterns, path)
        else:
            yield Address(pattern.name or path, path)


def _concrete(pattern: URLPattern | URLResolver) -> str:
    route = str(pattern.pattern)
    for name, converter in pattern.pattern.converters.items():
        kind = type(converter).__name__.removesuffix("Converter").lower().replace("string", "str")
        route = route.replace(f"<{kind}:{name}>", SAMPLES[kind]).replace(f"<{name}>", SAMPLES["str"])
    return route
