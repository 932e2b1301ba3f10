"""Pages of calibration: studies and their reports, gold labels, exports."""

from django.urls import path

from calibration.pages import counts, disagreements, exports, golds, profiles, reports, studies, transcripts

urlpatterns = [
    path("corpora/<int:pk>/report/", reports.corpus_report, name="corpus-report"),
    path("campaigns/<int:pk>/report/", reports.campaign_report, name="campaign-report"),
    path("corpora/<int:pk>/profile/", profiles.profile, name="profile"),
    path("corpora/<int:pk>/profile.<str:form>", profiles.profile_file, name="profile-file"),
    path("corpora/<int:pk>/profile/<int:metric>.<str:form>", profiles.profile_chart, name="profile-chart"),
    path("corpora/<int:pk>/counts/", counts.counts, name="counts"),
    path("corpora/<int:pk>/counts/test/", counts.counts_test, name="counts-test"),
    path("corpora/<int:pk>/counts.<str:form>", counts.counts_file, name="counts-file"),
    path("profile/<int:pk>/", profiles.profile_continuation, name="profile-continuation"),
    path("studies/", studies.index, name="studies"),
    path("studies/new/", studies.new, name="new-study"),
    path("studies/<int:pk>/", studies.show, name="study"),
    path("studies/<int:pk>/report/", reports.report, name="report"),
    path("studies/<int:pk>/items/", disagreements.disagreements, name="report-items"),
    path("studies/<int:pk>/recompute/", reports.recompute, name="recompute"),
    path("studies/<int:pk>/progress/<int:job>/", reports.progress, name="report-progress"),
    path("studies/<int:pk>/test/", reports.open_test, name="open-test"),
    path("studies/<int:pk>/report.<str:form>", reports.handed_out, name="report-file"),
    path("studies/<int:pk>/chart/<slug:key>.<str:form>", reports.chart, name="report-chart"),
    path("gold/", golds.index, name="golds"),
    path("gold/new/", golds.new, name="new-gold"),
    path("gold/<int:pk>/", golds.show, name="gold"),
    path("gold/<int:pk>/gold.<str:form>", golds.download, name="gold-file"),
    path("gold/<int:pk>/provenance.json", golds.provenance, name="gold-provenance"),
    path("exports/", exports.index, name="exports"),
    path("exports/<int:pk>/manifest.json", exports.manifest, name="export-manifest"),
    path("exports/labels.<str:form>", exports.labels, name="export-labels"),
    path("exports/packages/<str:kind>.zip", exports.package, name="export-package"),
    path("exports/transcripts/", transcripts.choose_transcripts, name="transcripts"),
    path("exports/transcripts.<str:form>", transcripts.transcripts_file, name="export-transcripts"),
    path("exports/files/<int:pk>/", exports.written_file, name="export-file"),
]
