"""A bench over a small corpus that two people rated, with drafts that a fake model answers."""

from __future__ import annotations

from typing import Any

from annotation.corpora import splits
from annotation.models import Item, Occasion, Question, Rater
from annotation.work.labels import Answer, record
from calibration.workbench.sheets import Judged
from judges.drafts import benches, draft_actions
from judges.models import Bench, Draft
from judges.prompts import versions
from judges.protocols import Wording
from tests.fake_llm import FakeLLM
from tests.judges.helpers import endpoint_of, finish, small_corpus

PROTOCOL = "cpdscore_simple"
OWN = versions.find("cpdscore_simple_without_reference").wording
KINDER = Wording("You are kind.\n\n$notice", f"{OWN.user}\n\nBe kind.")


def rated_bench(dialogues: int = 8, *, identified: bool = True) -> Bench:
    """Return a bench over 6-turn dialogues; ann alternates 4 and 3, ben gives 1 less now and then."""
    corpus = small_corpus(dialogues)
    splits.draw(corpus=corpus, by=None)
    bench = benches.open_bench(by=None, name="bench", protocol=PROTOCOL, corpus=corpus)
    question = Question.objects.get(pk=bench.questions["overall"])
    for name, lower in (("ann", 0), ("ben", 1)):
        rater = Rater.objects.create(corpus=corpus, kind="human", name=name, identified=identified)
        items = Item.objects.filter(corpus=corpus, kind="turn", continuation__key="c").order_by("pk")
        answers = [
            Answer(item, question, float(4 - (item.turn.position % 2) - (lower and number % 5 == 0)))
            for number, item in enumerate(items.select_related("turn"))
            if item.turn is not None
        ]
        record(rater=rater, answers=answers, occasion=Occasion.IMPORTED)
    return bench


def tried(
    bench: Bench, fake: FakeLLM, wording: Wording = KINDER, targets: int | None = 20, **how: Any
) -> Draft:
    """Return a draft whose try-out has finished."""
    endpoint = how.pop("endpoint", None) or endpoint_of(fake, name=f"fake {Draft.objects.count()}")
    draft = draft_actions.write(
        by=None, bench=bench, wording=wording, variant="without_reference", endpoint=endpoint
    )
    draft_actions.run(by=None, draft=draft, targets=targets, **how)
    finish()
    draft.refresh_from_db()
    return draft


def judged(draft: Draft) -> Judged:
    """Return a draft in the form that is compared with people."""
    return Judged(draft.name, draft.asker, draft)
