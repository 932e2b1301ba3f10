"""The tables of studies, gold labels and exports."""

from calibration.models.exports import Export
from calibration.models.gold import Gold, GoldLabel
from calibration.models.studies import Report, Study

__all__ = ["Export", "Gold", "GoldLabel", "Report", "Study"]
