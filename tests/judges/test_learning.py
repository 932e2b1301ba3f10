"""Training data of a fitted metric: the scored corpus, its dev part, or another corpus."""

from __future__ import annotations

import pytest
from django.test import Client

from annotation.corpora import splits
from annotation.models import Corpus, Label
from jobs.models import Call, Run
from judges.errors import JudgeError
from judges.runs import run_actions
from judges.runs.metric_calls import metric_plan
from judges.runs.selection import Selection
from tests import factories
from tests.judges.helpers import finish

pytestmark = pytest.mark.django_db(transaction=True)

SAID = ("How is it?", "It is red.", "Is it?", "Thanks.", "It is.")


def talks(name: str, dialogues: int = 6) -> Corpus:
    corpus = factories.corpus(name)
    for number in range(dialogues):
        dialogue = factories.dialogue(corpus, f"{name}-{number}", turns=0)
        lines = [{"text": f"{text[:-1]} {name} {number}{text[-1]}"} for text in SAID]
        factories.continuation(dialogue, "self", system="human", turns=lines)
    return corpus


def ran(corpus: Corpus, key: str) -> Run:
    run = run_actions.start(
        by=None, plan=metric_plan(key, corpus), selection=Selection(corpus, include_self=True)
    )
    finish("metrics")
    run.refresh_from_db()
    return run


def flagged(run: Run) -> set[str]:
    rows = Call.objects.filter(run=run, flags=["fitted_on_itself"])
    return set(rows.values_list("continuation__dialogue__key", flat=True))


def test_on_the_scored_corpus_every_value_is_flagged_and_the_profile_says_so(client: Client) -> None:
    corpus = talks("own")
    run = ran(corpus, "daf@hmm")
    assert run.state == "done"
    assert len(flagged(run)) == 6
    assert Label.objects.filter(rater=run.rater, number__isnull=False).exists()
    client.force_login(factories.user(researcher=True))
    page = client.get(f"/corpora/{corpus.pk}/profile/").content.decode()
    assert "learned from what it scores: 6 conversations (fitted_on_itself)" in " ".join(page.split())
    assert "can hardly read" not in page


def test_on_another_corpus_or_dev_only_what_was_learned_from_is_flagged() -> None:
    corpus, other = talks("scored"), talks("elsewhere")
    named = ran(corpus, "daf@hmm:learn_from=elsewhere")
    assert flagged(named) == set()
    split = splits.draw(corpus=corpus, seed=1, test_share=0.5, by=None)
    dev = ran(corpus, "daf@hmm:learn_from=dev")
    assert flagged(dev) == splits.clusters(split=split, part="dev")
    hashes = [run.rater.spec["fitted_on"] for run in (named, dev, ran(other, "daf@hmm"))]
    assert hashes[0] == hashes[2] != hashes[1]


def test_a_corpus_that_is_not_there_and_a_split_that_is_not_drawn_are_one_line_each() -> None:
    corpus = talks("plain", 1)
    with pytest.raises(JudgeError, match="learns from dev, training or a corpus; there is no corpus 'gone'"):
        metric_plan("daf@hmm:learn_from=gone", corpus)
    with pytest.raises(JudgeError, match="has no split: draw one"):
        metric_plan("daf@hmm:learn_from=dev", corpus)
    with pytest.raises(JudgeError, match="is no folder that holds a model"):
        metric_plan("daf@transformer", corpus)
