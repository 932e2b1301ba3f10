"""The table of statistics over raters: which there are, and where each applies."""

from __future__ import annotations

from calibration.statistics.alpha import ALPHA
from calibration.statistics.classification import CLASSIFICATION
from calibration.statistics.core.base import JudgeTest, Statistic
from calibration.statistics.correlation import CORRELATION
from calibration.statistics.icc import ICC
from calibration.statistics.pairwise import PAIRWISE
from calibration.statistics.panel import PANEL
from calibration.statistics.ranking import RANKING
from calibration.statistics.replacement import JUDGE_TESTS

STATISTICS: dict[str, Statistic] = {
    s.key: s for s in (*PAIRWISE, *PANEL, ALPHA, *CLASSIFICATION, *ICC, *CORRELATION, RANKING)
}


def described() -> dict[str, Statistic | JudgeTest]:
    """Return all that a study may ask for, by key: statistics of raters, then the tests of a judge."""
    return {**STATISTICS, **JUDGE_TESTS}
