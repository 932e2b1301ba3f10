"""The points of scenarios as items that people decide on: a continuation that is silent at each."""

from __future__ import annotations

from django.db import transaction

from annotation import records
from annotation.corpora import continuing
from annotation.models import Continuation, Corpus, System
from annotation.scenario_records import MODE, PEOPLE, POINTS, Decision
from suites.group_chat import schemes
from suites.group_chat.editing.answer_keys import of_corpus, scenarios
from suites.group_chat.scenarios.cascade import turn_of
from suites.group_chat.scenarios.points import points_of, scenario_of

# The points of scenarios as something that people decide on: a continuation of theirs, silent at each.


@transaction.atomic
def ensure(corpus: Corpus) -> int:
    """Give every scenario of a corpus the continuation whose turns people decide on; return how many are new.

    Nothing is said in it: it holds a place for each point, which nobody is shown.
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


MAKE_ITEMS = {schemes.HUMAN.key: ensure}
