"""The whole path: continuations generated at known rates, judged with known errors, counted, corrected."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from math import sqrt
from typing import Any

import pytest
from django.core.management import call_command

from annotation.models import Continuation, Corpus, Item, Rater
from annotation.schemes.cocoeval import BEHAVIOURS
from annotation.work.labels import Answer, record
from calibration.comparisons.count_inputs import read
from calibration.comparisons.counts import Counts, compute
from demo.fake_model import running
from demo.fake_model.errors import u
from demo.fake_model.role import shows_planted
from demo.fake_model.roles.writers import expected_seen
from demo.fake_model.running import LocalServer
from demo.fake_model.serving import FakeModel
from jobs.models import Endpoint
from judges.runs.plans import Judge
from suites.continuation.productions import production_actions
from suites.continuation.productions.dialogues import Dialogues
from suites.continuation.productions.plans import Generation
from tests import factories
from tests.judges.helpers import begin, finish

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.exhaustive]
KEYS = tuple(behaviour.key for behaviour in BEHAVIOURS)
N, TURNS, RATED = 40, 30, 15
SE, SP = 0.8, 0.97
PEOPLE = 2.0
RATES = {"vanilla/30": {"repetition": 0.2}, "taxonomy/1": {"repetition": 6.0}}
ERRORS = {
    "roles": {
        "continuation_writer": {"rates": RATES},
        "behaviour_judge": {"sensitivity": SE, "specificity": SP},
    }
}
ROWS: Mapping[str, float] = {"vanilla": 0.2, "people": PEOPLE, "taxonomy": 6.0}


@pytest.fixture
def fake() -> Iterator[Endpoint]:
    model = FakeModel(running.parse(ERRORS))
    with LocalServer(lambda method, path, body, headers: model.respond(method, path, body)) as server:
        yield Endpoint.objects.create(name="fake", base_url=server.url, model="fake-1", allow_private=True)


def benchmark() -> Corpus:
    """Histories of 30 turns, which people continued repeating themselves at a known rate."""
    corpus = factories.corpus("chain")
    for number in range(N):
        made = factories.dialogue(corpus, f"d{number}", turns=TURNS, metadata={"first_turn": 100})
        for turn in made.continuations.get(key="self").turns.all():
            turn.text = f"d{number} says {turn.position}"
            turn.save()
        lines = [
            {"text": f"d{number} goes on {at}" + " {repetition}" * (u(1, number, at) < PEOPLE / TURNS)}
            for at in range(TURNS)
        ]
        factories.continuation(made, "human", system="human", turns=lines)
    return corpus


def generate(corpus: Corpus, endpoint: Endpoint, prompting: str, per_call: int) -> None:
    settings = {"prompting": prompting, "turns_per_call": per_call}
    generation = Generation("cocoeval_continuation", endpoint, settings)
    run = production_actions.start(by=None, generation=generation, dialogues=Dialogues(corpus))
    finish(seconds=120)
    run.refresh_from_db()
    assert (run.state, run.missing, run.title) == ("done", 0, f"fake-1 {prompting} {per_call}/call")
    assert run.calls.count() == N * TURNS // per_call


def rate_some(corpus: Corpus) -> None:
    """A person who tags every turn as it was planted, in some dialogues."""
    questions = {q.key: q for q in factories.scheme_version("cocoeval_behaviours").questions.all()}
    ann = Rater.objects.create(corpus=corpus, kind="human", name="ann")
    chosen = [f"d{number}" for number in range(RATED)]
    items = Item.objects.filter(corpus=corpus, kind="turn", continuation__dialogue__key__in=chosen)
    answers = [
        Answer(item, questions[key], float(shows_planted(item.turn.text, key)), "", 0)
        for item in items.exclude(continuation__key="self").select_related("turn")
        for key in KEYS
    ]
    record(rater=ann, answers=answers, occasion="main")


def row_of(made: Counts, row: Any) -> str:
    return "people" if row.human else str(made.by[row.code][0])


def test_planted_rates_are_recovered_through_generating_judging_and_counting(fake: Endpoint) -> None:
    corpus = benchmark()
    generate(corpus, fake, "vanilla", 30)
    generate(corpus, fake, "taxonomy", 1)
    made = Continuation.objects.filter(dialogue__corpus=corpus, system__name__startswith="fake-1")
    assert {one.turns.count() for one in made} == {TURNS}
    run = begin(corpus, Judge("cocoeval_behaviours", endpoint=fake))
    finish(seconds=120)
    run.refresh_from_db()
    assert (run.state, run.missing) == ("done", 0)
    assert run.rater is not None
    rate_some(corpus)
    query = read({"rater": run.rater.name, "by": "prompting,turns_per_call", "resamples": 200}, corpus, None)
    found = compute(query=query, by=None)
    seen, corrected = {}, {}
    for row in found.table.rows:
        name = row_of(found, row)
        cell = next(cell for cell in row.cells if cell.column.key == "repetition")
        rate = ROWS[name] / TURNS
        share = expected_seen(ROWS[name], SE, SP) / TURNS
        assert cell.result.value is not None
        assert cell.corrected is not None
        assert cell.corrected.value is not None
        seen[name], corrected[name] = cell.result.value, cell.corrected.value
        error = sqrt(TURNS * share * (1 - share) / N)
        assert abs(seen[name] - expected_seen(ROWS[name], SE, SP)) <= 3 * error, name
        missed = TURNS * (rate * SE * (1 - SE) + (1 - rate) * SP * (1 - SP))
        planted = TURNS * rate * (1 - rate)
        assert abs(corrected[name] - ROWS[name]) <= 3 * sqrt(missed / RATED + planted / N), name
    assert set(seen) == set(ROWS)
    assert sorted(seen, key=seen.__getitem__) == list(ROWS)
    assert sorted(corrected, key=corrected.__getitem__) == list(ROWS)


def test_the_same_by_command_with_the_fake_s_mistakes_counted_as_flags(
    capsys: pytest.CaptureFixture[str],
) -> None:
    corpus = factories.corpus("one")
    for number in range(3):
        factories.dialogue(corpus, f"d{number}", turns=30)
    mistakes = {"renumbered": 1, "speaker_by_name": 1, "overlong": 1, "copy_differs": 1}
    model = FakeModel(running.parse({"roles": {"continuation_writer": mistakes}}))
    with LocalServer(lambda method, path, body, headers: model.respond(method, path, body)) as server:
        Endpoint.objects.create(name="fake", base_url=server.url, model="fake-1", allow_private=True)
        call_command(
            *("generate", "--generator", "cocoeval_continuation", "--corpus", "one", "--endpoint", "fake"),
            *("--set", "turns_per_call=5", "--quiet"),
        )
    told = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (told["done"], told["failed"], told["calls"]) == (3, 0, 18)
    assert told["flags"] == dict.fromkeys(sorted(mistakes), 3)
