"""Productions advance step by step, each step called once, and their output becomes visible as a whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from annotation.models import Continuation, Corpus, Item, System
from jobs import runs
from jobs.errors import JobError
from jobs.models import Call, Endpoint, Run
from judges.runs.selection import RunSettings
from suites.continuation.errors import SystemsError
from suites.continuation.models import Production, Writer
from suites.continuation.productions import production_actions
from suites.continuation.productions.dialogues import Dialogues
from suites.continuation.productions.plans import Generation, digest
from suites.continuation.productions.production_actions import estimate
from tests import factories
from tests.judges.helpers import finish
from tests.suites.continuation.toy import Toy, ToyModel

pytestmark = pytest.mark.django_db(transaction=True)


def endpoint_of(model: ToyModel, **fields: Any) -> Endpoint:
    usual = {"name": "toys", "model": "m1", "price_in": 1, "price_out": 10, "timeout_s": 5}
    return Endpoint.objects.create(base_url=model.url, allow_private=True, **(usual | fields))


def corpus_of(dialogues: int = 2, turns: int = 4) -> Corpus:
    corpus = factories.corpus()
    for number in range(dialogues):
        made = factories.dialogue(corpus, f"d{number}", turns=turns)
        if turns:
            first = made.continuations.get(key="self").turns.get(position=0)
            first.text = f"word{number}"
            first.save()
    return corpus


def begin(corpus: Corpus, endpoint: Endpoint, generator: str = "toy", **more: Any) -> Run:
    how = {name: more.pop(name) for name in ("trials", "settings_of_run") if name in more}
    settings = how.pop("settings_of_run", None)
    chosen = Generation(generator, endpoint, **more)
    return production_actions.start(
        by=None, generation=chosen, dialogues=Dialogues(corpus), settings=settings, **how
    )


def wrote(continuation: Continuation) -> list[str]:
    return list(continuation.turns.order_by("position").values_list("text", flat=True))


def test_a_continuation_is_written_step_by_step(toys: ToyModel) -> None:
    corpus = corpus_of(2)
    run = begin(corpus, endpoint_of(toys), settings={"turns": 3})
    finish()
    run.refresh_from_db()
    assert (run.state, run.values, run.missing) == ("done", 2, 0)
    assert run.calls.count() == 6
    made = Continuation.objects.get(dialogue__key="d0", system__name="m1 plain")
    assert made.condition == {"model": "m1", "tone": "plain"}
    assert made.key == f"m1 plain-{digest(made.condition)[:8]}-0"
    assert [text.split("left ")[1][0] for text in wrote(made)] == ["3", "2", "1"]
    assert Item.objects.filter(continuation=made, kind="turn").count() == 3
    assert Item.objects.filter(continuation=made, kind="dialogue").count() == 1
    production = made.production
    assert (production.status, production.memory, production.flags) == ("done", {}, ["toy_flag"])


def test_the_hash_of_a_condition_is_that_of_the_documentation() -> None:
    condition = {"prompting": "vanilla", "turns_per_call": 5, "model": "m1"}
    assert digest(condition).startswith("13425a5a")


def test_a_step_of_several_prompts_waits_for_all_its_replies(toys: ToyModel) -> None:
    run = begin(corpus_of(1), endpoint_of(toys), settings={"turns": 2, "parts": 3})
    finish()
    run.refresh_from_db()
    assert run.calls.count() == 6
    made = Continuation.objects.get(system__name="m1 plain")
    assert [text.split("part ")[1] for text in wrote(made)] == ["0", "1", "2"] * 2


def test_starting_again_asks_nothing_and_writes_nothing_twice(toys: ToyModel) -> None:
    corpus = corpus_of(2)
    endpoint = endpoint_of(toys)
    first = begin(corpus, endpoint)
    finish()
    again = begin(corpus, endpoint)
    finish()
    assert first.pk == again.pk
    assert len(toys.asked) == 6
    assert Continuation.objects.filter(system__name="m1 plain").count() == 2


def test_trials_send_their_own_seed_and_are_told_apart(toys: ToyModel) -> None:
    begin(corpus_of(1), endpoint_of(toys), trials=2, parameters={"seed": 7, "temperature": 0})
    finish()
    assert {body["seed"] for body in toys.bodies} == {7, 8}
    keys = Continuation.objects.filter(system__name="m1 plain").order_by("key")
    assert [one.trial for one in keys] == [0, 1]
    assert all("trials_are_copies" in one.production.flags for one in keys)


@pytest.mark.exhaustive
def test_an_unparseable_reply_is_asked_for_once_more_then_the_production_fails_and_can_go_on(
    toys: ToyModel,
) -> None:
    toys.instead["word0 | left 2"] = ["nonsense", "nonsense again"]
    run = begin(corpus_of(2), endpoint_of(toys))
    finish()
    run.refresh_from_db()
    assert (run.state, run.values, run.missing) == ("failed", 1, 1)
    assert "1 of 2 productions failed: unparseable: not JSON" in run.error
    failed = Production.objects.get(status="failed")
    assert failed.step == 1
    assert failed.memory["left"] == 2
    assert Call.objects.get(state="failed").reply == "nonsense again"
    assert not Continuation.objects.filter(dialogue=failed.dialogue, system__name="m1 plain").exists()
    runs.retry_failed(by=None, run=run)
    failed.refresh_from_db()
    assert failed.status == "writing"
    finish()
    run.refresh_from_db()
    assert (run.state, run.values, run.missing) == ("done", 2, 0)
    assert sum("word0 | left 3" in asked for asked in toys.asked) == 1


def test_what_passes_a_limit_fails_and_says_which(toys: ToyModel) -> None:
    toys.instead["word1"] = [json.dumps({"say": "too much"})]
    run = begin(corpus_of(2), endpoint_of(toys))
    finish()
    run.refresh_from_db()
    assert (run.state, run.values, run.missing) == ("failed", 1, 1)
    assert Production.objects.get(status="failed").error == "it said too much"


@pytest.mark.exhaustive
def test_dialogues_share_requests_and_one_without_a_reply_is_asked_alone(toys: ToyModel) -> None:
    shared = {"1": "a", "2": "b", "4": "d", "5": "e"}
    toys.instead["answer 5"] = [json.dumps(shared)]
    toys.instead["answer 1: word2"] = ["nonsense"]
    run = begin(corpus_of(5), endpoint_of(toys), generator="toy_sharing")
    assert run.expected == 1
    finish()
    run.refresh_from_db()
    assert (run.values, run.missing) == (4, 1)
    assert [len(asked.splitlines()) for asked in toys.asked] == [5, 1]
    texts = [
        wrote(one)[0] for one in Continuation.objects.filter(system__name="m1").order_by("dialogue__key")
    ]
    assert texts == ["a", "b", "d", "e"]
    failed = Production.objects.get(status="failed")
    assert failed.dialogue.key == "d2"
    assert failed.links.count() == 2
    runs.retry_failed(by=None, run=run)
    finish()
    run.refresh_from_db()
    assert (run.state, run.values) == ("done", 5)


def test_peoples_own_turn_at_the_same_point_is_kept_once(toys: ToyModel) -> None:
    corpus, endpoint = corpus_of(1), endpoint_of(toys)
    begin(corpus, endpoint, generator="toy_sharing")
    begin(corpus, endpoint, generator="toy_sharing", name="another", condition={"mood": "good"})
    finish()
    people = Continuation.objects.filter(system__name="human", mode="static")
    assert people.count() == 1
    assert people.get().turns.get().at == 3
    assert Continuation.objects.filter(system__name__in=("m1", "another"), mode="static").count() == 2


def test_texts_are_kept_with_the_production_and_make_no_system(toys: ToyModel) -> None:
    corpus = corpus_of(1)
    begin(corpus, endpoint_of(toys), generator="toy_text")
    finish()
    assert Production.objects.get().result["said"][0].startswith("reply to say word0")
    assert set(corpus.systems.values_list("name", flat=True)) == {"human"}


def test_a_name_is_that_of_one_system(toys: ToyModel) -> None:
    corpus, endpoint = corpus_of(1), endpoint_of(toys)
    begin(corpus, endpoint, name="mine")
    with pytest.raises(SystemsError, match=r"settings\.turns is 3 there and 4 here"):
        begin(corpus, endpoint, name="mine", settings={"turns": 4})
    begin(corpus, endpoint, name="mine", settings={"tone": "loud"})
    System.objects.create(corpus=corpus, name="imported")
    with pytest.raises(SystemsError, match="were imported"):
        begin(corpus, endpoint, name="imported")
    assert Writer.objects.count() == 1
    assert Production.objects.count() == 2


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"generator": "nobody"}, "There is no generator 'nobody'"),
        ({"settings": {"colour": "red"}}, "toy has no setting 'colour'"),
        ({"settings": {"turns": "many"}}, "turns: 'many' is not a whole number"),
        ({"settings": {"turns": 0}}, "turns must be between 1 and 1,000"),
        ({"settings": {"tone": "blue"}}, "tone: 'blue' is not one of plain, loud"),
        ({"condition": {"tone": "x"}}, "tone is set by the generator"),
        ({"condition": {"a b": "x"}}, "'a b' is not a key"),
        ({"condition": {"mood": {}}}, "mood needs a number, or a text"),
        ({"name": "human"}, "cannot be called 'human'"),
        ({"name": "x" * 121}, "at most 120 characters"),
        ({"trials": 0}, "trials must be between 1 and 50"),
        ({"parameters": {"temperature": 9}}, "temperature must be between"),
    ],
)
def test_what_does_not_fit_is_refused_in_a_line_and_leaves_nothing(
    toys: ToyModel, wrong: dict[str, Any], why: str
) -> None:
    corpus, endpoint = corpus_of(1), endpoint_of(toys)
    with pytest.raises(JobError, match=why):
        begin(corpus, endpoint, **wrong)
    assert not Production.objects.exists()
    assert not Run.objects.exists()
    assert not Writer.objects.exists()


def test_a_selection_for_which_nothing_can_be_written_is_refused_with_its_reasons(toys: ToyModel) -> None:
    with pytest.raises(SystemsError, match=r"it has no turns \(2\)"):
        begin(corpus_of(2, turns=0), endpoint_of(toys))
    assert not Run.objects.exists()


@pytest.mark.exhaustive
def test_the_estimate_says_the_calls_that_are_made_and_what_is_done(toys: ToyModel) -> None:
    corpus, endpoint = corpus_of(4), endpoint_of(toys)
    factories.dialogue(corpus, "empty", turns=0)
    plan = Generation("toy", endpoint, settings={"turns": 5}).plan()
    told = estimate(plan, Dialogues(corpus), trials=2)
    assert (told.productions, told.calls, told.done) == (8, 40, 0)
    assert told.left_out == {"it has no turns": 1}
    assert told.cost
    run = begin(corpus, endpoint, settings={"turns": 5}, settings_of_run=RunSettings(caps={"cap_calls": 12}))
    finish()
    run.refresh_from_db()
    assert run.state == "paused"
    assert len(toys.asked) == 12
    left = estimate(plan, Dialogues(corpus), trials=2)
    assert left.calls == 40 - 12
    runs.set_caps(by=None, run=run, caps={"cap_calls": None})
    finish()
    assert len(toys.asked) == run.expected == 20
    done = estimate(plan, Dialogues(corpus), trials=2)
    assert (done.done, done.calls) == (4, 20)


def test_a_refused_parameter_is_one_error_of_the_run(toys: ToyModel) -> None:
    toys.refused = "top_p"
    run = begin(corpus_of(3), endpoint_of(toys), parameters={"top_p": 0.1})
    finish()
    run.refresh_from_db()
    assert run.state == "failed"
    assert "top_p" in run.error
    assert not run.calls.filter(state="failed").exists()


@pytest.mark.exhaustive
def test_a_cancelled_run_goes_on_where_it_was(toys: ToyModel) -> None:
    corpus, endpoint = corpus_of(2), endpoint_of(toys)
    run = begin(corpus, endpoint, settings_of_run=RunSettings(caps={"cap_calls": 2}))
    finish()
    run.refresh_from_db()
    runs.cancel(by=None, run=run)
    assert Production.objects.filter(status="writing").count() == 2
    again = begin(corpus, endpoint, settings_of_run=RunSettings(caps={"cap_calls": 100}))
    assert again.pk == run.pk
    finish()
    run.refresh_from_db()
    assert (run.state, run.values, len(toys.asked)) == ("done", 2, 6)


@pytest.mark.exhaustive
def test_another_selection_takes_over_what_was_not_finished(toys: ToyModel) -> None:
    corpus, endpoint = corpus_of(3), endpoint_of(toys)
    toys.instead["word0 | left 3"] = ["nonsense", "nonsense"]
    first = begin(corpus, endpoint)
    finish()
    chosen = Generation("toy", endpoint)
    second = production_actions.start(by=None, generation=chosen, dialogues=Dialogues(corpus, first=1))
    assert second.pk != first.pk
    finish()
    second.refresh_from_db()
    assert (second.state, second.values) == ("done", 1)
    assert Continuation.objects.filter(system__name="m1 plain").count() == 3


def test_deleting_a_corpus_takes_what_was_written_along(toys: ToyModel) -> None:
    from annotation.corpora.deletion import purge

    corpus = corpus_of(1)
    begin(corpus, endpoint_of(toys))
    finish()
    purge([Corpus.objects.filter(pk=corpus.pk)])
    assert not Production.objects.exists()
    assert not Writer.objects.exists()
    assert not Call.objects.exists()


def test_tokens_are_counted_by_the_endpoints_own_tokenizer(toys: ToyModel, tmp_path: Path) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = Tokenizer(models.WordLevel({"?": 0}, unk_token="?"))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    words.save(str(tmp_path / "tokenizer.json"))
    corpus, endpoint = corpus_of(1), endpoint_of(toys, tokenizer=str(tmp_path))
    chosen = Generation("toy", endpoint, settings={"turns": 1})
    told = estimate(chosen.plan(), Dialogues(corpus))
    assert told.tokens_in == len(["say", "word0", "|", "left", "1", "part", "0"])
    assert told.counted_by == f"by the tokenizer {tmp_path}"
    (tmp_path / "other.json").write_text("{}")
    for name in ("nothing.json", "other.json"):
        endpoint.tokenizer = str(tmp_path / name)
        endpoint.save()
        with pytest.raises(JobError, match="of the endpoint toys cannot be loaded"):
            estimate(chosen.plan(), Dialogues(corpus))


@pytest.mark.exhaustive
def test_a_defect_of_a_generator_fails_its_call_and_the_worker_goes_on(
    toys: ToyModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = begin(corpus_of(2), endpoint_of(toys))
    usual = Toy.request

    def broken(self: Toy, state: dict[str, Any]) -> Any:
        if state["first"] == "word0":
            raise LookupError("no such thing")
        return usual(self, state)

    monkeypatch.setattr(Toy, "request", broken)
    finish()
    run.refresh_from_db()
    assert (run.state, run.values, run.missing) == ("failed", 1, 1)
    failed = Production.objects.get(status="failed")
    assert failed.error == "defect in toy: LookupError: no such thing"
    monkeypatch.setattr(Toy, "request", usual)
    runs.retry_failed(by=None, run=run)
    finish()
    run.refresh_from_db()
    assert (run.state, run.values) == ("done", 2)
