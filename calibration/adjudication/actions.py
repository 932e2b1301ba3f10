"""What researchers do with a round: look at what it would take, begin it, top it up, close it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from annotation.models import Campaign, Corpus, SchemeVersion
from calibration.adjudication import material, settings
from calibration.adjudication.drawing import Drawn, drawn
from calibration.adjudication.pseudonyms import name_raters
from calibration.errors import AdjudicationRefused
from calibration.models import AdjudicationCase, AdjudicationDraw, AdjudicationRound
from calibration.statistics import RatingError
from config.models import Event

BATCH = 5_000
LONGEST_NAME = 120
MOST_SEED = 2**31 - 1


@dataclass(frozen=True)
class Plan:
    """What a round would be about: whose labels, by which rules, drawn with which seed."""

    corpus: Corpus
    campaign: Campaign | None
    version: SchemeVersion
    rules: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    takes_locked: bool = False


def preview(plan: Plan) -> Drawn:
    """Return what the rules would pick now; nothing is kept. Raises AdjudicationRefused."""
    if not 0 <= plan.seed <= MOST_SEED:
        raise AdjudicationRefused(f"The seed is a whole number from 0 to {MOST_SEED:,}.")
    return _drawn(plan, settings.parse(plan.rules))


def _drawn(plan: Plan, rules: settings.Settings, already: Mapping[Any, Any] | None = None) -> Drawn:
    try:
        read = material.read(
            corpus=plan.corpus,
            campaign=plan.campaign,
            version=plan.version,
            settings=rules,
            takes_locked=plan.takes_locked,
        )
        return drawn(read, rules, plan.seed, already)
    except RatingError as error:
        raise AdjudicationRefused(str(error)) from error


@transaction.atomic
def begin(
    *,
    by: User | None,
    name: str,
    plan: Plan,
    adjudicators: int = 1,
    own_items: bool = False,
    shows_names: bool = False,
    shows_systems: bool = False,
    lease_minutes: int = 30,
) -> AdjudicationRound:
    """Draw the cases of a new round and freeze them. Raises AdjudicationRefused where nothing is picked."""
    name = name.strip()
    if not 0 < len(name) <= LONGEST_NAME:
        raise AdjudicationRefused(f"Give the round a name of 1 to {LONGEST_NAME} characters.")
    if AdjudicationRound.objects.filter(name=name).exists():
        raise AdjudicationRefused(f"There is a round {name} already: choose another name.")
    if adjudicators not in (1, 2):
        raise AdjudicationRefused("One adjudicator decides on each case, or two who must agree.")
    if not 1 <= lease_minutes <= 24 * 60:
        raise AdjudicationRefused("A case is held for 1 to 1,440 minutes.")
    found = preview(plan)
    if not found.picks:
        raise AdjudicationRefused("These rules pick nothing of the answers that are there now.")
    made = AdjudicationRound.objects.create(
        name=name,
        corpus=plan.corpus,
        campaign=plan.campaign,
        scheme_version=plan.version,
        rules=settings.parse(plan.rules).as_dict(),
        seed=plan.seed,
        adjudicators=adjudicators,
        own_items=own_items,
        shows_names=shows_names,
        shows_systems=shows_systems,
        takes_locked=plan.takes_locked,
        lease_minutes=lease_minutes,
        created_by=by,
    )
    _keep(by, made, found)
    _log(by, "begin", made, cases=len(found.picks), hash=found.inputs_hash)
    return made


@transaction.atomic
def top_up(*, by: User | None, found: AdjudicationRound) -> int:
    """Add what the rules pick of the answers of now and is no case yet; return how many cases that is."""
    locked = _open(found)
    cases = locked.cases.values_list("item_id", "question_id", "picked")
    already = {(item, question): picked for item, question, picked in cases}
    plan = Plan(
        locked.corpus,
        locked.campaign,
        locked.scheme_version,
        locked.rules,
        locked.seed,
        locked.takes_locked,
    )
    more = _drawn(plan, settings.parse(locked.rules), already)
    if more.picks:
        _keep(by, locked, more)
        _log(by, "top up", locked, cases=len(more.picks), hash=more.inputs_hash)
    return len(more.picks)


@transaction.atomic
def close(*, by: User | None, found: AdjudicationRound) -> None:
    """Close a round: nothing is handed out or decided until it is open again. Decisions stand."""
    _change(by, found, AdjudicationRound.State.CLOSED, "close")


@transaction.atomic
def reopen(*, by: User | None, found: AdjudicationRound) -> None:
    """Open a closed round again."""
    _change(by, found, AdjudicationRound.State.OPEN, "reopen")


VERBS = {"close": close, "reopen": reopen}


def _change(by: User | None, found: AdjudicationRound, state: str, verb: str) -> None:
    changed = AdjudicationRound.objects.filter(pk=found.pk).exclude(state=state).update(state=state)
    if changed:
        _log(by, verb, found)
    found.refresh_from_db(fields=["state"])


def _open(found: AdjudicationRound) -> AdjudicationRound:
    related = ("corpus", "campaign__corpus", "scheme_version__scheme")
    rows = AdjudicationRound.objects.select_for_update(of=("self",)).select_related(*related)
    locked = rows.get(pk=found.pk)
    if locked.state != AdjudicationRound.State.OPEN:
        raise AdjudicationRefused(f"The round {locked.name} is closed. Open it again first.")
    return locked


def _keep(by: User | None, found: AdjudicationRound, what: Drawn) -> None:
    number = found.draws.count() + 1
    draw = AdjudicationDraw.objects.create(
        round=found, number=number, inputs_hash=what.inputs_hash, n=len(what.picks), created_by=by
    )
    first = found.cases.count()
    AdjudicationCase.objects.bulk_create(
        (
            AdjudicationCase(
                round=found,
                draw=draw,
                item_id=pick.item,
                question_id=pick.question,
                position=first + place,
                picked=list(pick.rules),
                places=found.adjudicators,
            )
            for place, pick in enumerate(what.picks)
        ),
        batch_size=BATCH,
    )
    name_raters(found)


def _log(by: User | None, verb: str, found: AdjudicationRound, **detail: Any) -> None:
    Event.objects.create(by=by, verb=f"adjudication: {verb}", subject=found.name, detail=detail)
