"""Pages of background work."""

from django.urls import URLPattern, path

from jobs.pages import jobs

urlpatterns: list[URLPattern] = [
    path("jobs/", jobs.job_list, name="jobs"),
    path("jobs/<int:pk>/cancel/", jobs.cancel_job, name="cancel-job"),
    path("jobs/<int:pk>/retry/", jobs.retry_job, name="retry-job"),
]
