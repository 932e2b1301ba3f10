"""What a person is told about a ratings file: the answer first, then tables, then what limits it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from calibration.agree.answers import answers_of
from calibration.agree.words import counted, raters_of, title_of
from calibration.statistics import FLAGS, Analysis, Entry, Ratings
from calibration.statistics.unanswered.figures import NAME as BOUNDS


@dataclass(frozen=True)
class Block:
    """A table of results with a heading. `each`: a row is one rater, and named even where it is alone."""

    heading: str
    entries: tuple[Entry, ...]
    first_only: bool = False
    note: str = ""
    each: bool = False

    @property
    def one_group(self) -> bool:
        """Whether all entries are of the same raters, so that naming them in each row says nothing."""
        return not self.each and len({e.raters for e in self.entries}) == 1

    @property
    def ends(self) -> str:
        """What the two ends beside a value are: an interval, or bounds over unanswered items."""
        return "bounds" if all(e.result.name.startswith(BOUNDS) for e in self.entries) else "interval"

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

    @property
    def interval_method(self) -> str:
        """How the intervals were made, without what a method adds of a single figure."""
        methods = [entry.result.method for entry in self.analysis.entries]
        return next((part for m in methods for part in m.split("; ") if "interval" in part), "")


def section_of(
    title: str,
    ratings: Ratings,
    analysis: Analysis,
    cluster: str | None,
    said: Sequence[str] = (),
    more: Sequence[Block] = (),
) -> Section:
    """Return the report of an analysis; ``cluster`` is the column that clusters came from.

    ``said`` are further facts about what was read, ``more`` the blocks that options asked for.
    """
    return Section(
        title=title,
        ratings=ratings,
        analysis=analysis,
        facts=(*_facts(ratings, cluster), *left_out_of(analysis), *said),
        answers=answers_of(ratings, analysis),
        blocks=(*_blocks(analysis), *more),
        limits=_limits(ratings, analysis, cluster),
    )


def left_out_of(analysis: Analysis) -> list[str]:
    """Say which pairs of a crowd were not compared."""
    return [f"{analysis.left_out}."] if analysis.left_out else []


def _facts(ratings: Ratings, cluster: str | None) -> tuple[str, ...]:
    given = int((ratings.values == ratings.values).sum())
    empty = ratings.values.size - given
    are = "is" if empty == 1 else "are"
    facts = [
        f"{counted(given, 'rating')} of {counted(ratings.n_items, 'item')} by "
        f"{counted(len(ratings.raters), 'rater')}; {counted(empty, 'cell')} {are} empty."
    ]
    facts.append(f"Raters: {_by_kind(ratings)}.")
    values = "any number"
    if ratings.scale is not None:
        values = ", ".join(ratings.label(v) for v in ratings.scale)
    origin = "as declared" if ratings.declared else "the values that occur, as none were declared"
    facts.append(
        f"Scale: {ratings.level}, {values}" + (f" ({origin})." if ratings.scale is not None else ".")
    )
    if ratings.level == "binary":
        known = ratings.positive is not None and ratings.positive in (ratings.scale or ())
        facts.append(
            f"Positive class: {ratings.label(ratings.positive or 0.0)}."
            if known
            else "Positive class: none of the values; name it with --positive."
        )
    if cluster:
        facts.append(f"Clusters: column {cluster}, {ratings.n_clusters:,} of them.")
    else:
        facts.append("Clusters: none; every item counts as independent of the others.")
    return tuple(facts)


def _by_kind(ratings: Ratings, longest: int = 12) -> str:
    """Name the raters by kind, or count those of a kind where they are many."""
    parts = []
    for kind in dict.fromkeys(ratings.kinds):
        names = [r for r, k in zip(ratings.raters, ratings.kinds, strict=True) if k == kind]
        listed = ", ".join(names[:longest]) + (
            f" and {len(names) - longest} more" if len(names) > longest else ""
        )
        parts.append(f"{listed} ({kind})" if kind else listed)
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
        blocks.append(Block("May a judge replace a person?", analysis.replacement, True, note))
    for raters in dict.fromkeys(e.raters for e in analysis.gaps):
        entries = tuple(e for e in analysis.gaps if e.raters == raters)
        heading = f"{raters[0]} beside {len(raters) - 1} people, on the same items and resamples"
        if not any(e.result.name.startswith("gap_") for e in entries):
            heading = f"{len(raters)} people with each other"
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
    out += [
        f"{FLAGS[flag][0].upper()}{FLAGS[flag][1:]} ({_listed(about)})."
        for flag, about in _raised(analysis).items()
    ]
    unknown = [r for r, known in zip(ratings.raters, ratings.identified, strict=True) if not known]
    if unknown:
        out.append(
            f"{len(unknown)} raters are unidentified: only statistics that treat raters alike are given."
        )
    return tuple(out)


def _raised(analysis: Analysis) -> dict[str, list[str]]:
    """Return, by flag, the figures that raise it; a pair's are named with the pair and come last.

    What a tiny pair raises is not a statement about the data: where the figures of all the data are free of a
    flag, the pairs that have it say whose they are. A figure without a value raises none: it has a reason.
    """
    raised: dict[str, list[str]] = {}
    for entry in (*analysis.panel, *analysis.replacement, *analysis.gaps):
        for flag in entry.result.flags if entry.result.ok else ():
            raised.setdefault(flag, []).append(title_of(entry.result.name))
    for entry in analysis.pairs:
        for flag in entry.result.flags if entry.result.ok else ():
            raised.setdefault(flag, []).append(f"{title_of(entry.result.name)} of {raters_of(entry)}")
    return raised


def _listed(titles: Sequence[str]) -> str:
    distinct = list(dict.fromkeys(titles))
    return "; ".join(distinct[:3]) + (f"; and {len(distinct) - 3} more" if len(distinct) > 3 else "")
