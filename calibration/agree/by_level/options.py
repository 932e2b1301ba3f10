"""The options of `agree --levels`."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from calibration.statistics.by_level.scored import LEVELS, Level
from calibration.statistics.by_level.types import Options

ALONE = {
    "table7": "--table7",
    "compare": "--compare",
    "key": "--key",
    "aggregate": "--aggregate",
    "more": "options that add blocks to a question's report",
    "verify": "--verify",
    "no_cluster": "--no-cluster (whole dialogues are drawn)",
    "resample": "--resample (dialogues or systems are drawn, as the level asks)",
    "epsilon": "--epsilon (there is no alternative annotator test)",
    "policy": "--policy",
    "baselines": "--baselines",
    "threshold": "--threshold",
    "scale_maps": "--scale-maps",
    "plan_width": "--plan-width",
    "plan_power": "--plan-power",
    "plan_statistic": "--plan-statistic",
}
"""What does not go with --levels, by the name of the option."""


@dataclass(frozen=True)
class Asked:
    """What is asked of a file: levels, the reference's question (empty for the only one) and the rest."""

    levels: tuple[Level, ...]
    reference_question: str
    against: str | None
    best_of: str | None
    options: Options


def add_to(parser: ArgumentParser) -> None:
    """Declare the options."""
    group = parser.add_argument_group("correlations by level, instead of the statistics of each question")
    group.add_argument(
        "--levels", help="comma-separated, of turn, dialogue and system: correlate scores with people's there"
    )
    group.add_argument(
        "--reference-question", help="the question people answered that all rows are compared with"
    )
    group.add_argument(
        "--p",
        choices=("clustered", "item"),
        help="test by exchanging systems and dialogues, or as if items were independent (clustered)",
    )
    group.add_argument(
        "--missing-turns",
        choices=("skip", "whole"),
        help="leave out turns without a value, or the whole continuations of such turns (skip)",
    )
    group.add_argument(
        "--system-score",
        choices=("all_turns", "mean_of_dialogues"),
        help="a system's score: the mean of all its turns, or of its dialogues' means (all_turns)",
    )
    group.add_argument(
        "--unit",
        choices=("continuation", "dialogue_system"),
        help="what has a dialogue's score (continuation); dialogue_system joins a system's continuations of "
        "a dialogue",
    )
    group.add_argument(
        "--shared-dialogues", action="store_true", help="only the dialogues that all systems answered"
    )
    group.add_argument(
        "--best-of",
        metavar="COLUMN",
        help="a column such as model: the best of each is underlined",
    )


def check(options: Mapping[str, Any]) -> None:
    """Raise ValueError for an option that was given and does nothing beside --levels."""
    for name, said in ALONE.items():
        if options[name] not in (None, False, []):
            raise ValueError(f"--levels does not go with {said}")


def asked_of(options: Mapping[str, Any]) -> Asked:
    """Return what is asked. ValueError for an unknown level."""
    wanted = [level.strip() for level in options["levels"].split(",")]
    unknown = [level for level in wanted if level not in LEVELS]
    if unknown:
        raise ValueError(f"--levels: {unknown[0]!r} is not a level; there are {', '.join(LEVELS)}")
    chosen = Options(
        options["missing_turns"] or "skip",
        options["system_score"] or "all_turns",
        options["unit"] or "continuation",
        options["p"] or "clustered",
        options["shared_dialogues"],
    )
    levels = cast(tuple[Level, ...], tuple(level for level in LEVELS if level in wanted))
    return Asked(levels, options["reference_question"] or "", options["against"], options["best_of"], chosen)
