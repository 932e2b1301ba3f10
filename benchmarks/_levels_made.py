"""Simulated studies shaped like ComperDial: systems answer the same dialogues, turn by turn.

A score is the sum of normal effects of the system, the dialogue, the system in the dialogue and the turn. The
effects of one kind on the two sides have the planted correlation. The reference is the mean of six people.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibration.statistics.level_scores import Frame, Scored, Scores, Units

TURNS, PEOPLE, DISAGREEMENT = 7, 6, 1.0
VARIANCES = {"system": 0.3, "dialogue": 0.1, "both": 0.1, "turn": 0.5}


@dataclass(frozen=True)
class Planted:
    """Planted correlation between the two sides for each kind of effect."""

    system: float = 0.9
    dialogue: float = 0.5
    both: float = 0.3
    turn: float = 0.3


NOTHING_ACROSS_SYSTEMS = Planted(system=0.0, dialogue=0.0, both=0.0, turn=0.0)
SOMETHING_ACROSS_SYSTEMS = Planted(system=0.4, dialogue=0.5, both=0.0, turn=0.0)


def study(seed: int, systems: int, dialogues: int, planted: Planted, rows: int = 1) -> Scored:
    """Return a study with people's turn scores and `rows` metrics, each as planted."""
    rng = np.random.default_rng([seed, systems, dialogues])
    n = systems * dialogues
    units = Units(
        np.tile(np.arange(dialogues), systems),
        np.tile(np.arange(dialogues), systems),
        np.repeat(np.arange(systems), dialogues),
        tuple(f"d{code}" for code in range(dialogues)),
        tuple(f"s{code}" for code in range(systems)),
    )
    turns = Frame("turn", np.repeat(np.arange(n), TURNS), np.tile(np.arange(TURNS), n))
    unit = turns.units
    places = {
        "system": units.systems[unit],
        "dialogue": units.dialogues[unit],
        "both": unit,
        "turn": np.arange(len(turns)),
    }
    people = np.zeros(len(turns))
    others = np.zeros((rows, len(turns)))
    for kind, place in places.items():
        shared = getattr(planted, kind)
        first = rng.normal(size=int(place.max()) + 1)
        people += np.sqrt(VARIANCES[kind]) * first[place]
        for row in range(rows):
            other = shared * first + np.sqrt(1 - shared**2) * rng.normal(size=len(first))
            others[row] += np.sqrt(VARIANCES[kind]) * other[place]
    people += rng.normal(scale=DISAGREEMENT / np.sqrt(PEOPLE), size=len(turns))
    metrics = tuple(Scores(f"metric {row}", "turn", others[row], "metric") for row in range(rows))
    return Scored(units, Scores("people", "turn", people), metrics, turns)


def true_correlations(planted: Planted, dialogues: int) -> dict[tuple[str, str], float]:
    """Return the model's true correlation by level and coefficient.

    Turn and dialogue level: over all possible systems and dialogues. System level: over all systems, each
    scored on `dialogues` dialogues. For normal scores with correlation r, rho is 6/pi asin(r/2) and tau 2/pi
    asin(r).
    """
    found = {}
    for level, parts in {
        "turn": {"system": 1.0, "dialogue": 1.0, "both": 1.0, "turn": 1.0},
        "dialogue": {"system": 1.0, "dialogue": 1.0, "both": 1.0, "turn": 1 / TURNS},
        "system": {"system": 1.0, "both": 1 / dialogues, "turn": 1 / (TURNS * dialogues)},
    }.items():
        both = sum(getattr(planted, kind) * VARIANCES[kind] * part for kind, part in parts.items())
        metric = sum(VARIANCES[kind] * part for kind, part in parts.items())
        r = both / np.sqrt(metric * (metric + parts["turn"] * DISAGREEMENT**2 / PEOPLE))
        found[level, "pearson"] = r
        found[level, "spearman"] = 6 / np.pi * np.arcsin(r / 2)
        found[level, "kendall_tau_b"] = 2 / np.pi * np.arcsin(r)
    return found
