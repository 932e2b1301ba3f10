"""The tables of studies and gold labels."""

from calibration.models.gold import Gold, GoldLabel
from calibration.models.studies import Report, Study

__all__ = ["Gold", "GoldLabel", "Report", "Study"]
