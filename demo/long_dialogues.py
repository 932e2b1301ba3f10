"""The series of the demo in the database: its questions, baselines, and the marked series for the fake
reader.

All calls go to the fake model, through the same actions as pages, commands and the API.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from django.contrib.auth.models import User

from annotation.campaigns import campaign_actions as campaigns
from annotation.models import Campaign, Corpus, QuestionSet
from demo import loading, series
from jobs.models import Endpoint, Run
from jobs.runs import OPEN
from suites.continuation.productions import production_actions as generating
from suites.continuation.productions.dialogues import Dialogues
from suites.continuation.productions.plans import Generation
from suites.long_dialogue import schemes as long_dialogues
from suites.long_dialogue.editing import question_sets
from suites.long_dialogue.models import Simulation
from suites.long_dialogue.simulations import simulation_actions
from suites.long_dialogue.simulations.steps import Order

SERIES = loading.DemoCorpus("Demo series", series.SET, {})
READERS = "Reader playground (demo)"
"""Corpus of the marked series: its texts contain the answers for the fake model."""
UNREVIEWED = "Facts to review (demo)"
"""The marked series at the start of the work: without facts, its quiz without evidence."""
REVIEW = "Demo: review facts"
SET = "quiz and facts"
FILE = "series-marked.jsonl"
SOURCE = "Written for Concord's demo; every turn tells the fake model what it answers"
BASELINES = ("random", "always_e")
TRIALS = 3
REVIEWED, REVIEWERS = 10, 2
CONDITIONS: tuple[Mapping[str, Any], ...] = (
    {"memory": "base", "context": 4000},
    {"memory": "utterance", "retriever": "bm25", "k": 5},
    {"memory": "session", "retriever": "bm25", "k": 2},
    {"memory": "summary", "retriever": "bm25", "k": 4},
    {"memory": "oracle"},
    {"memory": "no_memory"},
)
"""Memories of the fake reader. They choose so few entries of a short series that they differ."""
ROUNDS = 20
Finish = Callable[[Run], None]


def load(*, by: User) -> QuestionSet:
    """Import the series if missing, create its questions, and let the baselines answer them."""
    loading.dialogues(SERIES, by=by)
    corpus = Corpus.objects.get(name=SERIES.name)
    question_set = question_sets.make(corpus=corpus, name=SET, seed=0, by=by).set
    for key in BASELINES:
        _simulate(question_set, by, None, Order(baseline=key, trials=TRIALS, parameters={}), loading.finish)
    return question_set


def load_readers(*, by: User, endpoint: Endpoint, annotators: Iterable[User], finish: Finish) -> list[Run]:
    """Load missing parts of the marked series: facts extracted by a model, their review, and a reader per
    memory. Return the runs; workers finish runs that were not finished in time.
    """
    unreviewed = loading.corpus_of_lines(UNREVIEWED, series.unreviewed, file=FILE, source=SOURCE, by=by)
    fact_run = generating.start(
        by=by, generation=Generation("dialsim_facts", endpoint), dialogues=Dialogues(unreviewed)
    )
    finish(fact_run)
    if fact_run.state == Run.State.DONE:
        _review(unreviewed, by, annotators)
    corpus = loading.corpus_of_lines(READERS, series.marked_lines, file=FILE, source=SOURCE, by=by)
    question_set = corpus.question_sets.get(name=series.NAME, version=1)
    for key in BASELINES:
        _simulate(question_set, by, None, Order(baseline=key, trials=TRIALS, parameters={}), finish)
    for condition in CONDITIONS:
        _simulate(question_set, by, endpoint, Order(settings=condition, trials=TRIALS), finish)
    runs = Run.objects.filter(simulations__simulation__corpus=corpus).distinct().order_by("pk")
    return [fact_run, *runs]


def _review(corpus: Corpus, by: User, annotators: Iterable[User]) -> Campaign:
    """Return the campaign in which visitors review some of the facts extracted by the fake model."""
    if existing := Campaign.objects.filter(name=REVIEW).first():
        return existing
    campaign = campaigns.create(
        by=by,
        name=REVIEW,
        corpus=corpus,
        scheme=long_dialogues.FACT.key,
        raters_per_item=REVIEWERS,
        annotators=annotators,
        record_status="draft",
        sample_records=REVIEWED,
    )
    campaigns.open(by=by, campaign=campaign)
    return campaign


def _simulate(
    question_set: QuestionSet, by: User, endpoint: Endpoint | None, order: Order, finish: Finish
) -> Simulation:
    """Start a simulation, or find the same one, and advance it as far as time allows."""
    simulation = simulation_actions.start(by=by, question_set=question_set, order=order, endpoint=endpoint)
    for _ in range(ROUNDS):
        simulation = simulation_actions.advance(simulation.pk)
        if simulation.state != Simulation.State.MAKING:
            break
        for run in Run.objects.filter(simulations__simulation=simulation, state__in=OPEN).distinct():
            finish(run)
    return simulation
