"""Answer keys of scenarios: read from the database, written as labels, corrected; their points as items."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from annotation import records, scheme_store
from annotation.corpora import continuing
from annotation.corpora.rows import agenda_record, participant_record, turn_record
from annotation.formats.fields import Fields
from annotation.formats.source import ImportProblem
from annotation.kinds import DECISION
from annotation.models import Continuation, Corpus, Item, Label, Occasion, Question, Rater, System, Turn
from annotation.models.corpora import Dialogue
from annotation.scenario_records import (
    KIND,
    MODE,
    OWN_FIELDS,
    PEOPLE,
    POINTS,
    Decision,
    SetCondition,
    scenario_json,
    scenario_record,
)
from annotation.schemes.definitions import people_answer
from annotation.work import labels
from annotation.work.labels import Answer, record
from config.models import Event
from suites.group_chat import schemes as decisions
from suites.group_chat.native_fields import with_scenario
from suites.group_chat.scenarios.cascade import turn_of
from suites.group_chat.scenarios.points import key_at, others_at, points_of, scenario_of
from suites.group_chat.schemes import ADDRESSED, ATTEND, GROUND, SPEAK, TARGET

# Scenarios from the database: the script and its keys, without systems' turns.


def scenarios(rows: Iterable[Dialogue]) -> dict[int, records.Dialogue]:
    """Return the records of stored scenarios by id, each with its script only; two queries."""
    by_id = {row.pk: row for row in rows}
    turns: dict[int, list[records.Turn]] = defaultdict(list)
    stored_turns = Turn.objects.filter(
        continuation__dialogue__in=by_id, continuation__key=records.SELF
    ).order_by("continuation", "position")
    for turn in stored_turns.select_related("continuation"):
        script_turn = turn_record(turn.speaker, turn.text, turn.given, turn.at, turn.extra)
        turns[turn.continuation.dialogue_id].append(script_turn)
    return {
        pk: records.Dialogue(
            id=row.key,
            turns=tuple(turns[pk]),
            participants=tuple(map(participant_record, row.participants)),
            cluster=row.cluster,
            language=row.language,
            summary=row.summary,
            metadata=row.metadata,
            agenda=agenda_record(row.agenda),
            scenario=scenario_record(row.scenario),
        )
        for pk, row in by_id.items()
    }


def of_corpus(corpus: Corpus) -> list[Dialogue]:
    """Return the scenarios of a corpus, by key."""
    return list(corpus.dialogues.filter(scenario__isnull=False).order_by("key"))


def keys_hash(corpus: Corpus) -> str:
    """Return the SHA-256 of all keys of a corpus, which identifies its answer key."""
    rows = [
        [key, (scenario := stored or {}).get("points"), scenario.get("probes"), scenario.get("keys")]
        for key, stored in corpus.dialogues.filter(scenario__isnull=False)
        .order_by("key")
        .values_list("key", "scenario")
    ]
    return hashlib.sha256(json.dumps(rows, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def has_decisions(corpus: Corpus) -> bool:
    """Whether a corpus has decisions at the points of its scenarios."""
    return Continuation.objects.filter(
        dialogue__corpus=corpus, dialogue__scenario__isnull=False, mode=Continuation.Mode.STATIC
    ).exists()


# Answer keys of points as answers to the questions of the scheme `cascade`.

SEVERAL = "several answers are right"

ExpectedAnswer = tuple[float | str | None, str]
"""A value, or None with the reason."""


def expected_answers(dialogue: records.Dialogue, point: int) -> dict[str, ExpectedAnswer]:
    """Return the expected answers at a point by question, without the questions that the key leaves out.

    Where the key accepts several answers there is no single one to compare with, as the reason says. Nothing
    is expected at a free point.
    """
    scenario = scenario_of(dialogue)
    key = key_at(scenario, point)
    if key.free:
        return {}
    answers: dict[str, ExpectedAnswer] = {ATTEND: (float(key.attend), ""), SPEAK: _only(key.speak)}
    author = dialogue.turns[point].speaker
    if key.addressed is not None:
        answers[ADDRESSED] = _set(key.addressed, others_at(dialogue, point, author))
    if key.target is not None:
        answers[TARGET] = _set(key.target, others_at(dialogue, point, scenario.agent))
    if key.ground is not None:
        answers[GROUND] = _only(key.ground)
    return answers


def _only(scores: Mapping[str, float]) -> ExpectedAnswer:
    """Return the accepted answer with the best score, or why there is no single one."""
    accepted = {name: score for name, score in scores.items() if score > 0}
    best = [name for name, score in accepted.items() if score == max(accepted.values())]
    return (best[0], "") if len(best) == 1 else (None, SEVERAL)


def _set(condition: SetCondition, everybody: frozenset[str]) -> ExpectedAnswer:
    sets = condition.resolved(everybody)
    if condition.how == "is" or (condition.how == "any_of" and len(sets) == 1):
        return people_answer(sets[0]), ""
    return None, SEVERAL


# Writing the labels of a corpus's answer key, and correcting keys: a corrected key is another rater.

DIGITS = 12
"""Digits of the keys' hash in a rater's name."""


def rater_of(corpus: Corpus) -> Rater:
    """Return the rater of a corpus's current keys, created at first use."""
    return labels.imported_rater(corpus=corpus, kind=Rater.Kind.KEY, name=_name(corpus))


@transaction.atomic
def write(corpus: Corpus, continuations: Iterable[int] | None = None) -> int:
    """Write the keys' answers about decisions (None: all of the corpus); return the number of new labels.

    Where the keys have changed, the new rater answers all decisions, whatever `continuations` names.
    """
    if not has_decisions(corpus):
        return 0
    rater = rater_of(corpus)
    items = Item.objects.filter(corpus=corpus, kind=DECISION.key)
    if continuations is not None and Label.objects.filter(rater=rater).exists():
        items = items.filter(continuation__in=list(continuations))
    places: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for item, of, at in items.values_list("pk", "continuation__dialogue", "turn__at"):
        places[of].append((item, (at or 0) - 1))
    questions = _questions()
    by_id = scenarios(row for row in of_corpus(corpus) if row.pk in places)
    label_count = 0
    for pk, dialogue in by_id.items():
        answers = [
            Answer(item, questions[name], value, missing)
            for item, point in places[pk]
            for name, (value, missing) in expected_answers(dialogue, point).items()
        ]
        label_count += len(record(rater=rater, answers=answers, occasion=Occasion.MAIN))
    return label_count


def current(corpus: Corpus) -> Rater | None:
    """Return the rater of a corpus's current keys, None if it has no answers yet."""
    return Rater.objects.filter(corpus=corpus, kind=Rater.Kind.KEY, name=_name(corpus)).first()


def _name(corpus: Corpus) -> str:
    return f"key:{corpus.name}:{keys_hash(corpus)[:DIGITS]}"


def _questions() -> dict[str, Question]:
    version = scheme_store.store(definition=decisions.CASCADE)
    return {question.key: question for question in version.questions.filter(key__in=decisions.DECIDED)}


@transaction.atomic
def correct(*, dialogue: Dialogue, changes: Mapping[str, Any], by: User | None) -> records.Dialogue:
    """Replace fields of a stored scenario, such as `probes` or `keys`, and write the corrected key's labels.

    `changes` are fields of the native format; the script stays. A change without effect stores nothing and
    creates no rater. Raises ImportProblem, and changes nothing, where an import would refuse the scenario.
    """
    corpus = dialogue.corpus
    row = corpus.dialogues.select_for_update().filter(pk=dialogue.pk, scenario__isnull=False).first()
    if row is None:
        raise ImportProblem(f"the dialogue {dialogue.pk} is no scenario of the corpus {corpus.name!r}")
    before = scenarios([row])[row.pk]
    corrected = _apply_changes(before, row.scenario or {}, changes)
    if corrected.scenario != before.scenario:
        row.scenario = scenario_json(corrected.scenario)
        row.save(update_fields=["scenario"])
        Event.objects.create(
            by=by,
            verb="correct_keys",
            subject=f"{row.key} in {corpus.name}"[:300],
            detail={"fields": sorted(changes)},
        )
        write(corpus)
    dialogue.scenario = scenario_json(corrected.scenario)
    return corrected


def _apply_changes(
    before: records.Dialogue, stored: Mapping[str, Any], changes: Mapping[str, Any]
) -> records.Dialogue:
    own = {"kind": KIND, **{name: stored.get(name) for name in OWN_FIELDS}, **changes}
    own = {name: value for name, value in own.items() if value is not None}
    corrected = with_scenario(before, Fields(own, "", frozenset(["kind", *OWN_FIELDS])), any_size=True)
    if scenario_of(corrected).addressees != scenario_of(before).addressees:
        message = "is part of what the agent saw: save the scenario under another id to test it the other way"
        raise ImportProblem(message, field="addressees")
    return corrected


# Points of scenarios for people to decide on: a continuation with a silent turn at each point.


@transaction.atomic
def ensure(corpus: Corpus) -> int:
    """Create the missing continuations of points for people; return the number of new ones.

    Their turns are empty placeholders, one per point, that nobody is shown.
    """
    have = Continuation.objects.filter(dialogue__corpus=corpus, key=POINTS).values("dialogue")
    rows = [row for row in of_corpus(corpus) if row.pk not in {entry["dialogue"] for entry in have}]
    by_id = scenarios(rows)
    if not rows:
        return 0
    system, _ = System.objects.get_or_create(corpus=corpus, name=PEOPLE)
    for row in rows:
        dialogue = by_id[row.pk]
        agent = scenario_of(dialogue).agent
        turns = tuple(
            turn_of(Decision(point, "silence", mode="implicit"), agent, dialogue.turns[point])
            for point in points_of(dialogue)
        )
        if turns:
            continuation = records.Continuation(POINTS, PEOPLE, turns, "static", 0, {MODE: "implicit"})
            continuing.add(dialogue=row, system=system, record=continuation)
    return len(rows)


MAKE_ITEMS = {decisions.HUMAN.key: ensure}
