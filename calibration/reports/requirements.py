"""Requirements that a report must meet, such as `kappa.low >= 0.6`: read, checked, written for a pipeline."""

from __future__ import annotations

import operator
import re
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from django.core.management.base import CommandError

from annotation.text.display import number
from calibration.errors import RequirementError
from calibration.reports.wording import join_names
from calibration.statistics.verdicts import TITLES

OPERATORS = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
}
ENDS = ("value", "low", "high")
VERDICT, ANSWERED = "verdict", "answered"
OF_VERDICTS = ("agreement", "people", "gap", "baseline")
"""Figures beside each verdict: of the judge with people, of people, of the difference, of the best guess."""
SYMBOLS = {"kappa": "cohen_kappa", "rho": "spearman"}
"""Short names of a judge's agreement with people, where it is this statistic, weighted or not."""
FORM = re.compile(
    r"(?P<subject>[a-z]\w*)(?:\.(?P<end>\w+))?\s*(?P<sign>>=|<=|==|!=|>|<)\s*(?P<value>[\w.+-]+)"
    r"(?:\s+of\s+(?P<rater>.+?))?(?:\s+on\s+(?P<question>.+))?",
    re.IGNORECASE,
)
MOST_NAMES = 8
EXAMPLES = "as in 'kappa.low >= 0.6', 'verdict == trust' or 'gap > -0.1 of my_judge on helpfulness'"


@dataclass(frozen=True, slots=True)
class Requirement:
    """A comparison of one figure, or of the verdict, for every judge and question or for those it names.

    `end` is value, low or high (the ends of the interval); `bound` a number, or a state for the verdict.
    """

    text: str
    subject: str
    end: str
    sign: str
    bound: float | str
    rater: str = ""
    question: str = ""

    def is_about(self, rater: str, *names: str) -> bool:
        """Whether it speaks of a rater and of a question, which has these names."""
        return self.rater in ("", rater) and (not self.question or self.question in names)


@dataclass(frozen=True, slots=True)
class Check:
    """A requirement held against one judge and question: a sentence says what it is instead, if broken."""

    requirement: Requirement
    about: str
    sentence: str = ""

    @property
    def line(self) -> str:
        """What is broken, and where."""
        return f"{self.sentence} ({self.about})" if self.about else self.sentence


def read(text: str) -> Requirement:
    """Return a requirement from its text. Raises RequirementError in one line."""
    match = FORM.fullmatch(text.strip())
    if match is None:
        raise RequirementError(
            f"{text!r} is no requirement: name a figure, a comparison and a value, {EXAMPLES}"
        )
    subject, end, sign, bound = match["subject"], match["end"], match["sign"], match["value"]
    narrowed = {"rater": match["rater"] or "", "question": match["question"] or ""}
    if subject == VERDICT:
        if end or sign not in ("==", "!=") or bound not in TITLES:
            raise RequirementError(f"{text!r}: verdict is compared by == or != with {', '.join(TITLES)}")
        return Requirement(text.strip(), subject, "", sign, bound, **narrowed)
    if end and (end not in ENDS or subject == ANSWERED):
        ends = "it has no interval" if subject == ANSWERED else f"a figure has {', '.join(ENDS)}"
        raise RequirementError(f"{text!r}: there is no {subject}.{end}; {ends}")
    try:
        value = float(bound)
    except ValueError:
        raise RequirementError(f"{text!r}: {bound} is not a number") from None
    return Requirement(text.strip(), subject, end or "value", sign, value, **narrowed)


def check(
    requirements: Sequence[Requirement],
    verdicts: Sequence[Mapping[str, Any]],
    statistics: Sequence[Mapping[str, Any]],
) -> list[Check]:
    """Return every requirement held against every judge and question that it speaks of.

    `verdicts` and `statistics` are those of a report's JSON. A requirement that nothing in the report can
    meet or break is broken. Raises RequirementError for a figure, judge or question that the report does not
    have.
    """
    checks: list[Check] = []
    for requirement in requirements:
        compared = list(_compared(requirement, verdicts, statistics))
        checks += compared or [Check(requirement, "", _absent(requirement, verdicts, statistics))]
    return checks


def broken(checks: Sequence[Check]) -> list[str]:
    """Return a line for each broken requirement, with every place where it is."""
    lines: dict[str, list[str]] = {}
    for check in checks:
        if check.sentence:
            lines.setdefault(check.requirement.text, []).append(check.line)
    return [f"{text}: {'; '.join(places)}" for text, places in lines.items()]


def junit(checks: Sequence[Check], name: str) -> str:
    """Return the checks as JUnit XML, which build servers show as tests."""
    failures = sum(1 for check in checks if check.sentence)
    suite = ElementTree.Element(
        "testsuite", name=_printable(name), tests=str(len(checks)), failures=str(failures)
    )
    for check_ in checks:
        case = ElementTree.SubElement(
            suite, "testcase", classname=_printable(name), name=_printable(_title(check_))
        )
        if check_.sentence:
            ElementTree.SubElement(case, "failure", message=_printable(check_.line))
    ElementTree.indent(suite)
    text: str = ElementTree.tostring(suite, encoding="unicode", xml_declaration=True)
    return f"{text}\n"


def _title(check: Check) -> str:
    return f"{check.requirement.text} ({check.about})" if check.about else check.requirement.text


def _printable(text: str) -> str:
    """Return a text without the characters that XML cannot hold."""
    return "".join(c if c.isprintable() else "\ufffd" for c in text)


def _compared(
    requirement: Requirement,
    verdicts: Sequence[Mapping[str, Any]],
    statistics: Sequence[Mapping[str, Any]],
) -> Iterator[Check]:
    """Yield a requirement held against the verdicts, or against the figures that have its name."""
    for verdict in verdicts:
        rater, question = verdict["rater"], str(verdict.get("title") or verdict["question"])
        if not requirement.is_about(rater, question, str(verdict["question"])):
            continue
        about = f"{rater} on {question}" if question else rater
        if requirement.subject == VERDICT:
            state = verdict["state"]
            is_met = OPERATORS[requirement.sign](state, requirement.bound)
            sentence = "" if is_met else f"the verdict is {state}: {verdict['sentence']}"
            yield Check(requirement, about, sentence)
        elif requirement.subject == ANSWERED:
            share = verdict["n_answered"] / verdict["n_items"] if verdict["n_items"] else None
            yield _check_value(requirement, about, share, "people rated no item")
        elif requirement.subject in OF_VERDICTS:
            yield _check_figure(requirement, about, verdict.get(requirement.subject))
        elif (symbol := SYMBOLS.get(requirement.subject)) and _statistic_of(verdict).startswith(symbol):
            yield _check_figure(requirement, about, verdict["agreement"])
    if requirement.subject not in (VERDICT, ANSWERED, *OF_VERDICTS, *SYMBOLS):
        judges = {verdict["rater"] for verdict in verdicts}
        for entry in _figures_called(requirement.subject, statistics, judges):
            raters, question = entry["raters"], str(entry.get("question") or "")
            if requirement.rater and requirement.rater not in raters:
                continue
            if requirement.question and requirement.question != question:
                continue
            about = raters[0] if entry["name"].startswith("judge_") else join_names(list(raters))
            yield _check_figure(requirement, f"{about} on {question}" if question else about, entry)


def _statistic_of(verdict: Mapping[str, Any]) -> str:
    """Return the name of the statistic of a verdict's agreement with people."""
    name = str((verdict["agreement"] or {}).get("name", ""))
    return name.removeprefix("judge_").removeprefix("mean_")


def _figures_called(
    name: str, statistics: Sequence[Mapping[str, Any]], judges: set[str]
) -> list[Mapping[str, Any]]:
    """Return the figures of a name: of judges with all people, else with each, else of people alone."""
    for key in (f"judge_{name}", f"judge_mean_{name}"):
        if pooled := [entry for entry in statistics if entry["name"] == key]:
            return pooled
    exact = [entry for entry in statistics if entry["name"] == name]
    for n_judges in (1, 0):
        if entries := [entry for entry in exact if len(judges.intersection(entry["raters"])) == n_judges]:
            return entries
    return exact


def _check_figure(requirement: Requirement, about: str, figure: Mapping[str, Any] | None) -> Check:
    figure = figure or {"reason": "there is no such figure"}
    reason = figure.get("reason") or "it has no interval"
    return _check_value(requirement, about, figure.get(requirement.end), reason)


def _check_value(requirement: Requirement, about: str, value: float | None, reason: str) -> Check:
    if value is None:
        return Check(requirement, about, f"not defined: {reason}")
    is_met = OPERATORS[requirement.sign](value, requirement.bound)
    return Check(requirement, about, "" if is_met else f"it is {number(value, 3)}")


def _absent(
    requirement: Requirement,
    verdicts: Sequence[Mapping[str, Any]],
    statistics: Sequence[Mapping[str, Any]],
) -> str:
    """Say why nothing was held against a requirement. Raises RequirementError for a name that is unknown."""
    raters = {verdict["rater"] for verdict in verdicts} | {
        rater for entry in statistics for rater in entry["raters"]
    }
    questions = {str(row.get("question") or "") for row in (*verdicts, *statistics)}
    questions |= {str(verdict.get("title") or "") for verdict in verdicts}
    figures = {entry["name"] for entry in statistics} | {VERDICT, ANSWERED, *OF_VERDICTS, *SYMBOLS}
    figures |= {name.removeprefix("judge_").removeprefix("mean_") for name in figures}
    for kind, name, names in (
        ("judge", requirement.rater, raters),
        ("question", requirement.question, questions),
        ("figure", requirement.subject, figures),
    ):
        if name and name not in names:
            near = get_close_matches(name, names, n=MOST_NAMES, cutoff=0.5) or sorted(filter(None, names))
            names_text = join_names(near[:MOST_NAMES], MOST_NAMES) or "none"
            raise RequirementError(
                f"{requirement.text!r}: the report has no {kind} {name!r}; it has {names_text}"
                f"{f', and {len(names) - MOST_NAMES:,} others' if len(names) > MOST_NAMES else ''}"
            )
    return "the report compares no judge with people in this way"


# Command options that hold a report against


def add_arguments(parser: ArgumentParser) -> None:
    """Add --require and --junit."""
    parser.add_argument(
        "--require",
        action="append",
        metavar="REQUIREMENT",
        help=f"exit with status 1 and a line if the report does not meet this, {EXAMPLES}; may be "
        "repeated, and holds for every judge and question unless it names one",
    )
    parser.add_argument(
        "--junit", metavar="PATH", type=Path, help="write the outcome of --require as JUnit XML into a file"
    )


def requested(options: Mapping[str, Any]) -> list[Requirement]:
    """Return the requirements of a command line. Raises CommandError for one that cannot be read."""
    if options["junit"] and not options["require"]:
        raise CommandError("--junit goes with --require: it is the outcome of these requirements")
    try:
        return [read(text) for text in options["require"] or ()]
    except RequirementError as error:
        raise CommandError(f"--require: {error}") from None


def require(
    options: Mapping[str, Any],
    required: Sequence[Requirement],
    *,
    verdicts: Sequence[Mapping[str, Any]],
    statistics: Sequence[Mapping[str, Any]],
    name: str,
) -> None:
    """Hold a report against requirements, and write --junit. Raises CommandError if one is broken."""
    if not required:
        return
    try:
        checks = check(required, verdicts, statistics)
    except RequirementError as error:
        raise CommandError(f"--require: {error}") from None
    if options["junit"]:
        try:
            options["junit"].write_text(junit(checks, name), encoding="utf-8")
        except OSError as error:
            raise CommandError(f"{options['junit']}: {error.strerror}") from None
    if lines := broken(checks):
        raise CommandError("\n".join(f"Not met: {line}" for line in lines))
