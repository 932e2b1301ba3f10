"""Live chat by command: a production like any other, whose result is read by the metrics of live chat."""

from __future__ import annotations

import json
from io import StringIO
from typing import TYPE_CHECKING, Any

import pytest
from django.core.management import call_command

from annotation.corpora.import_file import import_path
from annotation.models import Continuation, Corpus, Item, Label
from demo.fake_model.errors import ErrorModel
from demo.fake_model.running import LocalServer
from demo.fake_model.serving import FakeModel
from jobs.models import Endpoint
from suites.continuation.models import Production
from tests.suites.group_chat.scripts import LAUNCH

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.django_db(transaction=True)
OUTCOME = {"outcome": {"question": "Who runs the fair?", "options": ["Mia", "Ole"]}}


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    path = tmp_path / "set.jsonl"
    path.write_text(json.dumps(LAUNCH | {"metadata": OUTCOME}) + "\n", encoding="utf-8")
    import_path(path=path, format="jsonl", corpus="Set", into=False, by=None)
    return Corpus.objects.get(name="Set")


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    model = FakeModel(ErrorModel())
    with LocalServer(lambda method, path, body, headers: model.respond(method, path, body)) as server:
        yield Endpoint.objects.create(
            name="fake", model="fake-1", base_url=server.url, allow_private=True, timeout_s=5, active=True
        )


def run(*arguments: str) -> Any:
    out = StringIO()
    call_command(*arguments, stdout=out, stderr=StringIO())
    return json.loads(out.getvalue().splitlines()[-1])


def test_a_live_talk_is_written_rated_by_metrics_and_flagged(corpus: Corpus, endpoint: Endpoint) -> None:
    talk = ("--corpus", "Set", "--endpoint", "fake", "--generator", "group_chat_live")
    assert run("generate", *talk, "--set", "after=3", "most=12", "--trials", "2")["done"] == 2
    assert {tuple(one.flags) for one in Production.objects.all()} == {("unvalidated_simulator",)}
    made = Continuation.objects.get(trial=0, system__name="fake-1 live")
    assert made.mode == "rollout"
    said = list(made.turns.order_by("position").values_list("speaker", "given"))
    assert {speaker for speaker, given in said if not given} == {"bot"}
    assert {speaker for speaker, given in said if given} == {"mia", "ole", "sam"}
    assert set(Item.objects.filter(continuation=made).values_list("kind", flat=True)) == {"turn", "dialogue"}
    keys = "live_evenness,live_leaks,live_consensus,live_competence"
    run("run_metrics", "--metrics", keys, "--corpus", "Set", "--quiet")
    told = {
        row.rater.name.partition("@")[0]: row.missing or row.number
        for row in Label.objects.filter(item__continuation=made).select_related("rater")
    }
    assert 0 < told["live_evenness"] <= 1
    assert told["live_leaks"] == 0
    assert told["live_consensus"] == 1
    assert told["live_competence"] == "no live probe fired whose decision could be scored"
