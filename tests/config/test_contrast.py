"""Every text colour is readable on every background it is used on, in light and dark (WCAG 2.2, level AA)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

STYLES = Path(__file__).parents[2] / "static" / "css" / "tokens.css"
TOKEN = re.compile(r"--([a-z0-9-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)")
TOKENS = {name: (light, dark) for name, light, dark in TOKEN.findall(STYLES.read_text())}
TEXT, EDGE = 4.5, 3.0
GROUNDS = ("ground", "surface", "sunken")
TEXTS = ("ink", "ink-2", "ink-3", "accent", "warn", "bad", "good", "s1", "s2", "s3", "s4", "s5", "s6")
PAIRS = [
    *((text, ground) for text in TEXTS for ground in GROUNDS),
    *((tone, f"{tone}-soft") for tone in ("accent", "warn", "bad", "good")),
    *(("ink", f"{tone}-soft") for tone in ("accent", "warn", "bad", "good")),
    ("on-accent", "accent"),
]


def luminance(colour: str) -> float:
    """Return the relative luminance of #rrggbb, 0 to 1."""
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours, 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def without_block(sheet: str, opening: str) -> str:
    """Return the sheet without each block that `opening` begins, up to the brace that closes it."""
    while opening in sheet:
        start = sheet.index(opening)
        end = sheet.index("{", start) + 1
        while sheet.count("{", start, end) > sheet.count("}", start, end):
            end += 1
        sheet = sheet[:start] + sheet[end:]
    return sheet


def test_the_ratio_is_that_of_the_standard() -> None:
    assert contrast("#ffffff", "#000000") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(("text", "ground"), PAIRS, ids=[f"{a} on {b}" for a, b in PAIRS])
def test_text_can_be_read(text: str, ground: str, scheme: int) -> None:
    assert contrast(TOKENS[text][scheme], TOKENS[ground][scheme]) >= TEXT


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("edge", ["edge", "accent"])
def test_the_edge_of_a_field_and_the_ring_of_focus_can_be_seen(edge: str, ground: str, scheme: int) -> None:
    assert contrast(TOKENS[edge][scheme], TOKENS[ground][scheme]) >= EDGE


def test_motion_is_for_those_who_have_not_asked_for_less() -> None:
    for sheet in STYLES.parent.glob("*.css"):
        outside = without_block(sheet.read_text(), "@media (prefers-reduced-motion: no-preference)")
        assert not re.search(r"\b(transition|animation)\b", outside), sheet.name


def test_every_colour_is_a_token() -> None:
    rules = [
        re.sub(r":root \{.*?\n\}", "", sheet.read_text(), flags=re.S) for sheet in STYLES.parent.glob("*.css")
    ]
    assert [found for rule in rules for found in re.findall(r"#[0-9a-fA-F]{3,8}\b(?=[;\s,)])", rule)] == []
