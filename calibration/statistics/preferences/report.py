"""All that votes say of systems and of raters: one report of one question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from calibration.statistics.core.resampling import Plan
from calibration.statistics.preferences.agreement import Agreed, agreement
from calibration.statistics.preferences.fitting import Model
from calibration.statistics.preferences.games import games_of
from calibration.statistics.preferences.position import PositionBias, position_bias
from calibration.statistics.preferences.rankings import RankedAlike, ranked_alike
from calibration.statistics.preferences.standings import Standings, standings
from calibration.statistics.preferences.votes import LABELS, BothBad, Verdict, Vote, verdicts

PEOPLE, EVERYBODY = "human", ""
PEOPLE_NAME, ALL_NAME = "people", "all raters"


@dataclass(frozen=True)
class Choices:
    """How votes are read: what ties and both-bad answers count as, and the system whose strength is 1000."""

    model: Model = "half"
    both_bad: BothBad = "tie"
    anchor: str = ""


@dataclass(frozen=True)
class Voters:
    """Raters whose votes are counted together: all people, or one judge; their answers as counts."""

    name: str
    kind: str
    raters: tuple[str, ...]
    answers: dict[str, int]
    n_missing: int
    standings: Standings
    position: PositionBias | None


@dataclass(frozen=True)
class Preferences:
    """The report: each group of voters, position bias by rater, agreement on pairs and on rankings."""

    voters: tuple[Voters, ...]
    positions: tuple[PositionBias, ...]
    agreement: tuple[Agreed, ...]
    rankings: tuple[RankedAlike, ...]
    choices: Choices
    plan: Plan


def preferences(
    votes: Sequence[Vote], choices: Choices | None = None, plan: Plan | None = None
) -> Preferences:
    """Return the report. People are counted together, every judge, metric and key by itself.

    ValueError where there are no votes, or the anchor is not among their systems. Voters who never judged
    the anchor have the mean of their systems as theirs, and say so.
    """
    chosen, plan = choices or Choices(), plan or Plan()
    if not any(vote.label is not None for vote in votes):
        raise ValueError("there is no answer to a pair or a ranking" if votes else "there are no votes")
    settled = verdicts(votes)
    systems = sorted({system for verdict in settled for system in verdict.systems})
    if chosen.anchor and chosen.anchor not in systems:
        raise ValueError(f"no system {chosen.anchor!r} to start from; there are {', '.join(systems)}")
    groups = _groups(votes)
    voters = tuple(_voters(name, kind, mine, settled, chosen, plan) for name, kind, mine in groups)
    several = dict.fromkeys(vote.rater for vote in votes)
    positions = (
        (position_bias([v for v in votes if v.rater == rater], rater, plan) for rater in several)
        if len(several) > len(groups)
        else ()
    )
    return Preferences(
        voters,
        tuple(found for found in positions if found is not None),
        tuple(agreement(settled, plan)),
        tuple(ranked_alike(settled, plan)),
        chosen,
        plan,
    )


def _groups(votes: Sequence[Vote]) -> list[tuple[str, str, list[Vote]]]:
    """Return name, kind and votes of each group: people first, together; others by name."""
    kinds = {vote.kind for vote in votes}
    if kinds <= {EVERYBODY}:
        return [(ALL_NAME, EVERYBODY, list(votes))]
    found: dict[tuple[bool, str, str], list[Vote]] = {}
    for vote in votes:
        people = vote.kind in (PEOPLE, EVERYBODY)
        key = (not people, PEOPLE_NAME if people else vote.rater, PEOPLE if people else vote.kind)
        found.setdefault(key, []).append(vote)
    return [(key[1], key[2], found[key]) for key in sorted(found)]


def _voters(
    name: str, kind: str, votes: list[Vote], settled: Sequence[Verdict], choices: Choices, plan: Plan
) -> Voters:
    raters = tuple(dict.fromkeys(vote.rater for vote in votes))
    mine = set(raters)
    games = games_of([v for v in settled if v.rater in mine], choices.both_bad)
    answers = Counter(v.label if v.label in LABELS else "ranking" for v in votes if v.label is not None)
    return Voters(
        name,
        kind,
        raters,
        {label: answers[label] for label in (*LABELS, "ranking") if answers[label]},
        sum(vote.label is None for vote in votes),
        standings(games, plan, choices.model, choices.anchor),
        position_bias(votes, name, plan),
    )
