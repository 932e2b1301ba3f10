"""The options of `agree`: how the file is read, what is computed, and the form of the answer."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path

from calibration.agree import extras, panels
from calibration.agree.by_level import options as level_options
from calibration.agree.more import MORE
from calibration.statistics.cocoeval import POLICIES
from calibration.statistics.core.types import SCALES

SCHEMES = ("clusters", "items", "systems", "crossed")


def add_to(parser: ArgumentParser) -> None:
    """Declare all options of the command."""
    _add_reading(parser)
    _add_intervals(parser)
    _add_more(parser)
    _add_output(parser)


def _add_reading(parser: ArgumentParser) -> None:
    parser.add_argument("ratings", type=Path, help="the ratings file")
    parser.add_argument(
        "--scale", choices=SCALES, help="measurement level of the values (needed without a column level)"
    )
    parser.add_argument("--values", help="the scale's values, comma-separated, lowest first: 1,2,3,4,5")
    parser.add_argument(
        "--missing",
        action="append",
        default=[],
        help="cells that mean no answer, comma-separated: NA,N/A,-",
    )
    parser.add_argument(
        "--rater-columns", metavar="NAMES", help="a wide file's columns of raters, comma-separated"
    )
    parser.add_argument(
        "--judges",
        metavar="NAMES",
        help="raters that are judges where the file has no column kind, comma-separated; the others are "
        "people (none: all are)",
    )
    parser.add_argument(
        "--fold-names",
        nargs="?",
        const="yes",
        choices=("yes", "no"),
        help="join names that differ in case or space alone; no keeps them apart (default: refused)",
    )
    parser.add_argument("--positive", default="1", help="the positive class of precision, recall and F1 (1)")
    parser.add_argument("--question", action="append", default=[], help="only this question (repeatable)")
    parser.add_argument("--against", help="only pairs with this rater, as the reference")
    parser.add_argument("--by", help="a column whose values are reported separately, such as system")
    parser.add_argument(
        "--samples", choices=("mean", "first", "separate"), help="what becomes of repeated answers"
    )
    parser.add_argument("--cluster", help="the column of clusters (cluster, where it exists)")
    parser.add_argument("--no-cluster", action="store_true", help="take every item as independent")


def _add_intervals(parser: ArgumentParser) -> None:
    parser.add_argument("--resamples", type=int, default=2000, help="bootstrap resamples (2000)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the resamples (0)")
    parser.add_argument("--level", type=float, default=0.95, help="level of the intervals (0.95)")
    parser.add_argument("--interval", choices=("percentile", "bca"), default="percentile")
    parser.add_argument("--resample", choices=SCHEMES, default="clusters", help="what is drawn (clusters)")


def _add_more(parser: ArgumentParser) -> None:
    parser.add_argument("--aggregate", choices=("continuation", "system"), help="compare means of these")
    parser.add_argument(
        "--epsilon", type=float, default=0.15, help="margin of the alternative annotator test"
    )
    parser.add_argument(
        "--table7",
        action="store_true",
        help="also read all binary questions as behaviours: each judge's marks against the people's",
    )
    parser.add_argument(
        "--policy",
        choices=POLICIES,
        default=next(iter(POLICIES)),
        help="what --table7 does with a person who never marks a behaviour",
    )
    for more in MORE:
        parser.add_argument(more.option, action="append_const", const=more, dest="more", help=more.help)
    extras.add_arguments(parser)
    panels.add_arguments(parser)
    parser.add_argument(
        "--verify",
        action="store_true",
        help="compute kappa and MCC of two raters by scikit-learn as well; a difference is an error",
    )
    level_options.add_to(parser)
    parser.add_argument(
        "--compare",
        action="store_true",
        help="also compare all pairs of judges and metrics against the same reference",
    )
    parser.add_argument("--key", help="the rater that is the answer key (those of kind key, where named)")


def _add_output(parser: ArgumentParser) -> None:
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help="print JSON for programs")
    output.add_argument("--html", action="store_true", help="print one self-contained page with charts")
    output.add_argument("--csv", action="store_true", help="print a flat CSV table")
    output.add_argument("--latex", action="store_true", help="print LaTeX tables (booktabs)")
