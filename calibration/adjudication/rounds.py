"""Rounds of adjudication: begin, top up and close them, and read how far they are."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet

from annotation import access
from annotation.corpora import splits
from annotation.models import Campaign, Corpus, Label, Question, SchemeVersion, TurnNote, turn_numbers
from annotation.models.labels import Rater
from annotation.text.references import item_key
from annotation.work.labels import called, name_of, pointed
from annotation.work.notes import notes_of_assignments as of_assignments
from calibration.adjudication import cases as case_material
from calibration.adjudication import cases as case_rules
from calibration.adjudication.cases import (
    CONTROL,
    TITLES,
    Material,
    QuestionAnswers,
    Settings,
    control,
    draw_key,
    locked_clusters,
    picked,
    raters_scope,
)
from calibration.errors import AdjudicationRefused
from calibration.models import AdjudicationCase, AdjudicationDecision, AdjudicationDraw, AdjudicationRound
from calibration.ratings.scope import QuestionInfo
from calibration.statistics import RatingError
from config.models import Event
from config.permissions import Viewer, is_researcher

# What raters are called in a round: letters that stay with them, in an order that tells nothing.

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
RATER_WORDS = {Rater.Kind.HUMAN: "Rater", Rater.Kind.JUDGE: "Judge", Rater.Kind.KEY: "Answer key"}


def letters(number: int) -> str:
    """Return the number-th name, from 0: A, B, ..., Z, AA, AB, ..."""
    name = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, len(LETTERS))
        name = LETTERS[rest] + name
    return name


def name_raters(adjudication_round: AdjudicationRound) -> dict[str, str]:
    """Give every rater of a round's questions a letter who has none; those that were given stay."""
    scope = raters_scope(adjudication_round.corpus, adjudication_round.campaign)
    question_ids = adjudication_round.scheme_version.questions.values("pk")
    ids = (
        scope.labels().filter(question__in=question_ids).order_by().values_list("rater", flat=True).distinct()
    )
    return _assign_names(adjudication_round, ids)


@transaction.atomic
def _assign_names(adjudication_round: AdjudicationRound, raters: Iterable[int]) -> dict[str, str]:
    locked = AdjudicationRound.objects.select_for_update().get(pk=adjudication_round.pk)
    names: dict[str, str] = dict(locked.pseudonyms)
    new = [rater for rater in raters if str(rater) not in names]
    kinds = dict(Rater.objects.filter(pk__in=new).values_list("pk", "kind"))
    for rater in sorted(
        new,
        key=lambda rater_id: draw_key(
            adjudication_round.seed, "rater", str(adjudication_round.pk), str(rater_id)
        ),
    ):
        word = RATER_WORDS.get(Rater.Kind(kinds[rater]), "Rater")
        n = sum(name.rpartition(" ")[0] == word for name in names.values())
        names[str(rater)] = f"{word} {letters(n)}"
    if new:
        locked.pseudonyms = names
        locked.save(update_fields=["pseudonyms"])
    adjudication_round.pseudonyms = names
    return names


def names_of(adjudication_round: AdjudicationRound, raters: Iterable[Rater]) -> dict[int, str]:
    """Return what raters are called on a round's screens: by letter, or as in reports if it shows names.

    The only judge there is is called “Judge”: a letter would suggest others.
    """
    rater_list = list(raters)
    if adjudication_round.shows_names:
        return {rater.pk: name_of(rater, adjudication_round.corpus_id) for rater in rater_list}
    names = adjudication_round.pseudonyms
    if any(str(rater.pk) not in names for rater in rater_list):
        names = _assign_names(adjudication_round, [rater.pk for rater in rater_list])
    judges = [name for name in names.values() if name.startswith("Judge ")]
    return {
        rater.pk: "Judge" if rater.kind == Rater.Kind.JUDGE and len(judges) == 1 else names[str(rater.pk)]
        for rater in rater_list
    }


# What researchers do with a round: look at what it would take, begin it, top it up, close it.

# Who may adjudicate: the one place that says so.


def may_decide(viewer: Viewer, adjudication_round: AdjudicationRound) -> bool:
    """Whether someone may decide on the cases of a round: researchers, and a campaign's own adjudicators."""
    if adjudication_round.campaign_id is None:
        return is_researcher(viewer)
    return access.may_adjudicate(viewer, adjudication_round.campaign_id)


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
class CaseDraw:
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
                    "question": question_picks.question.key,
                    "items": question_picks.n_items,
                    "by_rule": question_picks.by_rule,
                    "picked": question_picks.n,
                    "control": question_picks.control,
                    "does_not_apply": question_picks.unfit,
                }
                for question_picks in self.questions
            ],
        }


def draw_cases(
    material: Material,
    settings: Settings,
    seed: int,
    already: Mapping[tuple[int, int], Iterable[str]] | None = None,
) -> CaseDraw:
    """Return what the rules pick, beside the cases there are `already` (item, question) to rules.

    The order is drawn by the seed, conversation by conversation: whoever decides reads each one once, and
    cases for control are among the others.
    """
    existing = already or {}
    picks: list[Pick] = []
    summaries = []
    for question_answers in material.questions:
        own = settings.of(question_answers.question.key)
        question_picks, summary = _of_question(question_answers, own, seed, existing)
        picks += question_picks
        summaries.append(summary)
    positions = {
        question_answers.question.id: question_answers.question.position
        for question_answers in material.questions
    }
    picks.sort(
        key=lambda pick: (
            draw_key(seed, material.where[pick.item].continuation),
            pick.item,
            positions[pick.question],
        )
    )
    return CaseDraw(tuple(picks), tuple(summaries), _hash(material, settings, seed, picks))


def _of_question(
    question_answers: QuestionAnswers,
    settings: Settings,
    seed: int,
    existing: Mapping[tuple[int, int], Iterable[str]],
) -> tuple[list[Pick], QuestionPicks]:
    picks = picked(question_answers.answered, settings)
    question = question_answers.question.id
    rows = [row for row, hit in enumerate(picks.selected) if hit]
    new = [
        Pick(question_answers.items[row], question, picks.rules_of(row))
        for row in rows
        if (question_answers.items[row], question) not in existing
    ]
    existing_items = {item for item, of in existing if of == question}
    had = sum(CONTROL in rules for (_, of), rules in existing.items() if of == question)
    unavailable = picks.selected.copy()
    for row, item in enumerate(question_answers.items):
        unavailable[row] |= item in existing_items
    agreed = control(
        question_answers.answered,
        unavailable,
        n=max(0, settings.control - had),
        seed=seed,
        salt=question_answers.question.ref,
    )
    new += [Pick(question_answers.items[row], question, (CONTROL,)) for row in agreed]
    counts = {key: int(hits.sum()) for key, hits in picks.by_rule.items()}
    return new, QuestionPicks(
        question_answers.question, len(question_answers.items), counts, len(rows), len(agreed), picks.unfit
    )


def _hash(material: Material, settings: Settings, seed: int, picks: Iterable[Pick]) -> str:
    refs = {
        question_answers.question.id: question_answers.question.ref for question_answers in material.questions
    }
    content = {
        "rules": settings.as_dict(),
        "seed": seed,
        "answers": [question_answers.digest for question_answers in material.questions],
        "drawn": [[material.where[pick.item].key, refs[pick.question], list(pick.rules)] for pick in picks],
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


def preview(plan: Plan) -> CaseDraw:
    """Return what the rules would pick now; nothing is kept. Raises AdjudicationRefused."""
    if not 0 <= plan.seed <= MOST_SEED:
        raise AdjudicationRefused(f"The seed is a whole number from 0 to {MOST_SEED:,}.")
    return _draw(plan, case_rules.parse(plan.rules))


def _draw(plan: Plan, rules: case_rules.Settings, already: Mapping[Any, Any] | None = None) -> CaseDraw:
    try:
        read = case_material.read(
            corpus=plan.corpus,
            campaign=plan.campaign,
            version=plan.version,
            settings=rules,
            takes_locked=plan.takes_locked,
        )
        return draw_cases(read, rules, plan.seed, already)
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
    case_draw = preview(plan)
    if not case_draw.picks:
        raise AdjudicationRefused("These rules pick no item from the current answers.")
    new_round = AdjudicationRound.objects.create(
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
    _keep(by, new_round, case_draw)
    _log(by, "begin", new_round, cases=len(case_draw.picks), hash=case_draw.inputs_hash)
    return new_round


@transaction.atomic
def top_up(*, by: User | None, adjudication_round: AdjudicationRound) -> int:
    """Add what the rules pick of the answers of now and is no case yet; return how many cases that is."""
    locked = _open(adjudication_round)
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
    more = _draw(plan, case_rules.parse(locked.rules), already)
    if more.picks:
        _keep(by, locked, more)
        _log(by, "top up", locked, cases=len(more.picks), hash=more.inputs_hash)
    return len(more.picks)


@transaction.atomic
def close(*, by: User | None, adjudication_round: AdjudicationRound) -> None:
    """Close a round: nothing is handed out or decided until it is open again. Decisions stand."""
    _change(by, adjudication_round, AdjudicationRound.State.CLOSED, "close")


@transaction.atomic
def reopen(*, by: User | None, adjudication_round: AdjudicationRound) -> None:
    """Open a closed round again."""
    _change(by, adjudication_round, AdjudicationRound.State.OPEN, "reopen")


VERBS = {"close": close, "reopen": reopen}


def _change(by: User | None, adjudication_round: AdjudicationRound, state: str, verb: str) -> None:
    changed = (
        AdjudicationRound.objects.filter(pk=adjudication_round.pk).exclude(state=state).update(state=state)
    )
    if changed:
        _log(by, verb, adjudication_round)
    adjudication_round.refresh_from_db(fields=["state"])


def _open(adjudication_round: AdjudicationRound) -> AdjudicationRound:
    related = ("corpus", "campaign__corpus", "scheme_version__scheme")
    rows = AdjudicationRound.objects.select_for_update(of=("self",)).select_related(*related)
    locked = rows.get(pk=adjudication_round.pk)
    if locked.state != AdjudicationRound.State.OPEN:
        raise AdjudicationRefused(f"The round {locked.name} is closed. Open it again first.")
    return locked


def _keep(by: User | None, adjudication_round: AdjudicationRound, case_draw: CaseDraw) -> None:
    number = adjudication_round.draws.count() + 1
    draw = AdjudicationDraw.objects.create(
        round=adjudication_round,
        number=number,
        inputs_hash=case_draw.inputs_hash,
        n=len(case_draw.picks),
        created_by=by,
    )
    first = adjudication_round.cases.count()
    AdjudicationCase.objects.bulk_create(
        (
            AdjudicationCase(
                round=adjudication_round,
                draw=draw,
                item_id=pick.item,
                question_id=pick.question,
                position=first + place,
                picked=list(pick.rules),
                places=adjudication_round.adjudicators,
            )
            for place, pick in enumerate(case_draw.picks)
        ),
        batch_size=BATCH,
    )
    name_raters(adjudication_round)


def _log(by: User | None, verb: str, adjudication_round: AdjudicationRound, **detail: Any) -> None:
    Event.objects.create(by=by, verb=f"adjudication: {verb}", subject=adjudication_round.name, detail=detail)


# Reading rounds for pages, programs and commands: how far they are, their cases, and what was decided.

# What raters said about a case, side by side: their answers, and everything that was said with them.

WORDS = {"0": "no", "1": "yes"}


@dataclass(frozen=True, slots=True)
class CaseAnswer:
    """An answer to a case: by whom (as the round names them), what, and what was said with it.

    `missing` says why there is no value. `explanation` is the rater's and `evidence` what the answer points
    at (the turn's number, and the words where it is not all of the turn); `comment` and `flagged` are of the
    task that it was submitted with, `notes` of its turns.
    """

    name: str
    kind: str
    value: float | str | None
    shown: str
    missing: str
    explanation: str
    comment: str
    flagged: bool
    evidence: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return it as programs read it."""
        return {
            "rater": self.name,
            "kind": self.kind,
            "value": self.value,
            "missing": self.missing,
            "explanation": self.explanation,
            "comment": self.comment,
            "flagged": self.flagged,
            "evidence": list(self.evidence),
            "notes": list(self.notes),
        }


def said_about(adjudication_round: AdjudicationRound, case: AdjudicationCase) -> list[CaseAnswer]:
    """Return what raters answered to a case, in the order of their pseudonyms; people come first.

    Judges are left out where the case is in a test part that nobody has opened. Of several judges, only the
    one that the round's rule names is shown.
    """
    labels = list(
        raters_scope(adjudication_round.corpus, adjudication_round.campaign)
        .labels()
        .filter(item=case.item_id, question=case.question_id)
        .exclude(rater__kind=Rater.Kind.METRIC)
        .select_related("rater", "assignment")
        .order_by("sample", "pk")
    )
    judge = adjudication_round.rules.get("judge")
    is_locked = splits.of_item(case.item) in locked_clusters(adjudication_round.corpus)
    visible = [
        label
        for label in labels
        if label.rater.kind != Rater.Kind.JUDGE
        or (not is_locked and (not judge or label.rater.name == judge))
    ]
    names = names_of(adjudication_round, {label.rater_id: label.rater for label in visible}.values())
    dialogue = case.item.continuation.dialogue_id
    points = pointed({label.pk: (dialogue, label.evidence or ()) for label in visible})
    notes = of_assignments([label.assignment_id for label in visible if label.assignment_id])
    rows = [
        said_of(
            label,
            names[label.rater_id],
            case.question,
            evidence=tuple(map(str, points.get(label.pk, ()))),
            notes=_noted(notes.get(label.assignment_id or 0, ()), case),
        )
        for label in visible
    ]
    order = {Rater.Kind.HUMAN: 0, Rater.Kind.KEY: 1}
    return sorted(rows, key=lambda row: (order.get(Rater.Kind(row.kind), 2), len(row.name), row.name))


def _noted(notes: Sequence[TurnNote], case: AdjudicationCase) -> tuple[str, ...]:
    """Return what an annotator noted on the turn of a case, or, of a whole, on any turn of the task."""
    about = [note for note in notes if case.item.turn_id in (None, note.turn_id)]
    numbers = turn_numbers.numbers_of([note.turn_id for note in about]) if about else {}
    return tuple(
        f"Turn {numbers[note.turn_id]}: " + ", ".join(filter(None, ("flagged" * note.flagged, note.comment)))
        for note in about
    )


def said_of(
    label: Label,
    name: str,
    question: Question,
    *,
    evidence: tuple[str, ...] = (),
    notes: tuple[str, ...] = (),
) -> CaseAnswer:
    """Return all that one label says: the answer, and what was said about it."""
    task = label.assignment
    return CaseAnswer(
        name=f"{name}, answer {label.sample + 1}" if label.sample else name,
        kind=label.rater.kind,
        value=label.value,
        shown=worded(question, label.value),
        missing=label.missing,
        explanation=label.explanation,
        comment=task.comment if task else "",
        flagged=bool(task and task.flagged),
        evidence=evidence,
        notes=notes,
    )


def worded(question: Question, value: float | str | None) -> str:
    """Return a value with its wording where the scale has one: `4 · good`; empty where there is none."""
    if value is None:
        return ""
    text = value if isinstance(value, str) else f"{value:g}"
    words = question.anchors.get(text) or (WORDS.get(text) if question.level == "binary" else "")
    return f"{text} · {words}" if words and words != text else text


def key_of(case: AdjudicationCase) -> str:
    """Return the key of a case's item: `dialogue/continuation/turn`."""
    own, turn = case.item.continuation, case.item.turn
    return item_key(own.dialogue.key, own.key, turn.position if turn else None)


def decided_on(case: AdjudicationCase) -> Sequence[AdjudicationDecision]:
    """Return the decisions on a case, withdrawn ones among them, in the order they were made."""
    rows = case.decisions.filter(state__in=["decided", "withdrawn"], label__isnull=False)
    return list(rows.select_related("label", "adjudicator").order_by("decided_at"))


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


def progress(adjudication_round: AdjudicationRound) -> Progress:
    """Return how far a round is."""
    counted = adjudication_round.cases.aggregate(
        cases=Count("pk"),
        **{state: Count("pk", filter=condition) for state, condition in OF_STATE.items()},
        held=Count("pk", filter=Q(taken__gt=F("decided"))),
    )
    return Progress(**counted)


def mine(adjudication_round: AdjudicationRound, user: User) -> int:
    """Return how many cases of a round somebody decided on."""
    return adjudication_round.decisions.filter(
        adjudicator=user, state=AdjudicationDecision.State.DECIDED
    ).count()


def cases(
    adjudication_round: AdjudicationRound, state: str = "", rule: str = ""
) -> QuerySet[AdjudicationCase]:
    """Return a round's cases in their order; in one state, or picked by one rule, where named."""
    rows = adjudication_round.cases.select_related(*RELATED).order_by("position")
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
        "item": key_of(case),
        "question": case.question.key,
        "position": case.position,
        "picked": case.picked,
        "state": state_of(case),
        "decided": case.decided,
        "places": case.places,
    }


def decision_as_dict(decision: AdjudicationDecision) -> dict[str, Any]:
    """Return a decision for programs: what was decided, by whom, why, and whether it stands."""
    label = decision.label
    return {
        "decision": decision.pk,
        "case": decision.case_id,
        "adjudicator": called(decision.adjudicator_id, decision.round.corpus_id),
        "state": decision.state,
        "value": label.value if label else None,
        "missing": label.missing if label else "",
        "reason": label.explanation if label else "",
        "label": label.pk if label else None,
        "decided_at": decision.decided_at,
        "withdrawn_because": decision.note if decision.state == decision.State.WITHDRAWN else "",
    }


def round_as_dict(adjudication_round: AdjudicationRound) -> dict[str, Any]:
    """Return a round for researchers' programs, with how far it is and what was drawn for it."""
    version = adjudication_round.scheme_version
    return {
        "id": adjudication_round.pk,
        "name": adjudication_round.name,
        "corpus": adjudication_round.corpus.name,
        "campaign": adjudication_round.campaign_id,
        "scheme": f"{version.scheme.key}@{version.version}",
        "state": adjudication_round.state,
        "rules": adjudication_round.rules,
        "seed": adjudication_round.seed,
        "adjudicators": adjudication_round.adjudicators,
        "own_items": adjudication_round.own_items,
        "shows_names": adjudication_round.shows_names,
        "shows_systems": adjudication_round.shows_systems,
        "takes_locked": adjudication_round.takes_locked,
        "lease_minutes": adjudication_round.lease_minutes,
        "progress": progress(adjudication_round).as_dict(),
        "draws": [
            {"number": draw.number, "cases": draw.n, "inputs_hash": draw.inputs_hash, "at": draw.created_at}
            for draw in adjudication_round.draws.order_by("number")
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
