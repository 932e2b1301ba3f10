"""Pages of annotation: corpora, and the work on them."""

from annotation.pages import corpora_urls, people_urls, schemes_urls, webhooks_urls, work_urls

urlpatterns = [
    *corpora_urls.urlpatterns,
    *people_urls.urlpatterns,
    *schemes_urls.urlpatterns,
    *work_urls.urlpatterns,
    *webhooks_urls.urlpatterns,
]
