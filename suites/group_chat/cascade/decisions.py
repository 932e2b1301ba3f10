"""Decisions of group-chat agents: loading them from the database, and the view of one on a page."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from django.urls import reverse

from annotation.corpora import splits
from annotation.corpora.rows import turn_record
from annotation.corpora.splits import TRAINING
from annotation.kinds import DECISION
from annotation.models import Corpus, Label, Occasion
from annotation.models import Dialogue as StoredDialogue
from annotation.models.corpora import Continuation, Item, Turn
from annotation.models.labels import Rater
from annotation.records import SELF, Dialogue
from annotation.scenario_records import (
    BACKGROUND,
    LEAK,
    PEOPLE,
    POINTS,
    UNPARSEABLE,
    CascadeSettings,
    Decision,
    Judged,
    Key,
    Mode,
    Outcome,
    Probe,
    key_json,
)
from suites.group_chat import schemes as conduct_schemes
from suites.group_chat.answer_keys import of_corpus, scenarios
from suites.group_chat.scenarios.agents import AGENTS, ORACLE, Agent, Learnt, decide, learn
from suites.group_chat.scenarios.cascade import SETTINGS, decision_of, outcome
from suites.group_chat.scenarios.observing import declared_addressees, hints
from suites.group_chat.scenarios.points import (
    evenness_of_talk,
    key_at,
    others_at,
    positions_seen,
    probes_at,
    scenario_of,
    share_of_talk,
)
from suites.reports import ReportRefused

# Loading decided points from the database: systems' decisions, judges' answers, and the baselines.

# One decision with everything a report needs of it, and decisions of many as arrays.

MUST_SPEAK, STAY_OUT, EITHER = "must speak", "stay out", ""
"""Classes of points in the restraint panel."""


class Talk(NamedTuple):
    """A message's share of the floor: the agent's share of messages and of words, and the evenness of talk.

    All in [0, 1].
    """

    share: float
    in_words: float
    evenness: float


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision of a system in a trial, with its cascade result and the requirements of its key.

    ``item`` is None for a baseline's decision, which is computed for the report. ``addressed`` is whether the
    declared addressees meet the key, None where the key does not ask or they are not observed; ``hinted``
    whether a message gives away that there is a secret, where the key penalises that.
    """

    scenario: int
    family: str
    trial: int
    point: int
    item: int | None
    act: str
    mode: str
    key: Key
    result: Outcome
    probes: tuple[tuple[str, bool], ...]
    must: str
    addressed: bool | None
    attended: bool | None
    judged: Judged | None = None
    hinted: bool = False
    talk: Talk | None = None

    @property
    def is_probed(self) -> bool:
        """Whether its point belongs to a probe."""
        return bool(self.probes)

    @property
    def is_read(self) -> bool:
        """Whether the reply was readable."""
        return self.result.failed_at != "form"

    @property
    def asks_leak(self) -> bool:
        """Whether its key asks about secrets."""
        return LEAK in self.key.conduct


def score_decisions(
    dialogue: Dialogue,
    decisions: Mapping[int, tuple[int | None, Decision]],
    *,
    scenario: int,
    trial: int,
    judged: Mapping[int, Judged],
    settings: CascadeSettings,
) -> Iterable[Decided]:
    """Yield the outcome of each of a system's decisions, (item, decision) by point, without free points."""
    earlier: dict[int, Decision] = {}
    scenario_record = scenario_of(dialogue)
    for point, (item, decision) in sorted(decisions.items()):
        key = key_at(scenario_record, point)
        if not key.free:
            judgement = None if item is None else judged.get(item)
            result = outcome(dialogue, decision, judgement, settings, earlier)
            yield Decided(
                scenario=scenario,
                family=dialogue.cluster or dialogue.id,
                trial=trial,
                point=point,
                item=item,
                act=decision.act,
                mode=decision.mode,
                key=key,
                result=result,
                probes=tuple((probe.kind, probe.control) for probe in probes_at(scenario_record, point)),
                must=class_of(key),
                addressed=_addressed(dialogue, decision, key),
                attended=_attended(result),
                judged=judgement,
                hinted=key.hint and decision.act == "message" and hints(decision.text),
                talk=_talk(dialogue, decision, earlier),
            )
        earlier[point] = decision


def class_of(key: Key) -> str:
    """Return the class of a point: must speak, stay out, or neither."""
    message, silence = key.speak.get("message", 0.0) > 0, key.speak.get("silence", 0.0) > 0
    if message != silence:
        return MUST_SPEAK if message else STAY_OUT
    return EITHER


def _addressed(dialogue: Dialogue, decision: Decision, key: Key) -> bool | None:
    """Return whether the declared addressees of the last message meet the key, whatever the act."""
    declared = declared_addressees(dialogue, decision)
    if key.addressed is None or declared is None or UNPARSEABLE in decision.flags:
        return None
    author = dialogue.turns[decision.point].speaker
    return key.addressed.met(declared, others_at(dialogue, decision.point, author))


def _talk(dialogue: Dialogue, decision: Decision, earlier: Mapping[int, Decision]) -> Talk | None:
    """Return a message's share of the floor; None for a reaction and silence."""
    if decision.act != "message":
        return None
    share = share_of_talk(dialogue, decision, earlier)
    in_words = share_of_talk(dialogue, decision, earlier, in_words=True)
    return Talk(float(share or 0), float(in_words or 0), evenness_of_talk(dialogue, decision, earlier) or 0.0)


def _attended(result: Outcome) -> bool | None:
    score = result.stages["attend"].score
    return None if score is None else score > 0


RANDOM_TRIALS = 8
"""Trials of the random baseline."""
SKIPPED = (PEOPLE,)
OCCASIONS = (Occasion.MAIN, Occasion.IMPORTED)

Group = tuple[str, str]
"""A system and its condition in words."""


@dataclass
class Material:
    """Scenarios of a part by id, with the decisions of every group."""

    scenarios: dict[int, Dialogue]
    groups: dict[Group, list[Decided]] = field(default_factory=dict)
    modes: dict[Group, Mode] = field(default_factory=dict)
    fakes: set[Group] = field(default_factory=set)


def of_part(corpus: Corpus, part: str = "") -> list[StoredDialogue]:
    """Return a corpus's scenarios outside training, or those in it."""
    return [row for row in of_corpus(corpus) if (row.part == TRAINING) == (part == TRAINING)]


def material(
    corpus: Corpus,
    clusters: frozenset[str] | None,
    *,
    by_condition: bool,
    judges: Collection[Rater],
    settings: CascadeSettings,
    scenario_part: str = "",
    excluded: Collection[int] = (),
) -> Material:
    """Return the decisions at the scored points of a corpus's scenarios, in the given clusters (None: all).

    `excluded` are the ids of scenarios that are left out. Training scenarios are loaded only if
    `scenario_part` is training, and then alone.
    """
    rows = [
        row
        for row in of_part(corpus, scenario_part)
        if (clusters is None or row.cluster in clusters) and row.pk not in excluded
    ]
    collected = Material(scenarios(rows))
    parts = (
        Continuation.objects.filter(dialogue__in=collected.scenarios, mode=Continuation.Mode.STATIC)
        .exclude(system__name__in=SKIPPED)
        .select_related("system")
        .order_by("system__name", "dialogue__key", "key")
    )
    turns: dict[int, list[Turn]] = defaultdict(list)
    for turn in Turn.objects.filter(continuation__in=parts, given=False).order_by("position"):
        turns[turn.continuation_id].append(turn)
    kinds = Item.objects.filter(continuation__in=parts, kind=DECISION.key)
    items: dict[int, int] = {turn: pk for pk, turn in kinds.values_list("pk", "turn") if turn is not None}
    answers = answers_of(judges, items.values()) if judges else {}
    for part in parts:
        group = (part.system.name, condition_words(part.condition) if by_condition else "")
        decisions: dict[int, tuple[int | None, Decision]] = {}
        for turn in turns[part.pk]:
            record = turn_record(turn.speaker, turn.text, turn.given, turn.at, turn.extra)
            decision = decision_of(record, part.condition)
            decisions.setdefault(decision.point, (items.get(turn.pk), decision))
            collected.modes.setdefault(group, decision.mode)
        if part.fake_model:
            collected.fakes.add(group)
        dialogue = collected.scenarios[part.dialogue_id]
        group_decisions = score_decisions(
            dialogue,
            decisions,
            scenario=part.dialogue_id,
            trial=part.trial,
            judged=answers,
            settings=settings,
        )
        collected.groups.setdefault(group, []).extend(group_decisions)
    return collected


def condition_words(condition: Mapping[str, object]) -> str:
    """Return a condition as one line: its keys and values, without the model, which the system's name has."""
    return ", ".join(f"{key} {value}" for key, value in sorted(condition.items()) if key != "model")


def baselines(
    source: Material, learn_from: Iterable[Dialogue] | None, mode: Mode, settings: CascadeSettings
) -> dict[str, list[Decided]]:
    """Return the decisions of the baselines and the oracle at the same points, by agent.

    Baselines learn from the keys of other scenarios (dev), or by default from all families except the scored
    one.
    """
    others = None if learn_from is None else learn(learn_from)
    by_agent: dict[str, list[Decided]] = {}
    by_family: dict[str, Learnt] = {}
    for agent in AGENTS.values():
        played: list[Decided] = []
        for pk, dialogue in source.scenarios.items():
            learnt = None
            if agent.learns:
                learnt = others or _without(source, dialogue, by_family)
            played += _play(agent, dialogue, pk, mode, learnt, settings)
        by_agent[agent.key] = played
    return by_agent


def _without(source: Material, dialogue: Dialogue, by_family: dict[str, Learnt]) -> Learnt:
    family = dialogue.cluster
    if family not in by_family:
        by_family[family] = learn(other for other in source.scenarios.values() if other.cluster != family)
    return by_family[family]


def _play(
    agent: Agent, dialogue: Dialogue, pk: int, mode: Mode, learnt: Learnt | None, settings: CascadeSettings
) -> list[Decided]:
    played: list[Decided] = []
    own: Mode = "explicit" if agent is ORACLE else mode
    for trial in range(RANDOM_TRIALS if agent.varies else 1):
        decisions: dict[int, tuple[int | None, Decision]] = {
            decision.point: (None, decision)
            for decision in decide(agent, dialogue, mode=own, learnt=learnt, trial=trial)
        }
        played += score_decisions(dialogue, decisions, scenario=pk, trial=trial, judged={}, settings=settings)
    return played


def raters_named(corpus: Corpus, names: Collection[str]) -> list[Rater]:
    """Return the raters of these names with answers about decisions; raise ReportRefused for other names."""
    raters = []
    for name in names:
        rater = (
            Rater.objects.filter(name=name, labels__item__corpus=corpus, labels__item__kind=DECISION.key)
            .exclude(kind=Rater.Kind.KEY)
            .first()
        )
        if rater is None:
            judge_names = ", ".join(judges_of(corpus)) or "none yet"
            raise ReportRefused(
                f"no judge {name!r} has answered about decisions; those that have: {judge_names}"
            )
        raters.append(rater)
    return raters


def judges_of(corpus: Corpus) -> list[str]:
    """Return the names of the judges with answers about the conduct, composition or moves of decisions."""
    schemes = [
        scheme.key
        for scheme in (conduct_schemes.CONDUCT, conduct_schemes.COMPOSE, conduct_schemes.GROUND_MOVE)
    ]
    labels = Label.objects.filter(
        item__corpus=corpus,
        item__kind=DECISION.key,
        question__version__scheme__key__in=schemes,
        rater__kind=Rater.Kind.JUDGE,
    )
    return sorted(set(labels.values_list("rater__name", flat=True)))


def answers_of(judges: Collection[Rater], items: Iterable[int]) -> dict[int, Judged]:
    """Return judges' answers about decisions, by item; of several samples of a judge the first counts."""
    conduct: dict[int, dict[str, float | None]] = defaultdict(dict)
    others: dict[int, dict[str, float | str]] = defaultdict(dict)
    schemes = {
        scheme.key
        for scheme in (conduct_schemes.CONDUCT, conduct_schemes.COMPOSE, conduct_schemes.GROUND_MOVE)
    }
    labels = Label.objects.filter(
        rater__in=judges,
        item__in=list(items),
        superseded_at=None,
        occasion__in=OCCASIONS,
        question__version__scheme__key__in=schemes,
    ).order_by("-sample", "-pk")
    for item, scheme, question, number, text, missing in labels.values_list(
        "item", "question__version__scheme__key", "question__key", "number", "text", "missing"
    ):
        if scheme == conduct_schemes.CONDUCT.key and question not in (LEAK, conduct_schemes.WHY):
            if not missing or NOT_APPLICABLE in missing:
                conduct[item][question] = number
        elif not missing:
            others[item][f"{scheme}/{question}"] = (text or "") if number is None else number
    return {
        item: _combine_judgements(conduct.get(item, {}), others.get(item, {}))
        for item in conduct.keys() | others
    }


NOT_APPLICABLE = "not applicable"
"""Prefix of the reason for a missing answer to a dimension that the rater found not to be at stake."""


def _combine_judgements(conduct: Mapping[str, float | None], others: Mapping[str, float | str]) -> Judged:
    leak = others.get("conduct/leak")
    compose = others.get(f"compose/{conduct_schemes.SCORE}")
    move = others.get(f"ground_move/{conduct_schemes.MOVE}")
    presupposes = others.get(f"ground_move/{conduct_schemes.PRESUPPOSES}")
    return Judged(
        conduct=dict(conduct),
        leak=None if leak is None else float(leak),
        compose=None if compose is None else float(compose),
        move=None if move is None else str(move),
        presupposes=None if presupposes is None else tuple(filter(None, str(presupposes).split(";"))),
    )


# View of one decision on a page: the turns seen, the key, the act, and the failed stage.


@dataclass(frozen=True)
class DecisionView:
    """A decision with everything it is scored by. ``result`` is None where test was not opened yet.

    ``seen`` are the positions of the script's turns that the agent had seen. ``others`` are the decisions at
    the same point by other systems and in other trials.
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
        """Probes of the point, such as `overheard (control)`; `background` without a probe."""
        names = [f"{probe.kind}{' (control)' if probe.control else ''}" for probe in self.probes]
        return names or [BACKGROUND]

    @property
    def key_fields(self) -> dict[str, Any]:
        """The key as in the native format."""
        return key_json(self.key)


def view(item: Item, judges: Collection[Rater] = (), settings: CascadeSettings = SETTINGS) -> DecisionView:
    """Return a decision with its outcome given judges' answers; the item must be of kind `decision`.

    Until test is opened, the outcome of a decision of the test part is withheld.
    """
    assert item.kind == DECISION.key
    assert item.turn is not None
    part = item.continuation
    dialogue = scenarios([part.dialogue])[part.dialogue_id]
    decisions = _decisions(part)
    decision = _of(item.turn, part)
    scenario = scenario_of(dialogue)
    is_locked = splits.unopened(item.corpus).filter(cluster=part.dialogue.cluster).exists()
    judged = answers_of(judges, [item.pk]).get(item.pk) if judges else None
    earlier = {point: other for point, other in decisions.items() if point < decision.point}
    return DecisionView(
        item,
        part,
        dialogue,
        decision,
        key_at(scenario, decision.point),
        probes_at(scenario, decision.point),
        positions_seen(dialogue, scenario.agent, decision.point + 1),
        None if is_locked else outcome(dialogue, decision, judged, settings, earlier),
        judged,
        _others(item),
    )


def _of(turn: Turn, part: Continuation) -> Decision:
    return decision_of(turn_record(turn.speaker, turn.text, turn.given, turn.at, turn.extra), part.condition)


def _decisions(part: Continuation) -> dict[int, Decision]:
    decisions: dict[int, Decision] = {}
    for turn in part.turns.filter(given=False).order_by("position"):
        decision = _of(turn, part)
        decisions.setdefault(decision.point, decision)
    return decisions


def _others(item: Item, most: int = 100) -> tuple[Item, ...]:
    assert item.turn is not None
    same = Item.objects.filter(
        kind=DECISION.key, continuation__dialogue=item.continuation.dialogue_id, turn__at=item.turn.at
    )
    rows = same.exclude(pk=item.pk).select_related("continuation__system", "turn")
    return tuple(rows.order_by("continuation__system__name", "continuation__trial", "pk")[:most])


def script(decision_view: DecisionView) -> list[Turn]:
    """Return the turns of the script that the agent had seen, as rows, in order."""
    own = decision_view.continuation.dialogue.continuations.filter(key=SELF)
    rows = Turn.objects.filter(continuation__in=own, position__in=decision_view.seen)
    return list(rows.order_by("position"))


def turn_links(dialogue: StoredDialogue, continuation: Continuation) -> dict[int, tuple[str, str]]:
    """Return links from turns of a continuation to the agent's decisions; none where people decided."""
    if dialogue.scenario is None or continuation.key == POINTS:
        return {}
    items = Item.objects.filter(kind=DECISION.key, continuation=continuation).values_list("turn", "pk")
    return {turn: ("Decision", reverse("decision", args=[pk])) for turn, pk in items if turn is not None}
