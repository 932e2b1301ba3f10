"""Trials on a script as runs: read from the database, called step by step, not stopped by a failed call."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, transaction

from annotation.corpora.import_file import import_path
from annotation.models import Continuation, Corpus, QuestionSet
from demo.fake_model.errors import ErrorModel, RoleErrors
from demo.fake_model.running import LocalServer
from demo.fake_model.serving import FakeModel, Response, failure
from jobs import runs
from jobs.models import Call, Endpoint, Run
from judges.runs.selection import RunSettings
from suites.continuation.errors import SystemsError
from suites.continuation.models import Production
from suites.continuation.productions import production_actions
from suites.continuation.productions.dialogues import Dialogues
from suites.continuation.productions.plans import Generation
from suites.continuation.productions.production_actions import estimate
from suites.long_dialogue.agent.memory import Heard, text_digest
from tests.judges.helpers import finish
from tests.suites.long_dialogue.long_talk import answered, native, world

pytestmark = pytest.mark.django_db(transaction=True)
MATERIAL = world(sessions=12, questions=24, seed=5)
READER = ErrorModel({"reader": RoleErrors(own={"e": 0.0, "g": 1.0})})


class Server:
    """The fake model, which refuses the requests that come as one of `broken`, counted from 0."""

    def __init__(self) -> None:
        self.model = FakeModel(READER, seed=0)
        self.broken: set[int] = set()
        self.asked: list[str] = []
        self._server = LocalServer(self._respond)
        self.url = self._server.url

    def _respond(self, method: str, path: str, body: Any, headers: Mapping[str, str]) -> Response:
        self.asked.append(body["messages"][-1]["content"])
        if len(self.asked) - 1 in self.broken:
            return failure(400, "this prompt is refused", "invalid_prompt")
        return self.model.respond(method, path, body)


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    with made._server:
        yield made


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    path = tmp_path / "script.jsonl"
    path.write_text(json.dumps(native(MATERIAL)) + "\n", encoding="utf-8")
    import_path(path=path, format="jsonl", corpus="Long", into=False, by=None)
    return Corpus.objects.get(name="Long")


def generation(server: Server, **settings: Any) -> Generation:
    endpoint, _ = Endpoint.objects.get_or_create(
        name="reader",
        defaults={"base_url": server.url, "model": "fake-1", "allow_private": True, "timeout_s": 5},
    )
    return Generation("dialsim_agent", endpoint, settings={"set": "first", **settings})


def begin(server: Server, corpus: Corpus, trials: int = 1, caps: Any = None, **settings: Any) -> Run:
    return production_actions.start(
        by=None,
        generation=generation(server, **settings),
        dialogues=Dialogues(corpus),
        trials=trials,
        settings=RunSettings(caps=caps or {}),
    )


def told(continuation: Continuation) -> list[dict[str, Any]]:
    rows = continuation.turns.filter(given=False).order_by("position")
    return [turn.extra["extra"]["answer"] if "extra" in turn.extra else turn.extra["answer"] for turn in rows]


def test_trials_become_static_continuations_whose_prompts_are_those_of_the_script(
    server: Server, corpus: Corpus
) -> None:
    told_before = estimate(generation(server, memory="oracle").plan(), Dialogues(corpus), trials=2)
    run = begin(server, corpus, trials=2, memory="oracle")
    finish()
    run.refresh_from_db()
    assert (run.state, run.values, run.missing) == ("done", 2, 0)
    assert told_before.calls == run.expected == len(server.asked)
    made = Continuation.objects.filter(production__run=run).order_by("trial")
    assert [one.mode for one in made] == ["static", "static"]
    for trial, one in enumerate(made):
        done, prompts = answered(MATERIAL, lambda _: "(E)", trial, memory="oracle", set="first")
        assert {prompt.user for prompt in prompts} <= set(server.asked)
        assert one.turns.count() == len(done.turns)
        assert all(each["outcome"] == each["key"] for each in told(one))
    assert made[0].condition["memory"] == "oracle"


@pytest.mark.exhaustive
def test_a_failed_call_is_an_answer_of_its_own_and_the_trial_goes_on(server: Server, corpus: Corpus) -> None:
    server.broken = {2}
    run = begin(server, corpus, memory="oracle")
    finish()
    run.refresh_from_db()
    assert (run.state, run.values, run.missing, run.error) == ("done", 1, 0, "")
    assert run.calls.filter(state=Call.State.FAILED).count() == 1
    production = Production.objects.get()
    assert production.flags == [f"failed: 1 of {run.calls.count()} questions"]
    assert production.continuation is not None
    answers = told(production.continuation)
    assert [one["outcome"] for one in answers].index("failed") == 2
    assert "this prompt is refused" in answers[2]["error"]
    assert len(server.asked) == len(answers)
    runs.retry_failed(by=None, run=run)
    finish()
    run.refresh_from_db()
    assert len(server.asked) == len(answers)
    assert run.state == "done"


@pytest.mark.exhaustive
def test_the_call_of_a_lost_worker_is_an_answer_too(server: Server, corpus: Corpus) -> None:
    run = begin(server, corpus, memory="oracle")
    Call.objects.filter(run=run).update(state=Call.State.FAILED, error="Its worker was lost.")
    runs.settle(run.pk)
    run.refresh_from_db()
    assert run.state == "queued"
    finish()
    run.refresh_from_db()
    assert (run.state, run.values) == ("done", 1)
    made = Production.objects.get().continuation
    assert made is not None
    assert told(made)[0]["error"] == "Its worker was lost."


@pytest.mark.exhaustive
def test_a_trial_that_was_held_back_goes_on_at_the_same_question(server: Server, corpus: Corpus) -> None:
    run = begin(server, corpus, caps={"cap_calls": 3}, memory="session", k=2)
    finish()
    run.refresh_from_db()
    assert (run.state, len(server.asked)) == ("paused", 3)
    left = estimate(generation(server, memory="session", k=2).plan(), Dialogues(corpus))
    assert left.calls == run.expected - 3
    runs.set_caps(by=None, run=run, caps={"cap_calls": None})
    finish()
    run.refresh_from_db()
    assert run.state == "done"
    assert len(server.asked) == len(set(server.asked)) == run.expected


def test_what_is_missing_is_said_when_it_is_started(server: Server, corpus: Corpus) -> None:
    with pytest.raises(SystemsError, match="the corpus has no question set 'second'"):
        begin(server, corpus, set="second")
    with pytest.raises(SystemsError, match="has no summary: make the summaries first"):
        begin(server, corpus, memory="summary")
    QuestionSet.objects.create(corpus=corpus, name="first", version=2)
    with pytest.raises(SystemsError, match="the question set 'first' asks nothing in it"):
        begin(server, corpus)
    assert begin(server, corpus, set="first:1").expected


@pytest.mark.exhaustive
def test_a_set_that_is_gone_fails_the_trial_and_not_the_worker(server: Server, corpus: Corpus) -> None:
    run = begin(server, corpus, caps={"cap_calls": 2}, memory="oracle")
    finish()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL concord.purge = 'on'")  # as the deletion of a corpus does
        QuestionSet.objects.all().delete()
    runs.set_caps(by=None, run=run, caps={"cap_calls": None})
    finish()
    run.refresh_from_db()
    assert run.state == "failed"
    assert "the corpus has no question set 'first'" in run.error


@pytest.mark.exhaustive
def test_summaries_that_the_model_made_are_remembered(server: Server, corpus: Corpus) -> None:
    heard = Heard(MATERIAL.dialogue)
    endpoint = generation(server).endpoint
    for number in heard.numbers:
        chosen = {"text": text_digest(heard.text(number))}
        summing = Generation("dialsim_session_summary", endpoint, settings=chosen)
        production_actions.start(by=None, generation=summing, dialogues=Dialogues(corpus))
    finish()
    before = len(server.asked)
    run = begin(server, corpus, memory="summary", k=100)
    finish()
    run.refresh_from_db()
    assert (run.state, run.values) == ("done", 1)
    assert "\n| Summary: " in server.asked[-1]
    assert len(server.asked) - before == run.expected
