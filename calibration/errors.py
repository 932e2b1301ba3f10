"""What can be refused about studies, gold and exports, each with one clear line for whoever asked.

CalibrationError
├── DefinitionError  a study's definition does not make sense, or no longer fits the labels
├── MapError         a map between two scales that is not one
├── StudyError       a study cannot be made, computed or opened on test like this
├── OlderFormat      a report was kept by a version too old to be read
├── ItemsRefused     the items behind a figure cannot be listed
├── CountsRefused    counts by system and condition cannot be made like this
├── PreferencesRefused  there is no report of preferences
├── LevelsRefused    turns and whole continuations cannot be put side by side
├── CompareRefused   continuations cannot be put side by side
├── PlanRefused      a study cannot be planned like this
├── WorkbenchRefused  something cannot be done on the judge workbench
├── AdjudicationRefused  a round, a case or a decision cannot be like this
│   ├── NotYours         the case is not this person's to decide on
│   ├── CaseLost         the case went to somebody else; the draft is kept
│   └── OtherDraft       another tab or device kept another draft: both are shown
├── GoldRuleError    gold labels cannot be made like this
├── GoldDifferenceRefused  two golds cannot be compared
└── ExportRefused    a part of a corpus is not for download like this
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class CalibrationError(ValueError):
    """The base: the message is for people."""


class DefinitionError(CalibrationError):
    """A definition that means nothing; the message is one clear line."""


class MapError(CalibrationError):
    """A map that cannot be read, or does not lead from one scale to the other."""


class StudyError(CalibrationError):
    """What a person asked of a study cannot be done."""


class OlderFormat(CalibrationError):
    """A report of an older format; the message says what to do."""


class ItemsRefused(CalibrationError):
    """The items that a person asked for cannot be listed."""


class CountsRefused(CalibrationError):
    """Why there is no table of counts."""


class PreferencesRefused(CalibrationError):
    """Why there is no report of preferences."""


class LevelsRefused(CalibrationError):
    """Why labels of turns and of whole continuations cannot be compared."""


class CompareRefused(CalibrationError):
    """Why continuations of a dialogue cannot be put side by side."""


class PlanRefused(CalibrationError):
    """Why there is no plan."""


class WorkbenchRefused(CalibrationError):
    """Why something on the workbench cannot be shown or done."""


class AdjudicationRefused(CalibrationError):
    """Why something in adjudication cannot be done; `code` is for programs, `status` for HTTP."""

    code = "adjudication_refused"
    status = 422

    def details(self) -> dict[str, Any]:
        """Return what a program may want to know beyond code and message."""
        return {}


class NotYours(AdjudicationRefused):
    """Not this person's to decide on."""

    code = "not_found"
    status = 404


class CaseLost(AdjudicationRefused):
    """Somebody else decides on the case now."""

    code = "lease_lost"
    status = 409


class OtherDraft(AdjudicationRefused):
    """Another draft is stored than the sender has seen: `stored_draft`."""

    code = "draft_conflict"
    status = 409

    def __init__(self, message: str, stored_draft: Mapping[str, Any]) -> None:
        super().__init__(message)
        self.stored_draft = stored_draft

    def details(self) -> dict[str, Any]:
        """Return the draft that is kept."""
        return {"kept": dict(self.stored_draft)}


class GoldRuleError(CalibrationError):
    """Gold that cannot be made."""


class GoldDifferenceRefused(CalibrationError):
    """Two golds that have nothing to compare."""


class ExportRefused(CalibrationError):
    """Why a part is not for download."""
