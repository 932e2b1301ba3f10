"""From the database to decided points: systems' decisions, judges' answers, and the baselines."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from annotation.answer_keys.reading import of_corpus, scenarios
from annotation.corpora.parts import TRAINING
from annotation.importing.rows import turn_record
from annotation.kinds.decision import DECISION
from annotation.models import Continuation, Corpus, Item, Label, Occasion, Rater, Turn
from annotation.models import Dialogue as StoredDialogue
from annotation.records import Dialogue
from annotation.scenarios.agents import AGENTS, ORACLE, Agent, Learnt, decide, learn
from annotation.scenarios.decisions import decision_of
from annotation.scenarios.records import LEAK, PEOPLE, CascadeSettings, Decision, Judged, Mode
from annotation.schemes import conduct as conduct_schemes
from calibration.cascade.decided import Decided, decided
from calibration.errors import CascadeRefused

RANDOM_TRIALS = 8
"""So many draws of the baseline that draws."""
SKIPPED = (PEOPLE,)
OCCASIONS = (Occasion.MAIN, Occasion.IMPORTED)

Group = tuple[str, str]
"""A system and its condition in words."""


@dataclass
class Material:
    """The scenarios of a part by id, with the decisions of every group."""

    scenarios: dict[int, Dialogue]
    groups: dict[Group, list[Decided]] = field(default_factory=dict)
    modes: dict[Group, Mode] = field(default_factory=dict)
    fakes: set[Group] = field(default_factory=set)
    learnt_on: str = ""


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
) -> Material:
    """Return the decisions at the scored points of a corpus's scenarios, of given clusters (None: all).

    Scenarios in training are read where that is `scenario_part`, and then alone.
    """
    rows = [row for row in of_part(corpus, scenario_part) if clusters is None or row.cluster in clusters]
    found = Material(scenarios(rows))
    parts = (
        Continuation.objects.filter(dialogue__in=found.scenarios, mode=Continuation.Mode.STATIC)
        .exclude(system__name__in=SKIPPED)
        .select_related("system")
        .order_by("system__name", "dialogue__key", "key")
    )
    turns: dict[int, list[Turn]] = defaultdict(list)
    for turn in Turn.objects.filter(continuation__in=parts, given=False).order_by("position"):
        turns[turn.continuation_id].append(turn)
    kinds = Item.objects.filter(continuation__in=parts, kind=DECISION.key)
    items: dict[int, int] = {turn: pk for pk, turn in kinds.values_list("pk", "turn") if turn is not None}
    said = answers_of(judges, items.values()) if judges else {}
    for part in parts:
        group = (part.system.name, condition_words(part.condition) if by_condition else "")
        decisions: dict[int, tuple[int | None, Decision]] = {}
        for turn in turns[part.pk]:
            record = turn_record(turn.speaker, turn.text, turn.given, turn.at, turn.extra)
            decision = decision_of(record, part.condition)
            decisions.setdefault(decision.point, (items.get(turn.pk), decision))
            found.modes.setdefault(group, decision.mode)
        if part.fake_model:
            found.fakes.add(group)
        dialogue = found.scenarios[part.dialogue_id]
        made = decided(
            dialogue, decisions, scenario=part.dialogue_id, trial=part.trial, judged=said, settings=settings
        )
        found.groups.setdefault(group, []).extend(made)
    return found


def condition_words(condition: Mapping[str, object]) -> str:
    """Return a condition as one line: its keys and values, without the model, which the system tells."""
    return ", ".join(f"{key} {value}" for key, value in sorted(condition.items()) if key != "model")


def baselines(
    found: Material, learn_from: Iterable[Dialogue] | None, mode: Mode, settings: CascadeSettings
) -> dict[str, list[Decided]]:
    """Return what the baselines and the oracle decide at the same points, by their keys.

    What they learn comes from the keys of other scenarios (dev), or where none are given from all families
    but the scored one.
    """
    others = None if learn_from is None else learn(learn_from)
    made: dict[str, list[Decided]] = {}
    by_family: dict[str, Learnt] = {}
    for agent in AGENTS.values():
        played: list[Decided] = []
        for pk, dialogue in found.scenarios.items():
            learnt = None
            if agent.learns:
                learnt = others or _without(found, dialogue, by_family)
            played += _played(agent, dialogue, pk, mode, learnt, settings)
        made[agent.key] = played
    return made


def _without(found: Material, dialogue: Dialogue, kept: dict[str, Learnt]) -> Learnt:
    family = dialogue.cluster
    if family not in kept:
        kept[family] = learn(one for one in found.scenarios.values() if one.cluster != family)
    return kept[family]


def _played(
    agent: Agent, dialogue: Dialogue, pk: int, mode: Mode, learnt: Learnt | None, settings: CascadeSettings
) -> list[Decided]:
    played: list[Decided] = []
    own: Mode = "explicit" if agent is ORACLE else mode
    for trial in range(RANDOM_TRIALS if agent.varies else 1):
        decisions: dict[int, tuple[int | None, Decision]] = {
            one.point: (None, one) for one in decide(agent, dialogue, mode=own, learnt=learnt, trial=trial)
        }
        played += decided(dialogue, decisions, scenario=pk, trial=trial, judged={}, settings=settings)
    return played


def raters_named(corpus: Corpus, names: Collection[str]) -> list[Rater]:
    """Return the raters of these names that answered about decisions; raise CascadeRefused for others."""
    found = []
    for name in names:
        rater = (
            Rater.objects.filter(name=name, labels__item__corpus=corpus, labels__item__kind=DECISION.key)
            .exclude(kind=Rater.Kind.KEY)
            .first()
        )
        if rater is None:
            known = ", ".join(judges_of(corpus)) or "none yet"
            raise CascadeRefused(f"no judge {name!r} has answered about decisions; those that have: {known}")
        found.append(rater)
    return found


def judges_of(corpus: Corpus) -> list[str]:
    """Return the names of the judges with answers about the conduct, composition or moves of decisions."""
    schemes = [one.key for one in (conduct_schemes.CONDUCT, conduct_schemes.COMPOSE, conduct_schemes.GROUND)]
    labels = Label.objects.filter(
        item__corpus=corpus,
        item__kind=DECISION.key,
        question__version__scheme__key__in=schemes,
        rater__kind=Rater.Kind.JUDGE,
    )
    return sorted(set(labels.values_list("rater__name", flat=True)))


def answers_of(judges: Collection[Rater], items: Iterable[int]) -> dict[int, Judged]:
    """Return what judges said of decisions, by item: of several samples of one judge the first counts."""
    conduct: dict[int, dict[str, float | None]] = defaultdict(dict)
    others: dict[int, dict[str, float | str]] = defaultdict(dict)
    schemes = {one.key for one in (conduct_schemes.CONDUCT, conduct_schemes.COMPOSE, conduct_schemes.GROUND)}
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
    return {item: _judged(conduct.get(item, {}), others.get(item, {})) for item in conduct.keys() | others}


NOT_APPLICABLE = "not applicable"
"""How a missing answer begins to a dimension that its rater found not to be at stake."""


def _judged(conduct: Mapping[str, float | None], others: Mapping[str, float | str]) -> Judged:
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
