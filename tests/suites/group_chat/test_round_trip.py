"""A scenario and its decisions survive export and import unchanged."""

from __future__ import annotations

from copy import deepcopy

import pytest

from annotation.corpora.import_file import import_path
from annotation.models import Corpus, Turn
from annotation.scenario_records import native_scenario, scenario_json, scenario_record
from suites.group_chat.answer_keys import scenarios
from suites.group_chat.scenarios.agents import AGENTS, decide
from suites.group_chat.scenarios.cascade import turn_of
from tests.calibration.test_label_studio import content, files
from tests.suites.group_chat.scripts import LAUNCH, launch
from tests.suites.group_chat.test_answer_keys import STATIC, stored

pytestmark = pytest.mark.django_db
PRIVATE = {
    "id": "kit-2",
    "system": "kit",
    "mode": "static",
    "trial": 1,
    "condition": {"mode": "explicit"},
    "turns": [
        {
            "at": 3,
            "speaker": "bot",
            "text": "I will keep that to myself.",
            "addressees": ["mia"],
            "audience": ["mia"],
            "extra": {"decision": {"mode": "explicit", "attend": True, "flags": ["named_by_name"]}},
        }
    ],
}
LABELS = [
    {"rater": "ann", "continuation": "kit-1", "turn": 1, "question": "speak", "value": "message"}
    | {"scheme": "cascade_human"},
    {"rater": "ann", "continuation": "kit-2", "turn": 0, "question": "target", "value": "mia"}
    | {"scheme": "cascade_human"},
    {"rater": "ben", "continuation": "kit-1", "turn": 1, "question": "face", "value": 4, "scheme": "conduct"},
]
TOLD = ("continuation__key", "position", "speaker", "text", "given", "at", "extra")


def test_scenario_decisions_and_their_labels_come_back(tmp_path) -> None:
    corpus = stored(tmp_path, continuations=[STATIC, PRIVATE], labels=LABELS, keyed_by=["Ana", "Ben"])
    tasks = tmp_path / "tasks.json"
    tasks.write_bytes(files(corpus)["tasks.json"])
    import_path(path=tasks, format="label-studio", corpus="Copy", into=False, by=None)
    copy = Corpus.objects.get(name="Copy")
    before, after = (scenarios(one.dialogues.all()) for one in (corpus, copy))
    assert list(after.values()) == list(before.values())
    ours, theirs = (
        list(Turn.objects.filter(continuation__dialogue__corpus=one).order_by(*TOLD[:2]).values_list(*TOLD))
        for one in (corpus, copy)
    )
    assert ours == theirs
    kept = [row for row in content(copy) if not row[4].startswith("key:Copy:")]
    assert kept == content(corpus)
    assert len(kept) < len(content(copy)), "the copy's own key answers, too"


def test_whether_the_channel_marks_addressees_is_kept() -> None:
    shown = launch(addressees="visible").scenario
    assert native_scenario(shown)["addressees"] == "visible"
    assert scenario_record(scenario_json(shown)) == shown
    assert "addressees" not in native_scenario(launch().scenario)


def test_a_key_that_asks_for_nobody_is_kept() -> None:
    probes = deepcopy(LAUNCH["probes"])
    probes[0]["key"] |= {"addressed": [], "target": {"any_of": [[], ["ole"]]}}
    asked = launch(probes=probes).scenario
    assert scenario_record(scenario_json(asked)) == asked
    assert launch(**native_scenario(asked)).scenario == asked


def test_what_agents_decide_can_be_written_as_a_file_and_read(tmp_path) -> None:
    dialogue = launch()
    for name in AGENTS:
        turns = [turn_of(one, "bot", dialogue.turns[one.point]) for one in decide(AGENTS[name], dialogue)]
        written = {
            "id": name,
            "system": name,
            "mode": "static",
            "turns": [
                {
                    "at": turn.at,
                    "speaker": turn.speaker,
                    "text": turn.text,
                    "act": turn.act,
                    "addressees": list(turn.addressees),
                    "audience": None if turn.audience is None else list(turn.audience),
                    "extra": dict(turn.extra),
                }
                for turn in turns
            ],
        }
        assert launch(continuations=[written]).continuations[0].turns == tuple(turns)
    assert LAUNCH["id"] == dialogue.id
