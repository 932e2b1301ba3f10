"""Adjudication: selection of cases by rules, adjudicators, and use of the decisions."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, transaction

from annotation.models import ContinuationAuthor, Label, Occasion, Rater
from annotation.work import labels
from calibration.adjudication import agreement, decisions, rounds
from calibration.adjudication.rounds import Plan
from calibration.errors import AdjudicationRefused, CaseLost, NotYours, OtherDraft
from calibration.models import AdjudicationCase, AdjudicationDecision, AdjudicationRound, ForAdjudication
from tests import factories
from tests.calibration.world import World, world

pytestmark = pytest.mark.django_db
ANSWERS = {
    "ann": [1, 1, 5, 3, 2, 4, 4, 2, 3, 3],
    "ben": [1, 3, 5, 3, 2, 4, 4, 2, 3, 1],
    "cem": [1, 5, 4, 3, 2, 4, 4, 2, 3, 5],
}
"""Ten turns: all agree on seven, two of three on turn 2, nobody on turns 1 and 9."""


@pytest.fixture(scope="module")
def rated(module_database: None) -> World:
    built = world(dialogues=5, turns=2)
    built.ask("quality", "ordinal", [1, 2, 3, 4, 5])
    for name, values in ANSWERS.items():
        built.say(name, "quality", [float(value) for value in values])
    return built


def _plan(built: World, **rules: object) -> Plan:
    version = built.questions["quality"].version
    return Plan(built.corpus, None, version, rules or {"no_majority": True, "control": 2}, seed=1)


def _begin(built: World, rules: dict | None = None, **how: object) -> AdjudicationRound:
    plan = _plan(built, **(rules or {}))
    return rounds.begin(by=None, name=str(how.pop("name", "first")), plan=plan, **how)  # type: ignore[arg-type]


def _picked(built: World, **rules: object) -> list[tuple[int, tuple[str, ...]]]:
    places = {item.pk: place for place, item in enumerate(built.turns)}
    return sorted((places[pick.item], pick.rules) for pick in rounds.preview(_plan(built, **rules)).picks)


def test_each_rule_picks_what_it_says(rated: World) -> None:
    rated.say("a judge", "quality", [1.0, 3, 5, 3, 5, 4, 4, 2, 3, 3], kind="judge")
    ForAdjudication.objects.create(item=rated.turns[3], question=rated.questions["quality"], reason="odd")
    assert _picked(rated, no_majority=True) == [(1, ("no_majority",)), (9, ("no_majority",))]
    assert _picked(rated, spread=1) == [(1, ("spread",)), (2, ("spread",)), (9, ("spread",))]
    assert _picked(rated, judge="a judge", judge_apart=2) == [(4, ("judge",))]
    assert _picked(rated, marked=True) == [(3, ("marked",))]
    assert _picked(rated, spread=1, no_majority=True, combine="all") == [
        (1, ("no_majority", "spread")),
        (9, ("no_majority", "spread")),
    ]
    unsure = _picked(rated, confidence=0.7, confidence_rule="majority")
    assert [place for place, _ in unsure] == [1, 2, 9]
    assert len(_picked(rated, everything=True)) == 10


def test_the_sample_for_control_is_drawn_by_the_seed_among_what_all_agree_on(rated: World) -> None:
    rules = {"no_majority": True, "control": 3}
    once, again = (rounds.preview(_plan(rated, **rules)) for _ in range(2))
    assert (once.picks, once.inputs_hash) == (again.picks, again.inputs_hash)
    assert [one.rules for one in once.picks].count(("control",)) == 3
    (told,) = once.questions
    assert (told.by_rule, told.n, told.control) == ({"no_majority": 2}, 2, 3)


def test_rules_that_make_no_sense_are_refused_in_one_line(rated: World) -> None:
    for rules, line in (
        ({}, "Choose a rule"),
        ({"spread": -1}, "spread is a number above 0"),
        ({"judge": "nobody"}, "No judge 'nobody'"),
        ({"no_majority": True, "questions": ["style"]}, "a question 'style'"),
        ({"nonsense": True}, "There is no rule 'nonsense'"),
    ):
        version = rated.questions["quality"].version
        with pytest.raises(AdjudicationRefused, match=line):
            rounds.preview(Plan(rated.corpus, None, version, rules))
    rated.say("a judge", "quality", [float("nan")] * 0, kind="judge")
    with pytest.raises(AdjudicationRefused, match="pick no item"):
        _begin(rated, {"spread": 5})


def test_a_round_is_frozen_and_is_topped_up_with_what_came_since(rated: World) -> None:
    found = _begin(rated, {"no_majority": True, "control": 1})
    assert found.cases.count() == 3
    case = found.cases.first()
    assert case is not None
    for change in ({"picked": ["spread"]}, {"position": 77}):
        with pytest.raises(IntegrityError), transaction.atomic():
            AdjudicationCase.objects.filter(pk=case.pk).update(**change)
    with pytest.raises(IntegrityError), transaction.atomic():
        case.delete()
    assert rounds.top_up(by=None, adjudication_round=found) == 0
    rated.say("ann", "quality", {rated.turns[2]: 1.0})
    assert rounds.top_up(by=None, adjudication_round=found) == 1
    assert [draw.n for draw in found.draws.order_by("number")] == [3, 1]


def test_two_adjudicators_never_hold_the_same_case(rated: World) -> None:
    found = _begin(rated)
    one, two = (factories.user(researcher=True) for _ in range(2))
    mine, theirs = (decisions.next_case(by=user, adjudication_round=found) for user in (one, two))
    assert mine is not None
    assert theirs is not None
    assert mine.case_id != theirs.case_id
    assert decisions.next_case(by=one, adjudication_round=found) == mine
    with pytest.raises(IntegrityError), transaction.atomic():
        AdjudicationDecision.objects.filter(pk=theirs.pk).update(case=mine.case_id)
    decisions.pass_on(by=two, decision=theirs.pk, reason="I know them")
    late = {"round": found, "adjudicator": two, "lease_expires": mine.lease_expires}
    with pytest.raises(IntegrityError, match="case_never_over_assigned"), transaction.atomic():
        AdjudicationDecision.objects.create(case=mine.case, **late)
    with pytest.raises(NotYours):
        decisions.decide(by=two, decision=mine.pk, answer=3, reason="mine now")
    with pytest.raises(NotYours):
        decisions.next_case(by=factories.user(), adjudication_round=found)


@pytest.mark.exhaustive
def test_a_lease_that_ran_out_goes_to_somebody_else_and_the_draft_is_kept(rated: World) -> None:
    found = _begin(rated, {"no_majority": True, "combine": "any"})
    one, two = (factories.user(researcher=True) for _ in range(2))
    mine = decisions.next_case(by=one, adjudication_round=found)
    assert mine is not None
    told = {"version": 1, "client": "tab", "answer": 4, "cannot": False, "reason": "so far"}
    assert decisions.save_draft(by=one, decision=mine.pk, draft=told) == 1
    with pytest.raises(OtherDraft):
        decisions.save_draft(by=one, decision=mine.pk, draft=told | {"client": "other", "answer": 2})
    AdjudicationDecision.objects.filter(pk=mine.pk).update(lease_expires="2020-01-01T00:00Z")
    for _ in range(2):
        theirs = decisions.next_case(by=two, adjudication_round=found)
        assert theirs is not None
        decisions.decide(by=two, decision=theirs.pk, answer=3, reason="the middle")
    assert decisions.next_case(by=two, adjudication_round=found) is None
    with pytest.raises(CaseLost):
        decisions.decide(by=one, decision=mine.pk, answer=4, reason="so far")
    mine.refresh_from_db()
    assert (mine.state, mine.draft["answer"]) == ("expired", 4)


@pytest.mark.exhaustive
def test_a_decision_is_a_label_of_its_own_that_is_superseded_and_withdrawn(rated: World) -> None:
    by = factories.user("zoe", researcher=True)
    found = _begin(rated, {"no_majority": True})
    ForAdjudication.objects.create(item=rated.turns[1], question=rated.questions["quality"], reason="odd")
    held = decisions.next_case(by=by, adjudication_round=found)
    assert held is not None
    both, no_reason = {"answer": 3, "cannot": True}, {"answer": 3, "reason": " "}
    for wrong in ({"answer": 9}, {"answer": None}, both, no_reason):
        with pytest.raises(AdjudicationRefused):
            decisions.decide(by=by, decision=held.pk, **({"reason": "because"} | wrong))  # type: ignore[arg-type]
    first = decisions.decide(by=by, decision=held.pk, answer=4, reason="as the guidelines say").label
    second = decisions.decide(by=by, decision=held.pk, cannot=True, reason="cut off").label
    assert first is not None
    assert second is not None
    first.refresh_from_db()
    assert first.superseded_at is not None
    assert (second.occasion, second.missing, second.explanation) == (
        Occasion.ADJUDICATION,
        decisions.CANNOT_BE_DECIDED,
        "cut off",
    )
    assert rounds.progress(found).settled == 1
    held.refresh_from_db()
    decisions.withdraw(by=by, decision=held, reason="too soon")
    assert not Label.objects.filter(occasion=Occasion.ADJUDICATION, superseded_at=None).exists()
    assert rounds.progress(found) == (2, 0, 0, 2, 0)
    while (again := decisions.next_case(by=by, adjudication_round=found)) is not None:
        decisions.decide(by=by, decision=again.pk, answer=2, reason="after all")
    assert rounds.progress(found).settled == 2
    assert not ForAdjudication.objects.filter(settled_at=None).exists()


def test_of_two_who_decide_differently_nothing_is_settled(rated: World) -> None:
    found = _begin(rated, {"no_majority": True}, adjudicators=2)
    one, two = (factories.user(researcher=True) for _ in range(2))
    held = [decisions.next_case(by=user, adjudication_round=found) for user in (one, two)]
    assert held[0] is not None
    assert held[1] is not None
    case = held[0].case_id
    theirs = decisions.hold(two, found, held[0].case)
    decisions.decide(by=one, decision=held[0].pk, answer=4, reason="four")
    decisions.decide(by=two, decision=theirs, answer=2, reason="two")
    assert rounds.state_of(AdjudicationCase.objects.get(pk=case)) == "differ"
    decisions.decide(by=two, decision=theirs, answer=4, reason="talked it over")
    assert rounds.state_of(AdjudicationCase.objects.get(pk=case)) == "settled"


def test_nobody_decides_on_what_they_rated_unless_the_round_says_so(rated: World) -> None:
    by = factories.user(researcher=True)
    for item in (rated.turns[1], rated.turns[9]):
        answer = labels.Answer(item, rated.questions["quality"], 2.0)
        labels.record(rater=labels.rater_of_person(user=by), answers=[answer], occasion=Occasion.IMPORTED)
    assert decisions.next_case(by=by, adjudication_round=_begin(rated, {"spread": 3})) is None
    free = _begin(rated, {"spread": 3}, name="own", own_items=True)
    assert decisions.next_case(by=by, adjudication_round=free) is not None


def test_nobody_decides_on_what_they_wrote(rated: World) -> None:
    by = factories.user(researcher=True)
    found = _begin(rated, {"spread": 3}, own_items=True)
    held = decisions.next_case(by=by, adjudication_round=found)
    assert held is not None
    for item in rated.turns:
        ContinuationAuthor.objects.get_or_create(continuation=item.continuation, user=by)
    other = _begin(rated, {"spread": 3}, name="other", own_items=True)
    assert decisions.next_case(by=by, adjudication_round=other) is None
    with pytest.raises(AdjudicationRefused, match="You wrote"):
        decisions.decide(by=by, decision=held.pk, answer=4, reason="four")


def test_raters_keep_their_letters_and_nothing_else_tells_who_they_are(rated: World) -> None:
    rated.say("gpt", "quality", [2.0] * 10, kind="judge")
    found = _begin(rated, {"no_majority": True})
    cases = list(rounds.cases(found))
    names = [[(one.name, one.value) for one in rounds.said_about(found, case)] for case in cases]
    assert [name for name, _ in names[0]] == ["Rater A", "Rater B", "Rater C", "Judge"]
    of_letter = {name: [dict(row)[name] for row in names] for name in ("Rater A", "Rater B", "Rater C")}
    at = [rated.turns.index(case.item) for case in cases]
    assert sorted(of_letter.values()) == sorted([float(row[i]) for i in at] for row in ANSWERS.values())
    rated.say("aaa", "quality", {cases[0].item: 2.0})
    assert [one.name for one in rounds.said_about(found, cases[0])][3] == "Rater D"
    found.shows_names = True
    assert {one.name for one in rounds.said_about(found, cases[0])} == {*ANSWERS, "aaa", "gpt"}
    Rater.objects.filter(name="gpt").update(short_name="Strict judge")
    assert {one.name for one in rounds.said_about(found, cases[0])} == {*ANSWERS, "aaa", "Strict judge"}


@pytest.mark.exhaustive
def test_the_report_tells_control_apart_and_what_was_overturned(rated: World) -> None:
    by = factories.user(researcher=True)
    found = _begin(rated, {"spread": 1, "control": 4})
    while (held := decisions.next_case(by=by, adjudication_round=found)) is not None:
        is_control = held.case.picked == ["control"]
        value = ANSWERS["ann"][rated.turns.index(held.case.item)] if is_control else 4
        decisions.decide(by=by, decision=held.pk, answer=value, reason="read again")
    (told,) = agreement.report(found).questions
    assert told.control[0].rater == agreement.MAJORITY
    assert told.control[0].results[0].value == 1
    assert {row.rater for row in told.picked} == {agreement.MAJORITY, *ANSWERS}
    (spread, control) = told.by_rule
    assert (spread.decided, spread.without_majority, spread.overturned) == (3, 2, 1)
    assert (control.decided, control.overturned) == (4, 0)
    assert (spread.stands.value, control.stands.value) == (0, 1)


@pytest.mark.exhaustive
def test_decisions_made_elsewhere_are_read_line_by_line_or_not_at_all(rated: World) -> None:
    by = factories.user(researcher=True)
    found = _begin(rated, {"no_majority": True})
    one, two = (rounds.key_of(case) for case in rounds.cases(found))
    lines = f'item,question,value,missing,reason\n{one},quality,4,,"=read, again"\n'
    for wrong, line in (
        (f"{lines}{two},quality,9,,why\n", "Line 3: .* does not take 9"),
        (f"{lines}{two},quality,2,,\n", "Line 3: Say why"),
        (f"{lines}x/y/1,quality,2,,why\n", "Line 3: the round has no case"),
        ("item,value\n", "Line 1: there is no column 'question'"),
    ):
        with pytest.raises(AdjudicationRefused, match=line):
            decisions.import_decisions(by=by, adjudication_round=found, content=wrong.encode(), name="d.csv")
    assert not Label.objects.filter(occasion=Occasion.ADJUDICATION).exists()
    good = f"{lines}{two},quality,,cannot be decided,cut off\n".encode()
    assert decisions.import_decisions(by=by, adjudication_round=found, content=good, name="d.csv") == 2
    assert decisions.import_decisions(by=by, adjudication_round=found, content=good, name="d.csv") == 0
    kept = "".join(decisions.write_table(found, "decisions", "csv"))
    assert "'=read, again" in kept
    assert (
        decisions.import_decisions(by=by, adjudication_round=found, content=kept.encode(), name="d.csv") == 0
    )
    assert "no_majority" in "".join(decisions.write_table(found, "queue", "jsonl"))
