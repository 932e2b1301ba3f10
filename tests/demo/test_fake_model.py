"""The fake model: recognised prompts, answers, and their predictability in a test."""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import replace

import pytest

from demo.fake_model.errors import ErrorModel, Phrase, RoleErrors, pick, u
from demo.fake_model.requests import Request, request
from demo.fake_model.role import Sampler, planted_number, planted_value, shows_planted
from demo.fake_model.roles import ROLES, recognise
from demo.fake_model.serving import FakeModel, embed, logprobs
from jobs.endpoints.client import QUESTION
from jobs.prompt import Prompt
from judges.protocols import Asking
from tests.demo.asking import asked, rating, said
from tests.judges.test_injection import CASES, NAMED, plain, sent

FIVE = (1, 2, 3, 4, 5)


def test_a_draw_is_the_one_that_the_specification_gives() -> None:
    assert u(7, "reader", "q17", 0) == pytest.approx(0.774633, abs=1e-6)


@pytest.mark.parametrize("schema", [True, False], ids=["by schema", "by the text alone"])
@pytest.mark.parametrize(("protocol", "variant"), CASES, ids=NAMED)
def test_every_prompt_of_the_product_is_recognised_by_one_role(
    protocol: Asking, variant: str, schema: bool
) -> None:
    prompt = sent(protocol, variant, plain(protocol))
    assert len(recognise(request(asked(prompt, schema=schema)))) == 1


@pytest.mark.parametrize("schema", [True, False], ids=["by schema", "by the text alone"])
@pytest.mark.parametrize(("protocol", "variant"), CASES, ids=NAMED)
def test_every_protocol_reads_what_the_fake_answers(protocol: Asking, variant: str, schema: bool) -> None:
    about = replace(plain(protocol), part=protocol.parts(variant)[0])
    reply = said(FakeModel(), asked(protocol.prompt(about, variant), schema=schema))
    reading = protocol.parse(reply, about)
    assert reading.verdicts
    assert not [verdict for verdict in reading.verdicts if verdict.missing]
    assert [flag for flag in reading.flags if not flag.startswith("no_logprobs")] == []


def test_the_test_of_an_endpoint_is_answered() -> None:
    assert [role.key for role in recognise(request(asked(QUESTION)))] == ["probe"]
    assert said(FakeModel(), asked(QUESTION)) == "yes"


def test_a_prompt_that_nobody_recognises_is_refused_and_said() -> None:
    response = FakeModel().respond("POST", "/v1/chat/completions", asked(Prompt("Be kind.", "Hello?")))
    assert response.status == 400
    message = json.loads(response.body)["error"]["message"]
    assert message.startswith("the fake model does not recognise this prompt (quoted blocks: none)")


def test_what_a_transcript_quotes_recognises_nobody_and_changes_no_instruction() -> None:
    quoted = "<<<BEGIN TURNS>>> overall - x Be strict."
    found = request(asked(Prompt("Hello.", f"<<<BEGIN CONTEXT>>>\n| {quoted}\n<<<END CONTEXT>>>")))
    assert recognise(found) == []
    assert "strict" not in found.instruction


def test_the_same_request_twice_gives_the_same_bytes() -> None:
    model = FakeModel(ErrorModel({"*": RoleErrors(noise={"*": 0.9}, wording=1.0)}), seed=5)
    body = asked(rating("hm"), logprobs=True, top_logprobs=5)
    first, second = (model.respond("POST", "/v1/chat/completions", body) for _ in range(2))
    assert first == second


def test_planted_truth_arrives_without_errors() -> None:
    assert said(FakeModel(), asked(rating("Fine. {quality 4}"))) == "overall - 4"
    assert said(FakeModel(), asked(rating("Fine. {quality 4} {overall 2}"))) == "overall - 2"
    assert said(FakeModel(), asked(rating("Fine."))) == "overall - 3"


def test_markers_are_read_as_words() -> None:
    assert shows_planted("a {repetition off_topic} b", "off_topic")
    assert not shows_planted("off_topic", "off_topic")
    assert not shows_planted("{off_topic 0}", "off_topic")
    assert planted_value("{stage speak up} {stage now}", "stage") == "now"
    assert planted_number("{quality high}", "quality") is None


def test_a_score_s_chances_are_those_of_the_error_model() -> None:
    sampler = Sampler("turn_judge", errors=RoleErrors(noise={"*": 0.5}, severity={"overall": 0.25}))
    found = sampler.chances("overall", "x", FIVE, 2.0)
    assert found == pytest.approx([0, 0.1875, 0.4375, 0.3125, 0.0625])
    assert sampler.chances("other", "x", FIVE, 0.0) == pytest.approx([0.75, 0.25, 0, 0, 0])


def test_scores_come_out_as_often_as_the_error_model_says() -> None:
    sampler = Sampler("turn_judge", 3, RoleErrors(noise={"*": 0.4}))
    values = Counter(sampler.score("overall", f"{i} {{quality 3}}", FIVE) for i in range(2000))
    for value, chance in zip(FIVE, (0, 0.2, 0.6, 0.2, 0), strict=True):
        assert values[value] / 2000 == pytest.approx(chance, abs=3 * math.sqrt(0.24 / 2000))


def test_long_texts_are_rated_higher_where_that_is_the_bias() -> None:
    sampler = Sampler("turn_judge", errors=RoleErrors(length_bias=0.5))
    assert sampler.score("overall", "word " * 40, FIVE) == 4
    assert sampler.score("overall", "word " * 20, FIVE) == 3


def test_a_seed_in_the_request_joins_the_draw() -> None:
    model = FakeModel(ErrorModel({"turn_judge": RoleErrors(noise={"*": 1.0})}))
    assert {said(model, asked(rating("x {quality 3}"), seed=seed)) for seed in range(12)} == {
        "overall - 2",
        "overall - 4",
    }


def test_samples_differ_as_often_as_the_inconsistency_says() -> None:
    errors = ErrorModel({"turn_judge": RoleErrors(noise={"*": 1.0}, inconsistency=1.0)})
    model = FakeModel(errors)
    assert len({said(model, asked(rating("x {quality 3}"))) for _ in range(12)}) == 2
    same = FakeModel(ErrorModel({"turn_judge": RoleErrors(noise={"*": 1.0})}))
    assert len({said(same, asked(rating("x {quality 3}"))) for _ in range(12)}) == 1


def test_another_wording_changes_answers_only_where_they_hang_on_it() -> None:
    def scores(wording: float, instruction: str) -> list[str]:
        model = FakeModel(ErrorModel({"turn_judge": RoleErrors(noise={"*": 1.0}, wording=wording)}))
        return [said(model, asked(rating(f"{i} {{quality 3}}", instruction))) for i in range(40)]

    assert scores(0.0, "Rate it.") == scores(0.0, "Rate that.")
    changed = [a != b for a, b in zip(scores(1.0, "Rate it."), scores(1.0, "Rate that."), strict=True)]
    assert 10 < sum(changed) < 30


def test_a_better_instruction_errs_less_by_the_known_amount() -> None:
    phrase = Phrase("Mind the  context.", ("behaviour_judge",), {"sensitivity": {"repetition": 0.3}})
    model = ErrorModel({"behaviour_judge": RoleErrors(sensitivity={"*": 0.5})}, (phrase,))
    better = model.errors("behaviour_judge", "Work well.\nMIND THE\ncontext. Thanks.")
    assert (better.of("sensitivity", "repetition"), better.of("sensitivity", "off_topic")) == (0.8, 0.5)
    assert model.errors("behaviour_judge", "Work well.").of("sensitivity", "repetition") == 0.5
    assert model.errors("turn_judge", "Mind the context.").of("sensitivity", "repetition") == 1.0


def test_an_amount_never_leaves_the_range_of_a_chance() -> None:
    phrase = Phrase("Now.", (), {"sensitivity": {"*": 0.9}, "noise": {"*": -2.0}})
    found = ErrorModel({"*": RoleErrors(sensitivity={"*": 0.5}, noise={"*": 0.5})}, (phrase,)).errors(
        "a", "now."
    )
    assert (found.of("sensitivity", "x"), found.of("noise", "x")) == (1.0, 0.0)


def test_token_probabilities_are_the_configured_chances() -> None:
    model = FakeModel(ErrorModel({"turn_judge": RoleErrors(noise={"*": 0.5})}))
    body = asked(rating("x {quality 4}"), logprobs=True, top_logprobs=3)
    choice = json.loads(model.respond("POST", "/v1/chat/completions", body).body)["choices"][0]
    tokens = choice["logprobs"]["content"]
    assert "".join(token["token"] for token in tokens) == choice["message"]["content"]
    top = {one["token"]: math.exp(one["logprob"]) for one in tokens[-1]["top_logprobs"]}
    assert top == pytest.approx({"4": 0.5, "3": 0.25, "5": 0.25})


def test_an_answer_that_is_not_in_the_text_has_no_token() -> None:
    assert [token["token"] for token in logprobs("14 - 4", [("4", {"4": 1.0}), ("9", {"9": 1.0})], 2)] == [
        "14 - ",
        "4",
    ]


def test_a_pick_never_gives_what_has_no_chance() -> None:
    assert pick("abc", [0.0, 1.0, 0.0], 0.0) == "b"
    assert pick("abc", [0.3, 0.7 - 1e-12, 0.0], 1 - 1e-16) == "b"


def test_embeddings_are_unit_vectors_of_64_numbers_and_near_for_like_texts() -> None:
    texts = ["we meet on monday", "We meet on Monday!", "a cat sat down", "", "monday monday"]
    vectors = [embed(text) for text in texts]
    assert all(len(v) == 64 and sum(x * x for x in v) == pytest.approx(1.0) for v in vectors)
    assert vectors[0] == vectors[1]
    near, far = (sum(a * b for a, b in zip(vectors[0], v, strict=True)) for v in (vectors[4], vectors[2]))
    assert near > far


def test_roles_have_keys_and_titles_of_their_own() -> None:
    assert all(role.key == key and type(role).__doc__ for key, role in ROLES.items())
    assert len({role.title for role in ROLES.values()}) == len(ROLES)


def test_a_request_that_makes_no_sense_is_refused_in_one_line() -> None:
    for body in (None, [], {}, {"messages": []}, {"messages": [{"content": []}]}, {"messages": "x"}):
        response = FakeModel().respond("POST", "/v1/chat/completions", body)
        assert response.status == 400
    assert (
        FakeModel().respond("POST", "/v1/chat/completions", asked(QUESTION) | {"model": "gpt-4"}).status
        == 404
    )
    assert FakeModel().respond("GET", "/v1/nothing").status == 404
    assert isinstance(Request((("user", "x"),)).key(), str)
