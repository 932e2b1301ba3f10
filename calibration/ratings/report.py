"""What a person is told about a ratings file: the answer first, then tables, then what limits it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from calibration.statistics import FLAGS, STATISTICS, Analysis, Entry, Ratings, Result

OTHER_TITLES = {
    "alt_test_winning_rate": "Alternative annotator test: winning rate",
    "alt_test_advantage": "Alternative annotator test: advantage probability",
}
ANSWERS = {
    "binary": ("krippendorff_alpha", "cohen_kappa"),
    "nominal": ("krippendorff_alpha", "cohen_kappa"),
    "ordinal": ("krippendorff_alpha", "cohen_kappa_quadratic"),
    "interval": ("krippendorff_alpha", "pearson"),
    "ratio": ("krippendorff_alpha", "pearson"),
}


@dataclass(frozen=True)
class Block:
    """A table of results with a heading."""

    heading: str
    entries: tuple[Entry, ...]
    first_only: bool = False

    @property
    def one_group(self) -> bool:
        """Whether all entries are of the same raters, so that naming them in each row says nothing."""
        return len({e.raters for e in self.entries}) == 1

    def label(self, entry: Entry) -> str:
        """Return how a row names its raters: the judge alone where the others are the same people."""
        return entry.raters[0] if self.first_only else raters_of(entry)


@dataclass(frozen=True)
class Section:
    """The report of one question in one stratum."""

    title: str
    ratings: Ratings
    analysis: Analysis
    facts: tuple[str, ...]
    answers: tuple[str, ...]
    blocks: tuple[Block, ...]
    limits: tuple[str, ...]


def section_of(title: str, ratings: Ratings, analysis: Analysis, cluster: str | None) -> Section:
    """Return the report of an analysis; ``cluster`` is the column that clusters came from."""
    return Section(
        title=title,
        ratings=ratings,
        analysis=analysis,
        facts=_facts(ratings, cluster),
        answers=_answers(ratings, analysis),
        blocks=_blocks(analysis),
        limits=_limits(ratings, analysis, cluster),
    )


def title_of(name: str) -> str:
    """Return the readable name of a statistic, also of its mean among people, with a judge, and their gap."""
    if name in OTHER_TITLES:
        return OTHER_TITLES[name]
    for prefix, words in (
        ("people_", "people with people"),
        ("judge_", "judge with people"),
        ("gap_", "judge less people"),
    ):
        if name.startswith(prefix) and name.removeprefix(prefix) in STATISTICS:
            return f"{STATISTICS[name.removeprefix(prefix)].title}, {words}"
    return STATISTICS[name].title if name in STATISTICS else name


def number(value: float | None) -> str:
    """Write a value with three decimals, a dash where there is none."""
    if value is None:
        return "–"
    text = f"{value:.3f}"
    return "0.000" if text == "-0.000" else text.replace("-", "−")


def interval(result: Result) -> str:
    """Write a result's interval, or a dash."""
    return "–" if result.low is None else f"{number(result.low)} to {number(result.high)}"


def raters_of(entry: Entry, longest: int = 4) -> str:
    """Name the raters of an entry, or count them where there are many."""
    if len(entry.raters) <= longest:
        return ", ".join(entry.raters)
    return f"{len(entry.raters)} raters: {', '.join(entry.raters[:longest])}, ..."


def _facts(ratings: Ratings, cluster: str | None) -> tuple[str, ...]:
    given = int((ratings.values == ratings.values).sum())
    empty = ratings.values.size - given
    facts = [
        f"{given:,} ratings of {ratings.n_items:,} items by {len(ratings.raters)} raters; "
        f"{empty:,} cells are empty."
    ]
    values = "any number"
    if ratings.scale is not None:
        values = ", ".join(ratings.label(v) for v in ratings.scale)
    origin = "as declared" if ratings.declared else "the values that occur, as none were declared"
    facts.append(
        f"Scale: {ratings.level}, {values}" + (f" ({origin})." if ratings.scale is not None else ".")
    )
    if cluster:
        facts.append(f"Clusters: column {cluster}, {ratings.n_clusters:,} of them.")
    else:
        facts.append("Clusters: none; every item counts as independent of the others.")
    return tuple(facts)


def _answers(ratings: Ratings, analysis: Analysis) -> tuple[str, ...]:
    panel_key, pair_key = ANSWERS[ratings.level]
    out = []
    judged = [e for e in analysis.gaps if e.result.name == f"gap_{pair_key}"]
    panels = [e for e in analysis.panel if e.result.name == panel_key]
    groups = panels[1:] if len(panels) > 1 else panels
    out += [_panel_sentence(entry, ratings) for entry in groups]
    for gap in judged:
        out.append(_gap_sentence(analysis, gap, pair_key))
    if not panels and analysis.pairs:
        best = next((e for e in analysis.pairs if e.result.name == "spearman"), analysis.pairs[0])
        out.append(f"{title_of(best.result.name)} of {raters_of(best)} is {_said(best.result)}.")
    out += [_test_sentence(e) for e in analysis.replacement if e.result.name == "alt_test_winning_rate"]
    return tuple(out)


def _said(result: Result) -> str:
    if not result.ok:
        return f"{result.status} ({result.reason})"
    ends = f" ({interval(result)})" if result.low is not None else " (no interval)"
    return number(result.value) + ends


def _panel_sentence(entry: Entry, ratings: Ratings) -> str:
    result = entry.result
    kinds = {ratings.kinds[ratings.column(r)] for r in entry.raters}
    who = {"human": "people", "judge": "judges"}.get(kinds.pop() if len(kinds) == 1 else "", "raters")
    where = f"over {result.n_items:,} items in {result.n_clusters:,} clusters"
    return f"{title_of(result.name)} among the {len(entry.raters)} {who} is {_said(result)}, {where}."


def _gap_sentence(analysis: Analysis, gap: Entry, key: str) -> str:
    judge, result = gap.raters[0], gap.result
    with_people, people = (analysis.find(f"{prefix}_{key}", gap.raters) for prefix in ("judge", "people"))
    if with_people is None or people is None or not result.ok:
        return f"{judge} with people: {title_of(key)} cannot be compared ({result.reason})."
    text = (
        f"{judge} reaches {title_of(key)} {_said(with_people.result)} with people; "
        f"people reach {_said(people.result)}"
    )
    if result.low is None or result.high is None:
        return f"{text}: a difference of {number(result.value)} without an interval."
    verdict = "no difference is shown"
    if result.low > 0:
        verdict = "the judge agrees with people more than they agree with each other"
    elif result.high < 0:
        verdict = "the judge agrees with people less than they agree with each other"
    return f"{text} with each other: a difference of {_said(result)}; {verdict}."


def _test_sentence(entry: Entry) -> str:
    judge, result = entry.raters[0], entry.result
    if not result.ok:
        return f"Whether {judge} may replace a person is not tested: {result.reason}."
    passed = "passes" if (result.value or 0) >= 0.5 else "does not pass"
    return f"{judge} {passed} the alternative annotator test: winning rate {_said(result)}, the bar is 0.5."


def _blocks(analysis: Analysis) -> tuple[Block, ...]:
    blocks = []
    for raters in dict.fromkeys(e.raters for e in analysis.panel):
        entries = tuple(e for e in analysis.panel if e.raters == raters)
        blocks.append(Block(f"Panel: {raters_of(entries[0])}", entries))
    if analysis.pairs:
        blocks.append(Block("Pairs", analysis.pairs))
    if analysis.replacement:
        blocks.append(Block("May a judge replace a person?", analysis.replacement, first_only=True))
    for raters in dict.fromkeys(e.raters for e in analysis.gaps):
        entries = tuple(e for e in analysis.gaps if e.raters == raters)
        heading = f"{raters[0]} beside {len(raters) - 1} people, on the same items and resamples"
        if not any(e.result.name.startswith("gap_") for e in entries):
            heading = f"{len(raters)} people with each other, mean over pairs"
        blocks.append(Block(heading, entries))
    return tuple(blocks)


def _limits(ratings: Ratings, analysis: Analysis, cluster: str | None) -> tuple[str, ...]:
    out = []
    if cluster is None:
        out.append(
            "Turns of one dialogue are alike; without a cluster column the intervals may be too short."
        )
    if not ratings.declared and ratings.scale is not None:
        out.append("Values that the scale has but nobody used are unknown; declare them with --values.")
    raised: dict[str, list[str]] = {}
    for entry in analysis.entries:
        for flag in entry.result.flags:
            raised.setdefault(flag, []).append(title_of(entry.result.name))
    for flag, titles in raised.items():
        out.append(f"{FLAGS[flag][0].upper()}{FLAGS[flag][1:]} ({_listed(titles)}).")
    unknown = [r for r, known in zip(ratings.raters, ratings.identified, strict=True) if not known]
    if unknown:
        out.append(
            f"{len(unknown)} raters are unidentified: only statistics that treat raters alike are given."
        )
    return tuple(out)


def _listed(titles: Sequence[str]) -> str:
    distinct = list(dict.fromkeys(titles))
    return "; ".join(distinct[:3]) + (f"; and {len(distinct) - 3} more" if len(distinct) > 3 else "")
