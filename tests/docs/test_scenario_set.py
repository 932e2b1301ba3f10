"""What docs/scenario_set.md says of the scenario set is what its sources hold."""

from __future__ import annotations

from pathlib import Path

from annotation.scenarios.records import PROBES
from demo import scenarios

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "scenario_set.md").read_text(encoding="utf-8")


def test_the_families_are_those_of_the_sources() -> None:
    assert scenarios.families_table() in PAGE, f"the table should be:\n{scenarios.families_table()}"
    families = scenarios.families()
    count = sum(len(family.scenarios) for family in families)
    assert f"**{count} scenarios in {len(families)} families**" in PAGE
    assert f"\n* {len(families)} families are **few**" in PAGE


def test_the_counts_of_probes_are_those_of_the_sources() -> None:
    assert scenarios.probes_table() in PAGE, f"the table should be:\n{scenarios.probes_table()}"


def test_the_control_of_every_kind_is_explained() -> None:
    controls = PAGE.partition("A control differs by kind")[2]
    assert [kind for kind in PROBES if f"\n| `{kind}` |" not in controls] == []
