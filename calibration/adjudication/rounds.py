"""Rounds of adjudication: begin, top up and close them, and read their progress."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
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
from annotation.text.views import DEFAULT
from annotation.work.labels import called, pointed, title_of
from annotation.work.notes import notes_of_assignments as of_assignments
from annotation.work.screens import Screen, load_place
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
from jobs.endpoints.parameters import MOST_WHOLE, Parameter
from jobs.errors import JobError

# Pseudonyms of raters in a round: fixed letters, assigned in random order.

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
RATER_WORDS = {Rater.Kind.HUMAN: "Rater", Rater.Kind.JUDGE: "Judge", Rater.Kind.KEY: "Answer key"}


def letters(number: int) -> str:
    """Return the letters for a number, from 0: A, B, ..., Z, AA, AB, ..."""
    name = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, len(LETTERS))
        name = LETTERS[rest] + name
    return name


def name_raters(adjudication_round: AdjudicationRound) -> dict[str, str]:
    """Assign a letter to each rater of a round's questions who has none; existing letters stay."""
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
    """Return the raters' names on a round's screens: pseudonyms, or their titles if the round shows names.

    A single judge is called “Judge”, as a letter would suggest others.
    """
    rater_list = list(raters)
    if adjudication_round.shows_names:
        return {rater.pk: title_of(rater, adjudication_round.corpus_id) for rater in rater_list}
    names = adjudication_round.pseudonyms
    if any(str(rater.pk) not in names for rater in rater_list):
        names = _assign_names(adjudication_round, [rater.pk for rater in rater_list])
    judges = [name for name in names.values() if name.startswith("Judge ")]
    return {
        rater.pk: "Judge" if rater.kind == Rater.Kind.JUDGE and len(judges) == 1 else names[str(rater.pk)]
        for rater in rater_list
    }


# Researchers' actions on a round: preview, begin, top up, close.

# Permission to adjudicate, defined here only.


def may_decide(viewer: Viewer, adjudication_round: AdjudicationRound) -> bool:
    """Whether a viewer may decide a round's cases: researchers, and adjudicators of its campaign."""
    if adjudication_round.campaign_id is None:
        return is_researcher(viewer)
    return access.may_adjudicate(viewer, adjudication_round.campaign_id)


# Drawing cases: the rules' current picks in seeded order, with a hash of the inputs.


class Pick(NamedTuple):
    """A case to create: its item, its question, and the rules that picked it."""

    item: int
    question: int
    rules: tuple[str, ...]


@dataclass(frozen=True)
class QuestionPicks:
    """Picks for one question: cases per rule, in total, and for control; and the rules that do not fit."""

    question: QuestionInfo
    n_items: int
    by_rule: dict[str, int]
    n: int
    control: int
    unfit: dict[str, str] = field(default_factory=dict)

    @property
    def cells(self) -> list[tuple[str, int | None, str]]:
        """Each rule with the number of its picks, or why it does not apply."""
        return [
            (TITLES[key], self.by_rule.get(key), self.unfit.get(key, ""))
            for key in (*self.by_rule, *self.unfit)
        ]


@dataclass(frozen=True)
class CaseDraw:
    """Result of a draw: the picks in order, the numbers by question, and the hash."""

    picks: tuple[Pick, ...]
    questions: tuple[QuestionPicks, ...]
    inputs_hash: str

    @property
    def headings(self) -> list[str]:
        """Titles of the rules that are on, as headings of columns."""
        cells = self.questions[0].cells if self.questions else ()
        return [title[:1].upper() + title[1:] for title, _, _ in cells]

    @property
    def n_items(self) -> int:
        """Number of items with a pick."""
        return len({pick.item for pick in self.picks})

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers as JSON data."""
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
    """Return the rules' new picks; `already` maps existing cases (item, question) to their rules.

    The order is drawn by the seed per conversation, so that an adjudicator reads each conversation once;
    control cases are mixed in.
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
MOST_SEED = MOST_WHOLE
TERMS = ("adjudicators", "own_items", "shows_names", "shows_systems", "lease_minutes")
"""Arguments of `begin` about who decides and what they see."""
LEASE_MINUTES = Parameter("lease_minutes", "whole", "Minutes that a case is held for", "", 1, 24 * 60)
USUAL_LEASE = 30


@dataclass(frozen=True)
class Plan:
    """Plan of a round: the labels it covers, the rules, and the seed."""

    corpus: Corpus
    campaign: Campaign | None
    version: SchemeVersion
    rules: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    takes_locked: bool = False


def preview(plan: Plan) -> CaseDraw:
    """Return the rules' current picks without storing them. Raises AdjudicationRefused."""
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
    lease_minutes: int = USUAL_LEASE,
) -> AdjudicationRound:
    """Draw and freeze the cases of a new round. Raises AdjudicationRefused if the rules pick nothing."""
    name = name.strip()
    if not 0 < len(name) <= LONGEST_NAME:
        raise AdjudicationRefused(f"Give the round a name of 1 to {LONGEST_NAME} characters.")
    if AdjudicationRound.objects.filter(name=name).exists():
        raise AdjudicationRefused(f"There is a round {name} already: choose another name.")
    if adjudicators not in (1, 2):
        raise AdjudicationRefused("One adjudicator decides on each case, or two who must agree.")
    try:
        LEASE_MINUTES.checked(lease_minutes)
    except JobError as error:
        raise AdjudicationRefused(str(error)) from None
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
    """Add new picks from the current answers as cases; return how many were added."""
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
    """Close a round: no cases are assigned or decided until it is reopened. Decisions stay valid."""
    _change(by, adjudication_round, AdjudicationRound.State.CLOSED, "close")


@transaction.atomic
def reopen(*, by: User | None, adjudication_round: AdjudicationRound) -> None:
    """Reopen a closed round."""
    _change(by, adjudication_round, AdjudicationRound.State.OPEN, "reopen")


VERBS: dict[str, Callable[..., int | None]] = {"top-up": top_up, "close": close, "reopen": reopen}
"""Changes of a round by name; a top-up returns how many cases it added."""


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


# Reading rounds for pages, the API and commands: progress, cases and decisions.

# Raters' answers to a case side by side, with their comments and notes.

WORDS = {"0": "no", "1": "yes"}


@dataclass(frozen=True, slots=True)
class CaseAnswer:
    """A rater's answer to a case, under the rater's name in the round, with its remarks.

    `missing` says why there is no value. `explanation` is the rater's; `evidence` cites turns (the number,
    and the words if only part of the turn is meant); `comment` and `flagged` belong to the submitted task,
    `notes` to its turns.
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
        """Return the answer as JSON data."""
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
    """Return raters' answers to a case, in the order of their pseudonyms; people come first.

    Judges are left out if the case is in an unopened test part. If the round's rule names a judge, the others
    are not shown.
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
    locked = is_locked(adjudication_round, case)
    visible = [
        label
        for label in labels
        if label.rater.kind != Rater.Kind.JUDGE or (not locked and (not judge or label.rater.name == judge))
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
    """Return an annotator's notes on the turn of a case, or on any turn if the case is about the whole."""
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
    """Return a label's answer with all remarks on it."""
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
    """Return a value with its wording on the scale: `4 · good`; empty if there is no value."""
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
    """Return the decisions on a case, withdrawn ones included, in chronological order."""
    rows = case.decisions.filter(state__in=["decided", "withdrawn"], label__isnull=False)
    return list(rows.select_related("label", "adjudicator").order_by("decided_at"))


def is_locked(adjudication_round: AdjudicationRound, case: AdjudicationCase) -> bool:
    """Whether a case is in a test part that nobody has opened."""
    return splits.of_item(case.item) in locked_clusters(adjudication_round.corpus)


class CaseHistory(NamedTuple):
    """Answers to a case and decisions on it; there are none to see of a case that is locked."""

    locked: bool
    answers: Sequence[CaseAnswer] = ()
    decisions: Sequence[AdjudicationDecision] = ()


def history(adjudication_round: AdjudicationRound, case: AdjudicationCase) -> CaseHistory:
    """Return what researchers may see of a case."""
    if is_locked(adjudication_round, case):
        return CaseHistory(True)
    return CaseHistory(False, said_about(adjudication_round, case), decided_on(case))


def screen_of(adjudication_round: AdjudicationRound, case: AdjudicationCase) -> Screen:
    """Return the transcript of a case as annotators see it."""
    item, campaign = case.item, adjudication_round.campaign
    shows_whole = (
        adjudication_round.scheme_version.unit == SchemeVersion.Unit.CONTINUATION and item.turn_id is not None
    )
    shows = campaign.shows if campaign else DEFAULT
    return load_place(item.continuation_id, None if shows_whole else item.pk, shows, tagged=False)


STATES = {
    "waiting": "waiting for a decision",
    "differ": "decided differently",
    "settled": "decided",
}
"""States of a case, with their meaning."""
RELATED = (
    "item__turn",
    "item__continuation__dialogue__corpus",
    "item__continuation__system",
    "question__version__scheme",
)


class Progress(NamedTuple):
    """Number of cases of a round: in total, decided, decided differently, waiting, held."""

    cases: int
    settled: int
    differ: int
    waiting: int
    held: int

    def as_dict(self) -> dict[str, int]:
        """Return the numbers as JSON data."""
        return self._asdict()


OF_STATE = {
    "settled": Q(settled_at__isnull=False),
    "differ": Q(settled_at__isnull=True, decided=F("places")),
    "waiting": Q(decided__lt=F("places")),
}


def rounds() -> QuerySet[AdjudicationRound]:
    """Return all rounds, newest first, annotated with `n_cases` and `n_settled`."""
    counted = {
        "n_cases": Count("cases"),
        "n_settled": Count("cases", filter=Q(cases__settled_at__isnull=False)),
    }
    related = ("corpus", "campaign__corpus", "scheme_version__scheme", "created_by")
    return AdjudicationRound.objects.select_related(*related).annotate(**counted).order_by("-pk")


def progress(adjudication_round: AdjudicationRound) -> Progress:
    """Return the progress of a round."""
    counted = adjudication_round.cases.aggregate(
        cases=Count("pk"),
        **{state: Count("pk", filter=condition) for state, condition in OF_STATE.items()},
        held=Count("pk", filter=Q(taken__gt=F("decided"))),
    )
    return Progress(**counted)


def mine(adjudication_round: AdjudicationRound, user: User) -> int:
    """Return how many cases of a round a user decided."""
    return adjudication_round.decisions.filter(
        adjudicator=user, state=AdjudicationDecision.State.DECIDED
    ).count()


def cases(
    adjudication_round: AdjudicationRound, state: str = "", rule: str = ""
) -> QuerySet[AdjudicationCase]:
    """Return a round's cases in order, optionally of one state or picked by one rule."""
    rows = adjudication_round.cases.select_related(*RELATED).order_by("position")
    if state in OF_STATE:
        rows = rows.filter(OF_STATE[state])
    if rule:
        rows = rows.filter(picked__contains=[rule])
    return rows


def state_of(case: AdjudicationCase) -> str:
    """Return the state of a case: a key of STATES."""
    if case.settled_at is not None:
        return "settled"
    return "differ" if case.decided == case.places else "waiting"


def why(case: AdjudicationCase) -> str:
    """Return the titles of the rules that picked a case."""
    return ", ".join(TITLES.get(key, key) for key in case.picked)


def case_as_dict(case: AdjudicationCase) -> dict[str, Any]:
    """Return a case as JSON data for researchers."""
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
    """Return a decision as JSON data: value, adjudicator, reason, and whether it was withdrawn."""
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
    """Return a round as JSON data for researchers, with its progress and draws."""
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
    """Set the turn numbers of cases, as annotators see them, and return the cases."""
    turn_numbers.number([case.item.turn for case in rows])
    return rows


def waiting_for(user: User) -> list[AdjudicationRound]:
    """Return the open rounds with undecided cases in which a user may decide."""
    free = AdjudicationCase.objects.filter(round=OuterRef("pk"), decided__lt=F("places"))
    open_rounds = rounds().filter(Exists(free), state=AdjudicationRound.State.OPEN)
    return [candidate for candidate in open_rounds if may_decide(user, candidate)]
