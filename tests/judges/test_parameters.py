"""Sampling parameters: validated, part of a judge's identity, sent if given, refused in one line."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from jobs.endpoints.client import Shut, kind_of, meaning, refused_parameter
from jobs.endpoints.costs import request_body
from jobs.endpoints.parameters import OWN_FIELDS, PARAMETERS, checked, name_suffix, of_sample
from jobs.errors import JobError
from jobs.models import Call, Run
from jobs.prompt import Prompt
from judges.runs.plans import Judge
from tests import factories
from tests.fake_llm import FakeLLM
from tests.judges.helpers import begin, endpoint_of, finish, small_corpus

SOME: dict[str, Any] = {
    "temperature": 0.0,
    "top_p": 0.1,
    "max_tokens": 50,
    "max_completion_tokens": 60,
    "reasoning_effort": "low",
    "seed": 11,
    "stop": ["###", "END"],
    "frequency_penalty": -0.5,
    "presence_penalty": 0.5,
    "logprobs": True,
    "top_logprobs": 5,
    "system_role": "user",
    "extra_body": {"chat_template_kwargs": {"enable_thinking": False}},
}
BESIDE = {"top_logprobs": {"logprobs": True}}
"""What a parameter needs beside it."""


def test_every_parameter_is_tried_here() -> None:
    assert set(SOME) == set(PARAMETERS)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"temperature": 2.1}, "temperature must be between 0 and 2"),
        ({"temperature": float("nan")}, "temperature must be between"),
        ({"top_p": "a"}, "top_p: 'a' is not a number"),
        ({"max_tokens": 0}, "max_tokens must be between 1 and"),
        ({"max_tokens": 1.5}, "max_tokens: '1.5' is not a whole number"),
        ({"max_tokens": 5, "max_completion_tokens": 5}, "Give either max_tokens or max_completion_tokens"),
        ({"top_logprobs": 3}, "top_logprobs needs logprobs"),
        ({"reasoning_effort": "huge"}, "is not one of none, minimal, low"),
        ({"stop": ["a", "b", "c", "d", "e"]}, "at most 4 texts"),
        ({"stop": ["\x00"]}, "cannot be stored"),
        ({"extra_body": {"a": "\x00"}}, "cannot be stored"),
        ({"extra_body": "{}"}, "must be a JSON object"),
        ({"extra_body": {"messages": []}}, "leave out messages, Concord sets it itself"),
        ({"extra_body": {"seed": 1}}, "leave out seed, it is a parameter of its own"),
        ({"extra_body": {"a": float("nan")}}, "NaN and infinity are not JSON"),
        ({"extra_body": {"a": "b" * 2000}}, "at most 2,000 characters"),
        ({"system_role": "system"}, "is not one of developer, user"),
        ({"best_of": 3}, "There is no parameter 'best_of'; there are temperature, top_p"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(given: dict[str, Any], message: str) -> None:
    with pytest.raises(JobError, match=message):
        checked(given)


def test_only_what_is_given_counts_and_a_zero_is_given() -> None:
    assert checked(dict.fromkeys(PARAMETERS)) == {}
    assert checked({"temperature": 0, "stop": [], "logprobs": False, "reasoning_effort": ""}) == {
        "temperature": 0.0
    }


def test_a_judge_is_named_after_its_parameters() -> None:
    assert name_suffix(checked({"max_tokens": 50, "temperature": 0.2})) == " temperature=0.2 max_tokens=50"
    assert name_suffix({"stop": ["END"], "seed": 123456789}) == ' seed=123456789 stop=["END"]'


def test_further_fields_are_in_a_judge_s_name_as_a_short_digest_where_they_are_long() -> None:
    assert name_suffix({"extra_body": {"b": 1, "a": 2}}) == ' extra_body={"a": 2, "b": 1}'
    names = {name_suffix({"extra_body": {"a": letter * 100}}) for letter in "xy"}
    assert len(names) == 2
    assert all(len(name) == len(" extra_body=") + 8 for name in names)


@pytest.mark.parametrize(
    ("role", "roles"),
    [
        ({}, ["system", "user"]),
        ({"system_role": "developer"}, ["developer", "user"]),
        ({"system_role": "user"}, ["user"]),
    ],
)
def test_instructions_are_sent_in_the_role_that_a_model_has(role: dict[str, str], roles: list[str]) -> None:
    prompt = Prompt("Rate it.", "The dialogue", None, fault=("?", "no number"))
    body = request_body("m", prompt, {**role, "extra_body": {"top_k": 1}, "seed": 2}, "text")
    assert [message["role"] for message in body["messages"]] == [*roles, "assistant", "user"]
    assert all(text in json.dumps(body["messages"]) for text in ("Rate it.", "The dialogue", "no number"))
    assert set(body) == {"model", "messages", "top_k", "seed"}


def test_each_sample_is_asked_with_a_seed_of_its_own() -> None:
    assert [of_sample({"seed": 5, "top_p": 0.1}, n)["seed"] for n in (0, 1, 2)] == [5, 6, 7]
    assert of_sample({"top_p": 0.1}, 3) == {"top_p": 0.1}


@pytest.mark.parametrize(
    ("error", "message", "refused"),
    [
        ({"param": "top_p", "code": "unsupported_parameter"}, "Unsupported", "top_p"),
        ({"param": "messages[0].content"}, "Invalid content", ""),
        ({"detail": [{"loc": ["body", "seed"], "msg": "extra fields not permitted"}]}, "422", "seed"),
        ({}, "Unsupported parameter: 'max_tokens' is not supported with this model.", "max_tokens"),
        ({}, "temperature: range: 0..1", "temperature"),
        ({}, "`stop` is not allowed", "stop"),
        ({}, "top_logprobs is not supported", "top_logprobs"),
        ({}, "unexpected parameter logprobs", "logprobs"),
        ({}, "we had to stop; the temperature in the server room", ""),
        (None, "something else is wrong", ""),
    ],
)
def test_the_refused_parameter_is_found_where_servers_name_it(error: Any, message: str, refused: str) -> None:
    sent = ["temperature", "top_p", "max_tokens", "seed", "stop", "logprobs", "top_logprobs"]
    assert refused_parameter(error, message, sent) == refused


def test_a_prompt_that_is_too_long_is_no_refused_parameter() -> None:
    told = "'max_tokens' is too large: 900. This model's maximum context length is 512 tokens"
    assert kind_of({"param": "max_tokens"}, told) == "context_too_long"
    assert kind_of({"code": "content_policy_violation"}, "no") == "content_filter"
    assert kind_of({"innererror": {"code": "ResponsibleAIPolicyViolation"}}, "no") == "content_filter"


@pytest.mark.parametrize("error", [{"code": "insufficient_quota"}, {"type": "insufficient_quota"}])
def test_an_account_without_money_stops_the_run_though_it_says_429(error: dict[str, str]) -> None:
    assert isinstance(meaning(429, error, "You exceeded your current quota", None, "x", {}), Shut)
    assert not isinstance(meaning(429, {"code": "rate_limit_exceeded"}, "slow", None, "x", {}), Shut)


pytest_db = pytest.mark.django_db(transaction=True)


@pytest.mark.exhaustive
@pytest_db
@pytest.mark.parametrize("name", list(PARAMETERS))
def test_a_parameter_reaches_the_server_where_it_is_given_and_only_there(fake: FakeLLM, name: str) -> None:
    corpus, endpoint = small_corpus(dialogues=1, turns=1), endpoint_of(fake)
    given = BESIDE.get(name, {}) | {name: SOME[name]}
    run = begin(corpus, Judge("cpdscore_detail", endpoint=endpoint, parameters=given))
    finish()
    (body,) = fake.bodies
    sent = given.get("extra_body", {key: value for key, value in given.items() if key != "system_role"})
    assert {key: value for key, value in body.items() if key not in OWN_FIELDS} == sent
    assert [message["role"] for message in body["messages"]] == (
        ["user"] if name == "system_role" else ["system", "user"]
    )
    assert run.rater.spec["parameters"] == given


@pytest_db
def test_samples_are_asked_with_seeds_that_follow_each_other(fake: FakeLLM) -> None:
    judge = Judge("cpdscore_detail", endpoint=endpoint_of(fake), parameters={"seed": 40})
    begin(small_corpus(dialogues=1, turns=1), judge, samples=3)
    finish()
    assert sorted(body["seed"] for body in fake.bodies) == [40, 41, 42]


@pytest_db
def test_a_refused_parameter_is_one_error_of_the_run_that_names_it(fake: FakeLLM) -> None:
    fake.answer = lambda _: (  # type: ignore[method-assign]
        400,
        json.dumps({"error": {"message": "Unsupported parameter", "param": "top_p", "code": "unsupported"}}),
    )
    endpoint = endpoint_of(fake, concurrency=2)
    run = begin(
        small_corpus(dialogues=8), Judge("cpdscore_detail", endpoint=endpoint, parameters={"top_p": 1})
    )
    finish()
    run.refresh_from_db()
    assert run.state == Run.State.FAILED
    assert run.error.startswith(
        "The endpoint fake does not take the parameter top_p as it was given. HTTP 400"
    )
    assert run.error.endswith("Leave it out, or choose another value or model.")
    assert not run.calls.filter(state=Call.State.FAILED).exists()
    assert len(fake.arrivals) < 8, "48 calls were not all tried"


@pytest_db
def test_the_form_and_the_api_take_every_parameter(client: Client, fake: FakeLLM) -> None:
    client.force_login(factories.user(researcher=True))
    corpus, endpoint = small_corpus(dialogues=1, turns=1), endpoint_of(fake)
    told = {name: value for name, value in SOME.items() if name != "max_completion_tokens"}
    form = {f"judge-{name}": value for name, value in told.items()} | {"judge-stop": "###\r\nEND\r\n"}
    form["judge-extra_body"] = json.dumps(SOME["extra_body"])
    form |= {"judge-judge": "cpdscore_detail:without_reference", "judge-samples": "1"}
    form |= {"judge-endpoint": endpoint.pk, "confirmed": "1"}
    page = f"{reverse('new-run')}?corpus={corpus.pk}"
    assert client.post(page, form).status_code == 302
    body = {"corpus": corpus.name, "protocol": "cpdscore_detail", "endpoint": endpoint.name, **told}
    made = client.post(reverse("api-runs"), body, content_type="application/json")
    assert made.status_code == 201, made.content
    assert Run.objects.get().rater.spec["parameters"] == told
    wrong = client.post(page, form | {"judge-max_completion_tokens": "5"})
    assert wrong.status_code == 422
    assert "Give either max_tokens or max_completion_tokens, not both." in wrong.content.decode()
    refused = client.post(
        reverse("api-runs"), body | {"max_completion_tokens": 5}, content_type="application/json"
    )
    assert refused.status_code == 400
