"""Properties of simulations through the real engine: pairing, no leak, and a fake reader's accuracy.

The fake reader gives the key if the history in its prompt has sufficient evidence, but with chance e one of
the others; else it chooses (E) with chance g, or any of the five.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import sqrt
from pathlib import Path
from typing import Any

import pytest

from annotation.models import Label, QuestionSet, Turn
from annotation.script_records import Question
from demo.fake_model.errors import RoleErrors
from demo.fake_model.requests import Request, request
from demo.fake_model.role import Sampler
from demo.fake_model.roles.long_dialogues import Reader, chance_right, drops, exam_of, expected, sufficient
from jobs.models import Endpoint
from judges.runs.selection import RunSettings
from suites.long_dialogue.agent.memory import Heard, Material
from suites.long_dialogue.models import Simulation
from suites.long_dialogue.scripts.answers import verdict_of
from suites.long_dialogue.scripts.sessions import Sessions, spoken
from tests.suites.continuation.making import Served
from tests.suites.long_dialogue.long_talk import PEOPLE, world
from tests.suites.long_dialogue.simulating import answers, asks, brought, simulate, written

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.exhaustive]
E, G = 0.1, 0.3
MATERIAL = world(sessions=30, questions=40, turns=6)
CONDITIONS: list[dict[str, Any]] = (
    [
        {"memory": memory, "retriever": retriever, "k": k}
        for memory, k in (("utterance", 4), ("session", 3), ("summary", 3))
        for retriever in ("bm25", "embedding")
    ]
    + [{"memory": "base", "context": 1500}]
    + [{"memory": memory} for memory in ("oracle", "no_memory", "full")]
)


class Watched(Served):
    """A fake model that keeps every request as it reached it."""

    def __init__(self, **own: Any) -> None:
        super().__init__()
        self.own = own
        self.rates = {"reader": own}
        self.bodies: list[Any] = []

    def _counted(self, method: str, path: str, body: Any) -> int | None:
        if path.endswith("/chat/completions"):
            self.bodies.append(body)
        return super()._counted(method, path, body)

    def questions(self) -> list[Request]:
        """Return what the reader was asked, as it stood in the requests."""
        return [one for one in map(request, self.bodies) if "QUESTION" in one.titles]


def watched(**own: Any) -> Iterator[Watched]:
    model = Watched(**own)
    with model._server:
        yield model


@pytest.fixture
def model() -> Iterator[Watched]:
    yield from watched(e=E, g=G)


def answered(asked: QuestionSet, model: Watched, trials: int = 2, **order: Any) -> Simulation:
    endpoint = Endpoint.objects.filter(name="fake").first() or model.endpoint()
    if order.get("retriever") == "embedding":
        order["embedder"] = "fake"
    held = simulate(asked, endpoint, trials=trials, asking=RunSettings(use_cache=False), **order)
    assert (held.state, held.error) == ("done", ""), order
    return held


def told(held: Simulation) -> list[tuple[Turn, Mapping[str, Any]]]:
    return [pair for made in written(held) for pair in answers(made)]


def near(right: list[bool], chances: list[float]) -> None:
    """Require an accuracy within 3 standard errors of what is expected."""
    error = sqrt(sum(chance * (1 - chance) for chance in chances)) / len(chances)
    difference = abs(sum(right) - sum(chances)) / len(right)
    assert difference <= 3 * error + 1e-12, (difference, error)


def test_the_same_trial_asks_every_system_the_same_questions(model: Watched, tmp_path: Path) -> None:
    asked = brought(world(sessions=14, questions=24, turns=6), tmp_path)
    usual = [asks(made) for made in written(answered(asked, model, memory="session"))]
    assert [len(one) > 5 for one in usual] == [True, True]
    assert usual[0] != usual[1]
    for order in [*CONDITIONS, {"names": "anonymised"}, {"format": "natural"}, {"format": "open"},
                  {"memory": "utterance", "order": "rank", "names": "anonymised"}]:  # fmt: skip
        assert [asks(made) for made in written(answered(asked, model, **order))] == usual, order
    for baseline in ("random", "always_e"):
        for more in ({}, {"names": "anonymised", "format": "open"}):
            held = simulate(asked, None, trials=2, baseline=baseline, **more)
            assert [asks(made) for made in written(held)] == usual
    assert [asks(made) for made in written(answered(asked, model, seed=1))] != usual


def test_nothing_that_was_not_heard_reaches_the_model(model: Watched, tmp_path: Path) -> None:
    material = world(sessions=12, questions=20, turns=6)
    asked = brought(material, tmp_path)
    sessions = Sessions(material.dialogue)
    places = {mark: place for place, turn in enumerate(material.dialogue.turns) for mark in marks(turn.text)}
    reached = 0
    for order in CONDITIONS:
        for names in ("original", "anonymised"):
            model.bodies.clear()
            held = answered(asked, model, trials=1, names=names, point="any_turn", per_session=2, **order)
            ends = {one["question"]: turn.at for turn, one in told(held)}
            for prompt in model.questions():
                history = "\n".join(prompt.block("HISTORY") or ())
                end = ends[plain(exam_of(prompt).id)]
                reached += len(marks(history))
                assert all(places[mark] < end for mark in marks(history))
                assert all(sessions.hears(places[mark]) for mark in marks(history))
            for body in model.bodies:
                text = "\n".join(one["content"] for one in body["messages"])
                assert all(sessions.hears(places[mark]) for mark in marks(text))
                if names == "anonymised":
                    assert not re.search(rf"\b(?:{'|'.join(PEOPLE)})\b", text, re.I)
    assert reached > 1000


def marks(text: str) -> set[str]:
    return set(re.findall(r"\bt\d+x\d+\b", text))


def test_every_condition_meets_its_own_expectation_and_its_recorded_prompts_exactly(
    model: Watched, tmp_path: Path
) -> None:
    asked = brought(MATERIAL, tmp_path)
    reader = Replies(model.own)
    for order in CONDITIONS:
        model.bodies.clear()
        held = answered(asked, model, trials=3, **order)
        pairs = told(held)
        assert len(pairs) > 50
        right = [verdict_of(one, turn.text) == "right" for turn, one in pairs]
        p = sum(one["retrieval"]["evidence"] == "sufficient" for _, one in pairs) / len(pairs)
        v = sum(one["key"] == "E" for _, one in pairs) / len(pairs)
        chances = [chance(one) for _, one in pairs]
        assert sum(chances) / len(chances) == pytest.approx(expected(p, v, E, G))
        near(right, chances)
        prompts = model.questions()
        assert len(prompts) == len(pairs)
        recorded = Counter(
            (one["question"], one["choices"][0], turn.text, one["retrieval"]["evidence"] == "sufficient")
            for turn, one in pairs
        )
        assert Counter(map(reader.replies, prompts)) == recorded, order
        labels = Label.objects.filter(
            rater__name="score:strict", question__key="right", item__turn__in=[turn.pk for turn, _ in pairs]
        )
        assert sum(label.number for label in labels) == sum(right)


class Replies:
    """The fake reader, beside the model that was asked."""

    def __init__(self, own: dict[str, Any]) -> None:
        self._sampler = Sampler("reader", 0, RoleErrors(own=own))

    def replies(self, prompt: Request) -> tuple[str, str, str, bool]:
        """Return a prompt's question and first option, what it is answered, and whether evidence is in it."""
        exam = exam_of(prompt)
        enough = sufficient(exam.id, "\n".join(prompt.block("HISTORY") or ()))
        return plain(exam.id), exam.options["A"], Reader().answer(prompt, self._sampler).text, enough


def plain(key: str) -> str:
    return key.replace(".", "")


def chance(one: Mapping[str, Any]) -> float:
    """Return how likely the reader is right, by what the run recorded of the prompt."""
    if one["retrieval"]["evidence"] == "sufficient":
        return 1 - E
    return (1 - G) / 5 + (G if one["key"] == "E" else 0)


def test_an_oracle_that_abstains_is_always_right_and_baselines_are_what_they_say(tmp_path: Path) -> None:
    asked = brought(MATERIAL, tmp_path)
    for model in watched(e=0.0, g=1.0):
        pairs = told(answered(asked, model, trials=3, memory="oracle"))
        assert all(verdict_of(one, turn.text) == "right" for turn, one in pairs)
    keys = [one["key"] for _, one in pairs]
    for form in ("template", "natural"):
        always = told(simulate(asked, None, baseline="always_e", trials=3, format=form))
        assert [verdict_of(one, turn.text) == "right" for turn, one in always] == [key == "E" for key in keys]
        guessed = told(simulate(asked, None, baseline="random", trials=12, format=form))
        near([verdict_of(one, turn.text) == "right" for turn, one in guessed], [0.2] * len(guessed))


def test_a_summariser_that_forgets_lowers_the_evidence_as_it_must(tmp_path: Path) -> None:
    material = with_past(world(sessions=80, questions=160, turns=6))
    asked = brought(material, tmp_path)
    rate = 0.3
    for model in watched(e=0.0, g=0.0):
        model.rates["session_summariser"] = {"drops": rate}
        held = answered(asked, model, trials=4, memory="summary", k=1000)
        pairs = told(held)
        prompts = {(plain(exam_of(one).id), str(one.block("NOW"))): exam_of(one) for one in model.questions()}
        heard = Heard(material.dialogue)
        sampler = Sampler("session_summariser", 0, RoleErrors(own={"drops": rate}))
        questions = {one.id: one for one in material.questions}
        kept: dict[int, dict[str, bool]] = {1: {}, 2: {}}
        chances = []
        for _, one in pairs:
            now = spoken(heard.sessions[one["session"]].date)
            exam = prompts[one["question"], str((now,))]
            chances.append(chance_right(exam, one["key"], {}))
            parts = planted(questions[one["question"]], heard)
            if one["answerable"]:
                assert exam.sufficient == all(not drops(mark, text, sampler) for mark, text in parts)
                kept[len(parts)][one["question"]] = exam.sufficient
            else:
                assert not exam.sufficient
        for needed, of in kept.items():
            assert len(of) > 15
            near(list(of.values()), [(1 - rate) ** needed] * len(of))
        near([verdict_of(one, turn.text) == "right" for turn, one in pairs], chances)


def with_past(material: Material) -> Material:
    """Return material that asks only what is told in sessions that are heard."""
    sessions = Sessions(material.dialogue)

    def heard(question: Question) -> bool:
        return all(sessions.numbers[one] in sessions.heard for one in question.evidence)

    kept = {one.id: one for one in material.questions if heard(one)}
    uses = tuple(use for use in material.uses if use.question in kept)
    return replace(material, questions=tuple(kept.values()), uses=uses)


def planted(question: Question, heard: Heard) -> list[tuple[str, str]]:
    """Return the marks of a question's evidence, each with the text of its session."""
    numbers = heard.sessions.numbers
    whole = len(question.evidence)
    name = (
        [f"{{evidence {question.id}}}"]
        if whole == 1
        else [f"{{evidence {question.id} {part}/{whole}}}" for part in range(1, whole + 1)]
    )
    return [
        (mark, heard.text(numbers[session])) for mark, session in zip(name, question.evidence, strict=True)
    ]


def test_both_facts_are_in_at_most_as_many_prompts_as_either(model: Watched, tmp_path: Path) -> None:
    asked = brought(MATERIAL, tmp_path)
    seen = 0
    for order in CONDITIONS[:6]:
        model.bodies.clear()
        held = answered(asked, model, trials=3, **order)
        needs_both = {one["question"] for _, one in told(held) if one["evidence_all"] and one["answerable"]}
        parts = [
            [f"{{evidence {key} {part}/2}}" in "\n".join(prompt.block("HISTORY") or ()) for part in (1, 2)]
            for prompt in model.questions()
            if (key := plain(exam_of(prompt).id)) in needs_both
        ]
        both = sum(map(all, parts))
        assert both <= min(sum(one for one, _ in parts), sum(other for _, other in parts))
        seen += len(parts)
        pairs = [(turn, one) for turn, one in told(held) if one["question"] in needs_both]
        near(
            [verdict_of(one, turn.text) == "right" for turn, one in pairs], [chance(one) for _, one in pairs]
        )
    assert seen > 50
