"""Reports and gold made from a person's answers."""

from __future__ import annotations

from django.contrib.auth.models import User

from annotation.models import Label, Rater
from annotation.work.labels import name_of
from calibration.models import Gold, Report


def uses_of(person: User) -> list[str]:
    """Return one line per study with a report, and per gold, that names the person among its raters."""
    raters = list(Rater.objects.filter(user=person))
    corpora = Label.objects.filter(rater__user=person).values("item__corpus").distinct()
    if not raters:
        return []

    def names(corpus: int) -> set[str]:
        """Return their pseudonyms, and the names stored before there were pseudonyms."""
        return {name for rater in raters for name in (rater.name, name_of(rater, corpus))}

    reports = (
        Report.objects.filter(study__corpus__in=corpora).select_related("study").order_by("study_id", "pk")
    )
    studies = {
        f"the report {report.study.name}": None
        for report in reports
        if _in_report(report, names(report.study.corpus_id))
    }
    golds = Gold.objects.filter(corpus__in=corpora).select_related("scheme_version__scheme").order_by("pk")
    gold_lines = [
        f"gold {gold.pk} ({gold.scheme_version.name} by {gold.rule})"
        for gold in golds
        if _has_any_name(
            [*gold.options.get("raters", []), *gold.options.get("adjudicators", [])], names(gold.corpus_id)
        )
    ]
    return [*studies, *gold_lines]


def _in_report(report: Report, names: set[str]) -> bool:
    questions = report.result.get("questions", [])
    return any(
        _has_any_name([rater["name"] for rater in question["raters"]], names) for question in questions
    )


def _has_any_name(raters: list[str], names: set[str]) -> bool:
    """Whether a name is among raters; a name shared by two raters is followed by the kind."""
    return any(rater == name or rater.startswith(f"{name} (human") for rater in raters for name in names)
