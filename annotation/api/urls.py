"""API routes of annotation, under /api/v1/."""

from annotation.api import corpora_urls, people_urls, schemes_urls, webhooks_urls, work_urls

urlpatterns = [
    *corpora_urls.urlpatterns,
    *people_urls.urlpatterns,
    *schemes_urls.urlpatterns,
    *work_urls.urlpatterns,
    *webhooks_urls.urlpatterns,
]
