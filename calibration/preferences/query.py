"""What a report of preferences is asked for, in the same words by page, command and API."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from annotation.models import Campaign, Corpus, Split
from calibration.counts.query import MOST_RESAMPLES, CountsQuery, part_of
from calibration.errors import PreferencesRefused
from calibration.reading.scope import PARTS, Scope, scope_of
from calibration.statistics import Plan
from calibration.statistics.preferences.fitting import MODELS
from calibration.statistics.preferences.report import Choices
from calibration.statistics.preferences.votes import BOTH_BAD_POLICIES

NAMES = ("question", "systems", "ties", "both_bad", "anchor", "part", "resamples", "seed")
"""What an address may ask for."""


@dataclass(frozen=True)
class PreferencesQuery:
    """A question put to the answers about pairs and rankings of a corpus or campaign.

    ``question`` is `scheme@version/key` or a key, empty for all. ``systems`` keeps comparisons among these
    alone. ``part`` is dev, test (once it was opened), training, or all without a split.
    """

    corpus: Corpus
    campaign: Campaign | None = None
    question: str = ""
    systems: tuple[str, ...] = ()
    choices: Choices = field(default_factory=Choices)
    part: str = ""
    plan: Plan = field(default_factory=Plan)

    @property
    def scope(self) -> Scope:
        """The labels that are read."""
        return scope_of(self.corpus, self.campaign, self.part)

    def parted(self) -> tuple[Split | None, str]:
        """Return the split that locks the corpus and the part to show. Raises CalibrationError."""
        return part_of(CountsQuery(self.corpus, self.campaign, part=self.part))


def read(given: Mapping[str, Any], corpus: Corpus, campaign: Campaign | None) -> PreferencesQuery:
    """Return the query that plain texts (of an address, a form, a command) ask for.

    Systems are separated by commas. Raises PreferencesRefused with one clear line.
    """
    text = {key: str(value).strip() for key, value in given.items() if value is not None}
    ties, both_bad = text.get("ties") or "half", text.get("both_bad") or "tie"
    for name, value, known in (("ties", ties, MODELS), ("both_bad", both_bad, BOTH_BAD_POLICIES)):
        if value not in known:
            raise PreferencesRefused(f"{name} is one of {', '.join(known)}, not {value!r}")
    if (part := text.get("part", "")) not in PARTS:
        raise PreferencesRefused(f"a part is dev, test, all or training, not {part!r}")
    resamples = _whole("resamples", text.get("resamples", ""), MOST_RESAMPLES, 2000)
    return PreferencesQuery(
        corpus,
        campaign,
        text.get("question", ""),
        tuple(name.strip() for name in text.get("systems", "").split(",") if name.strip()),
        cast(Any, Choices)(ties, both_bad, text.get("anchor", "")),
        part,
        Plan(resamples, _whole("seed", text.get("seed", ""), 2**31, 0)),
    )


def _whole(name: str, text: str, most: int, usual: int) -> int:
    if not text:
        return usual
    if not (text.isascii() and text.isdigit() and len(text) < 12 and int(text) <= most):
        raise PreferencesRefused(f"{name}: a whole number from 0 to {most:,}, not {text!r}")
    return int(text)
