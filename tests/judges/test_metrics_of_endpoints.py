"""Likelihood from an endpoint that gives log-probabilities of a prompt: values, calls, money and failures."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from django.core.management import call_command
from django.urls import reverse

from annotation.models import Corpus, Label
from jobs import runs
from jobs.endpoints.responses import Malformed, NoLogprobs, boundary, echoed
from jobs.errors import JobError
from jobs.models import Call, Endpoint, Run
from judges.errors import JudgeError
from judges.metrics import MetricError
from judges.models import CallLabel
from judges.runs import run_actions
from judges.runs.metric_calls import metric_plan
from judges.runs.selection import RunSettings, Selection
from tests import factories
from tests.judges.helpers import finish, finish_all
from tests.judges.servers.echo_server import EchoServer, write_model
from tests.metrics.helpers import reply, score

if TYPE_CHECKING:
    from django.test import Client
    from pytest_django.fixtures import SettingsWrapper

pytestmark = pytest.mark.django_db(transaction=True)
MESSAGES = (
    "yes, the van takes bread to the lake",
    "tea: and (cake)!",
    "größer 🙂 als der See 🙂",
    "🙂🙂 湖边见",
    "Next: the lake\nNext: the park",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_model(tmp_path_factory.mktemp("echo"))


@pytest.fixture(scope="module", params=["plain", "marked"])
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[EchoServer]:
    path = tmp_path_factory.mktemp(request.param)
    with EchoServer(write_model(path, marked=request.param == "marked")) as server:
        yield server


@pytest.fixture
def echo(folder: str) -> Iterator[EchoServer]:
    with EchoServer(folder) as server:
        yield server


@pytest.fixture
def researcher(client: Client) -> Client:
    client.force_login(factories.user(researcher=True))
    return client


def endpoint(server: EchoServer, **fields: Any) -> Endpoint:
    prices = {"price_in": 1, "price_out": 10}
    return Endpoint.objects.create(
        **{"name": "gpu", "model": "small", "base_url": server.url, "allow_private": True, **prices, **fields}
    )


def corpus_of(*messages: str) -> Corpus:
    corpus = factories.corpus()
    for number, text in enumerate(messages):
        dialogue = factories.dialogue(corpus, f"d{number}", turns=2)
        factories.continuation(dialogue, "c", system="m", turns=[{"text": text}, {"text": f"{text}, 🙂 bye"}])
    return corpus


def start(corpus: Corpus, key: str, settings: RunSettings | None = None) -> Run:
    (run,) = run_actions.start_metrics(by=None, keys=[key], selection=Selection(corpus), settings=settings)
    assert isinstance(run, Run)
    return run


def values(run: Run) -> dict[int, float | None]:
    return dict(Label.objects.filter(rater=run.rater).values_list("item", "number"))


def test_an_endpoint_gives_the_values_of_the_local_model(served: EchoServer) -> None:
    corpus = corpus_of(*MESSAGES)
    endpoint(served)
    remote = start(corpus, "ll:endpoint=gpu")
    finish()
    local = start(corpus, f"ll:model={served.folder}")
    finish("metrics")
    remote.refresh_from_db()
    assert (remote.state, remote.calls.count()) == (Run.State.DONE, 10), remote.error
    assert values(remote) == pytest.approx(values(local), rel=1e-5)
    assert len(set(values(local).values())) == 10


def test_parameters_are_those_of_the_local_metric(echo: EchoServer) -> None:
    corpus = corpus_of(*MESSAGES)
    endpoint(echo)
    for parameters in ("scaled=1", "window=1"):
        remote = start(corpus, f"ll:endpoint=gpu,{parameters}")
        finish()
        local = start(corpus, f"ll:model={echo.folder},{parameters}")
        finish("metrics")
        assert values(remote) == pytest.approx(values(local), rel=1e-5)


def test_a_message_without_text_or_context_has_its_reason_and_sends_nothing(echo: EchoServer) -> None:
    corpus = factories.corpus()
    dialogue = factories.dialogue(corpus, "d", turns=0)
    factories.continuation(
        dialogue, "c", system="m", turns=[{"text": "hello"}, {"text": "  "}, {"text": "tea"}]
    )
    endpoint(echo)
    run = start(corpus, "ll:endpoint=gpu")
    finish()
    labels = Label.objects.filter(rater=run.rater).order_by("item__turn__position")
    assert [label.missing for label in labels] == ["there is no context", "the message has no text", ""]
    assert echo.arrivals.total() == 1
    run.refresh_from_db()
    assert (run.state, run.values, run.missing) == (Run.State.DONE, 1, 2)
    zero = start(corpus, "ll@reference:endpoint=gpu")
    finish()
    assert Label.objects.get(rater=zero.rater, item__turn__position=1).number == 0


def test_a_request_is_stored_counted_and_priced_as_a_judges(echo: EchoServer) -> None:
    corpus = corpus_of("tea and cake")
    place = endpoint(echo)
    run = start(corpus, "ll:endpoint=gpu")
    assert run.queue == Run.Queue.CALLS
    finish()
    call = run.calls.order_by("item_id").first()
    assert call is not None
    body = echo.bodies[0]
    assert {name: body[name] for name in body if name != "prompt"} == {
        "model": "small", "echo": True, "logprobs": 1, "max_tokens": 1, "temperature": 0,
    }  # fmt: skip
    assert call.reply.startswith(call.reply.split("Next:")[0] + "Next: tea and cake")
    assert call.logprobs is not None
    assert "".join(text for text, _, _ in call.logprobs) == " tea and cake"
    assert (call.asked, call.sent, call.tokens_out) == (1, 1, 1)
    assert call.cost == (place.price_in * call.tokens_in + 10) / Decimal(1_000_000)
    rater = run.rater
    assert rater is not None
    assert rater.spec == {
        "metric": "ll", "variant": "paper", "parameters": {"scaled": False, "window": 0},
        "model": "small", "address": echo.url,
    }  # fmt: skip
    assert rater.name == "small ll@paper"


def test_the_same_server_under_another_name_is_the_same_rater_and_asks_nothing_again(
    echo: EchoServer,
) -> None:
    corpus = corpus_of("tea and cake")
    place = endpoint(echo)
    run = start(corpus, "ll:endpoint=gpu")
    finish()
    place.name = "other"
    place.save()
    again = start(corpus, "ll:endpoint=other")
    finish()
    assert (again.pk, again.rater) == (run.pk, run.rater)
    assert echo.arrivals.total() == 2, "nothing is asked again"


def test_an_equal_request_of_another_run_takes_the_recorded_reply(echo: EchoServer) -> None:
    corpus = corpus_of("tea and cake")
    endpoint(echo)
    plain = start(corpus, "ll:endpoint=gpu")
    finish()
    scaled = start(corpus, "ll:endpoint=gpu,scaled=1")
    finish()
    assert echo.arrivals.total() == 2
    assert set(scaled.calls.values_list("cached", "cost")) == {(True, Decimal(0))}
    expected = {item: 1 - math.exp(-25 * (value or 0)) for item, value in values(plain).items()}
    assert values(scaled) == pytest.approx(expected, rel=1e-9)


def test_a_cap_pauses_a_run_before_the_call_that_would_exceed_it(echo: EchoServer) -> None:
    corpus = corpus_of(*MESSAGES)
    endpoint(echo)
    run = start(corpus, "ll:endpoint=gpu", RunSettings(caps={"cap_calls": 3}))
    finish_all()
    run.refresh_from_db()
    assert run.state == Run.State.PAUSED
    assert echo.arrivals.total() == 3 == Label.objects.filter(rater=run.rater).count()


def test_a_failed_server_is_asked_again_and_each_item_has_one_value(echo: EchoServer) -> None:
    corpus = corpus_of("tea", "cake")
    endpoint(echo)
    echo.mode = "500"
    run = start(corpus, "ll:endpoint=gpu")
    finish(seconds=5)
    assert not Label.objects.exists()
    echo.mode = "good"
    Call.objects.update(not_before=None)
    finish()
    run.refresh_from_db()
    assert run.state == Run.State.DONE
    assert Label.objects.count() == CallLabel.objects.count() == run.calls.count() == 4


@pytest.mark.parametrize(
    ("mode", "reason"),
    [
        ("generated", "The endpoint gpu gives no log-probabilities of a prompt"),
        ("chat", "The endpoint gpu gives no log-probabilities of a prompt: HTTP 404"),
    ],
)
def test_an_endpoint_without_them_stops_the_run_with_one_line(
    echo: EchoServer, mode: str, reason: str
) -> None:
    corpus = corpus_of("tea")
    endpoint(echo, concurrency=1)
    echo.mode = mode
    run = start(corpus, "ll:endpoint=gpu")
    finish()
    run.refresh_from_db()
    assert run.state == Run.State.FAILED
    assert run.error.startswith(reason)
    assert "\n" not in run.error
    assert not Label.objects.exists()
    counts = runs.of_run(run)
    assert counts["asked"] == echo.arrivals.total(), "paid replies count"
    echo.mode = "good"
    runs.retry_failed(by=None, run=run)
    finish()
    run.refresh_from_db()
    assert (run.state, Label.objects.count()) == (Run.State.DONE, 2)


def test_keys_name_an_endpoint_that_is_there_and_no_model_beside_it(echo: EchoServer) -> None:
    corpus = corpus_of("tea")
    with pytest.raises(JudgeError, match="There is no endpoint 'gpu'"):
        metric_plan("ll:endpoint=gpu", corpus)
    endpoint(echo)
    with pytest.raises(JudgeError, match="not both"):
        metric_plan("ll:endpoint=gpu,model=here", corpus)
    with pytest.raises(JudgeError, match="has no parameter 'endpoint'"):
        metric_plan("pf:endpoint=gpu", corpus)
    with pytest.raises(JobError, match="at once, not in batches"):
        start(corpus, "ll:endpoint=gpu", RunSettings(mode=Run.Mode.BATCH))
    local = metric_plan("ll", corpus).rater.spec
    assert list(local["parameters"]) == ["model", "scaled", "window"], (
        "an endpoint is no parameter of the rater"
    )
    dialogue = reply("A: hello", "B: tea")
    with pytest.raises(MetricError, match="by a run over a corpus only"):
        score("ll:endpoint=gpu", dialogue)


def test_an_endpoint_of_somebody_else_is_not_used(echo: EchoServer, settings: SettingsWrapper) -> None:
    settings.RESEARCHER_ENDPOINTS = True
    corpus = corpus_of("tea")
    owner, other = factories.user("ona", researcher=True), factories.user(researcher=True)
    place = endpoint(echo)
    Endpoint.objects.filter(pk=place.pk).update(owner=owner, allow_private=False)
    with pytest.raises(JudgeError, match="There is no endpoint 'gpu'"):
        metric_plan("ll:endpoint=gpu", corpus, other)
    assert metric_plan("ll:endpoint=gpu", corpus, owner).endpoint == place


# The page, the API and the command.


def test_the_page_shows_the_cost_before_anything_is_sent(researcher: Client, echo: EchoServer) -> None:
    corpus = corpus_of("tea and cake")
    place = endpoint(echo)
    address = f"{reverse('new-run')}?corpus={corpus.pk}"
    assert "Endpoint for likelihood (ll)" in researcher.get(address).content.decode()
    entered = {"judge-metrics": ["ll", "dnr"], "judge-likelihood_endpoint": place.pk, "judge-cap_calls": 1}
    review = researcher.post(address, entered).content.decode()
    assert "Review 2 runs" in review
    assert "The text of 1 dialogue goes to 127.0.0.1" in review
    assert "ll:endpoint=gpu" in review
    assert "asks no model" in review
    assert not Run.objects.exists()
    changed = researcher.post(address, entered | {"change": "1"}).content.decode()
    assert f'<option value="{place.pk}" selected>' in changed
    assert not Run.objects.exists()
    assert researcher.post(address, entered | {"confirmed": "1"}).status_code == 302
    remote, local = Run.objects.get(endpoint=place), Run.objects.get(endpoint=None)
    assert (remote.cap_calls, local.cap_calls) == (1, None)
    finish("metrics")
    finish_all()
    page = researcher.get(reverse("run", args=[remote.pk])).content.decode()
    assert "small ll@paper" in page
    assert "Raise the cap to go on" in page


def test_the_page_refuses_an_endpoint_for_metrics_that_ask_none(researcher: Client, echo: EchoServer) -> None:
    corpus, place = corpus_of("tea"), endpoint(echo)
    address = f"{reverse('new-run')}?corpus={corpus.pk}"
    entered = {"judge-metrics": ["dnr"], "judge-likelihood_endpoint": place.pk}
    refused = researcher.post(address, entered)
    assert refused.status_code == 422
    assert "No chosen metric asks one" in refused.content.decode()


def post(client: Client, name: str, body: dict[str, Any]) -> Any:
    return client.post(reverse(name), body, content_type="application/json")


def test_the_api_estimates_and_starts(researcher: Client, echo: EchoServer) -> None:
    corpus = corpus_of("tea and cake", "")
    endpoint(echo)
    body = {"corpus": corpus.name, "metric": "ll:endpoint=gpu"}
    estimated = post(researcher, "api-estimate-run", body).json()
    length = sum(estimated[name] for name in ("tokens_in", "tokens_out"))
    assert (estimated["calls"], estimated["tokens_out"], estimated["host"]) == (4, 3, "127.0.0.1")
    assert length > 40
    assert estimated["cost"] == pytest.approx((estimated["tokens_in"] + 30) / 1e6)
    assert estimated["unanswered"] == [{"calls": 1, "reason": "the message has no text", "about": False}]
    together = post(
        researcher, "api-estimate-run-set", {"corpus": corpus.name, "metrics": [body["metric"], "dnr"]}
    )
    assert [row["title"] for row in together.json()["runs"]] == ["ll:endpoint=gpu"]
    assert together.json()["tokens_in"] == estimated["tokens_in"]
    assert not Run.objects.exists()
    started = post(researcher, "api-runs", body | {"cap_tokens": 1000})
    assert started.status_code == 201
    assert Run.objects.get().cap_tokens == 1000
    beside = post(researcher, "api-runs", {"corpus": corpus.name, "metric": "ll", "endpoint": "gpu"})
    assert beside.status_code == 400
    assert "ll:endpoint=NAME" in beside.content.decode()


def test_the_command_says_what_it_takes_and_computes(
    echo: EchoServer, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = corpus_of("tea and cake")
    endpoint(echo)
    options = ["run_metrics", "--metrics", "ll:endpoint=gpu", "--corpus", corpus.name]
    call_command(*options, "--estimate")
    assert json.loads(capsys.readouterr().out)["calls"] == 2
    assert not Run.objects.exists()
    call_command(*options, "--quiet")
    written = capsys.readouterr()
    assert "ll:endpoint=gpu: 2 calls, about" in written.err
    assert "is not on this machine" not in written.err
    (run,) = json.loads(written.out)["runs"]
    assert (run["rater"], run["state"], run["labels"], run["asked"]) == ("small ll@paper", "done", 2, 2)


# The boundary between context and message.


@pytest.mark.parametrize(
    ("texts", "place"),
    [
        (["Next", ":", " tea", "!"], 2),
        (["<s>", "Next", ":", " tea", "!"], 3),
        (["Next", ":", "tea", "!"], 2),
        (["\u2581Next", ":", "\u2581tea", "!"], 2),
        (["Next", ":", " ", "tea", "!"], 2),
        (["Next", ": tea", "!"], None),
        (["Next", ":", " te", "!"], None),
        (["Next", ":", " tea", "!", "!"], None),
        ([" tea", "!"], None),
    ],
)
def test_the_message_begins_at_the_token_after_its_context(texts: list[str], place: int | None) -> None:
    assert boundary(texts, "Next:", " tea!") == place


@pytest.mark.parametrize(
    ("texts", "place"),
    [
        (["A: ", "\ufffd", "\ufffd", "\nNext", ":", " tea ", "\ufffd", "\ufffd"], 5),
        (["A: ", "bytes:\\xf0", "bytes:\\x9f", "\nNext", ":", " tea", " \ufffd", "\ufffd"], 5),
        (["A: ", "\ufffd", "\ufffd", "\nNext", ": tea ", "\ufffd", "\ufffd"], None),
        (["A: ", "\ufffd", "Next", ":", "\ufffd", "Next", ":", "\ufffd"], None),
    ],
)
def test_parts_of_a_character_stand_for_any_text_but_leave_one_place(
    texts: list[str], place: int | None
) -> None:
    assert boundary(texts, "A: 🙂\nNext:", " tea 🙂") == place


def reply_of(**fields: Any) -> bytes:
    logprobs = {"tokens": ["Next", ":", " tea", "!"], "token_logprobs": [None, -1.0, -2.0, -3.0]}
    choice = {"text": "Next: tea!", "logprobs": logprobs}
    usage = {"prompt_tokens": 3, "completion_tokens": 1}
    return json.dumps({"choices": [choice | fields.pop("choice", {})], "usage": usage} | fields).encode()


def test_what_the_model_writes_after_the_prompt_does_not_count() -> None:
    found = echoed(reply_of(), 5, "Next: tea", 5)
    assert [(token.text, token.logprob) for token in found.tokens] == [(" tea", -2.0)]
    assert (found.text, found.tokens_in, found.tokens_out) == ("Next: tea!", 3, 1)


@pytest.mark.parametrize(("prompt_tokens", "n_tokens"), [(4, 1), (3, 0)])
def test_where_nothing_was_written_only_a_mark_before_the_text_shows_the_places(
    prompt_tokens: int, n_tokens: int
) -> None:
    body = reply_of(
        choice={"logprobs": {"tokens": ["Next", ":", " tea"], "token_logprobs": [None, -1.0, -2.0]}},
        usage={"prompt_tokens": prompt_tokens, "completion_tokens": 0},
    )
    assert len(echoed(body, 5, "Next: tea", 5).tokens) == n_tokens


@pytest.mark.parametrize(
    "body",
    [
        reply_of(choice={"logprobs": None}),
        reply_of(choice={"logprobs": {"content": [{"token": "!", "logprob": -1}]}}),
        reply_of(choice={"logprobs": {"tokens": ["!"], "token_logprobs": [-1.0]}}),
        reply_of(choice={"logprobs": {"tokens": ["Next", ":", "!"], "token_logprobs": [None, None, -1.0]}}),
    ],
)
def test_a_reply_without_the_prompts_log_probabilities_names_the_endpoint(body: bytes) -> None:
    with pytest.raises(NoLogprobs, match="The endpoint gpu gives no log-probabilities of a prompt"):
        echoed(body, 5, "Next: tea", 5, name="gpu")


@pytest.mark.parametrize(
    "body",
    [
        reply_of(usage=None),
        reply_of(choice={"text": None}),
        reply_of(
            choice={"logprobs": {"tokens": ["Next", ":", " tea", "!"], "token_logprobs": [None, -1, "x", -1]}}
        ),
        reply_of(
            choice={"logprobs": {"tokens": ["Next", ":", " tea", "!"], "token_logprobs": [None, -1, 0.5, -1]}}
        ),
    ],
)
def test_a_malformed_reply_scores_nothing(body: bytes) -> None:
    with pytest.raises(Malformed):
        echoed(body, 5, "Next: tea", 5)


def test_a_reply_that_spells_the_key_keeps_no_tokens() -> None:
    key = "secret-of-the-server"
    values: dict[str, Any] = {"tokens": ["Next", ":", " secret-of", "-the-server", "!"]}
    values["token_logprobs"] = [None, -1.0, -2.0, -1.0, -1.0]
    found = echoed(reply_of(choice={"logprobs": values}), 5, f"Next: {key}", 5, key)
    assert found.tokens == ()
