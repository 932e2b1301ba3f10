"""The HTTP API of long dialogues, under /api/v1/."""

from django.urls import URLPattern, path

from config.api import route
from suites.long_dialogue.api import answers, questions, scripts, simulations

urlpatterns: list[URLPattern] = [
    path("corpora/<int:pk>/scripts/", scripts.scripts, name="api-scripts"),
    path("corpora/<int:pk>/scripts/<int:dialogue>/", scripts.sessions, name="api-script"),
    path(
        "corpora/<int:pk>/scripts/<int:dialogue>/file/",
        scripts.script_file,
        name="api-script-file",
    ),
    path(
        "corpora/<int:pk>/scripts/<int:dialogue>/turns/",
        scripts.script_turns,
        name="api-script-turns",
    ),
    path(
        "corpora/<int:pk>/scripts/<int:dialogue>/sessions/<int:number>/",
        scripts.ScriptSession.as_view(),
        name="api-script-session",
    ),
    path(
        "corpora/<int:pk>/scripts/<int:dialogue>/names/",
        scripts.ScriptNames.as_view(),
        name="api-script-names",
    ),
    path("corpora/<int:pk>/facts/", questions.Facts.as_view(), name="api-facts"),
    path("corpora/<int:pk>/questions/", questions.Quiz.as_view(), name="api-questions"),
    path("corpora/<int:pk>/records/<int:record>/", questions.OneRecord.as_view(), name="api-record"),
    path(
        "corpora/<int:pk>/records/<str:kind>/reviews/",
        questions.Reviews.as_view(),
        name="api-record-reviews",
    ),
    path(
        "corpora/<int:pk>/records/<str:kind>/decide/",
        questions.decide_records,
        name="api-decide-records",
    ),
    path("corpora/<int:pk>/question-sets/", questions.QuestionSets.as_view(), name="api-question-sets"),
    path(
        "corpora/<int:pk>/question-sets/<int:one>/",
        questions.question_set,
        name="api-question-set",
    ),
    path(
        "corpora/<int:pk>/question-sets/<int:one>/questions/",
        questions.set_questions,
        name="api-set-questions",
    ),
    path("corpora/<int:pk>/question-sets/<int:one>/uses/", questions.set_uses, name="api-set-uses"),
    path("corpora/<int:pk>/relations/", questions.Relations.as_view(), name="api-relations"),
    path("corpora/<int:pk>/answers/", route(answers.answers, answers.answers_on_test), name="api-answers"),
    path("corpora/<int:pk>/answers/list/", route(answers.answers_list), name="api-answers-list"),
    path("answers/<int:pk>/", route(answers.answer), name="api-answer"),
    path(
        "corpora/<int:pk>/simulations/",
        route(simulations.simulations, simulations.start),
        name="api-simulations",
    ),
    path(
        "corpora/<int:pk>/simulations/estimate/",
        route(simulations.estimate_simulation),
        name="api-estimate-simulation",
    ),
    path("simulations/<int:pk>/", route(simulations.simulation), name="api-simulation"),
    path("simulations/<int:pk>/go-on/", route(simulations.go_on), name="api-go-on-simulation"),
    path("simulations/<int:pk>/cancel/", route(simulations.cancel), name="api-cancel-simulation"),
]
