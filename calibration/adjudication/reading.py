"""Reading rounds for pages, programs and commands: how far they are, their cases, and what was decided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet

from annotation.corpora import splits
from annotation.models import Label, Question, Rater, TurnNote, turn_numbers
from annotation.text.references import item_key
from annotation.work.labels import called, pointed
from annotation.work.notes import notes_of_assignments as of_assignments
from calibration.adjudication.material import TITLES, locked_clusters, raters_scope
from calibration.adjudication.pseudonyms import names_of
from calibration.models.adjudication import AdjudicationCase, AdjudicationDecision, AdjudicationRound

# What raters said about a case, side by side: their answers, and everything that was said with them.

WORDS = {"0": "no", "1": "yes"}


@dataclass(frozen=True, slots=True)
class Said:
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


def said_about(found: AdjudicationRound, case: AdjudicationCase) -> list[Said]:
    """Return what raters answered to a case, in the order of their pseudonyms; people come first.

    Judges are left out where the case is in a test part that nobody has opened. Of several judges, only the
    one that the round's rule names is shown.
    """
    labels = list(
        raters_scope(found.corpus, found.campaign)
        .labels()
        .filter(item=case.item_id, question=case.question_id)
        .exclude(rater__kind=Rater.Kind.METRIC)
        .select_related("rater", "assignment")
        .order_by("sample", "pk")
    )
    judge = found.rules.get("judge")
    is_locked = splits.of_item(case.item) in locked_clusters(found.corpus)
    shown = [
        label
        for label in labels
        if label.rater.kind != Rater.Kind.JUDGE
        or (not is_locked and (not judge or label.rater.name == judge))
    ]
    names = names_of(found, {label.rater_id: label.rater for label in shown}.values())
    dialogue = case.item.continuation.dialogue_id
    points = pointed({label.pk: (dialogue, label.evidence or ()) for label in shown})
    notes = of_assignments([label.assignment_id for label in shown if label.assignment_id])
    rows = [
        said_of(
            label,
            names[label.rater_id],
            case.question,
            evidence=tuple(map(str, points.get(label.pk, ()))),
            notes=_noted(notes.get(label.assignment_id or 0, ()), case),
        )
        for label in shown
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
) -> Said:
    """Return all that one label says: the answer, and what was said about it."""
    task = label.assignment
    return Said(
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
        "item": key_of(case),
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
