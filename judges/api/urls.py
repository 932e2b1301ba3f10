"""API routes of judges, under /api/v1/."""

from django.urls import URLPattern, path

from judges.api import changes, views

urlpatterns: list[URLPattern] = [
    path("runs/", views.Runs.as_view(), name="api-runs"),
    path("runs/estimate/", views.EstimateRun.as_view(), name="api-estimate-run"),
    path("runs/<int:pk>/", views.OneRun.as_view(), name="api-run"),
    path("runs/<int:pk>/cancel/", views.CancelRun.as_view(), name="api-cancel-run"),
    path("runs/<int:pk>/retry/", views.RetryRun.as_view(), name="api-retry-run"),
    path("runs/<int:pk>/pause/", changes.PauseRun.as_view(), name="api-pause-run"),
    path("runs/<int:pk>/resume/", changes.ResumeRun.as_view(), name="api-resume-run"),
    path("runs/<int:pk>/caps/", changes.CapRun.as_view(), name="api-cap-run"),
    path("runs/costs/", changes.Costs.as_view(), name="api-run-costs"),
    path("runs/<int:pk>/calls/", views.Calls.as_view(), name="api-calls"),
    path("protocols/", views.Protocols.as_view(), name="api-protocols"),
    path("metrics/", views.Metrics.as_view(), name="api-metrics"),
    path("endpoints/", views.Endpoints.as_view(), name="api-endpoints"),
    path("endpoints/<int:pk>/", views.OneEndpoint.as_view(), name="api-endpoint"),
    path("endpoints/<int:pk>/test/", views.TestEndpoint.as_view(), name="api-test-endpoint"),
]
