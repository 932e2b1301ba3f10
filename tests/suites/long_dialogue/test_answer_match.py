"""The judge of free answers on a stored script, and its use in the Answers report."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from annotation.models import Corpus, Item, Label, Rater
from annotation.records import Turn
from calibration.studies import study_actions as studies
from demo.fake_model.errors import RoleErrors
from demo.fake_model.role import Sampler
from demo.fake_model.roles.long_dialogues import matched
from jobs.models import Call, Endpoint, Run
from jobs.prompt import Unparseable
from judges.protocols import PROTOCOLS
from judges.runs.plans import Judge
from suites.long_dialogue.answer_match import AnswerMatch
from suites.long_dialogue.answers.report import compute
from suites.long_dialogue.answers.rows import read
from tests.fake_llm import FakeLLM
from tests.judges.helpers import begin, endpoint_of, finish
from tests.judges.protocol_cases import answered
from tests.suites.long_dialogue.answers_world import FREE, asked, bring, walked

PROTOCOL = PROTOCOLS["answer_match"]
REPLIES = ("red boots", "Those red ones for her feet. {match yes}", "A hat, I think.", "I don't know.")


@pytest.fixture
def endpoint(fake: FakeLLM) -> Endpoint:
    return endpoint_of(fake)


@pytest.fixture
def corpus(tmp_path: Any) -> Corpus:
    turns = [asked(n, reply, **FREE) for n, reply in zip((1, 2, 4, 5), REPLIES, strict=True)]
    return bring(tmp_path, walked("m", 0, *turns))


def run(corpus: Corpus, endpoint: Endpoint) -> Run:
    made = begin(corpus, Judge("answer_match", endpoint=endpoint))
    finish()
    made.refresh_from_db()
    return made


def said(rater: Rater) -> list[Any]:
    rows = Label.objects.filter(rater=rater, superseded_at=None).order_by("item__turn__position")
    return [row.missing or row.number for row in rows]


@pytest.mark.django_db(transaction=True)
def test_nothing_is_asked_where_the_rule_decides(corpus, fake, endpoint) -> None:
    rater = run(corpus, endpoint).rater
    assert said(rater) == ["the rule decides: right", 1, 0, "the rule decides: wrong"]
    assert len(fake.requests) == 2
    first = next(text for text in fake.requests if "What did Cara buy, 2?" in text)
    assert "| red boots" in first
    assert "bakery" not in first, "nothing of the script is shown"


@pytest.mark.django_db(transaction=True)
def test_the_report_takes_the_rule_and_then_the_judge(corpus, fake, endpoint) -> None:
    before = compute(query=read({}, corpus), by=None).rows[0]
    assert (before.accuracy.value, before.counts.waiting) == (0.5, 2)
    rater = run(corpus, endpoint).rater
    after = compute(query=read({"judge": rater.name}, corpus), by=None)
    assert (after.rows[0].accuracy.value, after.rows[0].counts.waiting) == (0.5, 0)
    assert after.rows[0].counts.by_judge == 2
    assert f"decided by {rater.title}" in " ".join(after.facts)


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_a_contradiction_is_asked_for_three_times_and_is_then_undecided(
    corpus, fake, endpoint, monkeypatch
) -> None:
    monkeypatch.setattr(fake, "say", lambda prompt: json.dumps({"correct": True, "wrong": True}))
    made = run(corpus, endpoint)
    assert made.state == Run.State.DONE
    assert fake.requests.total() == 6, "two replies that are open, three times each"
    assert said(made.rater) == ["the rule decides: right", 0, 0, "the rule decides: wrong"]
    label = Label.objects.filter(rater=made.rater, number=0).first()
    assert label is not None
    assert label.explanation == "undecided: both of correct and wrong is true after 3 replies"
    assert any("undecided" in flag for call in Call.objects.filter(run=made) for flag in call.flags)
    row = compute(query=read({"judge": made.rater.name}, corpus), by=None).rows[0]
    assert (row.counts.undecided, row.accuracy.value) == (2, 0.25)


@pytest.mark.django_db(transaction=True)
def test_people_and_judge_are_compared(corpus, fake, endpoint) -> None:
    rater = run(corpus, endpoint).rater
    person = Rater.objects.create(kind=Rater.Kind.HUMAN, name="ada")
    open_items = Item.objects.filter(labels__rater=rater, labels__number__isnull=False).order_by("pk")
    question = Label.objects.filter(rater=rater)[0].question
    for item, number in zip(open_items, (1, 1), strict=True):
        Label.objects.create(item=item, question=question, rater=person, occasion="main", number=number)
    made = compute(query=read({"judge": "people"}, corpus), by=None)
    (agreed,) = made.agreements
    assert (agreed.judge, agreed.equal.value, agreed.equal.n_items) == (rater.name, 0.5, 2)
    assert agreed.kappa.value == 0
    assert "constant_rater" in agreed.kappa.flags
    assert made.rows[0].accuracy.value == 0.75
    assert "Judges and people on what is right" in [table.title for table in made.tables]


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_an_ordinary_study_compares_judge_and_people_on_answers(corpus, fake, endpoint) -> None:
    rater = run(corpus, endpoint).rater
    person = Rater.objects.create(kind=Rater.Kind.HUMAN, name="ada")
    for label in Label.objects.filter(rater=rater, number__isnull=False):
        fields = {"item": label.item, "question": label.question, "number": label.number}
        Label.objects.create(rater=person, occasion="main", **fields)
    report = studies.compute(study=studies.automatic(corpus=corpus), part="all", by=None)
    asked_about = next(one for one in report.result["questions"] if one["key"] == "right")
    told = {
        (entry["name"], *entry["raters"]): entry for entry in (*asked_about["panel"], *asked_about["pairs"])
    }
    kappa = told["cohen_kappa", "ada", rater.name]
    assert (kappa["value"], kappa["n_items"], kappa["n_clusters"]) == (1, 2, 2)


def case_of(reply: str, **record: Any) -> Any:
    return answered(reply, "before", **record)


def test_exactly_one_of_the_two_is_true() -> None:
    assert isinstance(PROTOCOL, AnswerMatch)
    for correct, wrong in ((True, True), (False, False)):
        with pytest.raises(Unparseable, match="of correct and wrong is true"):
            PROTOCOL.parse(json.dumps({"correct": correct, "wrong": wrong}), case_of("boots"))
    for value in (1, "true", None):
        with pytest.raises(Unparseable, match="neither true nor false"):
            PROTOCOL.parse(json.dumps({"correct": value, "wrong": False}), case_of("boots"))


def test_a_reply_that_cannot_be_read_is_no_undecided_one() -> None:
    assert isinstance(PROTOCOL, AnswerMatch)
    assert PROTOCOL.given_up(Unparseable("not valid JSON"), case_of("boots")) is None


def test_what_cannot_be_known_is_told_to_the_judge() -> None:
    assert isinstance(PROTOCOL, AnswerMatch)
    case = case_of("That was never said.", key="E")
    assert "| I don't know: this cannot be known" in PROTOCOL.prompt(case, "").user
    assert PROTOCOL.refusal(case_of("I don't know.", key="E"), "") == "the rule decides: right"
    assert PROTOCOL.refusal(case_of("", outcome="failed"), "") == "the call failed, so there is no reply"


def test_a_turn_without_a_record_is_no_answer() -> None:
    case = case_of("boots")
    bare = Turn("A", "boots", at=2)
    turns = (*case.continuation.turns[:1], bare)
    assert PROTOCOL.refusal(replace(case, continuation=replace(case.continuation, turns=turns)), "") == (
        "this is no answer to a question about a script"
    )


def test_the_fake_errs_as_its_error_model_says() -> None:
    errors = RoleErrors(sensitivity={"match": 0.8}, specificity={"match": 0.9}, own={"contradicts": 0.1})
    sampler = Sampler("answer_match", errors=errors)
    n = 4000
    told = [matched(f"reply {i} {{match yes}}", sampler) for i in range(n)]
    assert sum(both == (True, True) for both in told) / n == pytest.approx(0.1, abs=0.015)
    clear = [right for right, wrong in told if right != wrong]
    assert sum(clear) / len(clear) == pytest.approx(0.8, abs=0.02)
    wrong = [matched(f"reply {i}", sampler) for i in range(n)]
    clear = [right for right, other in wrong if right != other]
    assert sum(clear) / len(clear) == pytest.approx(0.1, abs=0.015)
    assert matched("reply {match yes}", Sampler("answer_match")) == (True, False)
    assert matched("reply", Sampler("answer_match")) == (False, True)
