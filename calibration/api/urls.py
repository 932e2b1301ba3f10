"""API routes of calibration, under /api/v1/."""

from django.urls import path

from calibration.api import adjudication, campaigns, comparisons, drift, exports, golds, studies, workbench
from config.api import route

urlpatterns = [
    path(
        "campaigns/<int:campaign>/checks/", route(campaigns.checks, campaigns.set_checks), name="api-checks"
    ),
    path(
        "campaigns/<int:campaign>/checks/results/", route(campaigns.check_results), name="api-check-results"
    ),
    path("campaigns/<int:campaign>/checks/people/", route(campaigns.decide), name="api-check-people"),
    path(
        "campaigns/<int:campaign>/checks/keys/",
        route(campaigns.list_keys, campaigns.add_key),
        name="api-check-keys",
    ),
    path(
        "campaigns/<int:campaign>/checks/keys/from/",
        route(campaigns.add_keys_from),
        name="api-check-keys-from",
    ),
    path(
        "campaigns/<int:campaign>/checks/keys/<int:key>/",
        route(campaigns.show_key, campaigns.correct_key, campaigns.retire_key),
        name="api-check-key",
    ),
    path("work/<int:campaign>/agreement/", route(campaigns.own), name="api-own-agreement"),
    path("corpora/<str:name>/overview/", route(studies.corpus_overview), name="api-corpus-overview"),
    path("corpora/<int:pk>/profile/", route(comparisons.profile), name="api-profile"),
    path(
        "continuations/<int:pk>/profile/",
        route(comparisons.continuation_profile),
        name="api-profile-continuation",
    ),
    path("dialogues/<int:pk>/compare/", route(comparisons.compared), name="api-compare"),
    path(
        "corpora/<int:pk>/counts/", route(comparisons.counts, comparisons.counts_on_test), name="api-counts"
    ),
    path(
        "corpora/<int:pk>/preferences/",
        route(comparisons.preferences, comparisons.preferences_on_test),
        name="api-preferences",
    ),
    path("corpora/<int:pk>/turns-and-whole/", route(comparisons.turns_and_whole), name="api-turns-and-whole"),
    path("run-sets/<int:pk>/report/", route(studies.run_set_report), name="api-run-set-report"),
    path("studies/", route(studies.list_studies, studies.create_study), name="api-studies"),
    path("studies/<int:pk>/", route(studies.show_study), name="api-study"),
    path("studies/<int:pk>/report/", route(studies.report), name="api-report"),
    path("studies/<int:pk>/items/", route(studies.disagreements), name="api-report-items"),
    path("studies/<int:pk>/plan/", route(studies.plan), name="api-plan"),
    path("studies/<int:pk>/recompute/", route(studies.recompute), name="api-recompute"),
    path("studies/<int:pk>/open-test/", route(studies.open_test), name="api-open-test"),
    path("studies/<int:pk>/report.<str:form>", route(studies.report_file), name="api-report-file"),
    path("studies/<int:pk>/report/tables/", route(studies.report_tables), name="api-report-tables"),
    path(
        "studies/<int:pk>/report/tables/<slug:key>.<str:form>",
        route(studies.report_table),
        name="api-report-table",
    ),
    path(
        "studies/<int:pk>/shares/",
        route(studies.report_shares, studies.create_report_share),
        name="api-report-shares",
    ),
    path(
        "studies/<int:pk>/shares/<int:share>/",
        route(studies.revoke_report_share),
        name="api-report-share",
    ),
    path("corpora/<int:pk>/report/", route(studies.corpus_report), name="api-corpus-report"),
    path("campaigns/<int:campaign>/report/", route(studies.campaign_report), name="api-campaign-report"),
    path("campaigns/<int:campaign>/plan/", route(studies.campaign_plan), name="api-campaign-plan"),
    path("campaigns/<int:campaign>/watch/", route(campaigns.campaign_watch), name="api-campaign-watch"),
    path("anchor-sets/", route(drift.anchor_sets, drift.create_anchor_set), name="api-anchor-sets"),
    path(
        "anchor-sets/<int:pk>/",
        route(drift.anchor_set, drift.schedule_rechecks, drift.delete_anchor_set),
        name="api-anchor-set",
    ),
    path("anchor-sets/<int:pk>/rechecks/", route(drift.rechecks, drift.start_recheck), name="api-rechecks"),
    path(
        "anchor-sets/<int:pk>/rechecks/estimate/",
        route(drift.estimate_recheck),
        name="api-estimate-recheck",
    ),
    path("rechecks/<int:pk>/", route(drift.recheck), name="api-recheck"),
    path("corpora/<int:pk>/monitor/", route(drift.judge_monitor), name="api-judge-monitor"),
    path("gold/", route(golds.golds, golds.derive), name="api-golds"),
    path("gold/preview/", route(golds.preview), name="api-preview-gold"),
    path("gold/rules/", route(golds.rules), name="api-gold-rules"),
    path("gold/<int:pk>/difference/<int:other>/", route(golds.compare), name="api-gold-difference"),
    path(
        "gold/<int:pk>/difference/<int:other>/rows.<str:form>",
        route(*golds.difference_file),
        name="api-gold-difference-file",
    ),
    path("gold/<int:pk>/", route(golds.gold), name="api-gold"),
    path("gold/<int:pk>/labels.<str:form>", route(*golds.labels), name="api-gold-labels"),
    path("exports/", route(exports.exports), name="api-exports"),
    path("exports/labels.<str:form>", route(*exports.labels), name="api-export-labels"),
    path("exports/packages/<str:kind>.zip", route(*exports.package), name="api-export-package"),
    path("exports/dialogues.jsonl", route(exports.dialogues), name="api-export-dialogues"),
    path("exports/transcripts.<str:form>", route(*exports.transcripts), name="api-export-transcripts"),
    path("exports/names/", route(exports.names), name="api-export-names"),
    path("exports/files/<int:pk>/", route(exports.written_file), name="api-export-file"),
    path("workbench/", route(workbench.list_benches, workbench.open_bench), name="api-benches"),
    path("workbench/<int:pk>/", route(workbench.show_bench), name="api-bench"),
    path("workbench/<int:pk>/drafts/", route(workbench.try_draft), name="api-try-draft"),
    path("workbench/<int:pk>/drafts/<int:number>/", route(workbench.show_draft), name="api-draft"),
    path(
        "workbench/<int:pk>/drafts/<int:number>/<str:verb>/",
        route(workbench.act_on_draft),
        name="api-draft-act",
    ),
    path(
        "workbench/<int:pk>/disagreements/",
        route(workbench.list_disagreements),
        name="api-bench-disagreements",
    ),
    path("workbench/<int:pk>/marks/", route(workbench.show_marks, workbench.mark), name="api-bench-marks"),
    path("workbench/<int:pk>/versions/", route(workbench.compare_versions), name="api-bench-versions"),
    path(
        "workbench/<int:pk>/checks/",
        route(workbench.show_findings, workbench.start_check),
        name="api-bench-checks",
    ),
    path(
        "workbench/<int:pk>/searches/",
        route(workbench.list_searches, workbench.start_search),
        name="api-bench-searches",
    ),
    path("workbench/<int:pk>/searches/<int:search>/", route(workbench.show_search), name="api-bench-search"),
    path(
        "workbench/<int:pk>/searches/<int:search>/<str:verb>/",
        route(workbench.act_on_search),
        name="api-search-act",
    ),
    path(
        "adjudication/rounds/", route(adjudication.rounds, adjudication.begin), name="api-adjudication-rounds"
    ),
    path("adjudication/rounds/preview/", route(adjudication.preview), name="api-preview-adjudication"),
    path(
        "adjudication/rounds/<int:pk>/",
        route(adjudication.show_round, adjudication.change_round),
        name="api-adjudication-round",
    ),
    path("adjudication/rounds/<int:pk>/report/", route(adjudication.report), name="api-adjudication-report"),
    path("adjudication/rounds/<int:pk>/cases/", route(adjudication.cases), name="api-adjudication-cases"),
    path(
        "adjudication/rounds/<int:pk>/cases/<int:case>/",
        route(adjudication.case),
        name="api-adjudication-case",
    ),
    path(
        "adjudication/rounds/<int:pk>/import/",
        route(adjudication.import_decisions),
        name="api-import-decisions",
    ),
    path(
        "adjudication/rounds/<int:pk>/<slug:what>.<str:form>",
        route(adjudication.file),
        name="api-adjudication-file",
    ),
    path(
        "adjudication/decisions/<int:pk>/withdraw/",
        route(adjudication.withdraw_decision),
        name="api-withdraw-decision",
    ),
    path("adjudicate/", route(adjudication.my_rounds), name="api-my-adjudication"),
    path("adjudicate/<int:pk>/claim/", route(adjudication.claim), name="api-claim-case"),
    path("adjudicate/<int:pk>/<int:decision>/decide/", route(adjudication.decide), name="api-decide-case"),
    path("adjudicate/<int:pk>/<int:decision>/draft/", route(adjudication.draft), name="api-draft-case"),
    path("adjudicate/<int:pk>/<int:decision>/pass/", route(adjudication.pass_on), name="api-pass-case"),
    path("adjudication/", route(workbench.adjudication), name="api-adjudication"),
    path(
        "adjudication/<int:pk>/withdraw/",
        route(workbench.withdraw_adjudication),
        name="api-withdraw-adjudication",
    ),
]
