"""The first sentences of a report on a judge and people: more, less, or the effect of one more person."""

from __future__ import annotations

import pytest

from calibration.reports.sentences import lede
from tests.calibration.snapshots import answerer, figure, question, snapshot

UNKNOWN = "3 people are too few to tell whether one more person would differ as much."


def _said(
    gap: float,
    ends: tuple[float, float],
    margin: float | None,
    key: str = "cohen_kappa",
    simulated: bool = False,
) -> str:
    gaps = [
        figure(f"people_{key}", 0.5, (0.4, 0.6)),
        figure(f"judge_{key}", 0.5 + gap, (0.4, 0.6)),
        figure(f"gap_{key}", gap, ends),
    ]
    gaps += [] if "mean" in key else [figure(f"margin_{key}", margin)]
    people = tuple(answerer(name, simulated=simulated) for name in ("ann", "ben", "cid"))
    raters = (answerer("gpt", "judge"), *people)
    answers = lede(snapshot(questions=(question(raters=raters, gaps=tuple(gaps)),)))
    return answers[-1].text


@pytest.mark.parametrize(
    ("gap", "ends", "margin", "said"),
    [
        (
            0.2,
            (0.1, 0.3),
            0.15,
            "The judge agrees with people more than they do with each other: +0.20 (0.10 to 0.30), and one "
            "more person would hardly differ as much.",
        ),
        (-0.2, (-0.3, -0.1), 0.15, "The judge agrees with people less than they do with each other: −0.20"),
        (0.2, (0.1, 0.3), 0.25, f"more than they do with each other: +0.20 (0.10 to 0.30); {UNKNOWN}"),
        (-0.55, (-0.6, -0.5), 1.28, f"less than they do with each other: −0.55 (−0.60 to −0.50); {UNKNOWN}"),
        (0.2, (-0.1, 0.3), 0.15, "No difference is shown: +0.20"),
        (0.2, (0.1, 0.3), None, f"more than they do with each other: +0.20 (0.10 to 0.30); {UNKNOWN}"),
    ],
)
def test_what_the_interval_shows_is_said_and_what_is_missing_of_one_more_person(
    gap: float, ends: tuple[float, float], margin: float | None, said: str
) -> None:
    text = _said(gap, ends, margin)
    assert said in text
    assert "up to" not in text


def test_a_mean_over_pairs_gives_its_difference_and_no_verdict() -> None:
    text = _said(0.2, (0.1, 0.3), None, "mean_cohen_kappa")
    assert "The difference is +0.20 (0.10 to 0.30)." in text
    assert "more than" not in text


def test_one_more_of_simulated_raters_is_a_simulated_rater() -> None:
    text = _said(0.2, (0.1, 0.3), 0.25, simulated=True)
    assert (
        "3 simulated raters are too few to tell whether one more simulated rater would differ as much" in text
    )
    assert "person" not in text
