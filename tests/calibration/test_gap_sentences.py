"""What a report's first answer says of a judge beside people: more, less, or what one more person may be."""

from __future__ import annotations

from typing import Any

import pytest

from calibration.reports.lede import lede


def _entry(name: str, value: float | None, ends: tuple[float, float] | None = None) -> dict[str, Any]:
    low, high = ends or (None, None)
    status, reason = ("ok", "") if value is not None else ("insufficient", "two people show nothing")
    counts = {"n_items": 90, "n_clusters": 30, "n_raters": 4, "n_missing": 0}
    plain = {"name": name, "raters": ["gpt", "ann", "ben", "cid"], "value": value, "low": low, "high": high}
    return plain | counts | {"status": status, "reason": reason, "flags": [], "method": ""}


def _said(
    gap: float,
    ends: tuple[float, float],
    margin: float | None,
    key: str = "cohen_kappa",
    simulated: bool = False,
) -> str:
    gaps = [
        _entry(f"people_{key}", 0.5, (0.4, 0.6)),
        _entry(f"judge_{key}", 0.5 + gap, (0.4, 0.6)),
        _entry(f"gap_{key}", gap, ends),
    ]
    gaps += [] if "mean" in key else [_entry(f"margin_{key}", margin)]
    raters = [
        {"name": name, "kind": "judge" if name == "gpt" else "human", "n": 90, "identified": True}
        | {"simulated": simulated and name != "gpt"}
        for name in ("gpt", "ann", "ben", "cid")
    ]
    question = {"title": "Polite", "key": "polite", "level": "binary", "item_kind": "turn", "pooled": False}
    nothing: dict[str, Any] = {"panel": [], "pairs": [], "replacement": []}
    answers = lede({"questions": [question | nothing | {"raters": raters, "gaps": gaps}]})
    return answers[-1].text


@pytest.mark.parametrize(
    ("gap", "ends", "margin", "said"),
    [
        (0.2, (0.1, 0.3), 0.15, "It agrees with people more than they do with each other: +0.20"),
        (-0.2, (-0.3, -0.1), 0.15, "It agrees with people less than they do with each other: −0.20"),
        (0.2, (0.1, 0.3), 0.25, "The difference, +0.20 (0.10 to 0.30), may be that of one more person"),
        (0.2, (-0.1, 0.3), 0.15, "A difference is not shown: +0.20"),
        (0.2, (0.1, 0.3), None, "The difference is +0.20 (0.10 to 0.30); two people show nothing."),
    ],
)
def test_more_and_less_are_said_beyond_the_margin_of_one_more_person_alone(
    gap: float, ends: tuple[float, float], margin: float | None, said: str
) -> None:
    assert said in _said(gap, ends, margin)


def test_a_mean_over_pairs_gives_its_difference_and_no_verdict() -> None:
    text = _said(0.2, (0.1, 0.3), None, "mean_cohen_kappa")
    assert "The difference is +0.20 (0.10 to 0.30)." in text
    assert "more than" not in text


def test_one_more_of_simulated_raters_is_a_simulated_rater() -> None:
    text = _said(0.2, (0.1, 0.3), 0.25, simulated=True)
    assert "may be that of one more simulated rater" in text
    assert "person" not in text
