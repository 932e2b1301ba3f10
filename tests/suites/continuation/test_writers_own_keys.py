"""The additional keys of the fake model's writers in an error model."""

from __future__ import annotations

from typing import Any

import pytest

from demo.fake_model import running
from demo.fake_model.errors import ErrorFileProblem


def test_writers_read_the_rates_of_their_own() -> None:
    told = {
        "next_speaker": {"q": 0.7, "left_out": 0.1, "stranger": 0},
        "conversation_writer": {"violations": {"turn_count": 0.5}},
        "response_writer": {"quality": {"1": 0.2}, "overlong": 1},
        "agent": {"stages": {"attend": 0.1, "ground": 0.2}},
    }
    model = running.parse({"roles": told})
    assert model.errors("next_speaker").own == {"q": 0.7, "left_out": 0.1, "stranger": 0}
    assert model.errors("conversation_writer").own == {"violations": {"turn_count": 0.5}}
    assert model.errors("agent").own == {"stages": {"attend": 0.1, "ground": 0.2}}
    assert model.errors("response_writer").own == {"quality": {"1": 0.2}, "overlong": 1}


@pytest.mark.parametrize(
    ("role", "own", "problem"),
    [
        ("next_speaker", {"q": 2}, "roles.next_speaker.q: 2 is not between 0 and 1"),
        ("next_speaker", {"violations": {}}, "roles.next_speaker.violations: no such key"),
        (
            "conversation_writer",
            {"violations": {"stance": 0.1}},
            "roles.conversation_writer.violations: an object with chances is needed; its keys are",
        ),
        (
            "conversation_writer",
            {"violations": {"turn_count": "often"}},
            "roles.conversation_writer.violations.turn_count: 'often' is not a number",
        ),
        ("agent", {"stages": {"attend": 2}}, "roles.agent.stages.attend: 2 is not between 0 and 1"),
        (
            "response_writer",
            {"quality": 4},
            "roles.response_writer.quality: an object with chances is needed; its keys are 1, 2, 3, 4, 5",
        ),
    ],
)
def test_a_wrong_rate_is_refused_with_the_key(role: str, own: dict[str, Any], problem: str) -> None:
    with pytest.raises(ErrorFileProblem) as refusal:
        running.parse({"roles": {role: own}})
    assert problem in str(refusal.value)
