"""Judges at servers of other makers: LiteLLM's proxy before a fake model, and `transformers serve`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from annotation.models import Corpus, Label
from demo.fake_model.errors import ErrorModel as Errors
from demo.fake_model.errors import RoleErrors
from demo.fake_model.running import MARKED, LocalServer
from demo.fake_model.serving import FakeModel
from jobs.endpoints import client as probing
from jobs.models import Call, Endpoint, Run
from judges.runs.plans import Judge
from tests.fake_llm import FakeLLM
from tests.judges.helpers import begin, endpoint_of, finish, small_corpus
from tests.judges.servers import free_port, installed, serving
from tests.judges.servers.tiny_model import write_model

pytestmark = [pytest.mark.exhaustive, pytest.mark.django_db(transaction=True)]
KEY = "sk-of-the-proxy"
ALIAS = "judge"
JUDGES: dict[str, dict[str, Any]] = {
    "cpdscore_simple": {},
    "cpdscore_detail": {},
    "cocoeval_behaviours": {},
    "cocoeval_overall": {},
    "rubric": {"scheme": "comperdial_turn"},
}


@dataclass(frozen=True)
class Proxy:
    """A running LiteLLM proxy: `judge` is the fake of tests, `fake-1` the fake model with probabilities."""

    url: str
    fake: FakeLLM
    direct: str

    def endpoint(self, model: str = ALIAS, **fields: Any) -> Endpoint:
        return Endpoint.objects.create(
            name=f"proxy {model}", model=model, base_url=self.url, allow_private=True,
            key_env="FAKE_API_KEY", price_in=1, price_out=10, timeout_s=30, **fields,
        )  # fmt: skip


@pytest.fixture(scope="module")
def running_proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    folder = tmp_path_factory.mktemp("litellm")
    noisy = FakeModel(Errors({"*": RoleErrors(noise={"*": 0.4})}))
    with ExitStack() as running:
        fake = running.enter_context(FakeLLM())
        respond = lambda method, path, body, _headers: noisy.respond(method, path, body)  # noqa: E731
        model = running.enter_context(LocalServer(respond, headers=MARKED))
        served = {ALIAS: ("fake-1", fake.url), "fake-1": ("fake-1", model.url)}
        config = {
            "model_list": [
                {
                    "model_name": name,
                    "litellm_params": {"model": f"openai/{behind}", "api_base": url, "api_key": "none"},
                }
                for name, (behind, url) in served.items()
            ],
            "litellm_settings": {"telemetry": False, "num_retries": 0},
            "general_settings": {"master_key": KEY},
        }
        (folder / "config.yaml").write_text(json.dumps(config))  # JSON is YAML
        port = free_port()
        program = ["-c", "from litellm import run_server; run_server()", "--config", "config.yaml"]
        program += ["--host", "127.0.0.1", "--port", str(port)]
        url = running.enter_context(serving(installed("litellm"), program, port, folder / "log"))
        yield Proxy(url, fake, model.url)


@pytest.fixture
def proxy(running_proxy: Proxy, monkeypatch: pytest.MonkeyPatch) -> Proxy:
    monkeypatch.setenv("FAKE_API_KEY", KEY)
    running_proxy.fake.mode = "good"
    running_proxy.fake.bodies.clear()
    running_proxy.fake.requests.clear()
    return running_proxy


def judged(corpus: Corpus, judge: Judge) -> tuple[Run, list[tuple[Any, ...]]]:
    """Run a judge to its end; return the run and its labels: item, question, number, text."""
    run = begin(corpus, judge)
    finish(seconds=120)
    run.refresh_from_db()
    labels = Label.objects.filter(rater=run.rater).order_by("item_id", "question__key")
    return run, list(labels.values_list("item_id", "question__key", "number", "text", "missing"))


@pytest.mark.parametrize("protocol", JUDGES)
def test_a_judge_behind_litellm_gives_the_labels_that_it_gives_without(proxy: Proxy, protocol: str) -> None:
    corpus = small_corpus()
    _, direct = judged(corpus, Judge(protocol, endpoint=endpoint_of(proxy.fake), **JUDGES[protocol]))
    run, behind = judged(corpus, Judge(protocol, endpoint=proxy.endpoint(), **JUDGES[protocol]))
    assert behind == direct
    assert behind
    assert run.state == Run.State.DONE
    tokens = set(Call.objects.filter(run=run).values_list("tokens_in", "tokens_out", "state"))
    assert tokens == {(100, 20, Call.State.DONE)}


def test_litellm_passes_the_probabilities_of_tokens_on(proxy: Proxy) -> None:
    corpus = small_corpus()
    fake = Endpoint.objects.create(name="direct", model="fake-1", base_url=proxy.direct, allow_private=True)
    judge: dict[str, Any] = {"protocol": "g_eval", "scheme": "comperdial_turn"}
    _, direct = judged(corpus, Judge(endpoint=fake, **judge))
    run, behind = judged(corpus, Judge(endpoint=proxy.endpoint("fake-1"), **judge))
    assert behind == direct
    assert behind
    for call in run.calls.all():
        assert call.logprobs
        assert "no_logprobs" not in str(call.flags)


def test_litellm_passes_further_fields_of_a_request_on(proxy: Proxy) -> None:
    extra = {"chat_template_kwargs": {"enable_thinking": False}, "top_k": 3}
    parameters = {"temperature": 0.5, "system_role": "user", "extra_body": extra}
    judged(
        small_corpus(dialogues=1), Judge("cpdscore_simple", endpoint=proxy.endpoint(), parameters=parameters)
    )
    for body in proxy.fake.bodies:
        assert [message["role"] for message in body["messages"]] == ["user"]
        assert body["temperature"] == 0.5
        assert {name: body[name] for name in extra} == extra


def test_a_repaired_request_goes_through_litellm_once(proxy: Proxy) -> None:
    proxy.fake.mode = "malformed"
    run, labels = judged(small_corpus(dialogues=1), Judge("cocoeval_overall", endpoint=proxy.endpoint()))
    assert labels == []
    assert (run.state, run.calls.get().error_kind) == (Run.State.FAILED, "unparseable")
    roles = [[message["role"] for message in body["messages"]] for body in proxy.fake.bodies]
    assert roles == [["system", "user"], ["system", "user", "assistant", "user"]]


@pytest.mark.parametrize(
    ("mode", "kind"), [("429", "rate_limit"), ("500", "server"), ("400", "request"), ("not_json", "server")]
)
def test_an_error_behind_litellm_keeps_its_kind(proxy: Proxy, mode: str, kind: str) -> None:
    proxy.fake.mode = mode
    run = begin(small_corpus(dialogues=1), Judge("cocoeval_overall", endpoint=proxy.endpoint()))
    finish(seconds=1)
    call = run.calls.get()
    assert (call.error_kind, len(proxy.fake.bodies)) == (kind, call.sent)


@pytest.mark.parametrize(("model", "key"), [("nobody", KEY), (ALIAS, "sk-another")])
def test_litellm_refuses_a_wrong_model_or_key_and_the_run_stops(
    proxy: Proxy, monkeypatch: pytest.MonkeyPatch, model: str, key: str
) -> None:
    monkeypatch.setenv("FAKE_API_KEY", key)
    run = begin(small_corpus(), Judge("cpdscore_simple", endpoint=proxy.endpoint(model)))
    finish(seconds=30)
    run.refresh_from_db()
    assert run.state == Run.State.FAILED
    assert run.error
    assert proxy.fake.bodies == []


@pytest.fixture(scope="module")
def transformers_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    port = free_port()
    program = ["-m", "transformers.cli.transformers", "serve", "--device", "cpu"]
    program += ["--host", "127.0.0.1", "--port", str(port)]
    log = tmp_path_factory.mktemp("serve") / "log"
    with serving(installed("transformers"), program, port, log) as url:
        yield url


SIX = ("humanness", "fluency", "coherency", "consistency", "engagingness", "overall")
REPLIES = {
    "cpdscore_simple": "\n".join(f"**{name.title()}:** {n % 5 + 1}/5" for n, name in enumerate(SIX)),
    "cpdscore_detail": "Explanation: short and plain\nHumanness: 4",
    "cocoeval_overall": "Here it is:\n```json\n"
    + json.dumps(
        {
            "consistency_explanation": "It repeats itself.",
            "consistency": 7,
            "collaborativeness_explanation": "It helps.",
            "collaborativeness": "9",
        }
    )
    + "\n```",
    "rubric": '<think>3? No.</think>{"overall_explanation": null, "overall": 4,}',
    "g_eval": "- overall: 4",
}
PLANTED: dict[str, dict[str, float]] = {
    "cpdscore_simple": {name: n % 5 + 1 for n, name in enumerate(SIX)},
    "cpdscore_detail": {"overall": 4},
    "cocoeval_overall": {"consistency": 7, "collaborativeness": 9},
    "rubric": {"overall": 4},
    "g_eval": {"overall": 4},
}


def served(url: str, folder: Path, reply: str) -> Endpoint:
    """Return an endpoint of transformers' server for a model with this reply; the server loads the folder."""
    model = str(write_model(folder, reply))
    return Endpoint.objects.create(name="tiny", model=model, base_url=url, allow_private=True, timeout_s=60)


@pytest.mark.parametrize("protocol", REPLIES)
def test_a_judge_reads_a_local_model_behind_transformers_serve(
    transformers_server: str, tmp_path: Path, protocol: str
) -> None:
    endpoint = served(transformers_server, tmp_path, REPLIES[protocol])
    scheme = "comperdial_turn" if protocol in ("rubric", "g_eval") else ""
    run, labels = judged(small_corpus(dialogues=1), Judge(protocol, endpoint=endpoint, scheme=scheme))
    assert (run.state, run.error) == (Run.State.DONE, "")
    assert {(question, number) for _, question, number, _, _ in labels} == set(PLANTED[protocol].items())
    for call in run.calls.all():
        assert call.tokens_out == 2 < (call.tokens_in or 0)
        assert ("no_logprobs" in str(call.flags)) == (protocol == "g_eval")


def test_transformers_serve_counts_most_tokens_and_names_fields_that_it_refuses(
    transformers_server: str, tmp_path: Path
) -> None:
    endpoint = served(transformers_server, tmp_path, "Well. " * 20)
    corpus = small_corpus(dialogues=1)
    cut, _ = judged(corpus, Judge("cocoeval_overall", endpoint=endpoint, parameters={"max_tokens": 1}))
    assert cut.calls.get().error_kind == "truncated"
    extra = {"extra_body": {"top_k": 3}}
    refused, _ = judged(corpus, Judge("cocoeval_overall", endpoint=endpoint, parameters=extra))
    assert refused.state == Run.State.FAILED
    assert "top_k" in refused.error


def test_the_test_of_an_endpoint_works_at_both(
    proxy: Proxy, transformers_server: str, tmp_path: Path
) -> None:
    for endpoint in (proxy.endpoint(), served(transformers_server, tmp_path, "yes")):
        probing.test(endpoint)
        assert (endpoint.test_error, endpoint.test_reply) == ("", "yes")
