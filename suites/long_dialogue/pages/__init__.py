"""Page routes of long dialogues."""

from django.urls import URLPattern, path

from suites.long_dialogue.pages import answers, questions, scripts, simulations

urlpatterns: list[URLPattern] = [
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
    path("corpora/<int:pk>/questions/sets/<int:set_pk>/", questions.question_set, name="question-set"),
    path(
        "corpora/<int:pk>/questions/sets/<int:set_pk>/<int:record>/",
        questions.question,
        name="question-uses",
    ),
    path("corpora/<int:pk>/questions/relations/", questions.relations, name="relations"),
    path("corpora/<int:pk>/questions/records/<int:record>/", questions.edit_record, name="edit-record"),
    path("corpora/<int:pk>/questions/<str:kind>/", questions.records, name="question-records"),
    path("corpora/<int:pk>/questions/<str:kind>/new/", questions.new_record, name="new-record"),
    path("corpora/<int:pk>/questions/<str:kind>/decide/", questions.decide, name="decide-records"),
    path("corpora/<int:pk>/questions/<str:kind>/reviews/", questions.reviews, name="record-reviews"),
    path("corpora/<int:pk>/answers/", answers.answers, name="answers"),
    path("corpora/<int:pk>/answers/test/", answers.answers_test, name="answers-test"),
    path("corpora/<int:pk>/answers/list/", answers.answers_list, name="answers-list"),
    path("corpora/<int:pk>/answers.<str:form>", answers.answers_file, name="answers-file"),
    path("answers/<int:pk>/", answers.answer, name="answer"),
    path("corpora/<int:pk>/simulate/", simulations.simulations, name="simulate"),
    path("simulations/<int:pk>/", simulations.simulation_page, name="simulation"),
    path("simulations/<int:pk>/go-on/", simulations.go_on, name="go-on-simulation"),
    path("simulations/<int:pk>/cancel/", simulations.cancel, name="cancel-simulation"),
]
