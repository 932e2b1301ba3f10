"""The exact request about an item is shown before anything is sent, and is sent byte for byte."""

from __future__ import annotations

import random
from decimal import Decimal
from typing import Any

import pytest

from annotation.corpora import splits
from annotation.models import Corpus, Item, Rater
from jobs.endpoints.costs import as_sent
from jobs.models import Call
from judges.errors import JudgeError
from judges.prompts import prompt_actions, requests
from judges.protocols import Wording
from judges.runs.plans import Judge
from tests import factories
from tests.fake_llm import FakeLLM
from tests.judges.helpers import begin, endpoint_of, finish, small_corpus

pytestmark = pytest.mark.django_db(transaction=True)
ODD = Wording("Say $$5 ü 漢 🙂 \u2028\n\n$notice", '$context\n\n$response\n\n</script> "now"')


class Recording(FakeLLM):
    """Keeps the bytes of what it is sent."""

    def __init__(self) -> None:
        super().__init__()
        self.raw: list[bytes] = []
        own, server = self, self._server

        def post(self: Any) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            own.raw.append(body)
            self._send(400, b'{"error": {"message": "no"}}')

        server.RequestHandlerClass = type("Recorder", (server.RequestHandlerClass,), {"do_POST": post})


@pytest.mark.parametrize(
    "how",
    [
        {
            "protocol": "cpdscore_simple",
            "parameters": {"temperature": 0.25, "max_tokens": 77, "seed": 4},
            "budget": 1500,
        },
        {"prompt": "odd@1", "parameters": {"max_completion_tokens": 5, "stop": ["a", "b"]}},
        {"protocol": "cocoeval_behaviours", "parameters": {"temperature": 1.0, "top_p": 0.5}},
    ],
    ids=lambda one: one.get("protocol", "own"),
)
def test_what_is_shown_is_what_is_sent_to_the_byte(how: dict[str, Any]) -> None:
    prompt_actions.create(
        by=None, name="odd", protocol="cpdscore_simple", variant="without_reference", wording=ODD
    )
    corpus = small_corpus(1)
    with Recording() as server:
        judge = Judge(endpoint=endpoint_of(server), **how)
        covers = judge.plan().covers
        item = requests.any_item(corpus, covers, random.Random(1))
        [shown] = requests.requests(judge, item)
        begin(corpus, judge)
        finish()
        assert shown.exact.encode() in server.raw
        assert as_sent(shown.body or {}) == shown.exact.encode()


def test_looking_at_a_request_keeps_nothing() -> None:
    corpus = small_corpus(1)
    before = Rater.objects.count()
    [shown] = requests.requests(Judge("cpdscore_simple"), requests.any_item(corpus, "turn"))
    assert shown.body is not None
    assert shown.body["model"] == requests.NO_MODEL
    assert shown.cost is None
    assert (Rater.objects.count(), Call.objects.count()) == (before, 0)


def test_tokens_price_and_flags_stand_beside_the_request(fake: FakeLLM) -> None:
    corpus = factories.corpus()
    dialogue = factories.dialogue(corpus, "d", turns=0)
    factories.continuation(dialogue, "c", system="m", turns=[{"text": "word " * 2000}] * 2)
    judge = Judge("cpdscore_simple", endpoint=endpoint_of(fake), budget=3000)
    [shown] = requests.requests(judge, requests.item_of(corpus, "d/c/1", "turn"))
    assert [flag.partition(":")[0] for flag in shown.flags] == ["shortened"]
    assert shown.body is not None
    text = "".join(message["content"] for message in shown.body["messages"])
    assert len(text) <= 3000
    assert len(text) / 4 <= shown.tokens_in <= len(text) / 4 + 2
    assert shown.cost == Decimal(shown.tokens_in + shown.tokens_out * 10) / 1_000_000
    assert shown.as_json()["tokens_counted"] == requests.COUNTED


def test_where_nothing_would_be_sent_it_says_why() -> None:
    corpus = small_corpus(1)
    judge = Judge("cpdscore_simple", "with_reference")
    [shown] = requests.requests(judge, requests.item_of(corpus, "d0/c/1", "turn"))
    assert (shown.unasked, shown.body) == ("no reference response", None)
    with pytest.raises(JudgeError, match="asks nobody"):
        requests.requests(Judge("rules_baseline"), requests.any_item(corpus, "dialogue"))


def test_a_draft_takes_the_place_of_the_text() -> None:
    corpus = small_corpus(1)
    item = requests.item_of(corpus, "d0/c/1", "turn")
    draft = Wording("$notice", "Only this:\n$response")
    [shown] = requests.requests(Judge("cpdscore_simple"), item, draft=draft)
    assert shown.body is not None
    assert shown.body["messages"][1]["content"].startswith("Only this:\n<<<BEGIN RESPONSE>>>\n| ")


@pytest.mark.parametrize("key", ["d0/c/99", "d9/c/1", "nonsense", "d0/c/-1", ""])
def test_an_item_that_is_not_there_is_named(key: str) -> None:
    with pytest.raises(JudgeError, match="item"):
        requests.item_of(small_corpus(1), key, "turn")


def test_a_random_item_is_one_of_dev() -> None:
    corpus: Corpus = small_corpus(6)
    split = splits.draw(corpus=corpus, by=None)
    dev = splits.clusters(split=split, part="dev")
    drawn: list[Item] = [requests.any_item(corpus, "turn", random.Random(seed)) for seed in range(20)]
    assert {item.continuation.dialogue.cluster for item in drawn} == dev
    assert {item.kind for item in drawn} == {"turn"}
