"""Pages of judges."""

from django.urls import URLPattern, path

from judges.pages import changes, endpoints, runs, starting

urlpatterns: list[URLPattern] = [
    path("runs/", runs.run_list, name="runs"),
    path("runs/new/", starting.new_run, name="new-run"),
    path("runs/<int:pk>/", runs.run_page, name="run"),
    path("runs/<int:pk>/progress/", runs.run_progress, name="run-progress"),
    path("runs/<int:pk>/cancel/", runs.cancel_run, name="cancel-run"),
    path("runs/<int:pk>/pause/", changes.pause_run, name="pause-run"),
    path("runs/<int:pk>/resume/", changes.resume_run, name="resume-run"),
    path("runs/<int:pk>/caps/", changes.cap_run, name="cap-run"),
    path("runs/costs/", changes.costs, name="run-costs"),
    path("runs/<int:pk>/retry/", runs.retry_run, name="retry-run"),
    path("endpoints/", endpoints.endpoints, name="endpoints"),
    path("endpoints/<int:pk>/", endpoints.endpoint, name="endpoint"),
    path("endpoints/<int:pk>/test/", endpoints.test_endpoint, name="test-endpoint"),
]
