"""A budget for prompts: nothing is truncated without one, and never silently."""

import re

import pytest

from annotation.models import Corpus
from annotation.records import Continuation, Dialogue, Turn
from jobs.models import Call
from judges.errors import JudgeError
from judges.protocols import PROTOCOLS, Case
from judges.protocols.quoting import TooLong, len_of, within
from judges.runs.plans import Judge
from tests import factories
from tests.judges.helpers import begin, endpoint_of, finish

PROTOCOL = PROTOCOLS["cpdscore_simple"]
LONG = "begin " + "x" * 20_000 + " end"


def case(*texts: str) -> Case:
    answer = Continuation("c", "model-x", (Turn("B", "Yes."),))
    turns = tuple(Turn("AB"[place % 2], text) for place, text in enumerate(texts))
    return Case(Dialogue("d", turns, continuations=(answer,)), answer, 0)


def test_without_a_budget_nothing_is_cut() -> None:
    prompt, flags = within(PROTOCOL, case(LONG, "short"), "without_reference", None)
    assert LONG in prompt.user
    assert flags == ()


def test_the_longest_text_loses_its_middle_and_the_place_and_the_call_say_how_much() -> None:
    prompt, flags = within(PROTOCOL, case(LONG, "a short turn"), "without_reference", 6000)
    [left_out] = re.findall(r"\[\.\.\. (\d+) characters left out\]", prompt.user)
    assert flags == (f"shortened: {left_out} characters left out",)
    assert "begin xxx" in prompt.user
    assert "xxx end" in prompt.user
    assert "a short turn" in prompt.user
    assert 5900 < len_of(prompt) <= 6000
    kept = sum(map(len, re.findall("x{20,}", prompt.user)))
    assert kept + int(left_out) == 20_000


def test_a_prompt_that_fits_is_the_same_with_a_budget_and_without() -> None:
    plain, _ = within(PROTOCOL, case("hello"), "without_reference", None)
    assert within(PROTOCOL, case("hello"), "without_reference", 9000) == (plain, ())


def test_a_budget_that_no_cut_can_meet_is_an_error_with_both_numbers() -> None:
    with pytest.raises(
        TooLong, match=r"the prompt has [\d,]+ characters .* below [\d,]+; the budget is 1,000"
    ):
        within(PROTOCOL, case(LONG), "without_reference", 1000)


@pytest.mark.django_db(transaction=True)
def test_a_call_within_a_budget_is_flagged_and_one_that_cannot_be_made_fails(fake) -> None:
    corpus: Corpus = factories.corpus()
    dialogue = factories.dialogue(corpus, "d", turns=0)
    factories.continuation(dialogue, "c", system="x", turns=[{"text": LONG}, {"text": "Yes."}])
    endpoint = endpoint_of(fake)
    run = begin(corpus, Judge("cpdscore_simple", endpoint=endpoint, budget=6000))
    small = begin(corpus, Judge("cpdscore_simple", endpoint=endpoint, budget=1000))
    assert run.rater.spec["budget"] == 6000
    finish()
    flags = [call.flags for call in run.calls.all()]
    assert all(re.fullmatch(r"shortened: \d+ characters left out", flag) for [flag] in flags)
    for call in small.calls.all():
        assert call.state == Call.State.FAILED
        assert "the budget is 1,000" in call.error


@pytest.mark.django_db
def test_a_budget_without_room_for_instructions_is_refused(fake) -> None:
    with pytest.raises(JudgeError, match="at least 1,000 characters"):
        Judge("cpdscore_simple", endpoint=endpoint_of(fake), budget=10).plan()
