"""A probe's parameters are refused by name if they are unknown or unusable."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from annotation.formats.source import ImportProblem
from suites.group_chat.scenarios.points import scenario_of
from tests.suites.group_chat.scripts import LAUNCH, launch

PATH = "probes[0].parameters"


@pytest.mark.parametrize(
    ("parameters", "field", "reason"),
    [
        ({"candidate": ["a", "b"]}, ".candidate", "did you mean 'candidates'?"),
        ({"candidates": "deck"}, ".candidates", "must be a list"),
        ({"candidates": 5}, ".candidates", "must be a list"),
        ({"candidates": ["deck", 5]}, ".candidates[1]", "must be a text"),
        ({"truth": []}, ".truth", "needs a text at least"),
        ({"truth": " "}, ".truth[0]", "is empty"),
        ({"right": ["30", ""]}, ".right[1]", "is empty"),
        ({"both": "yes"}, ".both", "must be true or false"),
        ({"false_correction": 1}, ".false_correction", "must be true or false"),
        ({"window": "ten"}, ".window", "must be a whole number"),
        ({"window": 0}, ".window", "must be a whole number from 1"),
        ({"silent_for": -1}, ".silent_for", "must be a whole number"),
        ({"quiet": ["zoe"]}, ".quiet", "'zoe' is not the id of a participant"),
        ({"fact": "g9"}, ".fact", "'g9' is not the id of a fact of common_ground"),
        (["truth"], "", "must be an object"),
    ],
    ids=lambda value: str(value)[:40] if isinstance(value, dict) else "",
)
@pytest.mark.parametrize("control", [False, True])
def test_a_bad_parameter_is_refused(parameters: Any, field: str, reason: str, control: bool) -> None:
    probes = deepcopy(LAUNCH["probes"])
    probes[0] |= {"parameters": parameters, "control": control}
    with pytest.raises(ImportProblem) as refused:
        launch(probes=probes)
    assert refused.value.field == PATH + field
    assert reason in refused.value.reason


def test_good_parameters_are_kept_as_they_stand() -> None:
    probes = deepcopy(LAUNCH["probes"])
    given = {"truth": "four", "right": ["30"], "window": 6, "both": True, "quiet": ["sam"], "fact": "g1"}
    probes[0]["parameters"] = given
    assert scenario_of(launch(probes=probes)).probes[0].parameters == given
