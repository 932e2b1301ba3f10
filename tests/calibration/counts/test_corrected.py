"""Counts corrected by people's ratings, and counts that are unavailable."""

from __future__ import annotations

import re

import pandas as pd
import pytest

from calibration.comparisons.counts import facts
from calibration.errors import CountsRefused
from tests.calibration.counts.built import (
    TURNS,
    Made,
    cells,
    planted,
)

pytestmark = pytest.mark.django_db


def test_what_people_rated_corrects_the_judge(made: Made) -> None:
    judge = made.counts(questions="repetition")
    assert cells(judge.table.rows[0])["repetition"].corrected is None
    some = [item for item in made.items() if item.continuation.dialogue.key in ("d0", "d1", "d2")]
    made.mark(
        "ann",
        lambda item, key: 0.0 if item.turn.position < 3 else planted(item, key),
        kind="human",
        items=some,
    )
    found = made.counts(questions="repetition")
    rows = found.table.rows
    assert cells(rows[0])["repetition"].corrected.method.startswith("Rogan-Gladen")
    assert found.n_rated == 12
    assert "Corrected by what people said of 12 continuations" in " ".join(facts(found))
    turns = pd.DataFrame(
        [
            {
                "m": 0.0 if item.turn.position < 3 else planted(item, "repetition"),
                "g": planted(item, "repetition"),
            }
            for item in some
        ]
    )
    se = (turns.m * turns.g).sum() / turns.m.sum()
    sp = ((1 - turns.m) * (1 - turns.g)).sum() / (1 - turns.m).sum()
    for row in rows:
        cell = cells(row)["repetition"]
        q = cell.result.value / TURNS
        assert cell.corrected.value == pytest.approx(TURNS * (q + sp - 1) / (se + sp - 1), abs=1e-12)


@pytest.mark.exhaustive
def test_simulated_raters_are_named_as_such(made: Made) -> None:
    made.mark("sim", planted, kind="human", spec={"simulated": True})
    assert "simulated raters mark them" in facts(made.counts(rater="people"))[0]
    assert "sim (simulated) marks them" in facts(made.counts(rater="sim"))[0]
    assert "what simulated raters said" in " ".join(facts(made.counts(rater="judge")))
    assert made.counts(rater="sim").selection.simulated


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"rater": "nobody"}, "no rater 'nobody' has counts or scores here; there are judge"),
        ({"rater": "people"}, "no rater 'people'"),
        (
            {"questions": "politeness"},
            "did not answer 'politeness'; there are cocoeval_behaviours@1/misunderstanding",
        ),
        ({"by": "temperature"}, "no continuation has the condition 'temperature'; there are system, model"),
        ({"strata": "genre"}, "metadata has 'genre'; there are source"),
        ({"per_turns": "0"}, "per turns: a whole number from 1"),
        ({"resamples": "many"}, "resamples: a whole number"),
        ({"correction": "magic"}, "no correction 'magic'"),
        ({"samples": "best"}, "samples are first or mean"),
        ({"part": "test"}, "has no split, so there is no test part"),
        ({"part": "train"}, "a part is dev, test, all or training"),
    ],
)
def test_a_mistake_is_refused_in_one_line(made: Made, given: dict[str, str], message: str) -> None:
    with pytest.raises(CountsRefused, match=re.escape(message)) as refused:
        made.counts(**given)
    assert "\n" not in str(refused.value)


@pytest.mark.exhaustive
def test_metrics_and_anonymous_slots_are_not_counted(made: Made) -> None:
    made.mark("dnr", planted, kind="metric")
    made.rater("slot 1", "human", identified=False)
    made.mark("slot 1", planted, kind="human")
    with pytest.raises(CountsRefused, match="the profile shows"):
        made.counts(rater="dnr")
    with pytest.raises(CountsRefused, match="an anonymous slot"):
        made.counts(rater="slot 1")
    assert made.counts(rater="people").selection.name == "people"
