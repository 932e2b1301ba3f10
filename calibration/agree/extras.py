"""What `agree` computes beside its statistics where it is asked to: scores in people's terms, and plans."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from calibration.agree import plans, scores
from calibration.agree.report import Section
from calibration.plans.answer import PlanAnswer
from calibration.plans.query import PLANNED
from calibration.statistics import Plan
from calibration.statistics.scores import ScoreAnalysis


@dataclass
class Extras:
    """What was asked for, per question: scores and plans, as sections of the report and as plain values."""

    sections: list[Section] = field(default_factory=list)
    scored: list[tuple[str, ScoreAnalysis]] = field(default_factory=list)
    planned: list[PlanAnswer] = field(default_factory=list)
    asked: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the lists asked for: `thresholds`, `probabilities`, `scale_maps`, `plans`."""
        found: dict[str, list[Any]] = {name: [] for name in self.asked}
        for title, analysis in self.scored:
            for name, members in scores.as_json(analysis, title).items():
                if name in found:
                    found[name] += members
        if "plans" in found:
            found["plans"] = [answer.as_dict() for answer in self.planned]
        return found

    def entries(self) -> Iterator[Mapping[str, Any]]:
        """Yield the figures of scores for the flat table; a plan is no figure, and has a JSON."""
        for title, found in self.scored:
            for one in scores.readings(found):
                yield from (entry.as_dict() for entry in scores.entries(one, title))


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--threshold",
        action="store_true",
        help="also learn of binary questions the threshold of each metric's score, and read it as a "
        "probability, cross-fitted by cluster",
    )
    parser.add_argument(
        "--scale-maps",
        action="store_true",
        help="also map each metric's score to people's scale, with its error, cross-fitted by cluster",
    )
    parser.add_argument(
        "--plan-width",
        type=float,
        metavar="W",
        help="also say how many clusters make the interval (high less low) this narrow",
    )
    parser.add_argument(
        "--plan-statistic", choices=PLANNED, metavar="KEY", help="of this statistic (the level's own)"
    )
    parser.add_argument(
        "--plan-power",
        type=float,
        metavar="P",
        help="also say how many clusters let each judge pass the alternative annotator test, with this power",
    )


def computed(sections: Sequence[Section], plan: Plan, options: dict[str, Any]) -> Extras:
    """Compute what the options ask for. Raises ValueError where no question has what it takes."""
    if options["plan_statistic"] and options["plan_width"] is None:
        raise ValueError("--plan-statistic goes with --plan-width")
    asked = (
        *(("thresholds", "probabilities") if options["threshold"] else ()),
        *(("scale_maps",) if options["scale_maps"] else ()),
        *(("plans",) if options["plan_width"] is not None or options["plan_power"] is not None else ()),
    )
    out = Extras(asked=asked)
    for section in sections:
        _scores(section, plan, options, out)
        for answer in plans.computed(section.title, section.ratings, plan, options):
            out.planned.append(answer)
            out.sections.append(plans.section(answer, section.ratings))
    _check(out, options)
    if (options["threshold"] or options["scale_maps"]) and not out.scored:
        needs = "binary questions" if not options["scale_maps"] else "questions"
        raise ValueError(
            f"--threshold and --scale-maps read scores of metrics beside people: {needs} whose column kind "
            "says metric of one rater and human of another"
        )
    return out


def _check(out: Extras, options: dict[str, Any]) -> None:
    """Raise ValueError for a plan or a reading of scores that was asked for and that no question has."""
    goals = {answer.goal for answer in out.planned}
    if options["plan_width"] is not None and "width" not in goals:
        raise ValueError("--plan-width needs two people, or a judge or metric beside people (column kind)")
    if options["plan_power"] is not None and "power" not in goals:
        raise ValueError("--plan-power needs a judge: the column kind, or --judges, says who is one")
    maps = any(found.mapped for _, found in out.scored)
    if options["scale_maps"] and out.scored and not maps:
        raise ValueError("--scale-maps needs a question on an ordered scale with a metric beside people")
    if options["threshold"] and out.scored and not any(found.marks for _, found in out.scored):
        raise ValueError("--threshold needs a binary question with a metric beside people")


def _scores(section: Section, plan: Plan, options: dict[str, Any], out: Extras) -> None:
    if not (options["threshold"] or options["scale_maps"]):
        return
    found = scores.computed(section.ratings, plan, threshold=options["threshold"], maps=options["scale_maps"])
    if found:
        out.scored.append((section.title, found))
        out.sections.append(scores.section(section.title, section.ratings, found))
