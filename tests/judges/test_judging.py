"""Judges over real HTTP and a real database: only the endpoint's answers become labels."""

from __future__ import annotations

import pytest

from annotation.corpora import splits
from annotation.errors import SplitRefused
from annotation.models import Label
from jobs import runs
from jobs.models import Call, Run
from jobs.progress import progress
from judges.errors import JudgeError
from judges.models import CallLabel
from judges.runs import run_actions
from judges.runs.lookup import selection_of
from judges.runs.plans import Judge
from tests.fake_llm import FakeLLM
from tests.judges.helpers import begin, endpoint_of, finish, small_corpus

pytestmark = pytest.mark.django_db(transaction=True)


def test_behaviours_become_ten_binary_labels_per_turn(fake: FakeLLM) -> None:
    run = begin(small_corpus(), Judge("cocoeval_behaviours", endpoint=endpoint_of(fake)))
    finish()
    run.refresh_from_db()
    assert run.state == Run.State.DONE
    assert Label.objects.count() == 2 * 6 * 10
    marked = Label.objects.filter(number=1)
    assert {(label.question.key, label.item.turn.position % 2) for label in marked} == {("repetition", 1)}
    assert marked.count() == 2 * 3
    assert CallLabel.objects.count() == Label.objects.count()


def test_a_run_says_what_it_took(fake: FakeLLM) -> None:
    run = begin(small_corpus(), Judge("cpdscore_simple", endpoint=endpoint_of(fake)))
    finish()
    run.refresh_from_db()
    state = progress(run)
    assert (state.total, state.done, state.failed) == (12, 12, 0)
    assert (state.tokens_in, state.tokens_out) == (1200, 240)
    assert float(state.cost or 0) == pytest.approx((1200 * 1 + 240 * 10) / 1e6)
    assert state.rate > 0
    assert Label.objects.filter(question__key="overall", number=4).count() == 6
    assert Label.objects.count() == 12 * 6


def test_rules_need_no_endpoint() -> None:
    run = begin(small_corpus(), Judge("rules_baseline"))
    finish()
    run.refresh_from_db()
    assert (run.state, run.rater.name) == (Run.State.DONE, "rules-baseline")
    missing = Label.objects.filter(number=None)
    assert {label.question.key for label in missing} == {"factual_inaccuracy"}


def test_an_unparseable_reply_is_a_failed_call_with_its_text(fake: FakeLLM) -> None:
    fake.mode = "malformed"
    run = begin(small_corpus(dialogues=1), Judge("cocoeval_behaviours", endpoint=endpoint_of(fake)))
    finish()
    call = Call.objects.get()
    assert (call.state, call.attempts, call.reasked) == (Call.State.FAILED, 2, 1)
    assert call.error.startswith("unparseable: not valid JSON")
    assert "I would rather not say" in call.reply
    assert call.tokens_in == 200
    run.refresh_from_db()
    assert run.state == Run.State.FAILED
    assert run.error.startswith("1 of 1 calls failed. The commonest cause: unparseable: not valid JSON")
    assert not Label.objects.exists()


def test_a_count_that_contradicts_the_turns_is_flagged_and_the_turns_count(fake: FakeLLM) -> None:
    fake.mode = "wrong_count"
    begin(small_corpus(dialogues=1), Judge("cocoeval_behaviours", endpoint=endpoint_of(fake)))
    finish()
    assert Call.objects.get().flags == ["repetition: the count 4 contradicts the 3 turns named"]
    assert Label.objects.filter(number=1).count() == 3


def test_a_turn_that_is_not_there_fails_the_call(fake: FakeLLM) -> None:
    fake.mode = "wrong_turn"
    begin(small_corpus(dialogues=1), Judge("cocoeval_behaviours", endpoint=endpoint_of(fake)))
    finish()
    assert "there is no turn 999; the turns are 1 to 6" in Call.objects.get().error


def test_the_same_run_again_asks_nothing(fake: FakeLLM) -> None:
    corpus, judge = small_corpus(), Judge("cpdscore_detail", endpoint=endpoint_of(fake))
    first = begin(corpus, judge)
    finish()
    asked = fake.requests.total()
    again = begin(corpus, judge)
    finish()
    again.refresh_from_db()
    assert (first.pk, again.state, fake.requests.total()) == (again.pk, Run.State.DONE, asked)


def test_another_scope_of_the_same_judge_pays_only_for_what_is_new(fake: FakeLLM) -> None:
    corpus, judge = small_corpus(), Judge("cpdscore_detail", endpoint=endpoint_of(fake))
    begin(corpus, judge, systems=("secret-model",))
    finish()
    wider = begin(corpus, judge, include_self=True)
    finish()
    wider.refresh_from_db()
    assert (wider.reused, wider.calls.count()) == (12, 4)
    assert fake.requests.total() == 16


@pytest.mark.exhaustive
def test_a_run_on_dev_asks_nothing_about_test_and_fixes_the_split(fake: FakeLLM) -> None:
    corpus, judge = small_corpus(dialogues=4), Judge("cpdscore_detail", endpoint=endpoint_of(fake))
    split = splits.draw(corpus=corpus, by=None)
    run = run_actions.start(
        by=None, plan=judge.plan(), selection=selection_of(corpus=corpus.name, part="dev")
    )
    finish()
    dev = splits.clusters(split=split, part="dev")
    asked = run.calls.values_list("continuation__dialogue__cluster", flat=True)
    assert set(asked) == dev
    assert fake.requests.total() == 6 * len(dev)
    with pytest.raises(SplitRefused, match="it is fixed"):
        splits.draw(corpus=corpus, by=None, seed=1)
    both = run_actions.start(
        by=None, plan=judge.plan(), selection=selection_of(corpus=corpus.name), open_test="the paper"
    )
    finish()
    assert both.pk != run.pk
    assert fake.requests.total() == 6 * 4


def test_a_part_of_a_corpus_without_a_split_is_refused(fake: FakeLLM) -> None:
    corpus = small_corpus()
    with pytest.raises(JudgeError, match="has no split: draw one on its page"):
        selection_of(corpus=corpus.name, part="dev")
    with pytest.raises(JudgeError, match="There is no part 'train': parts are dev, test, training"):
        selection_of(corpus=corpus.name, part="train")


@pytest.mark.exhaustive
def test_more_samples_add_to_those_that_are_there(fake: FakeLLM) -> None:
    corpus, judge = small_corpus(dialogues=1), Judge("cpdscore_detail", endpoint=endpoint_of(fake))
    begin(corpus, judge)
    finish()
    begin(corpus, judge, samples=3)
    finish()
    assert set(Label.objects.values_list("sample", flat=True)) == {0, 1, 2}
    assert set(fake.requests.values()) == {3}


def test_the_judge_never_sees_a_system_name(fake: FakeLLM) -> None:
    corpus = small_corpus(dialogues=1)
    begin(corpus, Judge("cpdscore_simple", endpoint=endpoint_of(fake)))
    begin(corpus, Judge("cocoeval_behaviours", endpoint=endpoint_of(fake, name="two", model="fake-2")))
    finish()
    assert not [prompt for prompt in fake.requests if "secret" in prompt]


def test_without_a_reference_the_answers_are_missing_and_nothing_is_asked(fake: FakeLLM) -> None:
    judge = Judge("cpdscore_simple", "with_reference", endpoint=endpoint_of(fake))
    begin(small_corpus(dialogues=1), judge)
    finish()
    assert fake.requests.total() == 0
    assert set(Label.objects.values_list("missing", flat=True)) == {"no reference response"}


def test_a_server_without_structured_output_is_asked_for_plain_json(fake: FakeLLM) -> None:
    fake.knows_schema = False
    run = begin(small_corpus(), Judge("cocoeval_behaviours", endpoint=endpoint_of(fake)))
    finish()
    run.refresh_from_db()
    assert run.state == Run.State.DONE
    assert [("response_format" in body) for body in fake.bodies].count(False) == 2


@pytest.mark.exhaustive
def test_cancelling_stops_what_waits_and_resuming_finishes_it(fake: FakeLLM) -> None:
    corpus, judge = small_corpus(), Judge("cpdscore_detail", endpoint=endpoint_of(fake))
    run = runs.cancel(by=None, run=begin(corpus, judge))
    finish()
    assert fake.requests.total() == 0
    assert set(run.calls.values_list("state", flat=True)) == {Call.State.CANCELLED}
    run = begin(corpus, judge)
    finish()
    run.refresh_from_db()
    assert (run.state, fake.requests.total()) == (Run.State.DONE, 12)
