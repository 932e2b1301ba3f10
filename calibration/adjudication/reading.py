"""Reading rounds for pages, programs and commands: how far they are, their cases, and what was decided."""

from __future__ import annotations

from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet

from annotation.labels.pseudonyms import called
from annotation.models import turn_numbers
from calibration.adjudication import said
from calibration.adjudication.rules import TITLES
from calibration.models import AdjudicationCase, AdjudicationDecision, AdjudicationRound

STATES = {
    "waiting": "waiting for a decision",
    "differ": "decided differently",
    "settled": "decided",
}
"""How a case stands, and what that means."""
RELATED = (
    "item__turn",
    "item__continuation__dialogue__corpus",
    "item__continuation__system",
    "question__version__scheme",
)


class Progress(NamedTuple):
    """How many cases a round has: in all, decided, decided differently, waiting, in somebody's hands."""

    cases: int
    settled: int
    differ: int
    waiting: int
    held: int

    def as_dict(self) -> dict[str, int]:
        """Return it as programs read it."""
        return self._asdict()


OF_STATE = {
    "settled": Q(settled_at__isnull=False),
    "differ": Q(settled_at__isnull=True, decided=F("places")),
    "waiting": Q(decided__lt=F("places")),
}


def rounds() -> QuerySet[AdjudicationRound]:
    """Return all rounds, newest first, with the numbers `n_cases` and `n_settled`."""
    counted = {
        "n_cases": Count("cases"),
        "n_settled": Count("cases", filter=Q(cases__settled_at__isnull=False)),
    }
    related = ("corpus", "campaign__corpus", "scheme_version__scheme", "created_by")
    return AdjudicationRound.objects.select_related(*related).annotate(**counted).order_by("-pk")


def progress(found: AdjudicationRound) -> Progress:
    """Return how far a round is."""
    counted = found.cases.aggregate(
        cases=Count("pk"),
        **{state: Count("pk", filter=condition) for state, condition in OF_STATE.items()},
        held=Count("pk", filter=Q(taken__gt=F("decided"))),
    )
    return Progress(**counted)


def mine(found: AdjudicationRound, user: User) -> int:
    """Return how many cases of a round somebody decided on."""
    return found.decisions.filter(adjudicator=user, state=AdjudicationDecision.State.DECIDED).count()


def cases(found: AdjudicationRound, state: str = "", rule: str = "") -> QuerySet[AdjudicationCase]:
    """Return a round's cases in their order; in one state, or picked by one rule, where named."""
    rows = found.cases.select_related(*RELATED).order_by("position")
    if state in OF_STATE:
        rows = rows.filter(OF_STATE[state])
    if rule:
        rows = rows.filter(picked__contains=[rule])
    return rows


def state_of(case: AdjudicationCase) -> str:
    """Return how a case stands: a key of STATES."""
    if case.settled_at is not None:
        return "settled"
    return "differ" if case.decided == case.places else "waiting"


def why(case: AdjudicationCase) -> str:
    """Return what a case was picked by, in words."""
    return ", ".join(TITLES.get(key, key) for key in case.picked)


def case_as_dict(case: AdjudicationCase) -> dict[str, Any]:
    """Return a case for researchers' programs."""
    return {
        "case": case.pk,
        "item": said.key_of(case),
        "question": case.question.key,
        "position": case.position,
        "picked": case.picked,
        "state": state_of(case),
        "decided": case.decided,
        "places": case.places,
    }


def decision_as_dict(one: AdjudicationDecision) -> dict[str, Any]:
    """Return a decision for programs: what was decided, by whom, why, and whether it stands."""
    label = one.label
    return {
        "decision": one.pk,
        "case": one.case_id,
        "adjudicator": called(one.adjudicator_id, one.round.corpus_id),
        "state": one.state,
        "value": label.value if label else None,
        "missing": label.missing if label else "",
        "reason": label.explanation if label else "",
        "label": label.pk if label else None,
        "decided_at": one.decided_at,
        "withdrawn_because": one.note if one.state == one.State.WITHDRAWN else "",
    }


def round_as_dict(found: AdjudicationRound) -> dict[str, Any]:
    """Return a round for researchers' programs, with how far it is and what was drawn for it."""
    version = found.scheme_version
    return {
        "id": found.pk,
        "name": found.name,
        "corpus": found.corpus.name,
        "campaign": found.campaign_id,
        "scheme": f"{version.scheme.key}@{version.version}",
        "state": found.state,
        "rules": found.rules,
        "seed": found.seed,
        "adjudicators": found.adjudicators,
        "own_items": found.own_items,
        "shows_names": found.shows_names,
        "shows_systems": found.shows_systems,
        "takes_locked": found.takes_locked,
        "lease_minutes": found.lease_minutes,
        "progress": progress(found).as_dict(),
        "draws": [
            {"number": draw.number, "cases": draw.n, "inputs_hash": draw.inputs_hash, "at": draw.created_at}
            for draw in found.draws.order_by("number")
        ],
    }


def numbered(rows: list[AdjudicationCase]) -> list[AdjudicationCase]:
    """Number the turns of cases as annotators count them, and return the cases."""
    turn_numbers.number([case.item.turn for case in rows])
    return rows


def waiting_for(user: User) -> QuerySet[AdjudicationRound]:
    """Return the open rounds with cases that somebody may still be asked about."""
    free = AdjudicationCase.objects.filter(round=OuterRef("pk"), decided__lt=F("places"))
    return rounds().filter(Exists(free), state=AdjudicationRound.State.OPEN)
