"""Pages of annotation: corpora, and the work on them."""

from annotation.pages import corpora_urls, work_urls

urlpatterns = [*corpora_urls.urlpatterns, *work_urls.urlpatterns]
