"""The tables of studies, gold labels and exports."""

from calibration.models.exports import Export
from calibration.models.gold import Gold, GoldLabel
from calibration.models.studies import Computation, Report, Study

__all__ = ["Computation", "Export", "Gold", "GoldLabel", "Report", "Study"]
