"""The description of the scenario set in docs/group_chat/scenarios.md matches its sources."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from annotation.scenario_records import PROBES
from demo import scenarios
from demo.scenarios import PARTS

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "group_chat" / "scenarios.md").read_text(
    encoding="utf-8"
)


def families_table() -> str:
    """Return a table in Markdown of the families of a set: one row each, with what its scenarios probe."""
    rows = ["| family | setting | part | scenarios | what it probes |", "|---|---|---|---|---|"]
    for family in scenarios.families():
        kinds = dict.fromkeys(probe["kind"] for one in family.scenarios for probe in one.get("probes", ()))
        told = ", ".join(f"`{kind}`" for kind in sorted(kinds))
        head = f"**{family.id}**: {family.title}"
        rows.append(f"| {head} | {family.setting} | {family.part} | {len(family.scenarios)} | {told} |")
    return "\n".join(rows) + "\n"


def probes_table() -> str:
    """Return a table in Markdown of how many probes and controls of each kind a set has, by part."""
    counted: dict[str, Counter[str]] = {}
    for family in scenarios.families():
        for one in family.scenarios:
            for probe in one.get("probes", ()):
                what = "controls" if probe.get("control") else "probes"
                counted.setdefault(probe["kind"], Counter())[f"{what} {family.part}"] += 1
    columns = [f"{what} {part}" for what in ("probes", "controls") for part in PARTS]
    rows = [f"| kind | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    for kind, found in sorted(counted.items()):
        rows.append(f"| `{kind}` | {' | '.join(str(found[column]) for column in columns)} |")
    total = [sum(found[column] for found in counted.values()) for column in columns]
    return "\n".join([*rows, f"| all | {' | '.join(map(str, total))} |"]) + "\n"


def test_the_families_are_those_of_the_sources() -> None:
    assert families_table() in PAGE, f"the table should be:\n{families_table()}"
    families = scenarios.families()
    count = sum(len(family.scenarios) for family in families)
    assert f"**{count} scenarios in {len(families)} families**" in PAGE
    assert f"\n* {len(families)} families are **few**" in PAGE


def test_the_counts_of_probes_are_those_of_the_sources() -> None:
    assert probes_table() in PAGE, f"the table should be:\n{probes_table()}"


def test_the_control_of_every_kind_is_explained() -> None:
    controls = PAGE.partition("A control differs by kind")[2]
    assert [kind for kind in PROBES if f"\n| `{kind}` |" not in controls] == []
