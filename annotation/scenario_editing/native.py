"""A scenario as the native format writes it: its script with its own fields, without what systems wrote."""

from __future__ import annotations

from typing import Any

from annotation import records
from annotation.importing.native import head_json, turn_json
from annotation.scenarios.stored import native_scenario


def native(dialogue: records.Dialogue) -> dict[str, Any]:
    """Return a scenario as a line of the native format, which an import reads as the same scenario."""
    known = {
        **head_json(dialogue),
        "turns": [turn_json(turn) for turn in dialogue.turns],
        **native_scenario(dialogue.scenario),
    }
    return {name: value for name, value in known.items() if value or name == "points"}
