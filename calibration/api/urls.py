"""API routes of calibration, under /api/v1/."""

from django.urls import path

from calibration.api import (
    counts,
    disagreements,
    exports,
    gold_differences,
    golds,
    plans,
    profiles,
    studies,
    turns_and_whole,
)

urlpatterns = [
    path("corpora/<int:pk>/profile/", profiles.profile, name="api-profile"),
    path("corpora/<int:pk>/counts/", counts.counts, name="api-counts"),
    path("corpora/<int:pk>/turns-and-whole/", turns_and_whole.turns_and_whole, name="api-turns-and-whole"),
    path("studies/", studies.studies, name="api-studies"),
    path("studies/<int:pk>/", studies.study, name="api-study"),
    path("studies/<int:pk>/report/", studies.report, name="api-report"),
    path("studies/<int:pk>/items/", disagreements.disagreements, name="api-report-items"),
    path("studies/<int:pk>/plan/", plans.plan, name="api-plan"),
    path("studies/<int:pk>/recompute/", studies.recompute, name="api-recompute"),
    path("studies/<int:pk>/open-test/", studies.open_test, name="api-open-test"),
    path("studies/<int:pk>/report.<str:form>", studies.report_file, name="api-report-file"),
    path("corpora/<int:pk>/report/", studies.corpus_report, name="api-corpus-report"),
    path("campaigns/<int:pk>/report/", studies.campaign_report, name="api-campaign-report"),
    path("gold/", golds.golds, name="api-golds"),
    path("gold/rules/", golds.rules, name="api-gold-rules"),
    path("gold/<int:pk>/difference/<int:other>/", gold_differences.compared, name="api-gold-difference"),
    path(
        "gold/<int:pk>/difference/<int:other>/rows.<str:form>",
        gold_differences.compared_file,
        name="api-gold-difference-file",
    ),
    path("gold/<int:pk>/", golds.gold, name="api-gold"),
    path("gold/<int:pk>/labels.<str:form>", golds.labels, name="api-gold-labels"),
    path("exports/", exports.exports, name="api-exports"),
    path("exports/labels.<str:form>", exports.labels, name="api-export-labels"),
    path("exports/packages/<str:kind>.zip", exports.package, name="api-export-package"),
    path("exports/transcripts.<str:form>", exports.transcripts, name="api-export-transcripts"),
    path("exports/files/<int:pk>/", exports.written_file, name="api-export-file"),
]
