"""Names of judges and metrics on the pages of reports.

A snapshot, its links and its files hold a rater's `name`, which never changes. Pages show the short name that
researchers edit, read when the page is shown, so a new one appears in reports that were computed before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

from annotation.models import Corpus, LabelCount, Rater
from calibration.models import Report
from calibration.ratings.definitions import Definition
from calibration.reports.snapshot import Snapshot, snapshot_of
from calibration.statistics.analysis import MEAN_OF_PEOPLE


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


# A snapshot with the names of pages, from which charts, tables and sentences take theirs.

RATER_FIELDS = frozenset(
    ("name", "names", "rater", "raters", "judge", "people", "members", "groups", "reference", "heading", "of")
)
"""Fields of a snapshot's records that hold the names of raters."""
RESERVED = ("people", MEAN_OF_PEOPLE)


class RaterTitle(str):
    """A judge's or metric's name as pages show it; `key` is its name, which addresses keep."""

    key: str

    @classmethod
    def of(cls, title: str, key: str) -> RaterTitle:
        """Return a title of the rater with this name."""
        rater = cls(title)
        rater.key = key
        return rater


def key_of(name: str) -> str:
    """Return the name that addresses keep: that of a title, any other text unchanged."""
    return name.key if isinstance(name, RaterTitle) else name


def titled_snapshot(report: Report, names: Names | None = None) -> Snapshot:
    """Return a report's snapshot with short names in place of its judges' and metrics' names.

    `names` are those of the report, if they were read already. A short name that a person or system of the
    report has, too, is not shown.
    """
    result, names = snapshot_of(report), names or names_of(report)
    titles = {name: names.short(name) for name in names.raters if names.short(name) != name}
    if not titles:
        return result
    reserved = {*RESERVED, *_names(result)}
    titles_shown = {name: RaterTitle.of(text, name) for name, text in titles.items() if text not in reserved}
    snapshot: Snapshot = _titled(result, titles_shown, is_name=False)
    return snapshot


def _names(value: Any, *, is_name: bool = False) -> Iterator[str]:
    """Yield the texts in fields that hold names."""
    if isinstance(value, str):
        if is_name:
            yield value
    elif isinstance(value, tuple):
        for member in value:
            yield from _names(member, is_name=is_name)
    elif is_dataclass(value) and not isinstance(value, Definition):
        for part in fields(value):
            yield from _names(getattr(value, part.name), is_name=part.name in RATER_FIELDS)


def _titled(value: Any, titles: Mapping[str, RaterTitle], *, is_name: bool) -> Any:
    if isinstance(value, str):
        return titles.get(value, value) if is_name else value
    if isinstance(value, tuple):
        members = tuple(_titled(member, titles, is_name=is_name) for member in value)
        same = all(new is old for new, old in zip(members, value, strict=True))
        return value if same else members
    if is_dataclass(value) and not isinstance(value, type | Definition):
        changed = {}
        for part in fields(value):
            old = getattr(value, part.name)
            new = _titled(old, titles, is_name=part.name in RATER_FIELDS)
            if new is not old:
                changed[part.name] = new
        return replace(value, **changed) if changed else value
    return value
