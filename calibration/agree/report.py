"""The report on a ratings file: the main results first, then tables, then limitations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from annotation.text import display
from annotation.text.display import percent
from calibration.reports.tables import Table
from calibration.reports.wording import without
from calibration.statistics import FLAGS, STATISTICS, Plan
from calibration.statistics.analysis import BY_F, MEAN_OF_PEOPLE, Analysis, Entry
from calibration.statistics.core.engine import Result
from calibration.statistics.core.ratings import Ratings
from calibration.statistics.corrected_shares import NAME as PREVALENCE
from calibration.statistics.corrected_shares import TITLES as PREVALENCES
from calibration.statistics.corrected_systems import PREFIX as SYSTEM
from calibration.statistics.corrected_systems import TITLES as SYSTEMS
from calibration.statistics.gaps import beyond_one_more, direction, unknown_of_one_more
from calibration.statistics.rater_panel import figure_title
from calibration.statistics.replacement import BAR, CORRECTED, StandIn
from calibration.statistics.score_calibration import METHODS
from calibration.statistics.scores import ERRORS, MAPS, MARKS, RULES
from calibration.statistics.sets import ALPHA_MASI
from calibration.statistics.table import described
from calibration.statistics.unanswered import GAP, MEAN, NAME, SHARE, WITH_MEAN
from calibration.statistics.unanswered import NAME as BOUNDS
from calibration.statistics.verdicts import TITLES, Evidence, Verdict, Words, decide, evidence_of

Judged = tuple[Evidence, Verdict]

# Text of figures, raters and names in a report, in all formats.

NAMES = {
    "balanced_accuracy": "Balanced accuracy",
    "mae": "Mean absolute error",
    "rmse": "Root mean squared error",
    "mean_error": "Mean error",
    "mean_absolute_error": "Mean absolute error",
}
BOUND_NAMES = {SHARE: "Share of the positive class, bounds", MEAN: "Mean, bounds"}
FLOORS = {"floor_": "with people", "baseline_": "baseline with people"}
SIDES = (
    ("people_", "people with people"),
    ("judge_", "judge with people"),
    ("gap_", "judge less people"),
    ("margin_", "margin of one more person"),
)
TABLE_SEVEN = {
    "table7_detected_by_people": "Marked turns, people’s mean",
    "table7_detected_by_judge": "Marked turns, judge",
    "table7_judge_kappa": "Cohen's kappa, judge with people",
    "table7_people_kappa": "Cohen's kappa, people with people",
}
SCORED = {
    **{
        f"threshold_{rule.key}_{key}": f"{NAMES.get(key) or described()[key].title} of marks"
        for rule in RULES.values()
        for key in MARKS
    },
    **{
        f"{method}_{key}": f"{name}, {method}"
        for method in METHODS
        for key, name in {
            "expected_calibration_error": "Expected calibration error",
            "brier": "Brier score",
            "reliability": "Brier's reliability part",
            "resolution": "Brier's resolution part",
            "uncertainty": "Brier's uncertainty part",
            "within": "Brier's part within bins",
        }.items()
    },
    **{f"map_{key}_{error}": f"{NAMES[error]}, {text}" for key, text in MAPS.items() for error in ERRORS},
}
JOINERS = "\u200c\u200d"  # zero width, but part of words in Persian, Hindi and others


def title_of(name: str) -> str:
    """Return the title of a statistic, also of its mean among people, with a judge, and of their gap."""
    if name in described():
        return described()[name].title
    if name in TABLE_SEVEN:
        return TABLE_SEVEN[name]
    if name.removesuffix(BY_F) in STATISTICS:
        return f"{STATISTICS[name.removesuffix(BY_F)].title}, F interval"
    if name.removeprefix(PREVALENCE) in PREVALENCES:
        return PREVALENCES[name.removeprefix(PREVALENCE)]
    if name.removeprefix(SYSTEM) in SYSTEMS:
        return SYSTEMS[name.removeprefix(SYSTEM)]
    if name.startswith(NAME):
        return _bound(name)
    for prefix in ("floor_", "baseline_"):
        if name.startswith(prefix):
            key = name.removeprefix(prefix)
            return f"{NAMES.get(key) or title_of(key)}, {FLOORS[prefix]}"
    if title := SCORED.get(name) or figure_title(name):
        return title
    name = name.removeprefix("table7_")
    for prefix, words in SIDES:
        key = name.removeprefix(prefix)
        if name.startswith(prefix) and key.removeprefix("mean_") in STATISTICS:
            how = ", mean over pairs" if key.startswith("mean_") else ""
            return f"{STATISTICS[key.removeprefix('mean_')].title}, {words}{how}"
    return name


def _bound(name: str) -> str:
    if name in BOUND_NAMES:
        return BOUND_NAMES[name]
    if name.startswith(GAP):
        return f"{title_of(name.removeprefix(GAP))}, bounds with people less people with people"
    if name.startswith(WITH_MEAN):
        return f"{title_of(name.removeprefix(WITH_MEAN))}, bounds with the people’s mean"
    return f"{title_of(name.removeprefix(NAME))}, bounds with people"


def counted(count: int, noun: str) -> str:
    """Format a count with its noun, in the plural unless the count is one."""
    return f"{count:,} {noun if count == 1 else noun + 's'}"


def number(value: float | None) -> str:
    """Format a value with three decimals, a dash for None."""
    return display.number(value, 3)


def interval(result: Result) -> str:
    """Format a result's interval, or a dash; for bounds, which are no interval, the lowest and highest."""
    if result.low is None:
        return "–"
    low, high = number(result.low), number(result.high)
    return f"lowest {low}, highest {high}" if result.name.startswith(NAME) else f"{low} to {high}"


def raters_of(entry: Entry, longest: int = 4) -> str:
    """Return the names of an entry's raters, or their number if there are many."""
    if len(entry.raters) <= longest:
        return ", ".join(entry.raters)
    return f"{len(entry.raters)} raters: {', '.join(entry.raters[:longest])}, ..."


def plain(text: str) -> str:
    """Return a text on one line, without characters that control a terminal or the text direction."""
    spaced = " ".join(text.split())
    return "".join(c if c.isprintable() or c in JOINERS else "\ufffd" for c in spaced)


# The main results in sentences: agreement between raters, and conclusions about judges and metrics.

MOST_PAIRS = 8
PEOPLE = "human"
FEW_ANSWERED = 0.95
STRENGTHS = ((0.7, "strongly"), (0.4, "moderately"), (0.0, "weakly"))
"""Word for the strength of a relation, from this absolute rho on."""
OF_CATEGORIES = ("krippendorff_alpha", "cohen_kappa")
NUMBERS = ("krippendorff_alpha", "spearman")
ANSWERS = {
    "binary": OF_CATEGORIES,
    "nominal": OF_CATEGORIES,
    "ordinal": ("krippendorff_alpha", "cohen_kappa_quadratic"),
    "interval": NUMBERS,
    "ratio": NUMBERS,
}


def answers_of(ratings: Ratings, analysis: Analysis) -> tuple[str, ...]:
    """Return the first sentences of a report: people, judges compared with people, metrics, the test."""
    panel_key, pair_key = ANSWERS[ratings.level]
    keys = (panel_key, ALPHA_MASI.key)
    panels = [e for e in analysis.panel if e.result.name in keys and len(_kinds(e, ratings)) == 1]
    out = [_panel_sentence(e, ratings, analysis) for e in panels]
    gaps = [e for e in analysis.gaps if e.result.name in (f"gap_{pair_key}", f"gap_mean_{pair_key}")]
    pooled = {e.raters for e in gaps if e.result.name == f"gap_{pair_key}"}
    gaps = [e for e in gaps if e.result.name == f"gap_{pair_key}" or e.raters not in pooled]
    out += [_answered(g.raters[0], ratings) + _gap_sentence(analysis, g, pair_key) for g in highest(gaps)]
    judged = {gap.raters[0] for gap in gaps}
    beside = [e for e in _beside_people(analysis, ratings, pair_key) if e.raters[1] not in judged]
    out += [_answered(e.raters[1], ratings) + _beside_sentence(e) for e in highest(beside, _strength)]
    out += _rest(gaps, _value, ("highest", "lowest"), 0)
    out += _rest(beside, _strength, ("strongest", "weakest"), 1)
    if not out:
        out += _pair_sentences(analysis.pairs, pair_key)
    tests = [e for e in analysis.replacement if e.result.name == "alt_test_winning_rate"]
    verdicts = {verdict.rater: verdict for verdict in analysis.stand_ins}
    out += [_test_sentence(e, verdicts[e.raters[0]], ratings, analysis) for e in highest(tests)]
    return tuple(out)


def _kinds(entry: Entry, ratings: Ratings) -> set[str]:
    return {ratings.kinds[ratings.column(rater)] for rater in entry.raters}


def _answered(rater: str, ratings: Ratings) -> str:
    """Return a sentence with a rater's share of the items rated by people, if it missed many; else ''."""
    people = (~np.isnan(ratings.values[:, list(ratings.of_kind(PEOPLE))])).any(axis=1)
    own = ~np.isnan(ratings.values[:, ratings.column(rater)])
    n, of = int((people & own).sum()), int(people.sum())
    if n >= FEW_ANSWERED * of:
        return ""
    return f"{rater} answered {n:,} of the {of:,} items that people rated ({percent(n / of)}). "


def _value_text(result: Result) -> str:
    """Return `0.485 (0.266 to 0.628)`, or the value and why it has no interval."""
    if result.low is not None:
        return f"{number(result.value)} ({interval(result)})"
    return f"{number(result.value)} ({result.reason or 'no interval'})"


def _panel_sentence(entry: Entry, ratings: Ratings, analysis: Analysis) -> str:
    result, n = entry.result, len(entry.raters)
    among = f"among the {_called(entry, ratings)}" if n > 1 else f"for {entry.raters[0]} alone"
    if not result.ok:
        return f"{title_of(result.name)} {among} has no value: {result.reason}."
    text = f"{title_of(result.name)} {among} is {_value_text(result)}, over {_over(result)}"
    same = analysis.find("percent_agreement", entry.raters)
    if same is None or not same.result.ok or ratings.level in ("interval", "ratio"):
        return f"{text}."
    return f"{text}; percent agreement is {_value_text(same.result)}."


def _called(entry: Entry, ratings: Ratings) -> str:
    """Return the number of an entry's raters with their kind; slots are counted as such, not as people."""
    columns = [ratings.column(rater) for rater in entry.raters]
    kinds = {ratings.kinds[j] for j in columns}
    noun = {"human": "people", "judge": "judges"}.get(kinds.pop() if len(kinds) == 1 else "", "raters")
    if not any(ratings.identified[j] for j in columns):
        return f"ratings in {len(columns)} anonymous slots"
    alone, elsewhere = _missing_from(entry, ratings, {ratings.kinds[j] for j in columns})
    everybody = len(columns) + len(alone) + len(elsewhere)
    of = f" of {everybody}" if everybody > len(columns) else ""
    return f"{len(columns)}{of} {noun}{without(alone, elsewhere)}"


def _missing_from(entry: Entry, ratings: Ratings, kinds: AbstractSet[str]) -> tuple[list[str], list[str]]:
    """Return the raters of some kinds that answered but are not in a figure: without overlap with others, and
    on another scale."""
    on_scale, answered = ratings.as_answered().on_scale, ~np.isnan(ratings.values)
    columns = [
        j
        for j, name in enumerate(ratings.raters)
        if ratings.kinds[j] in kinds and name not in entry.raters and answered[:, j].any()
    ]
    alone, elsewhere = ([ratings.raters[j] for j in columns if on_scale[j] is on] for on in (True, False))
    return alone, elsewhere


def _gap_sentence(analysis: Analysis, gap: Entry, key: str) -> str:
    judge, result = gap.raters[0], gap.result
    statistic = gap.result.name.removeprefix("gap_")
    with_people, people = (
        analysis.find(f"{prefix}_{statistic}", gap.raters) for prefix in ("judge", "people")
    )
    if with_people is None or people is None or not result.ok:
        return f"{title_of(key)} of {judge} with people cannot be compared: {result.reason}."
    if result.low is None:
        own, others = number(with_people.result.value), number(people.result.value)
        return (
            f"{title_of(key)} of {judge} with people is {own}, of people with each other {others}; the "
            f"difference is {_value_text(result)}."
        )
    text = (
        f"{title_of(key)} of {judge} with people is {_value_text(with_people.result)}, of people with each "
        f"other {_value_text(people.result)}; the difference is {_value_text(result)}."
    )
    margin = analysis.find(f"margin_{key}", gap.raters)
    verdict = _verdict(gap, margin.result if margin else None)
    return f"{text} {verdict}." if verdict else text


def _verdict(gap: Entry, margin: Result | None) -> str:
    """Return a sentence on a gap's interval, and on how it compares with the effect of one more person.

    '' without an interval, and for a mean over pairs, which has no margin.
    """
    judge, result = gap.raters[0], gap.result
    if margin is None or result.low is None:
        return ""
    difference = direction(result.value or 0.0, result.low, result.high)
    if difference is None:
        return f"This does not show that {judge} agrees with people more or less than they do with each other"
    sentence = f"{judge} agrees with people {difference} than they agree with each other"
    if beyond_one_more(result.value or 0.0, margin.value):
        return f"{sentence}, and one more person would hardly differ as much"
    return f"{sentence}; {unknown_of_one_more(len(gap.raters) - 1, 'people', 'person')}"


def _beside_people(analysis: Analysis, ratings: Ratings, key: str) -> list[Entry]:
    """Return each judge's and metric's figure with the people's mean, or with the only person (listed first).

    With one person it is the level's own statistic if both share a scale, else a rank correlation.
    """
    people = [ratings.raters[j] for j in ratings.of_kind(PEOPLE)]
    if len(people) != 1:
        return [e for e in analysis.pairs if e.raters[0] == MEAN_OF_PEOPLE and e.result.name == "spearman"]
    by_rater: dict[str, Entry] = {}
    for name in (key, "spearman"):
        for entry in analysis.pairs:
            others = [rater for rater in entry.raters if rater != people[0]]
            if entry.result.name == name and len(others) == 1 and ratings.kinds[ratings.column(others[0])]:
                by_rater.setdefault(others[0], replace(entry, raters=(people[0], others[0])))
    return list(by_rater.values())


def _beside_sentence(entry: Entry) -> str:
    first, rater = entry.raters
    result = entry.result
    reference = THE_MEAN if first == MEAN_OF_PEOPLE else first
    title = title_of(result.name)
    if not result.ok:
        return f"{title} of {rater} with {reference} has no value: {result.reason}."
    if result.name != "spearman" or result.low is None or result.high is None:
        return f"{title} of {rater} with {reference} is {_value_text(result)}, over {_over(result)}."
    if result.low <= 0 <= result.high:
        way = f"shows no clear relation to {reference}"
    else:
        value = result.value or 0.0
        strength = next(words for least, words in STRENGTHS if abs(value) >= least)
        way = f"rises {strength} with {reference}" if value > 0 else f"falls {strength} as {reference} rises"
    return f"{rater} {way}: {title} {_value_text(result)}, over {_over(result)}."


def _over(result: Result) -> str:
    return f"{counted(result.n_items, 'item')} in {counted(result.n_clusters, 'cluster')}"


def _pair_sentences(pairs: Sequence[Entry], key: str) -> list[str]:
    """Return a sentence per pair, for a few pairs, with the level's own statistic or rho."""
    matching = [e for e in pairs if e.result.name == key] or [e for e in pairs if e.result.name == "spearman"]
    out = [_pair_sentence(entry) for entry in highest(matching)]
    if len(matching) <= MOST_PAIRS:
        return out
    last = min((e for e in matching if e.result.ok), key=_value, default=None)
    tail = f"; the lowest is {raters_of(last)} with {_value_text(last.result)}" if last else ""
    return [*out, f"These are the highest of {len(matching)} pairs{tail}. All are in the table."]


def _pair_sentence(entry: Entry) -> str:
    result, title = entry.result, f"{title_of(entry.result.name)} of {raters_of(entry)}"
    return f"{title} is {_value_text(result)}." if result.ok else f"{title} has no value: {result.reason}."


def _value(entry: Entry) -> float:
    return -2.0 if entry.result.value is None else entry.result.value


def _strength(entry: Entry) -> float:
    return abs(entry.result.value or 0.0)


def highest(entries: Sequence[Entry], key: Callable[[Entry], float] = _value) -> list[Entry]:
    """Return the entries in their order; if there are many, only the highest values, in descending order."""
    if len(entries) <= MOST_PAIRS:
        return list(entries)
    return sorted(entries, key=lambda entry: -key(entry))[:MOST_PAIRS]


@dataclass(frozen=True)
class SummaryRow:
    """A figure of the first screen, with the raters in words."""

    raters: str
    entry: Entry


def summary_of(ratings: Ratings, analysis: Analysis) -> tuple[SummaryRow, ...]:
    """Return the agreement of people with each other, and of each judge and metric with people."""
    panel_key, pair_key = ANSWERS[ratings.level]
    keys = (panel_key, ALPHA_MASI.key)
    panels = [e for e in analysis.panel if e.result.name in keys and len(_kinds(e, ratings)) == 1]
    rows = [SummaryRow(_called(e, ratings) if len(e.raters) > 1 else e.raters[0], e) for e in panels]
    beside = [e for e in analysis.gaps if e.result.name in (f"judge_{pair_key}", f"judge_mean_{pair_key}")]
    pooled = {e.raters for e in beside if e.result.name == f"judge_{pair_key}"}
    beside = [e for e in beside if e.result.name == f"judge_{pair_key}" or e.raters not in pooled]
    judged = {entry.raters[0] for entry in beside}
    rows += [SummaryRow(f"{e.raters[0]} with people", e) for e in highest(beside)]
    others = [e for e in _beside_people(analysis, ratings, pair_key) if e.raters[1] not in judged]
    rows += [
        SummaryRow(f"{e.raters[1]} with {THE_MEAN if e.raters[0] == MEAN_OF_PEOPLE else e.raters[0]}", e)
        for e in highest(others, _strength)
    ]
    if not rows:
        matching = [e for e in analysis.pairs if e.result.name == pair_key]
        matching = matching or [e for e in analysis.pairs if e.result.name == "spearman"]
        rows = [SummaryRow(" and ".join(e.raters), e) for e in highest(matching)]
    return tuple(rows)


THE_MEAN = "the people’s mean"


def _rest(
    entries: Sequence[Entry], key: Callable[[Entry], float], ends: tuple[str, str], place: int
) -> list[str]:
    """Return a sentence on the raters that were not named, if any: the total number, and the last one.

    `place` is the rater's index in an entry's raters.
    """
    good = [entry for entry in entries if entry.result.ok]
    if len(entries) <= MOST_PAIRS or not good:
        return []
    (top, bottom), last = ends, min(good, key=key)
    at_bottom = f"the {bottom} is {last.raters[place]} with {_value_text(last.result)}"
    return [f"These are the {top} of {len(entries)}; {at_bottom}. All are in the table."]


def _test_sentence(entry: Entry, verdict: StandIn, ratings: Ratings, analysis: Analysis) -> str:
    judge, result = entry.raters[0], entry.result
    if verdict.state == "cannot_say":
        return f"The alternative annotator test says nothing about {judge}: {verdict.why}."
    advantage = analysis.find("alt_test_advantage", entry.raters)
    rate = f" Winning rate {_value_text(result)}" if result.ok else ""
    if rate and advantage and advantage.result.ok:
        rate += f", advantage probability {_value_text(advantage.result)}"
    rate += "." if rate else ""
    if verdict.state == "not_passed":
        return f"{judge} does not pass the alternative annotator test: {verdict.why}.{rate}"
    tested, people = result.n_raters - 1, len(entry.raters) - 1
    on = f" on the {counted(result.n_items, 'item')} that it answered" if _answered(judge, ratings) else ""
    won = round((result.value or 0) * tested)
    text = (
        f"{judge} passes the alternative annotator test{on}: it can replace {won} of {tested} people, and at "
        "least half are needed"
    )
    if result.low is not None and result.low < BAR:
        text += "; on other dialogues the test might fail"
    return f"{text}.{rate}{_over_judges(entry, analysis)}{_untested(people - tested, people)}"


def _over_judges(entry: Entry, analysis: Analysis) -> str:
    """Return a sentence with the test's result corrected for the number of judges tested; '' if none."""
    corrected = analysis.find(CORRECTED, entry.raters)
    if corrected is None or not corrected.result.ok:
        return ""
    passes = "passes" if (corrected.result.value or 0) >= BAR else "does not pass"
    return (
        f" Corrected for the number of judges tested, it {passes}: winning rate "
        f"{_value_text(corrected.result)}."
    )


def _untested(left_out: int, people: int) -> str:
    """Return a sentence with the number of people left out of the test, and the reason; '' if none."""
    if not left_out:
        return ""
    were = "was" if left_out == 1 else "were"
    return (
        f" {left_out} of {people} people {were} not tested, because they share fewer than 30 items with the "
        "judge and another person."
    )


@dataclass(frozen=True)
class Block:
    """A table of results with a heading. `each`: a row is one rater, named even if it is the only row."""

    heading: str
    entries: tuple[Entry, ...]
    first_only: bool = False
    note: str = ""
    each: bool = False

    @property
    def one_group(self) -> bool:
        """Whether all entries have the same raters, so that naming them in each row is redundant."""
        return not self.each and len({e.raters for e in self.entries}) == 1

    @property
    def ends(self) -> str:
        """Type of the two limits next to a value: an interval, or bounds over unanswered items."""
        return "bounds" if all(e.result.name.startswith(BOUNDS) for e in self.entries) else "interval"

    def label(self, entry: Entry) -> str:
        """Return a row's label: its raters, or only the judge if the others are the same people."""
        return entry.raters[0] if self.first_only else raters_of(entry)


MOST_VERDICTS = 12
"""Number of verdicts that a report prints; its JSON has all of them."""


def verdicts_of(ratings: Ratings, analysis: Analysis, plan: Plan, cluster: str | None) -> list[Judged]:
    """Return each judge's, panel's and metric's evidence with the verdict on it, by the default rule."""
    item = ("item", "items")
    words = Words(items=item, clusters=(cluster, f"{cluster}s") if cluster else item)
    evidence = evidence_of(ratings, plan=plan, stand_ins=analysis.stand_ins)
    return [(entry, decide(entry, words=words)) for entry in evidence]


def verdict_sentences(verdicts: Sequence[Judged]) -> tuple[str, ...]:
    """Return a line per verdict: rater, state, reasons, next step; of many, those that agree most first."""
    if len(verdicts) > MOST_PAIRS:
        verdicts = sorted(verdicts, key=lambda judged: -_strength_of(judged[0]))
    lines = [
        f"{evidence.rater}: {TITLES[verdict.state]}. {' '.join(verdict.reasons)} {verdict.next_step}".rstrip()
        for evidence, verdict in verdicts[:MOST_VERDICTS]
    ]
    if len(verdicts) > MOST_VERDICTS:
        lines.append(f"These are {MOST_VERDICTS} of {len(verdicts)} verdicts; --json has all.")
    return tuple(lines)


def _strength_of(evidence: Evidence) -> float:
    """Return a rater's agreement, in the direction in which it follows people; -2 without a figure."""
    agreement = evidence.agreement
    return -2.0 if agreement is None or agreement.value is None else evidence.sign * agreement.value


def verdict_payloads(section: Section) -> list[dict[str, Any]]:
    """Return a section's verdicts as JSON-ready values."""
    return [
        {
            "question": section.title,
            "rater": evidence.rater,
            "kind": evidence.kind,
            "state": verdict.state,
            "reasons": list(verdict.reasons),
            "sentence": verdict.sentence,
            "next": verdict.next_step,
            **{
                name: result.as_dict() if (result := getattr(evidence, name)) is not None else None
                for name in ("agreement", "people", "gap")
            },
            "n_answered": evidence.n_answered,
            "n_items": evidence.n_items,
        }
        for evidence, verdict in section.verdicts
    ]


@dataclass(frozen=True)
class Section:
    """The report of one question in one stratum; `requested` are the blocks that options ask for."""

    title: str
    ratings: Ratings
    analysis: Analysis
    facts: tuple[str, ...]
    answers: tuple[str, ...]
    blocks: tuple[Block, ...]
    limits: tuple[str, ...]
    verdicts: tuple[Judged, ...] = ()
    requested: tuple[Block, ...] = ()
    cluster: str | None = None

    @property
    def summary(self) -> tuple[SummaryRow, ...]:
        """The figures of the first screen."""
        return summary_of(self.ratings, self.analysis)

    @property
    def cautions(self) -> tuple[str, ...]:
        """What limits the figures of the first screen."""
        summary = Analysis(panel=tuple(row.entry for row in self.summary))
        return _limits(self.ratings, summary, self.cluster, with_titles=False)

    @property
    def interval_method(self) -> str:
        """The method of the intervals, without details of a single figure."""
        methods = [entry.result.method for entry in self.analysis.entries]
        return next((part for m in methods for part in m.split("; ") if "interval" in part), "")


@dataclass
class Additions:
    """An option's additions to a report: tables before it, sections, lists in its JSON, lines in its CSV."""

    tables: list[Table] = field(default_factory=list)
    sections: list[Section] = field(default_factory=list)
    lists: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    entries: list[dict[str, Any]] = field(default_factory=list)


def section_of(
    title: str,
    ratings: Ratings,
    analysis: Analysis,
    cluster: str | None,
    facts: Sequence[str] = (),
    more: Sequence[Block] = (),
    verdicts: Sequence[Judged] = (),
    *,
    is_guess: bool = False,
) -> Section:
    """Return the report of an analysis; ``cluster`` is the column of the clusters.

    ``facts`` are additional facts about the input, ``more`` the blocks requested by options; `is_guess`: the
    scale was guessed from the answers. The report begins with the verdicts.
    """
    return Section(
        title=title,
        ratings=ratings,
        analysis=analysis,
        facts=(*_facts(ratings, cluster, is_guess=is_guess), *left_out_of(analysis), *facts),
        answers=answers_of(ratings, analysis),
        blocks=(*_blocks(analysis), *more),
        cluster=cluster,
        requested=(*(() if analysis.panel else _blocks(analysis)), *more),
        limits=_limits(ratings, analysis, cluster),
        verdicts=tuple(verdicts),
    )


def left_out_of(analysis: Analysis) -> list[str]:
    """Return a sentence on pairs that were not compared because there are many; empty if there are none."""
    return [f"{analysis.left_out}."] if analysis.left_out else []


def _facts(ratings: Ratings, cluster: str | None, *, is_guess: bool) -> tuple[str, ...]:
    n_ratings = int((ratings.values == ratings.values).sum())
    empty = ratings.values.size - n_ratings
    are = "is" if empty == 1 else "are"
    facts = [
        f"{counted(n_ratings, 'rating')} of {counted(ratings.n_items, 'item')} by "
        f"{counted(len(ratings.raters), 'rater')}; {counted(empty, 'cell')} {are} empty."
    ]
    facts.append(f"Raters: {_by_kind(ratings)}.")
    values = "any number"
    if ratings.scale is not None:
        values = ", ".join(ratings.label(v) for v in ratings.scale)
    origin = "as declared" if ratings.declared else "the values that occur, as none were declared"
    origin = "guessed from the answers" if is_guess else origin
    facts.append(
        f"Scale: {ratings.level}, {values}"
        + (f" ({origin})." if ratings.scale is not None or is_guess else ".")
    )
    if ratings.level == "binary":
        is_on_scale = ratings.positive is not None and ratings.positive in (ratings.scale or ())
        facts.append(
            f"Positive class: {ratings.label(ratings.positive or 0.0)}."
            if is_on_scale
            else "Positive class: none of the values; name it with --positive."
        )
    if cluster:
        facts.append(f"Clusters: column {cluster}, {ratings.n_clusters:,} of them.")
    else:
        facts.append("Clusters: none; every item counts as independent of the others.")
    return tuple(facts)


def _by_kind(ratings: Ratings, longest: int = 12) -> str:
    """Return the raters' names by kind; of many in a kind, the first ones and the number of the others."""
    parts = []
    for kind in dict.fromkeys(ratings.kinds):
        names = [r for r, k in zip(ratings.raters, ratings.kinds, strict=True) if k == kind]
        names_text = ", ".join(names[:longest]) + (
            f" and {len(names) - longest} more" if len(names) > longest else ""
        )
        parts.append(f"{names_text} ({kind})" if kind else names_text)
    return "; ".join(parts)


def _blocks(analysis: Analysis) -> tuple[Block, ...]:
    blocks = []
    for raters in dict.fromkeys(e.raters for e in analysis.panel):
        entries = tuple(e for e in analysis.panel if e.raters == raters)
        blocks.append(Block(f"Panel: {raters_of(entries[0])}", entries))
    if analysis.pairs:
        blocks.append(Block("Pairs", analysis.pairs))
    if analysis.replacement:
        how = analysis.replacement[0].result.method.split("; ")[0]
        note = f"{how[:1].upper()}{how[1:]}."
        blocks.append(Block("Can a judge replace a person?", analysis.replacement, True, note))
    for raters in dict.fromkeys(e.raters for e in analysis.gaps):
        entries = tuple(e for e in analysis.gaps if e.raters == raters)
        heading = f"{raters[0]} beside {len(raters) - 1} people, on the same items and resamples"
        if not any(e.result.name.startswith("gap_") for e in entries):
            heading = f"{len(raters)} people with each other"
        blocks.append(Block(heading, entries))
    return tuple(blocks)


def _limits(
    ratings: Ratings, analysis: Analysis, cluster: str | None, *, with_titles: bool = True
) -> tuple[str, ...]:
    out = []
    if cluster is None:
        out.append(
            "Turns of one dialogue are alike: without a cluster column the intervals may be too narrow."
        )
    if not ratings.declared and ratings.scale is not None:
        out.append("Values of the scale that nobody used are unknown: declare them with --values.")
    out += [
        f"{FLAGS[flag][0].upper()}{FLAGS[flag][1:]}{f' ({join_titles(about)})' if with_titles else ''}."
        for flag, about in _raised(analysis).items()
    ]
    unknown = [
        r for r, is_identified in zip(ratings.raters, ratings.identified, strict=True) if not is_identified
    ]
    if unknown:
        slots = "anonymous slot" if len(unknown) == 1 else "anonymous slots"
        out.append(
            f"Ratings in {len(unknown)} {slots} do not say who gave them: only statistics that treat raters "
            "as interchangeable are given."
        )
    return tuple(out)


def _raised(analysis: Analysis) -> dict[str, list[str]]:
    """Return, by flag, the figures that raise it; figures of pairs are named with the pair and come last.

    A flag raised only by a tiny pair says little about the data, so the pair is named: the figures of all the
    data may be free of it. A figure without a value raises no flag: it has a reason.
    """
    raised: dict[str, list[str]] = {}
    for entry in (*analysis.panel, *analysis.replacement, *analysis.gaps):
        for flag in entry.result.flags if entry.result.ok else ():
            raised.setdefault(flag, []).append(title_of(entry.result.name))
    for entry in analysis.pairs:
        for flag in entry.result.flags if entry.result.ok else ():
            raised.setdefault(flag, []).append(f"{title_of(entry.result.name)} of {raters_of(entry)}")
    return raised


def join_titles(titles: Sequence[str]) -> str:
    """Return the first three distinct titles, and the number of the others."""
    distinct = list(dict.fromkeys(titles))
    return "; ".join(distinct[:3]) + (f"; and {len(distinct) - 3} more" if len(distinct) > 3 else "")
