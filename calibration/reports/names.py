"""Names of judges and metrics on the pages of reports.

A snapshot, its links and its files hold a rater's `name`, which never changes. Pages show the short name that
researchers edit, read when the page is shown, so a new one appears in reports that were computed before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from annotation.models import Corpus, LabelCount, Rater
from calibration.models import Report


@dataclass(frozen=True, slots=True)
class Names:
    """Titles and small print of a corpus's judges and metrics, by the names that reports use."""

    raters: Mapping[str, Rater] = field(default_factory=dict)

    def short(self, name: str) -> str:
        """Return the name to show: a judge's or metric's short name, any other name unchanged."""
        rater = self.raters.get(name)
        return rater.title if rater and rater.short_name else name

    def detail(self, name: str) -> str:
        """Return the small print beside a short name (model and prompt version); '' for other names."""
        rater = self.raters.get(name)
        return rater.detail if rater and rater.short_name else ""


def names_of(report: Report) -> Names:
    """Return the names of a report's judges and metrics as they are now: one query."""
    return names_in(report.study.corpus)


def names_in(corpus: Corpus) -> Names:
    """Return the names of the judges and metrics that answered about a corpus."""
    ids = LabelCount.objects.filter(corpus=corpus).order_by().values("rater")
    kinds = [Rater.Kind.JUDGE, Rater.Kind.METRIC]
    return Names(by_report_name(Rater.objects.filter(pk__in=ids, kind__in=kinds)))


def by_report_name(raters: Iterable[Rater]) -> dict[str, Rater]:
    """Map raters by every name that reports give them (`calibration.ratings.scope`).

    Where two share a name, reports add the kind, and if need be the id; the bare name then means neither.
    """
    rows = list(raters)
    names = Counter(rater.name for rater in rows)
    with_kind = Counter((rater.name, rater.kind) for rater in rows)
    mapping = {}
    for rater in rows:
        mapping[f"{rater.name} ({rater.kind} {rater.pk})"] = rater
        if with_kind[rater.name, rater.kind] == 1:
            mapping[f"{rater.name} ({rater.kind})"] = rater
        if names[rater.name] == 1:
            mapping[rater.name] = rater
    return mapping
