"""The table of statistics over raters: which there are, and where each applies."""

from __future__ import annotations

from calibration.statistics.alpha import ALPHA
from calibration.statistics.classification import CLASSIFICATION
from calibration.statistics.core.base import Statistic
from calibration.statistics.correlation import CORRELATION
from calibration.statistics.icc import ICC
from calibration.statistics.pairwise import PAIRWISE
from calibration.statistics.panel import PANEL

STATISTICS: dict[str, Statistic] = {
    s.key: s for s in (*PAIRWISE, *PANEL, ALPHA, *CLASSIFICATION, *ICC, *CORRELATION)
}
