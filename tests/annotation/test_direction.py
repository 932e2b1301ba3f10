"""The direction of a text follows the majority of its letters."""

from __future__ import annotations

import pytest

from annotation.text.display import direction


@pytest.mark.parametrize(
    ("text", "way"),
    [
        ("", "ltr"),
        ("Plain words.", "ltr"),
        ("مرحبا، I think the library is fine.", "ltr"),
        ("Ana, هل نختار التاريخ اليوم؟", "rtl"),
        ("שלום", "rtl"),
        ("会议很好", "ltr"),
        ("👍…", "auto"),
    ],
)
def test_a_text_runs_as_most_of_its_letters(text: str, way: str) -> None:
    assert direction(text) == way
