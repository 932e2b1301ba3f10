"""What a table of counts is asked for, in the same words by page, command and API."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from annotation.errors import SplitRefused
from annotation.models import Campaign, Corpus, Split
from calibration.errors import CountsRefused
from calibration.reading.scope import PARTS, Scope, scope_of, shown_part
from calibration.statistics import Plan
from calibration.statistics.judge_errors import CORRECTIONS, Correction

SamplesOf = Literal["", "first", "mean"]
SAMPLES: tuple[str, ...] = get_args(SamplesOf)
SYSTEM = "system"
"""The key that is no condition: a row per system."""
PEOPLE = "people"
"""The rater that is all people together."""
MOST_TURNS, MOST_RESAMPLES = 10_000, 20_000


@dataclass(frozen=True)
class CountsQuery:
    """A question put to the labels of a corpus or campaign.

    ``rater`` is a name, or `people`; empty takes the one with most labels. ``questions`` name questions or
    schemes; none take what the rater answered most. ``by`` are condition keys, or `system`; ``strata`` is a
    key of the dialogues' metadata. ``part`` is dev, test (once it was opened), training, or all without
    a split.
    """

    corpus: Corpus
    campaign: Campaign | None = None
    rater: str = ""
    questions: tuple[str, ...] = ()
    by: tuple[str, ...] = (SYSTEM,)
    strata: str = ""
    per_turns: int | None = None
    samples: SamplesOf = ""
    correction: Correction = "auto"
    part: str = ""
    plan: Plan = field(default_factory=Plan)

    @property
    def scope(self) -> Scope:
        """The labels that are read."""
        return scope_of(self.corpus, self.campaign, self.part)


def read(given: Mapping[str, Any], corpus: Corpus, campaign: Campaign | None) -> CountsQuery:
    """Return the query that plain texts (of an address, a form, a command) ask for.

    Lists are separated by commas. Raises CountsRefused with one clear line.
    """
    text = {key: str(value).strip() for key, value in given.items() if value is not None}
    correction, samples = text.get("correction") or "auto", text.get("samples", "")
    if correction not in CORRECTIONS:
        raise CountsRefused(f"no correction {correction!r}; there are {', '.join(CORRECTIONS)}")
    if samples not in SAMPLES:
        raise CountsRefused(f"samples are first or mean, not {samples!r}")
    part = text.get("part", "")
    if part not in PARTS:
        raise CountsRefused(f"a part is dev, test, all or training, not {part!r}")
    resamples = _whole("resamples", text.get("resamples", ""), MOST_RESAMPLES)
    seed = _whole("seed", text.get("seed", ""), 2**31)
    by = _list(text.get("by", "")) or (SYSTEM,)
    return CountsQuery(
        corpus=corpus,
        campaign=campaign,
        rater=text.get("rater", ""),
        questions=_list(text.get("questions", "")),
        by=tuple(dict.fromkeys(by)),
        strata=text.get("strata", ""),
        per_turns=_whole("per_turns", text.get("per_turns", ""), MOST_TURNS, least=1),
        samples=samples,  # type: ignore[arg-type]
        correction=correction,
        part=part,
        plan=Plan(2000 if resamples is None else resamples, seed or 0),
    )


def _list(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _whole(name: str, text: str, most: int, least: int = 0) -> int | None:
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 12 and least <= int(text) <= most):
        raise CountsRefused(
            f"{name.replace('_', ' ')}: a whole number from {least} to {most:,}, not {text!r}"
        )
    return int(text)


def part_of(query: CountsQuery) -> tuple[Split | None, str]:
    """Return the split that locks the corpus and the part to show: dev unless test or training is asked for.

    Raises CountsRefused for test before it was opened, and for a part that there is not.
    """
    try:
        return shown_part(query.scope, query.part)
    except SplitRefused as error:
        raise CountsRefused(str(error)) from error
