"""Errors about studies, gold and exports, each with a one-line message for the user.

CalibrationError
├── DefinitionError  a study's definition is invalid, or no longer fits the labels
├── MapError         a map between two scales is invalid
├── StudyError       a study cannot be created, computed or opened on test
├── OlderFormat      a report was stored by a version too old to be read
├── RequirementError  a requirement on a report cannot be read, or speaks of nothing in it
├── ShareRefused     a report cannot be shared, or a link to one does not work
├── ItemsRefused     the items behind a figure cannot be listed
├── CountsRefused    counts by system and condition cannot be computed
├── PreferencesRefused  there is no report of preferences
├── ProfileRefused   metric scores by system cannot be shown
├── LevelsRefused    turns and whole continuations cannot be compared
├── CompareRefused   continuations cannot be compared
├── PlanRefused      a study cannot be planned
├── WorkbenchRefused  an action on the judge workbench is not possible
├── AdjudicationRefused  a round, case or decision is not possible
│   ├── NotYours         the case is not this person's to decide
│   ├── CaseLost         the case went to somebody else; the draft is kept
│   └── OtherDraft       another tab or device saved another draft: both are shown
├── DriftRefused     an anchor set, a recheck or a monitor is not possible
├── GoldRuleError    gold labels cannot be made
├── GoldDifferenceRefused  two golds cannot be compared
└── ExportRefused    a part of a corpus cannot be downloaded
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class CalibrationError(ValueError):
    """Base class: the message is meant for users."""


class RequirementError(CalibrationError):
    """A requirement on a report that cannot be read, or that speaks of nothing in the report."""


class DefinitionError(CalibrationError):
    """Invalid definition; the message is one line."""


class MapError(CalibrationError):
    """Invalid map, or one that does not lead from one scale to the other."""


class StudyError(CalibrationError):
    """A requested action on a study is not possible."""


class OlderFormat(CalibrationError):
    """Report in an older format; the message says what to do."""


class ShareRefused(CalibrationError):
    """A link to a report cannot be created, or does not work; `field` is the invalid field, if one is."""

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field


class ItemsRefused(CalibrationError):
    """The requested items cannot be listed."""


class CountsRefused(CalibrationError):
    """There is no table of counts."""


class PreferencesRefused(CalibrationError):
    """There is no report of preferences."""


class ProfileRefused(CalibrationError):
    """Metric scores by system cannot be shown; the message is one line."""


class LevelsRefused(CalibrationError):
    """Labels of turns and of whole continuations cannot be compared."""


class CompareRefused(CalibrationError):
    """Continuations of a dialogue cannot be compared."""


class PlanRefused(CalibrationError):
    """There is no plan."""


class WorkbenchRefused(CalibrationError):
    """Something on the workbench cannot be shown or done."""


class AdjudicationRefused(CalibrationError):
    """An action in adjudication is not possible; `code` is for API clients, `status` the HTTP status."""

    code = "adjudication_refused"
    status = 422

    def details(self) -> dict[str, Any]:
        """Return details for API clients, besides code and message."""
        return {}


class NotYours(AdjudicationRefused):
    """The case is not this person's to decide."""

    code = "not_found"
    status = 404


class CaseLost(AdjudicationRefused):
    """The case belongs to somebody else now."""

    code = "lease_lost"
    status = 409


class OtherDraft(AdjudicationRefused):
    """A draft is stored that the sender has not seen: `stored_draft`."""

    code = "draft_conflict"
    status = 409

    def __init__(self, message: str, stored_draft: Mapping[str, Any]) -> None:
        super().__init__(message)
        self.stored_draft = stored_draft

    def details(self) -> dict[str, Any]:
        """Return the stored draft."""
        return {"kept": dict(self.stored_draft)}


class DriftRefused(CalibrationError):
    """An anchor set, a recheck or a monitor that is not possible."""


class GoldRuleError(CalibrationError):
    """Gold labels cannot be made."""


class GoldDifferenceRefused(CalibrationError):
    """The two golds have nothing to compare."""


class ExportRefused(CalibrationError):
    """The part cannot be downloaded."""
