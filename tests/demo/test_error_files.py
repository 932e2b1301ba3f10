"""Files with the error models of a fake model."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from demo.fake_model import running
from demo.fake_model.errors import ErrorFileProblem, ErrorModel


def test_the_built_in_error_models_are_read_and_say_what_they_are() -> None:
    for name in running.built_in():
        assert isinstance(running.load(name), ErrorModel)
        assert json.loads((running.FOLDER / f"{name}.json").read_text())["about"]
    assert running.load("perfect") == ErrorModel()


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ([], "the file: a JSON object is needed"),
        ({"role": {}}, "role: no such key; there are about, roles, phrases, proposals, misbehaviours"),
        ({"roles": {"writer": {}}}, "roles.writer: no such key"),
        ({"roles": {"turn_judge": {"noise": 1.5}}}, "roles.turn_judge.noise: 1.5 is not between 0 and 1"),
        ({"roles": {"*": {"noise": {"overall": "x"}}}}, "roles.*.noise.overall: 'x' is not a number"),
        ({"roles": {"*": {"wording": True}}}, "roles.*.wording: 'True' is not a number"),
        ({"roles": {"*": {"severity": math.nan}}}, "roles.*.severity: 'nan' is not a number"),
        ({"phrases": [{"noise": 1}]}, "phrases[0].text: the sentence is needed"),
        ({"phrases": [{"text": "a", "roles": ["x"]}]}, "phrases[0].roles: there is no 'x'; there are"),
        ({"proposals": "a"}, "proposals: a list of texts is needed"),
        ({"misbehaviours": {}}, "misbehaviours: a list is needed"),
        ({"misbehaviours": [{"kind": "404"}]}, "misbehaviours[0].kind: '404' is none of 429, 500"),
        ({"misbehaviours": [{"kind": "429"}]}, "misbehaviours[0]: either first (requests) or rate (0 to 1)"),
        (
            {"misbehaviours": [{"kind": "500", "rate": 1, "retry_after": 1}]},
            "only 429 and batch_429 have one",
        ),
        ({"misbehaviours": [{"kind": "hang", "first": 0}]}, "misbehaviours[0].first: '0' is not a number of"),
    ],
)
def test_a_wrong_error_model_is_refused_with_the_key(data: Any, problem: str) -> None:
    with pytest.raises(ErrorFileProblem) as refusal:
        running.parse(data)
    assert problem in str(refusal.value)
    assert "\n" not in str(refusal.value)
