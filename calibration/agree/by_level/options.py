"""The options of `agree --levels`."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from calibration.statistics.by_level import LEVELS, Level, Options

ALONE = {
    "table7": "--table7",
    "aggregate": "--aggregate",
    "more": "options that add blocks to a question's report",
    "verify": "--verify",
    "no_cluster": "--no-cluster (whole dialogues are drawn)",
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
        default="clustered",
        help="test by permuting systems or dialogues, or as if items were independent (clustered)",
    )
    group.add_argument(
        "--missing-turns",
        choices=("skip", "whole"),
        default="skip",
        help="leave out turns without a value, or the whole continuations of such turns (skip)",
    )
    group.add_argument(
        "--system-score",
        choices=("all_turns", "mean_of_dialogues"),
        default="all_turns",
        help="a system's score: the mean of all its turns, or of its dialogues' means (all_turns)",
    )
    group.add_argument(
        "--unit",
        choices=("continuation", "dialogue_system"),
        default="continuation",
        help="what has a dialogue's score; dialogue_system joins a system's continuations of a dialogue",
    )
    group.add_argument(
        "--shared-dialogues", action="store_true", help="only the dialogues that all systems answered"
    )
    group.add_argument(
        "--best-of",
        metavar="COLUMN",
        help="a column such as model: the best of each is underlined",
    )


def asked_of(options: Mapping[str, Any]) -> Asked:
    """Return what is asked. ValueError for an unknown level, and for options that go without --levels."""
    wanted = [level.strip() for level in options["levels"].split(",")]
    unknown = [level for level in wanted if level not in LEVELS]
    if unknown:
        raise ValueError(f"--levels: {unknown[0]!r} is not a level; there are {', '.join(LEVELS)}")
    for name, said in ALONE.items():
        if options[name]:
            raise ValueError(f"--levels does not go with {said}")
    chosen = Options(
        options["missing_turns"],
        options["system_score"],
        options["unit"],
        options["p"],
        options["shared_dialogues"],
    )
    levels = cast(tuple[Level, ...], tuple(level for level in LEVELS if level in wanted))
    return Asked(levels, options["reference_question"] or "", options["against"], options["best_of"], chosen)
