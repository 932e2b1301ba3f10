"""The sentences of `agree` hold: their numbers are its figures, their claims follow by rule."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from calibration.statistics.verdicts import TITLES as STATES
from tests.calibration.report_shapes import FIGURES

pytestmark = pytest.mark.shared

TITLES = {
    "Krippendorff's alpha": "krippendorff_alpha",
    "Cohen's kappa": "cohen_kappa",
    "Cohen's kappa, quadratic weights": "cohen_kappa_quadratic",
    "Spearman's rho": "spearman",
}
STRENGTHS = {"strongly": (0.7, 1.0), "moderately": (0.4, 0.7), "weakly": (0.0, 0.4)}
VALUE = r"(−?[\d.]+) \((?:(−?[\d.]+) to (−?[\d.]+)|no interval[^)]*)\)"
BESIDE = r"(−?[\d.]+ \([^)]+\))"
PLAIN = r"(−?[\d.]+(?: \([^)]+\))?)"
OVER = r", over ([\d,]+) items in ([\d,]+) clusters"
TITLE = rf"({'|'.join(sorted(TITLES, key=len, reverse=True))})"

Statistic = Mapping[str, Any]


class Told:
    """The answers of `agree` to a file, and the figures that they speak of."""

    def __init__(self, path: Path, level: str) -> None:
        printed = [_agree(path, level, *form) for form in ((), ("--json",))]
        stored = json.loads(printed[1])
        question = stored["statistics"][-1]["question"]
        self.statistics = [s for s in stored["statistics"] if s["question"] == question]
        self.verdicts = {v["rater"]: v for v in stored["stand_in"] if v.get("question", question) == question}
        section = printed[0][printed[0].rindex("\n====") :].partition("\n\n")[2]
        self.verdict_lines = ""
        if section.startswith("Verdicts\n"):
            lines, _, section = section.partition("\n\n")
            self.verdict_lines = " ".join(lines.split())
        self.printed_verdicts = [v for v in stored["verdicts"] if v["question"] == question]
        self.answers = " ".join(section.partition("\n\n")[0].split())
        with path.open() as file:
            rows = [row for row in csv.DictReader(file) if row["question"] == question]
        self.rows = rows

    def figure(self, name: str, *raters: str) -> Statistic:
        """Return the figure of a name that begins with the raters."""
        return next(
            s for s in self.statistics if s["name"] == name and s["raters"][: len(raters)] == [*raters]
        )


def _agree(path: Path, level: str, *options: str) -> str:
    out = io.StringIO()
    call_command("agree", str(path), "--scale", level, "--resamples", "200", "--full", *options, stdout=out)
    return out.getvalue()


def _float(text: str) -> float:
    return float(text.replace("−", "-").replace(",", ""))


def _is(figure: Statistic, value: str, low: str | None = None, high: str | None = None) -> None:
    """Hold a printed value and interval against a figure."""
    assert figure["value"] == pytest.approx(_float(value), abs=5.1e-4)
    if low is None or high is None:
        return
    assert (figure["low"], figure["high"]) == pytest.approx((_float(low), _float(high)), abs=5.1e-4)


def _people_agree(told: Told, found: Sequence[str]) -> None:
    title, n, value, low, high, items, clusters, same = found
    people = {row["rater"] for row in told.rows if row["kind"] == "human" and row["value"]}
    assert int(n) == len(people)
    figure = next(s for s in told.statistics if s["name"] == TITLES[title] and set(s["raters"]) == people)
    _is(figure, value, low, high)
    assert (figure["n_items"], figure["n_clusters"]) == (_float(items), _float(clusters))
    if same:
        found_same = re.search(VALUE, same)
        assert found_same
        agreement = next(
            s for s in told.statistics if s["name"] == "percent_agreement" and set(s["raters"]) == people
        )
        _is(agreement, *found_same.groups())


def _beside_people(told: Told, found: Sequence[str]) -> None:
    title, judge, own, others, difference, verdict = found
    key = TITLES[title]
    for side, text in (("judge", own), ("people", others), ("gap", difference)):
        value = re.match(r"(−?[\d.]+)(?: \((?:(\S+) to (\S+)|no interval[^)]*)\))?", text)
        assert value
        _is(told.figure(f"{side}_{key}", judge), *value.groups())
    gap, margin = told.figure(f"gap_{key}", judge), told.figure(f"margin_{key}", judge)
    if gap["low"] is None:
        assert not verdict
    elif gap["low"] <= 0 <= gap["high"]:
        assert "does not show" in verdict
    else:
        assert f"agrees with people {'more' if gap['value'] > 0 else 'less'} than" in verdict
        beyond = margin["value"] is not None and abs(gap["value"]) > margin["value"]
        assert ("would hardly differ as much" in verdict) == beyond
        assert ("too few to tell" in verdict) != beyond


def _follows(told: Told, found: Sequence[str]) -> None:
    rater, way, strength, value, low, high, items, clusters = found
    people = {row["rater"] for row in told.rows if row["kind"] == "human"}
    first = "mean(kind:human)" if len(people) > 1 else people.pop()
    figure = next(
        s for s in told.statistics if s["name"] == "spearman" and {first, rater} == set(s["raters"])
    )
    _is(figure, value, low, high)
    assert (figure["n_items"], figure["n_clusters"]) == (_float(items), _float(clusters))
    least, most = STRENGTHS[strength]
    assert least <= abs(figure["value"]) <= most
    assert figure["value"] * {"rises": 1, "falls": -1}[way] > 0
    assert figure["low"] * figure["high"] > 0


def _with_one_person(told: Told, found: Sequence[str]) -> None:
    title, rater, person, value, low, high, items, clusters = found
    assert {row["rater"] for row in told.rows if row["kind"] == "human"} == {person}
    names = {rater, person}
    figure = next(s for s in told.statistics if s["name"] == TITLES[title] and set(s["raters"]) == names)
    _is(figure, value, low, high)
    assert (figure["n_items"], figure["n_clusters"]) == (_float(items), _float(clusters))


def _answered(told: Told, found: Sequence[str]) -> None:
    rater, n, of, share = found
    people = {row["item"] for row in told.rows if row["kind"] == "human" and row["value"]}
    own = {row["item"] for row in told.rows if row["rater"] == rater and row["value"]} & people
    assert (_float(n), _float(of), int(share)) == (len(own), len(people), round(100 * len(own) / len(people)))
    assert len(own) < 0.95 * len(people)


def _tested(told: Told, found: Sequence[str]) -> None:
    rater, outcome, why, rate, advantage = found
    verdict, passed = told.verdicts[rater], outcome.startswith("passes")
    assert verdict["state"] == ("passed" if passed else "not_passed")
    figure = told.figure("alt_test_winning_rate", rater)
    for text, name in ((rate, "alt_test_winning_rate"), (advantage, "alt_test_advantage")):
        value = re.fullmatch(VALUE, text)
        assert value
        _is(told.figure(name, rater), *value.groups())
    if replaced := re.search(r"it can replace (\d+) of (\d+) people", why):
        won, of = int(replaced[1]), int(replaced[2])
        assert figure["value"] == pytest.approx(won / of)
        assert (won / of >= 0.5) == passed
    assert passed or why == "; ".join(verdict["reasons"])


def _not_tested(told: Told, found: Sequence[str]) -> None:
    rater, why = found
    verdict = told.verdicts[rater]
    assert (verdict["state"], "; ".join(verdict["reasons"])) == ("cannot_say", why)
    people = {row["rater"] for row in told.rows if row["kind"] == "human"}
    assert why == f"the test needs 3 people, and {len(people)} answered"


RULES = (
    (
        rf"{TITLE} among the (\d+) people is {VALUE}{OVER}(?:; percent agreement is {BESIDE})?\.",
        _people_agree,
    ),
    (
        rf"{TITLE} of (\S+) with people is {PLAIN}, of people with each other {PLAIN}; the difference is "
        rf"{BESIDE}\.( .*?agree.*?(?:each other|as much)\.)?",
        _beside_people,
    ),
    (
        rf"(\S+) (rises|falls) (strongly|moderately|weakly) (?:with|as) .+?: Spearman's rho {VALUE}{OVER}\.",
        _follows,
    ),
    (rf"{TITLE} of (\S+) with (\S+) is {VALUE}{OVER}\.", _with_one_person),
    (r"(\S+) answered ([\d,]+) of the ([\d,]+) items that people rated \((\d+)%\)\.", _answered),
    (
        r"(\S+) (passes|does not pass) the alternative annotator test(?: on the [\d,]+ items that it "
        rf"answered)?: (.+?)\. Winning rate {BESIDE}, advantage probability {BESIDE}\.",
        _tested,
    ),
    (r"The alternative annotator test says nothing about (\S+): (.+?)\.", _not_tested),
)


@pytest.mark.parametrize("name", FIGURES)
def test_every_sentence_of_agree_holds(name: str, shared_data: Path) -> None:
    told = Told(shared_data.parent / "cases" / "figures" / f"{name}.csv", FIGURES[name])
    for verdict in told.printed_verdicts:
        state = STATES[verdict["state"]]
        text = f"* {verdict['rater']}: {state}. {' '.join(verdict['reasons'])} {verdict['next']}".rstrip()
        assert text in told.verdict_lines
    assert told.verdict_lines.count("* ") == len(told.printed_verdicts)
    rest = told.answers
    while rest:
        matches = [(found, rule) for pattern, rule in RULES if (found := re.match(pattern, rest))]
        assert matches, f"no rule for: {rest}"
        found, rule = matches[0]
        rule(told, found.groups())
        rest = rest[found.end() :].strip()
