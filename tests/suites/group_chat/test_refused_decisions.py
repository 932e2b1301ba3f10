"""A file's decisions are refused if the scenario's agent could not have made them."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from annotation.formats import ImportProblem
from tests.suites.group_chat.scripts import LAUNCH
from tests.suites.group_chat.test_refusals import read

Change = Callable[[dict[str, Any]], Any]
MADE: dict[str, Any] = {
    "id": "kit-0",
    "system": "kit",
    "mode": "static",
    "condition": {"mode": "explicit"},
    "turns": [
        {"at": 1, "speaker": "bot", "act": "silence"},
        {
            "at": 5,
            "speaker": "bot",
            "text": "Best ask Mia.",
            "addressees": ["ole"],
            "extra": {"decision": {"mode": "explicit", "attend": True, "addressed": ["bot"]}},
        },
    ],
}


def declared(made: dict[str, Any]) -> dict[str, Any]:
    return made["turns"][1]["extra"]["decision"]


REFUSED: dict[str, tuple[Change, str, str]] = {
    "by somebody else": (
        lambda made: made["turns"][0].update(speaker="sam"),
        "turns[0].speaker",
        "must be 'bot': only the agent decides",
    ),
    "an event": (
        lambda made: made["turns"][0].update(act="leave"),
        "turns[0].act",
        "must be one of message, reaction, silence",
    ),
    "silence with a text": (
        lambda made: made["turns"][0].update(text="..."),
        "turns[0].text",
        "must be empty where the act is silence",
    ),
    "a message without a text": (
        lambda made: made["turns"][1].update(text=" "),
        "turns[1].text",
        "who says nothing has the act silence",
    ),
    "before all turns": (lambda made: made["turns"][0].update(at=0), "turns[0].at", "is 0, but the agent"),
    "two at one point": (
        lambda made: made["turns"][0].update(at=5),
        "turns[1].at",
        "a second decision there",
    ),
    "a mode that there is not": (
        lambda made: made["condition"].update(mode="open"),
        "condition.mode",
        "must be one of explicit, implicit",
    ),
    "a declared mode that there is not": (
        lambda made: declared(made).update(mode="open"),
        "turns[1].extra.decision.mode",
        "must be one of explicit, implicit",
    ),
    "attend that is neither": (
        lambda made: declared(made).update(attend="yes"),
        "turns[1].extra.decision.attend",
        "must be true or false",
    ),
    "somebody unknown addressed": (
        lambda made: declared(made).update(addressed=["olaf"]),
        "turns[1].extra.decision.addressed",
        "'olaf' is not the id of a participant",
    ),
    "somebody unknown as target": (
        lambda made: declared(made).update(targets=["olaf"]),
        "turns[1].extra.decision.targets",
        "'olaf' is not the id of a participant",
    ),
    "a move that there is not": (
        lambda made: declared(made).update(ground="guess"),
        "turns[1].extra.decision.ground",
        "must be one of answer, clarify, reground, none",
    ),
    "something else declared": (
        lambda made: declared(made).update(atend=True),
        "turns[1].extra.decision.atend",
        "did you mean 'attend'?",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_no_agent_could_decide_is_refused(name: str, tmp_path: Path) -> None:
    change, field, reason = REFUSED[name]
    bad = deepcopy(LAUNCH) | {"id": "bad", "continuations": [deepcopy(MADE)]}
    change(bad["continuations"][0])
    with pytest.raises(ImportProblem) as refused:
        read(tmp_path, deepcopy(LAUNCH) | {"continuations": [MADE]}, bad)
    assert (refused.value.line, refused.value.field) == (2, f"continuations[0].{field}"), str(refused.value)
    assert reason in refused.value.reason
