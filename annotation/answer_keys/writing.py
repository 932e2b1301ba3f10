"""What the key of a point says, as answers to the questions of the scheme `cascade`."""

from __future__ import annotations

from collections.abc import Mapping

from annotation import records
from annotation.scenarios.points import key_at, others_at, scenario_of
from annotation.scenarios.records import SetCondition
from annotation.schemes.cascade import ADDRESSED, ATTEND, GROUND, SPEAK, TARGET, written

SEVERAL = "several answers are right"

Told = tuple[float | str | None, str]
"""A value, or None with the reason."""


def expected(dialogue: records.Dialogue, point: int) -> dict[str, Told]:
    """Return what the key expects at a point, by question; what it does not ask is left out.

    Where it accepts several answers there is none to compare with, and the reason says so. Nothing is
    expected at a free point.
    """
    scenario = scenario_of(dialogue)
    key = key_at(scenario, point)
    if key.free:
        return {}
    found: dict[str, Told] = {ATTEND: (float(key.attend), ""), SPEAK: _only(key.speak)}
    author = dialogue.turns[point].speaker
    if key.addressed is not None:
        found[ADDRESSED] = _set(key.addressed, others_at(dialogue, point, author))
    if key.target is not None:
        found[TARGET] = _set(key.target, others_at(dialogue, point, scenario.agent))
    if key.ground is not None:
        found[GROUND] = _only(key.ground)
    return found


def _only(scores: Mapping[str, float]) -> Told:
    """Return the one answer that scores best among those accepted, or why there is none."""
    accepted = {name: score for name, score in scores.items() if score > 0}
    best = [name for name, score in accepted.items() if score == max(accepted.values())]
    return (best[0], "") if len(best) == 1 else (None, SEVERAL)


def _set(condition: SetCondition, everybody: frozenset[str]) -> Told:
    sets = condition.resolved(everybody)
    if condition.how == "is" or (condition.how == "any_of" and len(sets) == 1):
        return written(sets[0]), ""
    return None, SEVERAL
