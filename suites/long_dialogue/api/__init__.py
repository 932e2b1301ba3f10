"""API routes of long dialogues, under /api/v1/."""

from django.urls import URLPattern, path

from config.api import route
from suites.long_dialogue.api import answers, questions, scripts, simulations

urlpatterns: list[URLPattern] = [
    path("corpora/<int:pk>/scripts/", route(scripts.scripts), name="api-scripts"),
    path("corpora/<int:pk>/scripts/<int:dialogue>/", route(scripts.sessions), name="api-script"),
    path(
        "corpora/<int:pk>/scripts/<int:dialogue>/file/",
        route(scripts.script_file),
        name="api-script-file",
    ),
    path(
        "corpora/<int:pk>/scripts/<int:dialogue>/turns/",
        route(scripts.script_turns),
        name="api-script-turns",
    ),
    path(
        "corpora/<int:pk>/scripts/<int:dialogue>/sessions/<int:number>/",
        route(scripts.script_session, scripts.change_script_session),
        name="api-script-session",
    ),
    path(
        "corpora/<int:pk>/scripts/<int:dialogue>/names/",
        route(scripts.name_maps, scripts.add_name_map),
        name="api-script-names",
    ),
    path("corpora/<int:pk>/facts/", route(questions.facts, questions.add_fact), name="api-facts"),
    path(
        "corpora/<int:pk>/questions/",
        route(questions.quiz_questions, questions.add_quiz_question),
        name="api-questions",
    ),
    path(
        "corpora/<int:pk>/records/<int:record>/",
        route(questions.record, questions.change_record),
        name="api-record",
    ),
    path(
        "corpora/<int:pk>/records/<str:kind>/reviews/",
        route(questions.reviews, questions.apply_reviews),
        name="api-record-reviews",
    ),
    path(
        "corpora/<int:pk>/records/<str:kind>/decide/",
        route(questions.decide_records),
        name="api-decide-records",
    ),
    path(
        "corpora/<int:pk>/question-sets/", route(questions.sets, questions.make_set), name="api-question-sets"
    ),
    path(
        "corpora/<int:pk>/question-sets/<int:one>/",
        route(questions.question_set),
        name="api-question-set",
    ),
    path(
        "corpora/<int:pk>/question-sets/<int:one>/questions/",
        route(questions.set_questions),
        name="api-set-questions",
    ),
    path("corpora/<int:pk>/question-sets/<int:one>/uses/", route(questions.set_uses), name="api-set-uses"),
    path(
        "corpora/<int:pk>/relations/",
        route(questions.relations, questions.replace_relations),
        name="api-relations",
    ),
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
