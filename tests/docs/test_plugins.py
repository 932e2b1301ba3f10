"""The example plug-ins of docs/develop/plugins.md: taken from the page, installed, and used."""

from __future__ import annotations

import csv
import importlib.util
import io
import json
import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotation.models import Campaign, Corpus, Label
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)

PAGE = Path(__file__).resolve().parents[2] / "docs" / "develop" / "plugins.md"
BLOCK = re.compile(
    r"^File `([\w/]+\.(?:py|txt))`[^\n]*\n\n```\w+\n(.*?)^```",
    re.DOTALL | re.MULTILINE,
)
BLOCKS = dict(BLOCK.findall(PAGE.read_text(encoding="utf-8")))


@pytest.fixture(autouse=True)
def _signals() -> Iterator[None]:
    """Commands that run set signal handlers; give pytest its own back."""
    kept = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in kept.items():
        signal.signal(number, handler)


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Write a file of the page into a folder and load it under the name that it would have."""

    def loaded(path: str) -> ModuleType:
        file = tmp_path / path.replace("/", "_")
        file.write_text(BLOCKS[path], encoding="utf-8")
        name = path.removesuffix(".py").replace("/", ".")
        spec = importlib.util.spec_from_file_location(name, file)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, name, module)
        spec.loader.exec_module(module)
        return module

    return loaded


def command(*arguments: str) -> str:
    out = io.StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


def scene(tmp_path: Path) -> Path:
    file = tmp_path / "scene.txt"
    file.write_text("Ana: Shall we start?\nBen: Yes.\n\nAna: Who writes?\nBen: I do.\n", encoding="utf-8")
    return file


def test_every_plug_in_of_the_page_is_tried() -> None:
    assert list(BLOCKS) == [
        "annotation/schemes/clarity.py",
        "annotation/formats/plain_script.py",
        "judges/protocols/clarity.py",
        "judges/prompts/texts/clarity_v1.txt",
        "judges/metrics/asking.py",
        "calibration/statistics/near.py",
        "calibration/gold/rules.py",
        "annotation/corpora/counting.py",
    ]


def test_a_scheme_is_offered_for_a_campaign_and_rated(load: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from annotation.schemes import SCHEMES

    monkeypatch.setitem(SCHEMES, "clarity", load("annotation/schemes/clarity.py").SCHEME)
    corpus, ana = factories.corpus(), factories.user("ana")
    factories.dialogue(corpus, turns=1)
    page = Client()
    page.force_login(factories.user("rei", researcher=True))
    address = f"{reverse('new-campaign')}?corpus={corpus.pk}"
    assert "Clarity, 1 to 3" in page.get(address).content.decode()
    asked = {"name": "c", "scheme": "clarity", "raters_per_item": 1, "annotators": ana.pk}
    page.post(address, asked | {"lease_minutes": 60, "seed": 0})
    campaign = Campaign.objects.get()
    page.post(reverse("campaign-state", args=[campaign.pk]), {"verb": "open"})
    rater = Client()
    rater.force_login(ana)
    state = rater.post(reverse("work-next", args=[campaign.pk]), {}, content_type="application/json").json()
    item = next(iter(corpus.items.filter(kind="turn"))).pk
    done = rater.post(
        reverse("work-submit", args=[campaign.pk, state["task"]["assignment"]]),
        {"answers": {str(item): {"clear": 3}}},
        content_type="application/json",
    )
    assert done.status_code == 200
    assert list(Label.objects.values_list("question__key", "number")) == [("clear", 3)]


def test_a_format_is_imported_by_the_command(
    load: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from annotation.formats import FORMATS

    monkeypatch.setitem(FORMATS, "script", load("annotation/formats/plain_script.py").FORMAT)
    out = command("import_corpus", str(scene(tmp_path)), "--format", "script", "--name", "Scene")
    assert json.loads(out.splitlines()[-1])["turns"] == 4
    assert Corpus.objects.get().dialogues.get().key == "scene"


def test_a_protocol_is_run_by_the_command(load: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from annotation.schemes import SCHEMES
    from judges.protocols import PROTOCOLS, wording
    from tests.fake_llm import FakeLLM
    from tests.judges.helpers import endpoint_of

    class Fake(FakeLLM):
        def say(self, prompt: str) -> str:
            return "Clear: 2"

    monkeypatch.setitem(SCHEMES, "clarity", load("annotation/schemes/clarity.py").SCHEME)
    monkeypatch.setitem(PROTOCOLS, "clarity", load("judges/protocols/clarity.py").Clarity())
    (tmp_path / "clarity_v1.txt").write_text(BLOCKS["judges/prompts/texts/clarity_v1.txt"], encoding="utf-8")
    monkeypatch.setattr(wording, "FOLDER", tmp_path)
    corpus = factories.corpus()
    factories.dialogue(corpus, turns=3)
    with Fake() as fake:
        endpoint_of(fake)
        asked = ("run_judge", "--protocol", "clarity", "--endpoint", "fake", "--corpus", corpus.name)
        out = command(*asked, "--quiet")
    assert json.loads(out.splitlines()[-1])["labels"] == 3
    assert set(Label.objects.values_list("question__key", "number")) == {("clear", 2)}


def test_a_metric_scores_a_file(load: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from judges.metrics import METRICS

    monkeypatch.setitem(METRICS, "question_share", load("judges/metrics/asking.py").FAMILY[0])
    turns = [{"speaker": "A", "text": text} for text in ("Shall we start?", "Yes.", "Who writes?", "I do.")]
    file, found = tmp_path / "dialogues.jsonl", tmp_path / "scores.jsonl"
    file.write_text(json.dumps({"id": "d", "turns": turns}), encoding="utf-8")
    command("score", str(file), "--metrics", "question_share", "--output", str(found))
    line = json.loads(found.read_text(encoding="utf-8"))
    assert (line["metric"], line["value"], line["reason"]) == ("question_share", 0.5, None)


def test_a_statistic_is_in_what_agree_prints(
    load: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from calibration.statistics import STATISTICS

    monkeypatch.setitem(STATISTICS, "within_one", load("calibration/statistics/near.py").WITHIN_ONE)
    file = tmp_path / "ratings.csv"
    pairs = [(1, 1), (2, 3), (1, 3), (3, 3)]
    rows = [(f"i{n}", rater, pair[k]) for n, pair in enumerate(pairs) for k, rater in enumerate("ab")]
    file.write_text("item,rater,value\n" + "".join(f"{i},{r},{v}\n" for i, r, v in rows), encoding="utf-8")
    out = command("agree", str(file), "--scale", "ordinal", "--values", "1,2,3", "--json")
    entries = json.loads(out.splitlines()[-1])["statistics"]
    near = next(entry for entry in entries if entry["name"] == "within_one")
    assert (near["value"], near["n_items"], near["status"]) == (0.75, 4, "ok")
    assert 0 <= near["low"] < 0.75 < near["high"] <= 1


def test_a_gold_rule_is_exported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from calibration.gold import rules

    names = dict(vars(rules))
    exec(BLOCKS["calibration/gold/rules.py"], names)  # as if it were written there
    monkeypatch.setitem(rules.RULES, "mid_range", names["MID_RANGE"])
    labels = [
        {"rater": f"r{n}", "kind": "human", "turn": 0, "question": "overall", "value": value}
        for n, value in enumerate((1, 4, 4, 4, 4))
    ]
    file = tmp_path / "d.jsonl"
    line = {"id": "d", "turns": [{"speaker": "A", "text": "Hello."}], "labels": labels}
    file.write_text(json.dumps(line), encoding="utf-8")
    command("import_corpus", str(file), "--name", "Rated")
    gold = tmp_path / "gold.csv"
    asked = ("export_gold", "--corpus", "Rated", "--rule", "mid_range")
    command(*asked, "--format", "csv", "--output", str(gold))
    (row,) = csv.DictReader(gold.read_text(encoding="utf-8").splitlines())
    assert (row["rule"], float(row["value"]), row["n_raters"]) == ("mid_range", 2.5, "5")


def test_a_kind_of_job_is_done_and_listed(load: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from jobs.kinds import KINDS
    from jobs.queue import jobs
    from jobs.queue.worker import Heartbeat

    counting = load("annotation/corpora/counting.py")
    monkeypatch.setitem(KINDS, "recount", counting.__name__)
    corpus, rei = factories.corpus("Counted"), factories.user(researcher=True)
    factories.dialogue(corpus)
    job = counting.start(corpus=corpus, by=rei)
    assert counting.start(corpus=corpus, by=rei) == job
    with Heartbeat("jobs") as heartbeat:
        jobs.work("jobs", seconds=20, heartbeat=heartbeat)
    page = Client()
    page.force_login(rei)
    assert "corpus Counted" in page.get(reverse("jobs")).content.decode()
    listed = page.get(f"/api/v1/jobs/{job.pk}/").json()
    assert (listed["kind"], listed["subject"], listed["state"]) == ("recount", "corpus Counted", "done")
    assert listed["result"] == {"labels": 0}
