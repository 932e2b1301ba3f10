"""Styles of pages that stand by themselves, such as a report as a file: they load nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from django.conf import settings
from django.utils.safestring import SafeString, mark_safe

RULE = re.compile(r"([^{}]*)\{((?:[^{}]|\{[^{}]*\})*)\}")
CLASS = re.compile(r"\.(-?[a-zA-Z_][\w-]*)")
COMMA = re.compile(r",(?![^()]*\))")
"""Commas between selectors, not those within `:is(…)`."""
FOLDERS = ("_components", "calibration", "suites", "long_dialogue")
"""Folders of the templates that such pages are made of."""


@cache
def standalone_styles() -> SafeString:
    """Return our style sheets, and the rules of Tabler for the classes in the templates of reports."""
    templates = settings.BASE_DIR / "templates"
    sources = [
        path.read_text(encoding="utf-8") for name in FOLDERS for path in (templates / name).glob("*.html")
    ]
    names = set(re.findall(r"[\w-]+", " ".join(sources)))
    static = settings.BASE_DIR / "static"
    own = [(static / "css" / name).read_text(encoding="utf-8") for name in ("tokens.css", "concord.css")]
    tabler = (static / "vendor" / "tabler.min.css").read_text(encoding="utf-8")
    return mark_safe("\n".join([*_rules_of(tabler, names), *own]))


def _rules_of(sheet: str, names: set[str]) -> Iterator[str]:
    for head, body in RULE.findall(sheet):
        if head.startswith("@media"):
            if rules := "".join(_rules_of(body, names)):
                yield f"{head}{{{rules}}}"
        elif not head.startswith("@"):
            selectors = [part for part in COMMA.split(head) if set(CLASS.findall(part)) <= names]
            if selectors:
                yield f"{','.join(selectors)}{{{body}}}"
