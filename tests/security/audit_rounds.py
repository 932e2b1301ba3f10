"""Rounds of adjudication for the audit; `audit_worlds` creates everything else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.security.audit_worlds import make_world

if TYPE_CHECKING:
    from django.contrib.auth.models import User


def make_round_fields(by: User, **rules: Any) -> dict[str, Any]:
    from calibration.adjudication.rounds import Plan

    built = make_world()
    version = built.questions["on_topic"].version
    return {"name": "round", "plan": Plan(built.corpus, None, version, rules or {"everything": True})}


def make_round(by: User) -> Any:
    from calibration.adjudication import rounds

    return rounds.begin(by=None, **make_round_fields(by))


def make_closed_round(by: User) -> dict[str, Any]:
    from calibration.adjudication import rounds

    made = make_round(by)
    rounds.close(by=None, adjudication_round=made)
    return {"adjudication_round": made}


def make_grown_round(by: User) -> dict[str, Any]:
    from annotation.models import Label
    from annotation.work import labels
    from calibration.adjudication import rounds
    from calibration.adjudication.rounds import Plan

    built = make_world()
    built.say("ann", "on_topic", {built.turns[0]: 0})
    plan = Plan(built.corpus, None, built.questions["on_topic"].version, {"no_majority": True})
    made = rounds.begin(by=None, name="round", plan=plan)
    said = Label.objects.filter(rater__name="ann", superseded_at=None, item=built.turns[1]).get()
    labels.record(
        rater=said.rater,
        answers=[labels.Answer(said.item, said.question, 1.0)],
        occasion=said.occasion,
    )
    return {"adjudication_round": made}


def make_decision(by: User) -> dict[str, Any]:
    from calibration.adjudication import decisions

    held = decisions.next_case(by=by, adjudication_round=make_round(by))
    assert held is not None
    made = decisions.decide(by=by, decision=held.pk, answer=1, reason="because")
    return {"decision": made, "reason": "too soon"}
