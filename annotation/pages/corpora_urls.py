"""Addresses of the corpus pages."""

from django.urls import path

from annotation.pages import corpora, questions, scenarios, scripts, uploads

urlpatterns = [
    path("corpora/", corpora.corpora, name="corpora"),
    path("corpora/import/new/", uploads.import_corpus, name="import-corpus"),
    path("corpora/import/<int:pk>/", uploads.upload, name="upload"),
    path("corpora/import/<int:pk>/cancel/", uploads.cancel_upload, name="cancel-upload"),
    path("corpora/import/<int:pk>/resume/", uploads.resume_upload, name="resume-upload"),
    path("corpora/dialogue/<int:pk>/", corpora.dialogue, name="dialogue"),
    path("corpora/<int:pk>/scenarios/", scenarios.scenarios, name="scenarios"),
    path("corpora/<int:pk>/scenarios/new/", scenarios.new_scenario, name="new-scenario"),
    path("corpora/<int:pk>/scenarios/<int:dialogue>/", scenarios.scenario, name="scenario"),
    path("corpora/<int:pk>/scripts/<int:dialogue>/", scripts.script, name="script"),
    path("corpora/<int:pk>/scripts/<int:dialogue>/file/", scripts.script_file, name="script-file"),
    path("corpora/<int:pk>/scripts/<int:dialogue>/names/", scripts.name_maps, name="name-maps"),
    path(
        "corpora/<int:pk>/scripts/<int:dialogue>/sessions/<int:number>/",
        scripts.session,
        name="script-session",
    ),
    path(
        "corpora/<int:pk>/scripts/<int:dialogue>/sessions/<int:number>/edit/",
        scripts.edit_session,
        name="edit-session",
    ),
    path("corpora/<int:pk>/questions/", questions.questions, name="questions"),
    path("corpora/<int:pk>/questions/sets/<int:one>/", questions.question_set, name="question-set"),
    path(
        "corpora/<int:pk>/questions/sets/<int:one>/<int:record>/",
        questions.question,
        name="question-uses",
    ),
    path("corpora/<int:pk>/questions/relations/", questions.relations, name="relations"),
    path("corpora/<int:pk>/questions/records/<int:record>/", questions.edit_record, name="edit-record"),
    path("corpora/<int:pk>/questions/<str:kind>/", questions.records, name="question-records"),
    path("corpora/<int:pk>/questions/<str:kind>/new/", questions.new_record, name="new-record"),
    path("corpora/<int:pk>/questions/<str:kind>/decide/", questions.decide, name="decide-records"),
    path("corpora/<int:pk>/questions/<str:kind>/reviews/", questions.reviews, name="record-reviews"),
    path("corpora/<str:name>/", corpora.corpus, name="corpus"),
    path("corpora/<str:name>/split/", corpora.draw_split, name="draw-split"),
    path("corpora/<str:name>/families/", corpora.change_families, name="change-families"),
    path("corpora/<str:name>/without-turns/", corpora.copy, name="copy-without-turns"),
    path("corpora/<str:name>/delete/", corpora.delete_corpus, name="delete-corpus"),
]
