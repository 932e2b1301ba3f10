"""The tables of studies, gold labels, exports, adjudication and the workbench."""

from calibration.models.adjudication import (
    AdjudicationCase,
    AdjudicationDecision,
    AdjudicationDraw,
    AdjudicationRound,
)
from calibration.models.exports import Export
from calibration.models.gold import Gold, GoldLabel
from calibration.models.searches import Search, SearchRequest, SearchText
from calibration.models.studies import Report, Study
from calibration.models.workbench import ForAdjudication, Mark

__all__ = [
    "AdjudicationCase",
    "AdjudicationDecision",
    "AdjudicationDraw",
    "AdjudicationRound",
    "Export",
    "ForAdjudication",
    "Gold",
    "GoldLabel",
    "Mark",
    "Report",
    "Search",
    "SearchRequest",
    "SearchText",
    "Study",
]
