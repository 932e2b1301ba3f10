"""One decision as a page shows it: what the agent had seen, the key, what it did, and where it failed."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from annotation.corpora import splits
from annotation.corpora.rows import turn_record
from annotation.kinds import DECISION
from annotation.models import Continuation, Item, Rater, Turn
from annotation.records import SELF, Dialogue
from annotation.scenario_editing.answer_keys import scenarios
from annotation.scenarios.cascade import SETTINGS, decision_of, outcome
from annotation.scenarios.points import key_at, positions_seen, probes_at, scenario_of
from annotation.scenarios.records import (
    BACKGROUND,
    STAGES,
    CascadeSettings,
    Decision,
    Judged,
    Key,
    Outcome,
    Probe,
    key_json,
)
from calibration.cascade.reading import answers_of


@dataclass(frozen=True)
class DecisionView:
    """A decision with all that it is scored by. ``result`` is None where test was not opened yet.

    ``seen`` are the positions of the script's turns that the agent had seen. ``others`` are the decisions at
    the same point by other systems and on other trials.
    """

    item: Item
    continuation: Continuation
    dialogue: Dialogue
    decision: Decision
    key: Key
    probes: tuple[Probe, ...]
    seen: tuple[int, ...]
    result: Outcome | None
    judged: Judged | None
    others: tuple[Item, ...]

    @property
    def probe_names(self) -> list[str]:
        """What the point belongs to, such as `overheard (control)`; `background` for no probe."""
        named = [f"{probe.kind}{' (control)' if probe.control else ''}" for probe in self.probes]
        return named or [BACKGROUND]


def view(item: Item, judges: Collection[Rater] = (), settings: CascadeSettings = SETTINGS) -> DecisionView:
    """Return a decision with its outcome by what judges said; the item must be one of kind `decision`.

    Before test was opened the outcome of a decision of the test part is withheld.
    """
    assert item.kind == DECISION.key
    assert item.turn is not None
    part = item.continuation
    dialogue = scenarios([part.dialogue])[part.dialogue_id]
    decisions = _decisions(part)
    decision = _of(item.turn, part)
    told = scenario_of(dialogue)
    locked = splits.unopened(item.corpus).filter(cluster=part.dialogue.cluster).exists()
    judged = answers_of(judges, [item.pk]).get(item.pk) if judges else None
    earlier = {point: one for point, one in decisions.items() if point < decision.point}
    return DecisionView(
        item,
        part,
        dialogue,
        decision,
        key_at(told, decision.point),
        probes_at(told, decision.point),
        positions_seen(dialogue, told.agent, decision.point + 1),
        None if locked else outcome(dialogue, decision, judged, settings, earlier),
        judged,
        _others(item),
    )


def _of(turn: Turn, part: Continuation) -> Decision:
    return decision_of(turn_record(turn.speaker, turn.text, turn.given, turn.at, turn.extra), part.condition)


def _decisions(part: Continuation) -> dict[int, Decision]:
    found: dict[int, Decision] = {}
    for turn in part.turns.filter(given=False).order_by("position"):
        decision = _of(turn, part)
        found.setdefault(decision.point, decision)
    return found


def _others(item: Item, most: int = 100) -> tuple[Item, ...]:
    assert item.turn is not None
    same = Item.objects.filter(
        kind=DECISION.key, continuation__dialogue=item.continuation.dialogue_id, turn__at=item.turn.at
    )
    rows = same.exclude(pk=item.pk).select_related("continuation__system", "turn")
    return tuple(rows.order_by("continuation__system__name", "continuation__trial", "pk")[:most])


def script(found: DecisionView) -> list[Turn]:
    """Return the turns of the script that the agent had seen, as rows, in order."""
    own = found.continuation.dialogue.continuations.filter(key=SELF)
    rows = Turn.objects.filter(continuation__in=own, position__in=found.seen)
    return list(rows.order_by("position"))


def content(found: DecisionView) -> dict[str, Any]:
    """Return a decision as plain data."""
    decision, result = found.decision, found.result
    return {
        "id": found.item.pk,
        "corpus": found.item.corpus.name,
        "dialogue": found.dialogue.id,
        "system": found.continuation.system.name,
        "condition": found.continuation.condition,
        "trial": found.continuation.trial,
        "point": decision.point,
        "probes": found.probe_names,
        "seen": list(found.seen),
        "key": key_json(found.key),
        "decision": {
            "act": decision.act,
            "text": decision.text,
            "mode": decision.mode,
            "attend": decision.attend,
            "addressed": _listed(decision.addressed),
            "targets": _listed(decision.targets),
            "ground": decision.ground,
            "flags": list(decision.flags),
        },
        "outcome": None if result is None else _outcome(result),
    }


def _listed(ids: tuple[str, ...] | None) -> list[str] | None:
    return None if ids is None else list(ids)


def _outcome(result: Outcome) -> dict[str, Any]:
    return {
        "stages": [
            {
                "stage": stage,
                "score": result.stages[stage].score,
                "state": result.stages[stage].state,
                "why": result.stages[stage].why,
            }
            for stage in STAGES
        ],
        "failed_at": result.failed_at,
        "competence": result.competence,
        "turn_score": result.turn_score,
        "flags": list(result.flags),
        "leaks": list(result.leaks),
        "leaks_elsewhere": list(result.leaks_elsewhere),
    }
