"""The fake reader answers from its history: every condition matches its own expectation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import sqrt
from typing import Any

import pytest

from demo.fake_model.errors import RoleErrors
from demo.fake_model.requests import Request, request
from demo.fake_model.role import Sampler
from demo.fake_model.roles import recognise
from demo.fake_model.roles.long_dialogues import (
    Reader,
    chance_right,
    exam_of,
    expected,
    known_answers,
    sufficient,
)
from jobs.prompt import Prompt
from suites.long_dialogue.agent.memory import Heard, Material, text_digest
from suites.long_dialogue.scripts.answers import verdict_of
from tests.demo.asking import asked
from tests.suites.long_dialogue.long_talk import answered, world

MATERIAL = world(sessions=60, questions=80)
TRIALS = 5
CONDITIONS = [
    {"memory": memory, "retriever": retriever, "k": k}
    for memory, k in (("utterance", 6), ("session", 4), ("summary", 5))
    for retriever in ("bm25", "embedding")
] + [{"memory": memory} for memory in ("base", "oracle", "no_memory", "full")]
NAMED = ["-".join(map(str, one.values())) for one in CONDITIONS]


def reader(seed: int = 0, **own: Any) -> Callable[[Prompt], str]:
    """Return the fake reader as a function of a prompt."""
    return lambda prompt: Reader().answer(read(prompt), Sampler("reader", seed, RoleErrors(own=own))).text


def read(prompt: Prompt) -> Request:
    return request(asked(prompt))


def with_summaries(material: Material, rate: float = 0.0) -> Material:
    """Return material whose summaries are the evidence of sessions, from which some is dropped by a rule."""
    heard = Heard(material.dialogue)
    texts = [heard.text(number) for number in heard.numbers]
    kept = [
        " ".join(line for number, line in enumerate(text.split("\n")) if hash_of(line, number) >= rate)
        for text in texts
    ]
    return replace(
        material, summaries={text_digest(text): short for text, short in zip(texts, kept, strict=True)}
    )


def hash_of(line: str, number: int) -> float:
    from annotation.text.draws import u

    return u(0, "dropped", line, number)


def met(
    material: Material, settings: Mapping[str, Any], trials: int = TRIALS, **own: Any
) -> tuple[list[bool], list[float], list[Mapping[str, Any]]]:
    """Return whether each answer is right, the chance of that by its prompt, and what was recorded of it."""
    right, chances, told = [], [], []
    for trial in range(trials):
        done, prompts = answered(material, reader(**own), trial, **settings)
        said = [turn for turn in done.turns if not turn.given]
        for prompt, turn in zip(prompts, said, strict=True):
            answer = turn.extra["answer"]
            told.append(answer)
            right.append(verdict_of(answer, turn.text) == "right")
            chances.append(chance_right(exam_of(read(prompt)), answer["key"], own))
    return right, chances, told


def near(right: list[bool], chances: list[float]) -> None:
    """Require an accuracy within 3 standard errors of the sum of chances."""
    n = len(right)
    error = sqrt(sum(chance * (1 - chance) for chance in chances)) / n
    assert abs(sum(right) / n - sum(chances) / n) <= 3 * error + 1e-12, (sum(right) / n, sum(chances) / n)


@pytest.mark.exhaustive
@pytest.mark.parametrize("condition", CONDITIONS, ids=NAMED)
@pytest.mark.parametrize(("e", "g"), [(0.1, 0.0), (0.1, 1.0), (0.0, 0.4)])
def test_every_memory_meets_its_own_expectation(condition: dict[str, Any], e: float, g: float) -> None:
    material = with_summaries(MATERIAL)
    right, chances, told = met(material, condition, e=e, g=g)
    assert len(right) > 200
    near(right, chances)
    p = sum(one["retrieval"]["evidence"] == "sufficient" for one in told) / len(told)
    v = sum(one["key"] == "E" for one in told) / len(told)
    assert sum(chances) / len(chances) == pytest.approx(expected(p, v, e, g))


def test_the_accuracy_of_recorded_prompts_is_met_exactly() -> None:
    done, prompts = answered(MATERIAL, reader(e=0.1, g=0.3), memory="utterance", k=4)
    again = [reader(e=0.1, g=0.3)(prompt) for prompt in prompts]
    assert again == [turn.text for turn in done.turns if not turn.given]


@pytest.mark.parametrize(
    ("p", "e", "g", "v", "accuracy"),
    [
        (0.6, 0.1, 0, 0.3, 0.62),
        (0.6, 0.1, 1, 0.2, 0.74),
        (0.8, 0, 0, 0.2, 0.84),
        (0.8, 0, 1, 0.2, 1),
        (0, 0, 0, 0.4, 0.2),
        (0, 0, 1, 0.2, 0.2),
    ],
)
def test_the_closed_form_has_the_worked_values(
    p: float, e: float, g: float, v: float, accuracy: float
) -> None:
    assert expected(p, v, e, g) == pytest.approx(accuracy)


def test_an_oracle_without_errors_that_abstains_is_always_right() -> None:
    right, _, _ = met(MATERIAL, {"memory": "oracle"}, trials=2, e=0.0, g=1.0)
    assert all(right)


@pytest.mark.parametrize("form", ["natural", "open"])
def test_other_formats_are_read_by_their_words(form: str) -> None:
    right, chances, told = met(MATERIAL, {"memory": "session", "format": form}, e=0.1, g=0.5)
    assert {one["outcome"] == "text" for one in told} == {form == "open"}
    near(right, chances)


def test_two_parts_are_needed_where_both_are() -> None:
    assert sufficient("q2", "a {evidence q2 1/2} b {evidence q2 2/2}")
    assert not sufficient("q2", "a {evidence q2 1/2} b {evidence q22 2/2}")
    assert sufficient("q.2", "{evidence q2}")
    right, chances, told = met(MATERIAL, {"memory": "utterance", "k": 3}, e=0.0, g=0.0)
    both = [one["retrieval"]["evidence"] for one in told if one["evidence_all"] and one["answerable"]]
    assert both.count("sufficient") <= len(both) - both.count("none")
    near(right, chances)


def test_prior_knowledge_shows_under_the_original_names_alone() -> None:
    known = known_answers(
        {question.text.split(" {")[0]: question.answer for question in MATERIAL.questions}, ""
    )
    shares = {}
    for names in ("original", "anonymised"):
        right, chances, _ = met(MATERIAL, {"memory": "no_memory", "names": names}, e=0.0, g=0.0, knows=known)
        near(right, chances)
        shares[names] = sum(right) / len(right)
    assert shares["original"] > 0.6
    assert shares["anonymised"] < 0.35


@pytest.mark.exhaustive
def test_a_summary_that_drops_the_evidence_lowers_what_is_known() -> None:
    rate = 0.3
    right, chances, told = met(with_summaries(MATERIAL, rate), {"memory": "summary", "k": 1000}, e=0.0, g=0.0)
    near(right, chances)
    for parts in (False, True):
        asked_for = [
            (chance, one)
            for chance, one in zip(chances, told, strict=True)
            if one["evidence_all"] == parts and one["answerable"]
        ]
        p = (1 - rate) ** (2 if parts else 1)
        share = sum(chance == 1 for chance, _ in asked_for) / len(asked_for)
        questions = len({one["question"] for _, one in asked_for})
        assert abs(share - p) <= 3 * sqrt(p * (1 - p) / questions)


@pytest.mark.exhaustive
def test_its_prompts_are_nobody_elses() -> None:
    _, prompts = answered(MATERIAL, reader(), memory="session")
    assert {tuple(role.key for role in recognise(read(prompt))) for prompt in prompts} == {("reader",)}
