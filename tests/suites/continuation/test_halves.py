"""One system predicts whole next turns and halves of them; each task is a separate condition."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from annotation.models import Continuation, Corpus
from suites.continuation.models import Writer
from suites.continuation.productions import production_actions
from suites.continuation.productions.dialogues import Dialogues
from suites.continuation.productions.plans import Generation
from tests import factories
from tests.fake_llm import FakeLLM
from tests.judges.helpers import endpoint_of, finish

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def fake() -> Iterator[FakeLLM]:
    """A running fake model."""
    with FakeLLM() as server:
        yield server


def corpus_of() -> Corpus:
    corpus = factories.corpus()
    factories.dialogue(corpus, "d1", turns=5)
    return corpus


def test_one_system_does_both_halves_and_the_whole(fake: FakeLLM) -> None:
    corpus, endpoint = corpus_of(), endpoint_of(fake)
    for key in ("mpceval_next_message", "mpceval_speaker_given_content", "mpceval_content_given_speaker"):
        production_actions.start(
            by=None, generation=Generation(key, endpoint, name="solver"), dialogues=Dialogues(corpus)
        )
    finish()
    assert Writer.objects.count() == 1
    found = Continuation.objects.filter(system=Writer.objects.get().system)
    told = sorted((one.condition.get("speaker", ""), one.condition.get("content", "")) for one in found)
    assert told == [("", ""), ("", "given"), ("given", "")]
    given = next(one for one in found if one.condition.get("content"))
    assert given.turns.get().text == "turn 4"
