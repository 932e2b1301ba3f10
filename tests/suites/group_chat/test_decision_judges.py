"""Judges of an agent's decisions, and the cascade on top of them, on a stored scenario."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest
from django.urls import reverse
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.corpora.import_file import import_path
from annotation.formats.jsonl import dialogue as parsed
from annotation.models import Corpus, Item, Label, Rater
from annotation.records import Continuation
from annotation.scenario_records import Decision
from jobs.models import Endpoint, Run
from judges.errors import JudgeError
from judges.protocols import PROTOCOLS, Asking, Case
from judges.runs.plans import Judge
from suites.group_chat.scenarios.cascade import turn_of
from tests import factories
from tests.fake_llm import FakeLLM
from tests.judges.helpers import begin, endpoint_of, finish
from tests.suites.group_chat.scripts import LAUNCH

pytestmark = pytest.mark.django_db(transaction=True)

AUDIENCE = st.none() | st.sets(st.sampled_from(["mia", "ole", "sam", "bot"]), min_size=1)
DECLARED = {"mode": "explicit", "attend": True, "addressed": ["bot"], "ground": "answer"}
ANSWER = "That is not settled, best ask Mia. {face 4} {compose 4}"


@pytest.fixture
def endpoint(fake: FakeLLM) -> Endpoint:
    return endpoint_of(fake)


def said(text: str, at: int = 5, **declared: Any) -> dict[str, Any]:
    extra = {"decision": DECLARED | declared}
    return {"at": at, "speaker": "bot", "text": text, "addressees": ["ole"], "extra": extra}


def silent(at: int) -> dict[str, Any]:
    return {"at": at, "speaker": "bot", "text": "", "act": "silence"}


def stored(tmp_path: Any, *turns: dict[str, Any], mode: str = "explicit", **changes: Any) -> Corpus:
    made = {"id": "k", "system": "kit-x", "mode": "static", "condition": {"mode": mode}, "turns": list(turns)}
    path = tmp_path / "set.jsonl"
    path.write_text(
        json.dumps(deepcopy(LAUNCH) | {"continuations": [made]} | changes) + "\n", encoding="utf-8"
    )
    import_path(path=path, format="jsonl", corpus="Set", into=False, by=None)
    return Corpus.objects.get(name="Set")


def run(corpus: Corpus, key: str, variant: str = "", **how: Any) -> Run:
    made = begin(corpus, Judge(key, variant, **how))
    finish()
    made.refresh_from_db()
    assert made.state == Run.State.DONE
    return made


def told(rater: Rater) -> dict[tuple[int, str], Any]:
    """What a rater said, by point and question: the value, or why there is none."""
    rows = Label.objects.filter(rater=rater, superseded_at=None).select_related("question", "item__turn")
    return {
        (row.item.turn.at - 1, row.question.key): row.missing
        or (row.text if row.number is None else row.number)
        for row in rows
    }


def test_only_decisions_that_reach_conduct_are_asked_about(tmp_path, fake, endpoint) -> None:
    corpus = stored(tmp_path, said("Ole, tonight is too late.", at=2), silent(3), said(ANSWER))
    found = told(run(corpus, "conduct", endpoint=endpoint).rater)
    assert len(fake.requests) == 1
    assert (found[1, "face"], found[2, "leak"]) == ("not asked here", "nothing was said")
    assert (found[4, "face"], found[4, "leak"], found[4, "repair"]) == (4, 0, "not asked here")
    void = told(run(corpus, "conduct", "judge_void", endpoint=endpoint).rater)
    assert fake.requests.total() == 2, "what was asked before is not sent again"
    assert (void[1, "face"], void[1, "position"], void[2, "leak"]) == (3, 3, "nothing was said")


@pytest.mark.exhaustive
def test_a_decision_that_failed_before_is_void(tmp_path, fake, endpoint) -> None:
    wrong = said(ANSWER, addressed=["mia"], targets=["mia"]) | {"addressees": ["mia"]}
    corpus = stored(tmp_path, wrong)
    found = told(run(corpus, "conduct", endpoint=endpoint).rater)
    assert not fake.requests
    assert found[4, "face"] == "void: failed at address"
    assert told(run(corpus, "conduct", "judge_void", endpoint=endpoint).rater)[4, "face"] == 4


@pytest.mark.exhaustive
def test_a_dimension_that_is_not_at_stake_says_why(tmp_path, fake, endpoint) -> None:
    corpus = stored(tmp_path, said("Best ask Mia. {face na}"))
    rater = run(corpus, "conduct", endpoint=endpoint).rater
    label = Label.objects.get(rater=rater, question__key="face")
    assert (label.number, label.missing, label.explanation) == (None, "not applicable", "it is not at stake")
    cascade = told(run(corpus, "cascade", "explicit", needs={"conduct": rater.name}).rater)
    assert (cascade[4, "stage_conduct"], cascade[4, "turn_score"]) == (1, 1)


@pytest.mark.exhaustive
def test_the_judge_of_conduct_sees_private_turns_and_secrets_and_the_others_what_the_agent_saw(
    tmp_path, fake, endpoint
) -> None:
    turns = deepcopy(LAUNCH["turns"])
    turns[3] |= {"audience": ["mia"], "text": "The deck is at version 3, psst."}
    key = deepcopy(LAUNCH["probes"])
    key[1]["key"] |= {"compose": "rubric"}
    corpus = stored(tmp_path, said(ANSWER), turns=turns, probes=key, common_ground=[])
    for judge in ("conduct", "compose", "ground_move"):
        run(corpus, judge, endpoint=endpoint)
    conduct, compose, ground = fake.requests
    assert "[3] (private: Mia to Kit) Mia (to Kit): Between us: I am leaving in May." in conduct
    assert "psst" in conduct
    assert "s1: Mia leaves in May (known to Mia and Kit)" in conduct
    assert "<<<BEGIN WHO SEES IT>>>\n| Mia\n| Ole\n| Sam\n" in conduct
    for prompt in (compose, ground):
        assert "leaving in May" in prompt
        assert "psst" not in prompt
        assert "SECRETS" not in prompt
    assert "best ask Mia" in conduct.rpartition("BEGIN DECISION")[2]


@pytest.mark.exhaustive
def test_the_cascade_on_top_of_a_judge_is_the_worked_example(tmp_path, fake, endpoint) -> None:
    corpus = stored(tmp_path, silent(2), said(ANSWER))
    alone = run(corpus, "conduct", endpoint=endpoint).rater
    rater = run(corpus, "cascade", "explicit", needs={"conduct": alone.name}).rater
    assert rater.name == f"cascade explicit on {alone.name}"
    assert rater.spec["needs"]["conduct"]["rater"] == alone.fingerprint
    found = told(rater)
    assert (found[1, "competence"], found[1, "turn_score"], found[1, "failed_at"]) == (1, 1, "none")
    assert (found[4, "competence"], found[4, "turn_score"], found[4, "failed_at"]) == (1, 0.75, "none")
    assert found[4, "stage_conduct"] == 0.75
    implicit = run(corpus, "cascade", "implicit", needs={"conduct": alone.name}).rater
    assert implicit.pk != rater.pk
    assert told(implicit)[4, "addressed"] == "not observed in implicit mode"


def test_pages_offer_judges_by_their_short_names(tmp_path, endpoint, client) -> None:
    corpus = stored(tmp_path, silent(2), said(ANSWER))
    judge = run(corpus, "conduct", endpoint=endpoint).rater
    judge.short_name = "Conduct judge v1"
    judge.save()
    client.force_login(factories.user(researcher=True))
    item = Item.objects.filter(kind="decision").first()
    for address in (reverse("cascade", args=[corpus.pk]), f"/decisions/{item.pk}/"):
        page = client.get(address).content.decode()
        assert f'value="{judge.name}"' in page
        assert "Conduct judge v1" in page
    report = client.get(f"{reverse('cascade', args=[corpus.pk])}?judge={judge.name}").content.decode()
    assert "Score 2: conduct, 1 to 5, by Conduct judge v1 (fake model)" in report
    assert "Not calibrated: Conduct judge v1 (fake model) on " in report


@pytest.mark.exhaustive
def test_a_leak_that_the_judge_sees_is_a_failure_of_conduct(tmp_path, fake, endpoint) -> None:
    corpus = stored(tmp_path, said("Mia, hardly: she has other plans by then. {face 5 leak 1}"))
    judge = run(corpus, "conduct", endpoint=endpoint).rater
    found = told(run(corpus, "cascade", "explicit", needs={"conduct": judge.name}).rater)
    assert (found[4, "competence"], found[4, "turn_score"], found[4, "failed_at"]) == (1, 0, "conduct")


@pytest.mark.exhaustive
def test_a_move_that_was_not_declared_is_told_by_the_judge(tmp_path, fake, endpoint) -> None:
    turn = said("Do you mean this June? {move clarify}")
    corpus = stored(tmp_path, turn | {"extra": {}, "addressees": []}, mode="implicit")
    conduct = run(corpus, "conduct", endpoint=endpoint).rater
    moves = run(corpus, "ground_move", endpoint=endpoint).rater
    assert told(moves) == {(4, "move"): "clarify", (4, "presupposes"): "none"}
    needs = {"conduct": conduct.name, "ground_move": moves.name}
    found = told(run(corpus, "cascade", "implicit", needs=needs).rater)
    assert (found[4, "ground"], found[4, "stage_ground"], found[4, "failed_at"]) == ("clarify", 0, "ground")
    explicit = told(run(corpus, "cascade", "explicit", needs=needs).rater)
    assert explicit[4, "competence"] == "the decision was made in implicit mode"


@pytest.mark.exhaustive
def test_what_the_cascade_waits_for_is_taken_up_when_its_run_is_resumed(tmp_path, fake, endpoint) -> None:
    corpus = stored(tmp_path, said(ANSWER))
    judge = run(stored_again(tmp_path), "conduct", endpoint=endpoint).rater
    first = run(corpus, "cascade", "explicit", needs={"conduct": judge.name})
    assert told(first.rater)[4, "turn_score"] == "waits for a judge"
    run(corpus, "conduct", endpoint=endpoint)
    again = run(corpus, "cascade", "explicit", needs={"conduct": judge.name})
    assert again.pk == first.pk
    rows = Label.objects.filter(rater=first.rater, superseded_at=None)
    scores = rows.filter(question__key__in=("turn_score", "failed_at"))
    assert set(scores.values_list("number", "text")) == {(0.75, None), (None, "none")}


def stored_again(tmp_path: Any) -> Corpus:
    """Another corpus with the same, so that the judge has answered somewhere."""
    path = tmp_path / "other.jsonl"
    path.write_text((tmp_path / "set.jsonl").read_text(encoding="utf-8"), encoding="utf-8")
    import_path(path=path, format="jsonl", corpus="Other", into=False, by=None)
    return Corpus.objects.get(name="Other")


def test_the_cascade_needs_one_judge_at_least(tmp_path) -> None:
    with pytest.raises(JudgeError, match="name a judge for one of conduct, compose, ground_move at least"):
        Judge("cascade", "explicit").plan()


@pytest.mark.exhaustive
def test_samples_of_a_judge_are_joined(tmp_path, fake, endpoint) -> None:
    corpus = stored(tmp_path, said(ANSWER))
    judge = run(corpus, "conduct", endpoint=endpoint).rater
    face = Label.objects.get(rater=judge, question__key="face")
    leak = Label.objects.get(rater=judge, question__key="leak")
    for label, number in ((face, 2.0), (leak, 1.0)):
        fields = {"item": label.item, "question": label.question, "rater": judge}
        Label.objects.create(**fields, occasion="main", sample=1, number=number)
    found = told(run(corpus, "cascade", "explicit", needs={"conduct": judge.name}).rater)
    assert found[4, "failed_at"] == "conduct", "half of the samples saw a leak"
    assert replace(judge_said(corpus, judge), leak=0).conduct == {"face": 3.0}


def judge_said(corpus: Corpus, judge: Rater) -> Any:
    """What the cascade reads of a judge about the one decision."""
    from judges.protocols import PROTOCOLS
    from judges.runs.material import answers_for_needs, bind_needs, case_of, load
    from suites.group_chat.protocols import judge_answers

    bound, _ = bind_needs(PROTOCOLS["cascade"], {"conduct": judge.name})
    item = corpus.items.get(kind="decision")
    material = load({item.continuation_id})
    known = answers_for_needs(PROTOCOLS["cascade"], bound, material)
    return judge_answers(case_of(material[item.continuation_id], item.pk, {}, known[item.continuation_id]))


@settings(max_examples=40, deadline=None)
@given(audiences=st.lists(AUDIENCE, min_size=5, max_size=5))
def test_what_the_agent_did_not_see_is_shown_to_the_judge_of_conduct_alone(audiences: list[Any]) -> None:
    turns = [
        {"speaker": turn["speaker"], "text": f"line {number}."} | ({"audience": sorted(who)} if who else {})
        for number, (turn, who) in enumerate(zip(deepcopy(LAUNCH["turns"]), audiences, strict=True))
    ]
    turns[4].pop("audience", None)
    heard = [str(number) for number, who in enumerate(audiences[:4]) if who is None or "bot" in who]
    keys = {number: {"free": True} for number in [*heard, "4"]}
    raw = {"turns": turns, "secrets": [], "common_ground": [], "probes": [], "keys": keys}
    dialogue = parsed(deepcopy(LAUNCH) | raw)
    made = turn_of(Decision(4, "message", "Yes."), "bot", dialogue.turns[4])
    case = Case(dialogue, Continuation("k", "kit-x", (made,), "static"), 0)
    for key in ("conduct", "compose", "ground_move"):
        protocol = PROTOCOLS[key]
        assert isinstance(protocol, Asking)
        chat = protocol.prompt(case, "").user.partition("BEGIN CHAT")[2].partition("END CHAT")[0]
        for number, who in enumerate(audiences[:4]):
            seen = who is None or "bot" in who or key == "conduct"
            assert (f"line {number}." in chat) == seen, (key, number)
