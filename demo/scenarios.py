"""Scenario sets of the demo: from their written sources to native dialogues, and the part of each family.

`demo/sources/scenarios/` holds the public set, one readable YAML file per family, and
`demo/sources/scenarios_demo/` the short script that a visitor plays. `python -m demo.build` writes the
corpora.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

SOURCES = Path(__file__).parent / "sources"
SET = "scenarios"
"""Folder of the public set, and name of its corpus's file."""
SHORT = "scenarios_demo"
"""Folder of the visitors' script, and name of its corpus's file."""
PARTS = ("dev", "test")


@dataclass(frozen=True, slots=True)
class Family:
    """The scenarios of one script. `part` is dev or test, for the whole family."""

    id: str
    title: str
    setting: str
    part: str
    scenarios: tuple[Mapping[str, Any], ...]

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield its scenarios as native dialogues, with the family as cluster."""
        for scenario in self.scenarios:
            rest = {name: value for name, value in scenario.items() if name not in ("id", "metadata")}
            metadata = {**scenario["metadata"], "setting": self.setting, "family_title": self.title}
            head = {"id": scenario["id"], "cluster": self.id, "kind": "scenario", "language": "en"}
            yield {**head, "metadata": metadata, **rest}


def families(name: str = SET) -> tuple[Family, ...]:
    """Return the families of a set, in the order of their file names."""
    return tuple(_family(path) for path in sorted((SOURCES / name).glob("*.yaml")))


def lines(name: str = SET) -> str:
    """Return a set as a file in the native format, one scenario per line."""
    records = (record for family in families(name) for record in family.records())
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def parts(name: str = SET) -> dict[str, str]:
    """Return the part, dev or test, of each family's cluster."""
    return {family.id: family.part for family in families(name)}


def counts(name: str = SET) -> dict[str, Counter[str]]:
    """Return the number of probes of each kind in a set, under `probes` and `controls`."""
    counters: dict[str, Counter[str]] = {"probes": Counter(), "controls": Counter()}
    for family in families(name):
        for scenario in family.scenarios:
            for probe in scenario.get("probes", ()):
                counters["controls" if probe.get("control") else "probes"][probe["kind"]] += 1
    return counters


def _family(path: Path) -> Family:
    source = yaml.safe_load(path.read_text(encoding="utf-8"))
    return Family(
        id=source["family"],
        title=source["title"],
        setting=source["setting"],
        part=source["split"],
        scenarios=tuple(source["scenarios"]),
    )
