"""The answer of a report in sentences: how well raters agree, and what that says of judges and metrics."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

import numpy as np

from calibration.agree.words import interval, number, raters_of, title_of
from calibration.reports.wording import without
from calibration.statistics import Analysis, Entry, Ratings, Result
from calibration.statistics.analysis import MEAN_OF_PEOPLE
from calibration.statistics.one_more import verdict
from calibration.statistics.replacement import CORRECTED

MOST_PAIRS = 8
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
    """Return the sentences a report begins with: people, judges beside people, metrics, the test."""
    panel_key, pair_key = ANSWERS[ratings.level]
    panels = [e for e in analysis.panel if e.result.name == panel_key]
    out = [_panel_sentence(e, ratings, analysis) for e in (panels[1:] if len(panels) > 1 else panels)]
    gaps = [e for e in analysis.gaps if e.result.name in (f"gap_{pair_key}", f"gap_mean_{pair_key}")]
    pooled = {e.raters for e in gaps if e.result.name == f"gap_{pair_key}"}
    gaps = [e for e in gaps if e.result.name == f"gap_{pair_key}" or e.raters not in pooled]
    out += [_gap_sentence(analysis, gap, pair_key) for gap in highest(gaps)]
    judged = {gap.raters[0] for gap in gaps}
    tracking = [e for e in _tracking(analysis) if e.raters[1] not in judged]
    out += [_tracking_sentence(e) for e in highest(tracking)]
    out += _rest(gaps, 0) + _rest(tracking, 1)
    if not out:
        out += _pair_sentences(analysis.pairs, pair_key)
    tests = [e for e in analysis.replacement if e.result.name == "alt_test_winning_rate"]
    return tuple(out + [_test_sentence(e, analysis) for e in highest(tests)])


def _said(result: Result) -> str:
    if not result.ok:
        return f"{result.status} ({result.reason})"
    ends = f" ({interval(result)})" if result.low is not None else " (no interval)"
    return number(result.value) + ends


def _panel_sentence(entry: Entry, ratings: Ratings, analysis: Analysis) -> str:
    result, n = entry.result, len(entry.raters)
    among = f"among the {_called(entry, ratings)}" if n > 1 else f"for {entry.raters[0]} alone"
    if not result.ok:
        return f"{title_of(result.name)} {among} is {_said(result)}."
    where = f"over {result.n_items:,} items in {result.n_clusters:,} clusters"
    text = f"{title_of(result.name)} {among} is {_said(result)}, {where}"
    same = analysis.find("percent_agreement", entry.raters)
    return text + (f"; percent agreement {_said(same.result)}." if same is not None else ".")


def _called(entry: Entry, ratings: Ratings) -> str:
    """Count the raters of an entry as what they are: a slot is not one person throughout."""
    columns = [ratings.column(rater) for rater in entry.raters]
    kinds = {ratings.kinds[j] for j in columns}
    who = {"human": "people", "judge": "judges"}.get(kinds.pop() if len(kinds) == 1 else "", "raters")
    if not any(ratings.identified[j] for j in columns):
        return f"ratings in {len(columns)} anonymous slots"
    alone, elsewhere = _missing_from(entry, ratings, {ratings.kinds[j] for j in columns})
    everybody = len(columns) + len(alone) + len(elsewhere)
    of = f" of {everybody}" if everybody > len(columns) else ""
    return f"{len(columns)}{of} {who}{without(alone, elsewhere)}"


def _missing_from(entry: Entry, ratings: Ratings, kinds: AbstractSet[str]) -> tuple[list[str], list[str]]:
    """Return who of some kinds answered and is not in a figure: who meets nobody, who is on another scale."""
    on_scale, given = ratings.as_answered().on_scale, ~np.isnan(ratings.values)
    columns = [
        j
        for j, name in enumerate(ratings.raters)
        if ratings.kinds[j] in kinds and name not in entry.raters and given[:, j].any()
    ]
    alone, elsewhere = ([ratings.raters[j] for j in columns if on_scale[j] is on] for on in (True, False))
    return alone, elsewhere


def _gap_sentence(analysis: Analysis, gap: Entry, key: str) -> str:
    judge, result = gap.raters[0], gap.result
    named = gap.result.name.removeprefix("gap_")
    with_people, people = (analysis.find(f"{prefix}_{named}", gap.raters) for prefix in ("judge", "people"))
    if with_people is None or people is None or not result.ok:
        return f"{judge} with people: {title_of(key)} cannot be compared ({result.reason})."
    text = (
        f"{judge} reaches {title_of(key)} {_said(with_people.result)} with people; "
        f"people reach {_said(people.result)} with each other"
    )
    if result.low is None or result.high is None:
        return f"{text}: a difference of {number(result.value)} without an interval."
    margin = analysis.find(f"margin_{key}", gap.raters)
    return f"{text}: a difference of {_said(result)}; {_verdict(result, margin.result if margin else None)}."


def _verdict(gap: Result, margin: Result | None) -> str:
    """Say more or less only of a gap that one more person would hardly have."""
    shown = verdict(gap.value or 0.0, gap.low, gap.high, margin.value if margin else None)
    if shown == "not shown":
        return "no difference is shown"
    if shown == "unknown":
        return margin.reason if margin else "how far one more person would differ is not known"
    if shown == "within":
        return f"that of one more person may be as large (up to {number(margin.value if margin else None)})"
    return f"the judge agrees with people {shown} than they agree with each other"


def _tracking(analysis: Analysis) -> list[Entry]:
    return [e for e in analysis.pairs if e.raters[0] == MEAN_OF_PEOPLE and e.result.name == "spearman"]


def _tracking_sentence(entry: Entry) -> str:
    return f"{entry.raters[1]} tracks the mean of the people with Spearman's rho {_said(entry.result)}."


def _pair_sentences(pairs: Sequence[Entry], key: str) -> list[str]:
    """Return a sentence for each of a few pairs, on the level's own statistic or on rho."""
    shown = [e for e in pairs if e.result.name == key] or [e for e in pairs if e.result.name == "spearman"]
    out = [f"{title_of(e.result.name)} of {raters_of(e)} is {_said(e.result)}." for e in highest(shown)]
    if len(shown) <= MOST_PAIRS:
        return out
    last = min((e for e in shown if e.result.ok), key=_value, default=None)
    tail = f"; the lowest is {raters_of(last)} with {_said(last.result)}" if last else ""
    return [*out, f"These are the highest of {len(shown)} pairs{tail}. All are in the table."]


def highest(entries: Sequence[Entry]) -> list[Entry]:
    """Return the entries as they come; of more than a few those of the highest values, the highest first."""
    if len(entries) <= MOST_PAIRS:
        return list(entries)
    return sorted(entries, key=lambda entry: -_value(entry))[:MOST_PAIRS]


def _value(entry: Entry) -> float:
    return -2.0 if entry.result.value is None else entry.result.value


def _rest(entries: Sequence[Entry], rater: int) -> list[str]:
    """Say of how many raters the ones named are the highest, and which is the lowest."""
    good = [entry for entry in entries if entry.result.ok]
    if len(entries) <= MOST_PAIRS or not good:
        return []
    last = min(good, key=_value)
    lowest = f"the lowest is {last.raters[rater]} with {_said(last.result)}"
    return [f"These are the highest of {len(entries)}; {lowest}. All are in the table."]


def _test_sentence(entry: Entry, analysis: Analysis) -> str:
    judge, result = entry.raters[0], entry.result
    advantage = analysis.find("alt_test_advantage", entry.raters)
    also = f"; advantage probability {_said(advantage.result)}" if advantage and advantage.result.ok else ""
    if not result.ok:
        verb = "does not pass the" if result.status == "undefined" else "was not put to the"
        return f"{judge} {verb} alternative annotator test: {result.reason}{also}."
    passed = (result.value or 0) >= 0.5
    verb = "passes" if passed else "does not pass"
    tested, people = result.n_raters - 1, len(entry.raters) - 1
    won = round((result.value or 0) * tested)
    text = (
        f"{judge} {verb} the alternative annotator test: it can replace {won} of {tested} people tested, "
        f"winning rate {_said(result)}, the bar is 0.5"
    )
    if result.low is not None and result.high is not None and (result.low >= 0.5) != (result.high >= 0.5):
        text += f", so another sample of dialogues might say {'no' if passed else 'yes'}"
    over = _over_judges(entry, analysis)
    return f"{text}{also}.{over}{_untested(people - tested, people)}"


def _over_judges(entry: Entry, analysis: Analysis) -> str:
    """Say what is left of the test where the judge is one of several to choose from."""
    found = analysis.find(CORRECTED, entry.raters)
    if found is None or not found.result.ok:
        return ""
    passed = "passes" if (found.result.value or 0) >= 0.5 else "does not pass"
    return f" Corrected over the judges tested it {passed}: winning rate {_said(found.result)}."


def _untested(left: int, people: int) -> str:
    """Say how many people were left out of the test, and why."""
    if not left:
        return ""
    share = "shares" if left == 1 else "share"
    return f" {left} of the {people} people {share} fewer than 30 items with it and another person."
