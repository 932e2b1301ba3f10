"""Judges that compare responses: their prompts, and the meaning of their letters."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from annotation.records import Continuation, Dialogue, Participant, Turn
from annotation.schemes import SCHEMES, ratings
from annotation.schemes.definitions import QuestionDefinition
from demo.fake_model.errors import ErrorModel, RoleErrors
from demo.fake_model.requests import request
from demo.fake_model.roles import recognise
from demo.fake_model.serving import FakeModel
from judges.protocols import PROTOCOLS, Asking, Case, Member, Unfit, Unparseable
from tests.demo.asking import asked, said

PAIR, RANKING = (PROTOCOLS["pairwise"].over(one, "") for one in (ratings.PAIR, ratings.RANKING))
assert isinstance(PAIR, Asking)
assert isinstance(RANKING, Asking)
TEXTS = ("I will come at nine.", "No idea.", "Perhaps.")


def compared(*texts: str, shown: tuple[int, ...] = (), whole: bool = False) -> Case:
    """Responses of as many systems to one point of a dialogue, shown in the order of their numbers."""
    history = (Turn("A", "When will you come?"),)
    turns = [(Turn("bot", text, at=None if whole else 1), Turn("A", "Fine.", given=True)) for text in texts]
    told = tuple(
        Continuation(f"c{n}", f"system-{n}", own if whole else own[:1], mode="rollout" if whole else "static")
        for n, own in enumerate(turns)
    )
    people = (Participant("A", "Ana"), Participant("bot", "system-1"))
    dialogue = Dialogue("d", history, people, told)
    members = tuple(Member(one, None if whole else 0) for one in told)
    return Case(dialogue, told[0], members=members, shown=shown or tuple(range(len(texts))))


def reply(value: object, question: str = "preference") -> str:
    return json.dumps({f"{question}_explanation": "why", question: value})


def value(protocol: Asking, told: object, case: Case, question: str = "preference") -> object:
    return protocol.parse(reply(told, question), case).verdicts[0].value


@pytest.mark.parametrize("whole", [False, True])
def test_responses_stand_under_letters_in_the_order_shown_and_no_system_is_named(whole: bool) -> None:
    prompt = PAIR.prompt(compared(*TEXTS[:2], shown=(1, 0), whole=whole), "").user
    a, b = prompt.index("<<<BEGIN RESPONSE A>>>"), prompt.index("<<<BEGIN RESPONSE B>>>")
    assert a < prompt.index(TEXTS[1]) < b < prompt.index(TEXTS[0])
    assert prompt.index("When will you come?") < a
    assert prompt.count("When will you come?") == 1
    assert "system-" not in prompt
    assert "Both are bad" in prompt
    assert "- A: " in prompt


def test_a_letter_means_the_member_that_stood_under_it() -> None:
    straight, swapped = compared(*TEXTS[:2]), compared(*TEXTS[:2], shown=(1, 0))
    assert [value(PAIR, told, straight) for told in ("A", "B", "tie", "both_bad")] == [
        "first",
        "second",
        "tie",
        "both_bad",
    ]
    assert [value(PAIR, told, swapped) for told in ("A", "B", "tie")] == ["second", "first", "tie"]
    three = compared(*TEXTS, shown=(2, 1, 0))
    assert value(RANKING, "A>B=C", three, "ranking") == "2>0=1"
    assert value(RANKING, " C > A = B ", compared(*TEXTS), "ranking") == "2>0=1"


@pytest.mark.parametrize(
    "told", ["first", "a", "C", "A and B", "", None, 1, ["A"], "A\nB", "system-0", "I prefer A"]
)
def test_what_is_no_answer_is_never_guessed_at(told: object) -> None:
    with pytest.raises(Unparseable, match="preference"):
        PAIR.parse(reply(told), compared(*TEXTS[:2]))


@pytest.mark.parametrize("told", ["A>B", "A>B>C>D", "A>A>B", "C>B>A because", "2>0=1", "", "A>"])
def test_an_order_that_lacks_or_repeats_a_response_is_refused(told: str) -> None:
    with pytest.raises(Unparseable, match="ranking"):
        RANKING.parse(reply(told, "ranking"), compared(*TEXTS))


def test_a_question_that_hangs_on_the_better_one_is_asked_in_letters() -> None:
    why = QuestionDefinition(
        "why", "Why?", "text", show_if={"question": "preference", "in": ["first"]}, required=False
    )
    scheme = replace(ratings.PAIR, key="own", questions=(*ratings.PAIR.questions, why))
    protocol = PROTOCOLS["pairwise"].over(scheme, "")
    assert isinstance(protocol, Asking)
    case = compared(*TEXTS[:2], shown=(1, 0))
    assert "Asked only where preference is B; else null." in protocol.prompt(case, "").user
    told = json.dumps({"preference_explanation": "", "preference": "B", "why": "it answers"})
    assert [one.value for one in protocol.parse(told, case).verdicts] == ["first", "it answers"]


def test_a_judge_that_compares_asks_about_nothing_else_and_no_other_compares() -> None:
    with pytest.raises(Unfit, match="does not compare"):
        PROTOCOLS["pairwise"].over(SCHEMES["comperdial_turn"], "")
    with pytest.raises(Unfit, match="the protocol pairwise asks about these"):
        PROTOCOLS["rubric"].over(ratings.PAIR, "json")


def test_responses_that_follow_other_turns_show_these_before_themselves() -> None:
    history = (Turn("A", "When will you come?"),)
    told = tuple(
        Continuation(name, name, (Turn("A", f"and {name}?"), Turn("bot", "At nine."))) for name in ("x", "y")
    )
    case = Case(
        Dialogue("d", history, (), told), told[0], members=tuple(Member(o, 1) for o in told), shown=(0, 1)
    )
    prompt = PAIR.prompt(case, "").user
    assert prompt.count("[before]") == 2
    assert prompt.index("<<<BEGIN RESPONSE A>>>") < prompt.index("[before]")


def test_the_fake_model_answers_by_quality_and_by_its_pull_to_the_first() -> None:
    texts = ("Good. {quality 4}", "Poor. {quality 2}")
    for shown, letter in (((0, 1), "A"), ((1, 0), "B")):
        body = asked(PAIR.prompt(compared(*texts, shown=shown), ""))
        assert [role.key for role in recognise(request(body))] == ["comparison_judge"]
        assert json.loads(said(FakeModel(), body))["preference"] == letter
    pulled = FakeModel(ErrorModel({"comparison_judge": RoleErrors(position_bias=1.0)}))
    body = asked(PAIR.prompt(compared(*texts, shown=(1, 0)), ""))
    assert json.loads(said(pulled, body))["preference"] == "A"
    ties = asked(PAIR.prompt(compared("So. {quality 3}", "Thus. {quality 3}"), ""), schema=False)
    assert json.loads(said(FakeModel(), ties))["preference"] == "tie"
    bad = asked(PAIR.prompt(compared("So. {quality 1}", "Thus. {quality 1}"), ""))
    assert json.loads(said(FakeModel(), bad))["preference"] == "both_bad"
    ranked = asked(RANKING.prompt(compared("{quality 2}", "{quality 5}", "{quality 2}"), ""))
    assert json.loads(said(FakeModel(), ranked))["ranking"] == "B>A=C"
