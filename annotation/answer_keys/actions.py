"""Writing the labels of a corpus's answer key, and correcting keys: a corrected key is another rater."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from annotation import records
from annotation.answer_keys.reading import decided, keys_hash, of_corpus, scenarios
from annotation.answer_keys.writing import expected
from annotation.formats import ImportProblem
from annotation.formats.fields import Fields
from annotation.formats.scenario import with_scenario
from annotation.kinds.decision import DECISION
from annotation.labels import raters
from annotation.labels.recording import Answer, record
from annotation.models import Corpus, Dialogue, Item, Label, Occasion, Question, Rater
from annotation.scenarios.points import scenario_of
from annotation.scenarios.stored import KIND, OWN_FIELDS, scenario_json
from annotation.scheme_versions import store
from annotation.schemes import cascade
from config.models import Event

DIGITS = 12
"""So many digits of the hash of the keys name a rater."""


def rater_of(corpus: Corpus) -> Rater:
    """Return the rater that the keys of a corpus are now, made at first use."""
    return raters.imported(corpus=corpus, kind=Rater.Kind.KEY, name=_name(corpus))


@transaction.atomic
def write(corpus: Corpus, continuations: Iterable[int] | None = None) -> int:
    """Write what the keys say about decisions, None: all of the corpus; return how many labels are new.

    Where the keys have changed, the new rater answers all decisions, whatever is named.
    """
    if not decided(corpus):
        return 0
    rater = rater_of(corpus)
    items = Item.objects.filter(corpus=corpus, kind=DECISION.key)
    if continuations is not None and Label.objects.filter(rater=rater).exists():
        items = items.filter(continuation__in=list(continuations))
    places: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for item, of, at in items.values_list("pk", "continuation__dialogue", "turn__at"):
        places[of].append((item, (at or 0) - 1))
    questions = _questions()
    told = scenarios(row for row in of_corpus(corpus) if row.pk in places)
    written = 0
    for pk, dialogue in told.items():
        answers = [
            Answer(item, questions[name], value, missing)
            for item, point in places[pk]
            for name, (value, missing) in expected(dialogue, point).items()
        ]
        written += len(record(rater=rater, answers=answers, occasion=Occasion.MAIN))
    return written


def current(corpus: Corpus) -> Rater | None:
    """Return the rater that the keys of a corpus are now, None while it has answered nothing."""
    return Rater.objects.filter(corpus=corpus, kind=Rater.Kind.KEY, name=_name(corpus)).first()


def _name(corpus: Corpus) -> str:
    return f"key:{corpus.name}:{keys_hash(corpus)[:DIGITS]}"


def _questions() -> dict[str, Question]:
    version = store.store(definition=cascade.SCHEME)
    return {question.key: question for question in version.questions.filter(key__in=cascade.DECIDED)}


def correct(*, dialogue: Dialogue, changes: Mapping[str, Any], by: User | None) -> records.Dialogue:
    """Replace fields of a stored scenario, such as `probes` or `keys`, and write the corrected key's labels.

    `changes` are fields of the native format. The script stays. Raises ImportProblem, and changes nothing,
    where the scenario would be refused at an import.
    """
    made = correct_several(corpus=dialogue.corpus, changes={dialogue.pk: changes}, by=by)[dialogue.pk]
    dialogue.scenario = scenario_json(made.scenario)
    return made


@transaction.atomic
def correct_several(
    *, corpus: Corpus, changes: Mapping[int, Mapping[str, Any]], by: User | None
) -> dict[int, records.Dialogue]:
    """Correct scenarios of a corpus, by the ids of their dialogues, as `correct` does: one rater for all.

    Returns the scenarios as they are now. Those that say what they said before are left as they are, and
    where all do no rater is made. Raises ImportProblem: then none is corrected.
    """
    rows = corpus.dialogues.select_for_update().filter(pk__in=list(changes), scenario__isnull=False)
    stored = {row.pk: row for row in rows.order_by("pk")}
    if left := set(changes) - set(stored):
        raise ImportProblem(f"the dialogue {min(left)} is no scenario of the corpus {corpus.name!r}")
    before = scenarios(stored.values())
    found = {pk: _corrected(before[pk], row.scenario or {}, changes[pk]) for pk, row in stored.items()}
    changed = [row for pk, row in stored.items() if found[pk].scenario != before[pk].scenario]
    for row in changed:
        row.scenario = scenario_json(found[row.pk].scenario)
        row.save(update_fields=["scenario"])
        Event.objects.create(
            by=by,
            verb="correct_keys",
            subject=f"{row.key} in {corpus.name}"[:300],
            detail={"fields": sorted(changes[row.pk])},
        )
    if changed:
        write(corpus)
    return found


def _corrected(
    before: records.Dialogue, stored: Mapping[str, Any], changes: Mapping[str, Any]
) -> records.Dialogue:
    own = {"kind": KIND, **{name: stored.get(name) for name in OWN_FIELDS}, **changes}
    own = {name: value for name, value in own.items() if value is not None}
    corrected = with_scenario(before, Fields(own, "", frozenset(["kind", *OWN_FIELDS])), any_size=True)
    if scenario_of(corrected).addressees != scenario_of(before).addressees:
        told = "is part of what the agent saw: save the scenario under another id to test it the other way"
        raise ImportProblem(told, field="addressees")
    return corrected
