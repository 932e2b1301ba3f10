"""What researchers do with a round: look at what it would take, begin it, top it up, close it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db import transaction

from annotation import access
from annotation.models import Campaign, Corpus, SchemeVersion
from calibration.adjudication import material as case_material
from calibration.adjudication import settings as case_rules
from calibration.adjudication.material import CONTROL, TITLES, Asked, Material, control, draw_key, picked
from calibration.adjudication.pseudonyms import name_raters
from calibration.adjudication.settings import Settings
from calibration.errors import AdjudicationRefused
from calibration.models import AdjudicationCase, AdjudicationDraw
from calibration.models.adjudication import AdjudicationRound
from calibration.reading.census import QuestionInfo
from calibration.statistics import RatingError
from config.models import Event
from config.permissions import Viewer, is_researcher

# Who may adjudicate: the one place that says so.


def may_decide(viewer: Viewer, found: AdjudicationRound) -> bool:
    """Whether someone may decide on the cases of a round: researchers, and a campaign's own adjudicators."""
    if found.campaign_id is None:
        return is_researcher(viewer)
    return access.may_adjudicate(viewer, found.campaign_id)


# Drawing cases: what the rules would pick now, in an order that a seed gives, with a hash of all of it.


class Pick(NamedTuple):
    """A case to be: its item, its question, and the rules that picked it."""

    item: int
    question: int
    rules: tuple[str, ...]


@dataclass(frozen=True)
class QuestionPicks:
    """What the rules pick of one question: cases by rule, in all, and for control; which rules do not fit."""

    question: QuestionInfo
    n_items: int
    by_rule: dict[str, int]
    n: int
    control: int
    unfit: dict[str, str] = field(default_factory=dict)

    @property
    def cells(self) -> list[tuple[str, int | None, str]]:
        """Each rule with the number that it picks, or why it does not apply."""
        return [
            (TITLES[key], self.by_rule.get(key), self.unfit.get(key, ""))
            for key in (*self.by_rule, *self.unfit)
        ]


@dataclass(frozen=True)
class Drawn:
    """What a draw comes to: the picks in their order, the numbers by question, and the hash."""

    picks: tuple[Pick, ...]
    questions: tuple[QuestionPicks, ...]
    inputs_hash: str

    @property
    def rules(self) -> list[str]:
        """The titles of the rules that are on."""
        return [title for title, _, _ in self.questions[0].cells] if self.questions else []

    @property
    def n_items(self) -> int:
        """How many items the picks are about."""
        return len({pick.item for pick in self.picks})

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers for programs."""
        return {
            "cases": len(self.picks),
            "items": self.n_items,
            "inputs_hash": self.inputs_hash,
            "questions": [
                {
                    "question": one.question.key,
                    "items": one.n_items,
                    "by_rule": one.by_rule,
                    "picked": one.n,
                    "control": one.control,
                    "does_not_apply": one.unfit,
                }
                for one in self.questions
            ],
        }


def drawn(
    material: Material,
    settings: Settings,
    seed: int,
    already: Mapping[tuple[int, int], Iterable[str]] | None = None,
) -> Drawn:
    """Return what the rules pick, beside the cases there are `already` (item, question) to rules.

    The order is drawn by the seed, conversation by conversation: whoever decides reads each one once, and
    cases for control are among the others.
    """
    there = already or {}
    picks: list[Pick] = []
    told = []
    for asked in material.asked:
        own = settings.of(asked.question.key)
        found, summary = _of_question(asked, own, seed, there)
        picks += found
        told.append(summary)
    positions = {asked.question.id: asked.question.position for asked in material.asked}
    picks.sort(
        key=lambda pick: (
            draw_key(seed, material.where[pick.item].continuation),
            pick.item,
            positions[pick.question],
        )
    )
    return Drawn(tuple(picks), tuple(told), _hash(material, settings, seed, picks))


def _of_question(
    asked: Asked, settings: Settings, seed: int, there: Mapping[tuple[int, int], Iterable[str]]
) -> tuple[list[Pick], QuestionPicks]:
    found = picked(asked.answered, settings)
    question = asked.question.id
    rows = [row for row, hit in enumerate(found.chosen) if hit]
    new = [
        Pick(asked.items[row], question, found.rules_of(row))
        for row in rows
        if (asked.items[row], question) not in there
    ]
    known = {item for item, of in there if of == question}
    had = sum(CONTROL in rules for (_, of), rules in there.items() if of == question)
    taken = found.chosen.copy()
    for row, item in enumerate(asked.items):
        taken[row] |= item in known
    agreed = control(
        asked.answered, taken, n=max(0, settings.control - had), seed=seed, salt=asked.question.ref
    )
    new += [Pick(asked.items[row], question, (CONTROL,)) for row in agreed]
    counts = {key: int(hits.sum()) for key, hits in found.by_rule.items()}
    return new, QuestionPicks(asked.question, len(asked.items), counts, len(rows), len(agreed), found.unfit)


def _hash(material: Material, settings: Settings, seed: int, picks: Iterable[Pick]) -> str:
    refs = {asked.question.id: asked.question.ref for asked in material.asked}
    content = {
        "rules": settings.as_dict(),
        "seed": seed,
        "answers": [asked.digest for asked in material.asked],
        "drawn": [[material.where[one.item].key, refs[one.question], list(one.rules)] for one in picks],
    }
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


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
    return _drawn(plan, case_rules.parse(plan.rules))


def _drawn(plan: Plan, rules: case_rules.Settings, already: Mapping[Any, Any] | None = None) -> Drawn:
    try:
        read = case_material.read(
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
        rules=case_rules.parse(plan.rules).as_dict(),
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
    more = _drawn(plan, case_rules.parse(locked.rules), already)
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
