"""API routes of judges, under /api/v1/."""

from django.urls import URLPattern, path

from judges.api import changes, prompts, views

urlpatterns: list[URLPattern] = [
    path("runs/", views.Runs.as_view(), name="api-runs"),
    path("runs/estimate/", views.EstimateRun.as_view(), name="api-estimate-run"),
    path("runs/<int:pk>/", views.OneRun.as_view(), name="api-run"),
    path("runs/<int:pk>/cancel/", views.CancelRun.as_view(), name="api-cancel-run"),
    path("runs/<int:pk>/retry/", views.RetryRun.as_view(), name="api-retry-run"),
    path("runs/<int:pk>/pause/", changes.PauseRun.as_view(), name="api-pause-run"),
    path("runs/<int:pk>/resume/", changes.ResumeRun.as_view(), name="api-resume-run"),
    path("runs/<int:pk>/caps/", changes.CapRun.as_view(), name="api-cap-run"),
    path("runs/<int:pk>/batches/", changes.Batches.as_view(), name="api-batches"),
    path("batches/<int:pk>/look/", changes.LookAtBatch.as_view(), name="api-look-at-batch"),
    path("batches/<int:pk>/adopt/", changes.AdoptBatch.as_view(), name="api-adopt-batch"),
    path("batches/<int:pk>/give-up/", changes.GiveUpBatch.as_view(), name="api-give-up-batch"),
    path("runs/costs/", changes.Costs.as_view(), name="api-run-costs"),
    path("runs/<int:pk>/calls/", views.Calls.as_view(), name="api-calls"),
    path("protocols/", views.Protocols.as_view(), name="api-protocols"),
    path("metrics/", views.Metrics.as_view(), name="api-metrics"),
    path("prompts/", prompts.prompts, name="api-prompts"),
    path("prompts/diff/", prompts.compared, name="api-prompt-difference"),
    path("prompts/import/", prompts.imported, name="api-import-prompt"),
    path("prompts/request/", prompts.preview_request, name="api-prompt-request"),
    path("prompts/<str:name>/", prompts.prompt, name="api-prompt"),
    path("prompts/<str:name>/examples/", prompts.examples, name="api-prompt-examples"),
    path("prompts/<str:name>/export.<str:form>", prompts.exported, name="api-export-prompt"),
    path("prompts/<str:name>/versions/", prompts.versions, name="api-prompt-versions"),
    path("prompts/<str:name>/versions/<int:number>/", prompts.version, name="api-prompt-version"),
    path("endpoints/", views.Endpoints.as_view(), name="api-endpoints"),
    path("endpoints/<int:pk>/", views.OneEndpoint.as_view(), name="api-endpoint"),
    path("endpoints/<int:pk>/test/", views.TestEndpoint.as_view(), name="api-test-endpoint"),
]
