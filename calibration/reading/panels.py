"""Panels of judges in a definition: `{"name": "three judges", "rule": "median", "members": ["a", "b", "c"],
"least": 2}`. Without `members` all judges of a question are; without `least` more than half must answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from calibration.errors import DefinitionError
from calibration.statistics.panels import RULES, Rule

KEYS = {"name", "rule", "members", "least"}
MOST = 12


@dataclass(frozen=True, slots=True)
class PanelAsked:
    """A panel as a study asks for it: no `members` are all judges of a question, `least` 0 is over half."""

    name: str
    rule: Rule
    members: tuple[str, ...] = ()
    least: int = 0

    def as_dict(self) -> dict[str, Any]:
        """Return the panel as definitions write it."""
        return {"name": self.name, "rule": self.rule, "members": list(self.members), "least": self.least}


def parse(told: list[Any]) -> tuple[PanelAsked, ...]:
    """Read the panels of a definition. Raises DefinitionError with one clear line."""
    if len(told) > MOST:
        raise DefinitionError(f"a study has at most {MOST} panels, not {len(told)}")
    found = tuple(_panel(entry, number) for number, entry in enumerate(told, 1))
    names = [panel.name for panel in found]
    if twice := [name for name in names if names.count(name) > 1]:
        raise DefinitionError(f"two panels are called {twice[0]!r}")
    return found


def _panel(entry: Any, number: int) -> PanelAsked:
    where = f"panel {number}"
    if not isinstance(entry, Mapping) or set(entry) - KEYS:
        raise DefinitionError(f"{where}: a panel has {', '.join(sorted(KEYS))}, of which only rule is needed")
    rule, members, least = entry.get("rule"), entry.get("members") or [], entry.get("least") or 0
    if rule not in RULES:
        raise DefinitionError(f"{where}: rule is {', '.join(RULES)}, not {rule!r}")
    if not isinstance(members, list | tuple) or not all(isinstance(name, str) for name in members):
        raise DefinitionError(f"{where}: members is a list of judges' names")
    if len(set(members)) < len(members) or len(members) == 1:
        raise DefinitionError(f"{where}: name two members or more, each once, or none for all judges")
    if isinstance(least, bool) or not isinstance(least, int) or least < 0:
        raise DefinitionError(f"{where}: least, how many members must answer, is a whole number")
    if members and least > len(members):
        raise DefinitionError(f"{where}: least is {least}, but there are {len(members)} members")
    name = str(entry.get("name") or "").strip() or _name(rule, members)
    return PanelAsked(name[:180], cast(Rule, rule), tuple(members), least)


def _name(rule: str, members: Sequence[str]) -> str:
    return f"panel: {rule} of {', '.join(members) or 'all judges'}"
