"""What a report of preferences is made of: per question the figures, and the facts that go with them."""

from __future__ import annotations

from dataclasses import dataclass

from calibration.statistics.preferences.report import Preferences


@dataclass(frozen=True)
class Asked:
    """One question's figures. ``title`` is empty where a file has one question without a name."""

    key: str
    title: str
    figures: Preferences


@dataclass(frozen=True)
class Report:
    """All questions of a file, a corpus or a campaign: its name, what was read, and what limits it."""

    name: str
    questions: tuple[Asked, ...]
    facts: tuple[str, ...] = ()
