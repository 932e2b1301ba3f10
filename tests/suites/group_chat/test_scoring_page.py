"""The worked examples of docs/group_chat/scoring.md are computed, and agents.md lists every baseline."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from annotation.scenario_records import Decision, Judged
from suites.group_chat.scenarios.agents import AGENTS
from suites.group_chat.scenarios.cascade import outcome
from tests.suites.group_chat.scripts import launch

DOCS = Path(__file__).resolve().parents[3] / "docs" / "group_chat"
PAGE = DOCS / "scoring.md"
ROW = re.compile(r"^\| (turn \d: .*) \| (.*) \| (.*) \| (.*) \|$", re.MULTILINE)
OLE = Decision(1, "message", "He pays it tonight.", attend=True, targets=("ole",), ground="answer")
BEST = Decision(
    4,
    "message",
    "That is not settled, best ask Mia",
    attend=True,
    addressed=("bot",),
    targets=("ole",),
    ground="answer",
)
RATED = Judged({"face": 4.0}, leak=0)
DECISIONS: list[tuple[Decision, Judged | None]] = [
    (OLE, None),
    (Decision(1, "silence", attend=False), None),
    (Decision(4, "silence", attend=True), None),
    (BEST, RATED),
    (replace(BEST, addressed=("mia",)), RATED),
    (replace(BEST, text="Mia is leaving"), RATED),
    (BEST, None),
]
"""The decisions of the table, in its order."""


@pytest.mark.parametrize(
    ("row", "decision", "judged"),
    [
        (row, *made)
        for row, made in zip(ROW.findall(PAGE.read_text(encoding="utf-8")), DECISIONS, strict=True)
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_a_worked_example(row: tuple[str, ...], decision: Decision, judged: Judged | None) -> None:
    result = outcome(launch(), decision, judged)
    found = [
        "missing" if value is None else value if isinstance(value, str) else f"{value:g}"
        for value in (result.competence, result.turn_score, result.failed_at)
    ]
    assert [f"turn {decision.point}", *found] == [row[0].partition(":")[0], *row[1:]]


def test_every_baseline_is_on_the_page() -> None:
    text = (DOCS / "agents.md").read_text(encoding="utf-8")
    baselines = text.partition("\n## Baselines\n")[2].partition("\n## ")[0]
    assert re.findall(r"^\| `([a-z_]+)` \| ", baselines, re.MULTILINE) == list(AGENTS)
