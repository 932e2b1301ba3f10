"""Agreement and judge-calibration statistics over plain arrays, usable without the web application.

    ratings = ratings_from_records(records, level="ordinal", values=(1, 2, 3, 4, 5))
    analysis = analyse(ratings, question="overall", plan=Plan(resamples=2000, seed=0))
    for entry in analysis.entries:         # panel, pairs, alternative annotator test, gaps
        print(entry.raters, entry.result)  # value, low, high, n_items, ..., status, reason, flags
    analysis.find("krippendorff_alpha").result.value

``Record`` is one answer (item, rater, value, cluster, kind, identified, sample). ``STATISTICS`` lists what
can be computed over raters; families with other inputs (prevalence, score calibration, gold, repeats,
planning, comparisons) are modules of their own. Every answer is a ``Result``.
"""

from calibration.statistics.analysis import Analysis, Entry, analyse
from calibration.statistics.core.engine import FLAGS, Result
from calibration.statistics.core.ratings import RatingError, Ratings, Record, ratings_from_records
from calibration.statistics.core.resampling import Plan
from calibration.statistics.table import STATISTICS

__all__ = [
    "FLAGS",
    "STATISTICS",
    "Analysis",
    "Entry",
    "Plan",
    "RatingError",
    "Ratings",
    "Record",
    "Result",
    "analyse",
    "ratings_from_records",
]
