"""The table of statistics over raters: the available ones, and where each applies."""

from __future__ import annotations

from calibration.statistics.core.engine import JudgeTest, Statistic
from calibration.statistics.correlation import CORRELATION, RANKING
from calibration.statistics.icc import ICC
from calibration.statistics.pairwise import CLASSIFICATION, PAIRWISE
from calibration.statistics.panel import ALPHA, PANEL
from calibration.statistics.replacement import JUDGE_TESTS
from calibration.statistics.sets import ALPHA_MASI

STATISTICS: dict[str, Statistic] = {
    s.key: s for s in (*PAIRWISE, *PANEL, ALPHA, ALPHA_MASI, *CLASSIFICATION, *ICC, *CORRELATION, RANKING)
}


def described() -> dict[str, Statistic | JudgeTest]:
    """Return everything a study may request, by key: statistics of raters, then the tests of a judge."""
    return {**STATISTICS, **JUDGE_TESTS}
