"""The options of `agree`: reading of the file, statistics, and output format."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from calibration.agree import extras, judges, levels
from calibration.agree.report import Block, Section, raters_of, title_of
from calibration.reports import requirements
from calibration.statistics import STATISTICS, Analysis, Plan, Ratings
from calibration.statistics.analysis import Entry, f_intervals
from calibration.statistics.cocoeval import POLICIES
from calibration.statistics.core.ratings import SCALES
from calibration.statistics.corrected_shares import corrected_shares
from calibration.statistics.unanswered import bounds_of

# Optional blocks of `agree`: an option, and the blocks it adds to each question.


@dataclass(frozen=True, slots=True)
class More:
    """An option of `agree`, its help text, and the blocks that it adds to a question's report.

    `without` is the reason shown for a file in which no question has any of these blocks.
    `repeats` adds the blocks on repeated answers, given also the ratings with each sample as a rater.
    """

    option: str
    help: str
    without: str
    blocks: Callable[[Ratings, Analysis, Plan], Sequence[Block]]
    repeats: Callable[[Ratings, Ratings, Plan], Sequence[Block]] | None = None


def _with_f_intervals(ratings: Ratings, analysis: Analysis, plan: Plan) -> list[Block]:
    note = "F intervals assume independent, normal items: for turns of one dialogue they are too narrow."
    by_raters: dict[tuple[str, ...], list[Entry]] = {}
    for entry in f_intervals(ratings, analysis.panel, plan.level):
        by_raters.setdefault(entry.raters, []).append(entry)
    return [Block(f"With F intervals: {raters_of(g[0])}", tuple(g), note=note) for g in by_raters.values()]


def _corrected(ratings: Ratings, analysis: Analysis, plan: Plan) -> list[Block]:
    blocks = []
    for share in corrected_shares(ratings, plan):
        raters = (share.judge, *share.people)
        note = (
            f"People answered {share.n_labelled:,} of the items, {share.judge} these and "
            f"{share.n_unlabelled:,} more. "
            "The prediction-powered share is unbiased even with a bad judge, if people answered a random "
            "sample."
        )
        entries = tuple(Entry(result, raters) for result in share.figures.values())
        blocks.append(Block(f"How often it occurs, by {share.judge} and corrected", entries, note=note))
    return [*blocks, *extras.system_blocks(ratings, plan)]


def _bounds(ratings: Ratings, analysis: Analysis, plan: Plan) -> list[Block]:
    people = tuple(ratings.raters[j] for j in ratings.of_kind("human"))
    keys = list(
        dict.fromkeys(entry.result.name for entry in analysis.pairs if entry.result.name in STATISTICS)
    )
    ends = (ratings.scale[0], ratings.scale[-1]) if ratings.scale and not ratings.names else None
    blocks = []
    for column, kind in enumerate(ratings.kinds):
        own = ends if ratings.on_scale[column] or kind == "judge" else None
        bounds = (
            bounds_of(ratings, column, statistics=keys, ends=own) if kind in ("judge", "metric") else None
        )
        if bounds is not None and bounds.figures:
            without = "; ".join(
                f"No bounds for {title_of(key)}: {reason}" for key, reason in bounds.unbounded
            )
            note = (
                f"{bounds.rater} left {bounds.n_unanswered:,} of {bounds.n_asked:,} items unanswered. Low "
                "and high are what each figure could be if they had been answered, whatever the answers: "
                f"bounds, not a confidence interval.{f' {without}.' if without else ''}"
            )
            entries = tuple(Entry(result, (bounds.rater, *people)) for result in bounds.figures)
            blocks.append(Block(f"Bounds over the unanswered items of {bounds.rater}", entries, note=note))
    return blocks


MORE = (
    More(
        "--bounds",
        "also how far the items that a judge or metric left unanswered could move its figures with people; "
        "the column kind says who is a judge, a metric, human",
        "no judge or metric left an item unanswered that it was asked about, or nobody is named as one "
        "(column kind, or --judges)",
        _bounds,
    ),
    More(
        "--icc-f",
        "also intraclass correlations with F intervals, for few complete, independent items",
        "no intraclass correlation was computed, which needs numbers and two raters of the same items",
        _with_f_intervals,
    ),
    More(
        "--prevalence",
        "also how often a binary question is answered yes, corrected for a judge's errors where it answered "
        "more items than people did; with a column system also each system's share or mean",
        "no question is binary with a judge that answered more items than people did, none has a column "
        "system beside one, or nobody is named as the judge and as people (column kind, or --judges)",
        _corrected,
    ),
    More(
        "--each-rater",
        "also each rater beside the rest: severity, spread, agreement, and how alike it answers again",
        "nobody has a row, as no rater is identified",
        extras.raters,
        extras.repeats,
    ),
)


SCHEMES = ("clusters", "items", "systems", "crossed")


DEFAULTS = {"positive": "1", "epsilon": 0.15, "policy": next(iter(POLICIES)), "resample": "clusters"}
"""Defaults of options, kept separately so that an explicitly given option without effect can be reported."""
GOES_WITH = {
    "policy": ("table7", "--policy goes with --table7"),
    "least": ("panel", "--least goes with --panel"),
    "reference_question": ("levels", "--reference-question goes with --levels turn,dialogue,system"),
    **{
        name: ("levels", f"--{name.replace('_', '-')} goes with --levels")
        for name in ("p", "missing_turns", "system_score", "unit", "shared_dialogues", "best_of")
    },
}
"""Options that have no effect without another option: its name, and the error message."""


def with_defaults(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options with defaults filled in, and `given`: the options with a default that were given.

    Raises ValueError for an option that has no effect with the others.
    """
    for name, (other, message) in GOES_WITH.items():
        if options[name] not in (None, False) and not options[other]:
            raise ValueError(message)
    if options["require"] and (options["levels"] or options["describe"]):
        raise ValueError(
            "--require holds a report against requirements: it does not go with --levels or --describe"
        )
    set_options = frozenset(name for name in DEFAULTS if options[name] is not None)
    if options["levels"]:
        levels.check(options)
    planned = options["plan_width"] is not None or options["plan_power"] is not None
    if options["csv"] and planned:
        raise ValueError("--csv holds figures, and a plan is none: print it as text, --html or --json")
    return (
        options
        | {name: DEFAULTS[name] for name in DEFAULTS if name not in set_options}
        | {"given": set_options}
    )


BESIDE_TABLE_7 = (
    *("more", "threshold", "scale_maps", "plan_width", "plan_power", "compare", "baselines"),
    *("panel", "key", "verify"),
)
"""Options that print sections beside table 7."""


def is_table_7_alone(options: dict[str, Any]) -> bool:
    """Whether only table 7 is printed: `--table7` without an option that asks for another section."""
    others = "epsilon" in options["given"] or any(
        options[name] not in (None, False, []) for name in BESIDE_TABLE_7
    )
    return bool(options["table7"]) and not others


def without_effect(
    options: dict[str, Any], sections: Sequence[Section], idle: Sequence[More], *, repeated: bool
) -> list[str]:
    """Return a sentence, with the reason, for each given option that had no effect."""
    set_options, notes = options["given"], [f"{more.option}: {more.without}." for more in idle]
    if "positive" in set_options and all(s.ratings.level != "binary" for s in sections):
        notes.append("--positive: no question is binary, so there is no positive class.")
    tested = any(s.analysis.replacement for s in sections) or options["plan_power"] is not None
    if "epsilon" in set_options and not tested:
        notes.append(
            "--epsilon: there was no alternative annotator test, which needs a judge and two people."
        )
    if options["samples"] and not repeated:
        notes.append("--samples: no rater answered an item more than once.")
    if options["baselines"] and not any(e.result.name.startswith("baseline_") for e in _entries(sections)):
        notes.append("--baselines: they stand beside judges and people, and no question has both.")
    return notes


def _entries(sections: Sequence[Section]) -> Iterator[Entry]:
    return (entry for section in sections for block in section.blocks for entry in block.entries)


def add_to(parser: ArgumentParser) -> None:
    """Add all options of the command to the parser."""
    _add_reading(parser)
    _add_intervals(parser)
    _add_more(parser)
    _add_output(parser)


def _add_reading(parser: ArgumentParser) -> None:
    parser.add_argument(
        "ratings", type=Path, nargs="+", help="the table: a file, or several (or a folder) with one a rater"
    )
    parser.add_argument(
        "--describe", action="store_true", help="only describe the columns and what the file can be read as"
    )
    parser.add_argument(
        "--item",
        metavar="COLUMN",
        help="the column of the rated items; several, comma-separated, are joined",
    )
    parser.add_argument(
        "--raters",
        metavar="NAMES",
        help="only these raters, comma-separated; or the columns with their answers",
    )
    parser.add_argument("--questions", metavar="NAMES", help="only these questions, comma-separated")
    parser.add_argument(
        "--map",
        action="append",
        default=[],
        metavar="ROLE=COLUMN",
        help="what a column is, like item=id, label:Helpful@ann=ann_helpful or judge@gpt=gpt (repeatable)",
    )
    parser.add_argument("--map-file", type=Path, help="the same as a YAML file")
    parser.add_argument("--sheet", default="", help="the sheet of a workbook")
    parser.add_argument("--encoding", default="", help="the encoding of a text file")
    parser.add_argument(
        "--scale", choices=SCALES, help="measurement level of the values (default: guessed from them)"
    )
    parser.add_argument("--values", help="the scale's values, comma-separated, lowest first: 1,2,3,4,5")
    parser.add_argument(
        "--missing",
        action="append",
        default=[],
        help="cells that mean no answer, comma-separated: NA,N/A,-",
    )
    parser.add_argument(
        "--judges",
        metavar="NAMES",
        help="raters, or columns, that are judges, comma-separated; the others are people (none: all are)",
    )
    parser.add_argument(
        "--fold-names",
        nargs="?",
        const="yes",
        choices=("yes", "no"),
        help="join names that differ in case or space alone; no keeps them apart (default: refused)",
    )
    parser.add_argument("--positive", help="the positive class of precision, recall and F1 (1)")
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
    parser.add_argument("--resample", choices=SCHEMES, help="what is drawn (clusters)")


def _add_more(parser: ArgumentParser) -> None:
    parser.add_argument("--aggregate", choices=("continuation", "system"), help="compare means of these")
    parser.add_argument("--epsilon", type=float, help="margin of the alternative annotator test (0.15)")
    parser.add_argument(
        "--table7",
        action="store_true",
        help="read all binary questions as behaviours and print each judge's marks against the people's, "
        "first and alone unless another option asks for a further section",
    )
    parser.add_argument(
        "--policy",
        choices=POLICIES,
        help="what --table7 does with a person who never marks a behaviour",
    )
    for more in MORE:
        parser.add_argument(more.option, action="append_const", const=more, dest="more", help=more.help)
    extras.add_arguments(parser)
    judges.add_arguments(parser)
    parser.add_argument(
        "--verify",
        action="store_true",
        help="compute kappa and MCC of two raters by scikit-learn as well; a difference is an error",
    )
    levels.add_to(parser)
    parser.add_argument(
        "--compare",
        action="store_true",
        help="also compare all pairs of judges and metrics against the same reference",
    )
    parser.add_argument("--key", help="the rater that is the answer key (those of kind key, where named)")


def _add_output(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--full",
        action="store_true",
        help="print every figure, and compare all pairs of raters, also of a crowd",
    )
    requirements.add_arguments(parser)
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help="print JSON for programs")
    output.add_argument("--html", action="store_true", help="print one self-contained page with charts")
    output.add_argument("--csv", action="store_true", help="print a flat CSV table")
    output.add_argument("--latex", action="store_true", help="print LaTeX tables (booktabs)")
