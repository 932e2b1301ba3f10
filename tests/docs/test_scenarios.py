"""The format described in docs/group_chat/scenarios.md matches the strict reader."""

from __future__ import annotations

import json
import re
from pathlib import Path

from annotation.formats.jsonl import dialogue
from annotation.scenario_records import DIMENSIONS, MOVES, OWN_FIELDS, PROBES
from suites.group_chat.native_fields import KEY, PARAMETER_NAMES
from tests.suites.group_chat.scripts import LAUNCH

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "group_chat" / "scenarios.md").read_text(
    encoding="utf-8"
)
EXAMPLES = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)]


def section(title: str) -> str:
    return PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def told(names: frozenset[str] | tuple[str, ...], title: str) -> list[str]:
    return [name for name in names if f"`{name}`" not in section(title)]


def test_the_example_is_the_scenario_that_is_tested_everywhere() -> None:
    assert EXAMPLES[0] == LAUNCH


def test_the_decisions_shown_are_read() -> None:
    record = dialogue(LAUNCH | {"continuations": EXAMPLES[1:]})
    assert [turn.at for turn in record.continuations[0].turns] == [1, 5]


def test_every_field_is_explained() -> None:
    assert told(OWN_FIELDS, "Fields of a scenario") == []
    assert told((*sorted(KEY), *MOVES, *DIMENSIONS), "Keys") == []
    assert told((*PROBES, *sorted(PARAMETER_NAMES)), "Probes") == []
