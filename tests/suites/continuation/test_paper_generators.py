"""Next messages, conversations and responses through the engine, with the fake model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from annotation.corpora.copy_without_turns import copy_without_turns
from annotation.models import Continuation, Corpus, Dialogue
from demo.fake_model.errors import ErrorModel, RoleErrors, u
from demo.fake_model.running import LocalServer
from demo.fake_model.serving import FakeModel, Response
from jobs.models import Endpoint, Run
from suites.continuation.models import Production
from suites.continuation.productions import production_actions
from suites.continuation.productions.dialogues import Dialogues
from suites.continuation.productions.plans import Generation
from tests import factories
from tests.judges.helpers import finish

pytestmark = pytest.mark.django_db(transaction=True)
RATE = 0.3


@dataclass
class Asked:
    """A running fake model, and the prompts that it was sent."""

    url: str = ""
    prompts: list[str] = field(default_factory=list)

    def write(self, corpus: Corpus, generator: str, **chosen: Any) -> Run:
        """Let a generator write for all of a corpus; return its run."""
        endpoint, _ = Endpoint.objects.get_or_create(
            name="fake",
            defaults={"model": "fake-1", "base_url": self.url, "allow_private": True, "timeout_s": 5},
        )
        run = production_actions.start(
            by=None, generation=Generation(generator, endpoint, settings=chosen), dialogues=Dialogues(corpus)
        )
        finish()
        run.refresh_from_db()
        return run


@contextmanager
def model(role: str = "*", **own: Any) -> Iterator[Asked]:
    """Run the fake model with keys of one role's own."""
    fake, asked = FakeModel(ErrorModel({role: RoleErrors(own=own)})), Asked()

    def respond(method: str, path: str, body: Any, headers: Mapping[str, str]) -> Response:
        if body:
            asked.prompts.append(body["messages"][-1]["content"])
        return fake.respond(method, path, body)

    with LocalServer(respond) as server:
        asked.url = server.url
        yield asked


def talks(number: int = 5, words: str = "topic") -> Corpus:
    """Return dialogues of five turns between Ana and Ben, each about something else."""
    corpus = factories.corpus("secret-corpus")
    for n in range(number):
        factories.dialogue(corpus, f"gpt-9-dialogue-{n}", turns=5, metadata={"topic": f"{words} {n}"})
    for turn in Dialogue.objects.filter(corpus=corpus):
        first = turn.continuations.get(key="self").turns.get(position=0)
        first.text = f"{words} {turn.key[-1]}"
        first.save()
    return corpus


def left_out(words: str, number: int) -> bool:
    """Return whether the fake leaves a dialogue of `talks` out at RATE."""
    said = [f"{words} {number}", "turn 1", "turn 2", "turn 3"]
    names = ("Ana", "Ben", "Ana", "Ben")
    text = "\n".join(f"{who}: {text}" for who, text in zip(names, said, strict=True))
    return u(0, "next_speaker", "left_out", text) < RATE


def test_a_batch_that_lacks_one_number_gives_four_continuations_and_asks_for_the_fifth_alone() -> None:
    words = next(w for w in (f"w{n}" for n in range(500)) if sum(left_out(w, n) for n in range(5)) == 1)
    missing = next(n for n in range(5) if left_out(words, n))
    corpus = talks(5, words)
    with model("next_speaker", left_out=RATE) as asked:
        run = asked.write(corpus, "mpceval_next_message", batch=5)
    assert (run.state, run.values, run.missing) == ("failed", 4, 1)
    made = Continuation.objects.filter(system__name="fake-1")
    assert made.count() == 4
    failed = Production.objects.get(status="failed")
    assert failed.dialogue.key == f"gpt-9-dialogue-{missing}"
    assert "the reply has 0 objects, not one" in failed.error
    assert run.calls.count() == 2
    assert len(asked.prompts) == 2
    shared = run.calls.order_by("id")[0]
    assert shared.productions.count() == 5
    assert "<<<BEGIN DIALOGUE 5>>>" in asked.prompts[0]
    assert all("<<<BEGIN DIALOGUE 2>>>" not in prompt for prompt in asked.prompts[1:])
    assert all(f"{words} {missing}" in prompt for prompt in asked.prompts[1:])
    people = Continuation.objects.filter(system__name="human", mode="static")
    assert people.count() == 4
    assert {turn.at for one in people for turn in one.turns.all()} == {4}
    assert not [prompt for prompt in asked.prompts if "gpt-9" in prompt or "secret-corpus" in prompt]


@pytest.mark.exhaustive
def test_halves_have_their_condition_and_take_the_other_half_from_people() -> None:
    corpus = talks(1)
    with model() as asked:
        asked.write(corpus, "mpceval_content_given_speaker")
        asked.write(corpus, "mpceval_speaker_given_content")
    content = Continuation.objects.get(system__name="fake-1 speaker given")
    speaker = Continuation.objects.get(system__name="fake-1 content given")
    own = corpus.dialogues.get().continuations.get(key="self").turns.get(position=4)
    assert content.condition["speaker"] == speaker.condition["content"] == "given"
    assert content.turns.get().speaker == own.speaker
    assert speaker.turns.get().text == own.text
    assert content.turns.get().text != own.text


def test_several_points_of_a_dialogue_are_one_continuation() -> None:
    corpus = talks(2)
    with model() as asked:
        run = asked.write(corpus, "mpceval_next_message", point="1,3", window=2)
    assert (run.state, run.values) == ("done", 2)
    assert run.calls.count() == 4
    made = Continuation.objects.filter(system__name__startswith="fake-1 ")
    assert {tuple(one.turns.order_by("position").values_list("at", flat=True)) for one in made} == {(1, 3)}
    assert {one.condition["window"] for one in made} == {2}


@pytest.mark.exhaustive
def test_conversations_from_scratch_are_written_for_a_copy_without_turns() -> None:
    copy_without_turns(by=None, corpus=talks(2), name="begun")
    corpus = Corpus.objects.get(name="begun")
    with model() as asked:
        chosen = {"from": "scratch", "turns": 6, "max_in_a_row": 1, "addressees": True}
        run = asked.write(corpus, "mpc_conversation", **chosen)
    assert (run.state, run.values) == ("done", 2)
    made = Continuation.objects.filter(dialogue__corpus=corpus)
    assert {(one.mode, one.turns.count()) for one in made} == {("rollout", 6)}
    for one in made:
        assert one.condition | chosen == one.condition
        assert one.condition["min_each"] == 0
        assert all(turn.extra["addressees"] for turn in one.turns.all())
    assert sorted(n for n in range(2) for prompt in asked.prompts if f"topic {n}" in prompt) == [0, 1]


@pytest.mark.exhaustive
def test_a_stranger_of_a_conversation_is_kept_under_that_name_with_a_flag() -> None:
    with model("conversation_writer", violations={"listed_speakers": 1.0}) as asked:
        asked.write(talks(1), "mpc_conversation", turns=4, strategy="turn_by_turn")
    made = Continuation.objects.get(system__name__startswith="fake-1 conversation")
    assert [turn.speaker for turn in made.turns.order_by("position")] == ["A", "B", "A", "Somebody Else"]
    assert made.production.flags == ["unknown_speaker: turn 4"]
    assert len(asked.prompts) == 4


@pytest.mark.exhaustive
def test_responses_are_written_within_limits_or_not_at_all() -> None:
    corpus = factories.corpus()
    people = [
        {"id": "A", "name": "Ana", "profile": ["bees"]},
        {"id": "B", "name": "Ben", "profile": ["runs"]},
    ]
    factories.dialogue(corpus, "d", turns=6, participants=people)
    with model() as asked:
        run = asked.write(corpus, "comperdial_response")
    assert (run.state, run.values) == ("done", 1)
    made = Continuation.objects.get(system__name="fake-1")
    assert list(made.turns.order_by("position").values_list("at", "speaker")) == [
        (1, "B"),
        (3, "B"),
        (5, "B"),
    ]
    with model("response_writer", overlong=1.0) as asked:
        Endpoint.objects.all().update(base_url=asked.url)
        run = asked.write(corpus, "comperdial_response", personas="own")
    failed = Production.objects.get(status="failed")
    assert failed.error.startswith("tokens_out: ")
    assert failed.error.endswith("and 1,000 are allowed")
    assert not Continuation.objects.filter(system__name="fake-1 own persona").exists()
