"""Benchmarks by command, page and API: requested, followed, continued, reviewed, marked as checked."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from annotation.corpora.import_file import import_path
from annotation.models import Campaign, Corpus, Item, Question, Rater
from annotation.work.labels import Answer, record
from suites.continuation.models import Benchmark, BenchmarkRun
from tests import factories
from tests.suites.continuation.making import Served, brought_on, make, served, source, talks

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def model() -> Iterator[Served]:
    with served() as found:
        yield found


@pytest.fixture
def product(tmp_path: Path) -> Corpus:
    return source(tmp_path, "product", talks("p"))


def command(name: str, *told: str) -> dict[str, Any]:
    """The JSON object on the last line of what a command prints."""
    out = io.StringIO()
    call_command(name, *told, stdout=out, stderr=io.StringIO())
    found: dict[str, Any] = json.loads(out.getvalue().splitlines()[-1])
    return found


def researcher() -> Client:
    client = Client()
    client.force_login(factories.user("ada", researcher=True))
    return client


def api() -> APIClient:
    found = APIClient()
    found.force_authenticate(factories.user(researcher=True))
    return found


WHOLE = ("--from", "product=Product", "--into", "bench", "--per-source", "2", "--seed", "3", "--quiet")


def test_the_command_makes_it_and_says_so_on_its_last_line(model: Served, product: Corpus) -> None:
    model.endpoint()
    told = (*WHOLE, "--endpoint", "fake", "--clean", "--train", "1")
    estimated = command("make_benchmark", *told, "--estimate")
    found = command("make_benchmark", *told)
    assert (found["state"], found["corpus"], found["figures"]["instances"]) == ("done", "bench", 3)
    assert found["figures"]["by_source"][0]["source"] == "Product"
    assert found["fake_model"] is True
    assert {one["step"]: one["done"] for one in found["steps"]} == {
        "cleaning": 4, "metadata": 3, "summary": 3,
    }  # fmt: skip
    asked = model.asked
    assert (estimated["instances"], estimated["calls"]) == (3, asked)
    assert command("make_benchmark", *told)["sha256"] == found["sha256"]
    assert model.asked == asked


@pytest.mark.exhaustive
def test_the_command_goes_on_where_it_was(model: Served, product: Corpus) -> None:
    model.endpoint()
    model.rates = {"metadata_writer": {"forgets": 1.0}}
    told = (*WHOLE, "--endpoint", "fake")
    with pytest.raises(CommandError, match="The step metadata failed for 2 of 2"):
        command("make_benchmark", *told)
    model.rates = {}
    assert command("make_benchmark", *told, "--retry-failed")["state"] == "done"


@pytest.mark.exhaustive
def test_the_command_leaves_out_what_failed(model: Served, product: Corpus) -> None:
    model.endpoint()
    model.rates = {"metadata_writer": {"forgets": 1.0}}
    with pytest.raises(CommandError, match="the source 'Product' has 0 instances of the 2 asked for"):
        command("make_benchmark", *WHOLE, "--endpoint", "fake", "--leave-out-failed")


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("told", "why"),
    [
        (("--from", "nothing"), "no corpus 'nothing'"),
        (("--endpoint", "other"), "no endpoint 'other'"),
        (
            ("--per-source", "9", "--endpoint", "fake"),
            "the source 'Product' has 4 instances of the 9 asked for",
        ),
        (("--steps", "metadata"), "without the cut"),
        (("--into", "product"), "exists already"),
        ((), "an endpoint is needed"),
    ],
)
def test_bad_input_is_one_line(model: Served, product: Corpus, told: tuple[str, ...], why: str) -> None:
    model.endpoint()
    with pytest.raises(CommandError, match=why):
        command("make_benchmark", *WHOLE, *told)
    assert not Benchmark.objects.exists()


def test_benchmarks_are_listed_checked_and_written_to_a_file(product: Corpus) -> None:
    made, client = make("bench", [product], None, steps=("cut",)), api()
    assert client.get(reverse("api-benchmarks")).json()["results"][0]["benchmark"] == "bench"
    checked = client.post(reverse("api-checked-benchmark", args=[made.pk])).json()
    assert checked["checked_for_offensive_content"]["by"]
    file = client.get(reverse("api-benchmark-file", args=[made.pk]))
    assert hashlib.sha256(b"".join(file)).hexdigest() == made.sha256
    refused = client.post(reverse("api-go-on-benchmark", args=[made.pk])).json()
    assert "there is nothing to go on with" in refused["detail"]


@pytest.mark.exhaustive
def test_a_page_asks_for_one_shows_what_it_takes_and_follows_it(model: Served, product: Corpus) -> None:
    endpoint, client = model.endpoint(), researcher()
    assert "No benchmark yet" in client.get(reverse("benchmarks")).content.decode()
    form = {
        "name": "bench", "corpora": product.pk, "per_source": 2, "endpoint": endpoint.pk, "metadata": "on",
        "summary": "on", "cleaning": "on", "train": 0, "per_conversation": 1, "cut_seed": 0,
        "part_tokens": 60000, "called": "product = Product",
    }  # fmt: skip
    address = reverse("new-benchmark")
    assert "Make a benchmark" in client.get(address).content.decode()
    shown = client.post(address, form).content.decode()
    assert "Send and start" in shown
    assert "2 instances of 2 conversations" in shown
    assert not Benchmark.objects.exists()
    answer = client.post(address, form | {"confirmed": "1"})
    found = Benchmark.objects.get()
    assert answer.headers["Location"] == reverse("benchmark", args=[found.pk])
    page = client.get(answer.headers["Location"]).content.decode()
    assert 'hx-trigger="every 5s"' in page
    assert "you may close this page" in page
    brought_on(found)
    page = client.get(answer.headers["Location"]).content.decode()
    assert "Penn Treebank rules" in page
    assert "Of the words of Product, cleaning took away" in page
    assert "nobody answered yet" in page
    assert "A fake model wrote" in page
    assert "every 5s" not in page
    (link,) = BenchmarkRun.objects.filter(step="cleaning")
    assert reverse("run", args=[link.run_id]) in page
    file = client.get(reverse("benchmark-file", args=[found.pk]))
    found.refresh_from_db()
    assert hashlib.sha256(file.getvalue()).hexdigest() == found.sha256
    assert "bench" in client.get(reverse("benchmarks")).content.decode()


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"per_source": 9}, "the source &#x27;product&#x27; has 4 instances"),
        ({"name": "product"}, "exists already"),
        ({"called": "product"}, "is not corpus = source"),
        ({"called": "other = x"}, "is not one of the corpora"),
        ({"endpoint": ""}, "an endpoint is needed"),
        ({"corpora": []}, "This field is required"),
    ],
)
def test_the_form_says_what_is_wrong(
    model: Served, product: Corpus, change: dict[str, Any], why: str
) -> None:
    form = {
        "name": "bench",
        "corpora": [product.pk],
        "per_source": 2,
        "endpoint": model.endpoint().pk,
        "train": 0,
        "metadata": "on",
        "per_conversation": 1,
        "cut_seed": 0,
        "part_tokens": 60000,
        "confirmed": "1",
    }
    answer = researcher().post(reverse("new-benchmark"), form | change)
    assert answer.status_code == 422
    assert why in answer.content.decode()


@pytest.mark.exhaustive
def test_a_stuck_one_is_gone_on_with_on_its_page(model: Served, product: Corpus) -> None:
    client = researcher()
    model.rates = {"metadata_writer": {"forgets": 1.0}}
    stuck = make("bench", [product], model.endpoint())
    address = reverse("benchmark", args=[stuck.pk])
    page = client.get(address).content.decode()
    assert "The step metadata failed" in page
    assert "Continue without the failed calls" in page
    client.post(reverse("cancel-benchmark", args=[stuck.pk]))
    assert "cancelled" in client.get(address).content.decode()
    model.rates = {}
    client.post(reverse("go-on-benchmark", args=[stuck.pk]))
    assert brought_on(stuck).is_done
    again = client.post(reverse("go-on-benchmark", args=[stuck.pk]), follow=True).content.decode()
    assert "there is nothing to go on with" in again
    assert "Nobody has said yet" in client.get(address).content.decode()
    client.post(reverse("checked-benchmark", args=[stuck.pk]))
    assert "Checked for offensive content by ada on " in client.get(address).content.decode()


def reviewed(made: Benchmark, answers: dict[str, list[float]]) -> Campaign:
    """Labels of a review, one person's answers per question in the order of the instances."""
    assert made.corpus is not None
    campaign = factories.campaign(made.corpus, "benchmark_review")
    items = Item.objects.filter(corpus=made.corpus, kind="dialogue", continuation__key="human")
    rater = Rater.objects.create(corpus=made.corpus, kind="human", name="ann")
    for key, values in answers.items():
        question = Question.objects.get(version=campaign.scheme_version, key=key)
        for item, value in zip(items.order_by("pk"), values, strict=False):
            record(rater=rater, answers=[Answer(item.pk, question.pk, value)], occasion="main")
    return campaign


def test_what_reviewers_found_stands_on_the_page(product: Corpus) -> None:
    made = make("bench", [product], None, steps=("cut",), per_source=4)
    reviewed(made, {"metadata_faithful": [1, 1, 1, 0], "metadata_tell_ahead": [1, 0]})
    found = api().get(reverse("api-benchmark", args=[made.pk])).json()["review"]
    faithful, ahead, summary = found
    assert (faithful["share"], faithful["n"], faithful["answers"]) == (0.75, 4, 4)
    assert (ahead["share"], ahead["n"]) == (0.5, 2)
    assert ahead["by_source"] == [
        {"source": "product", **{k: ahead[k] for k in ("share", "low", "high", "n")}}
    ]
    assert (summary["share"], summary["low"], summary["n"]) == (None, None, 0)
    assert (round(faithful["low"], 3), round(faithful["high"], 3)) == (0.301, 0.954)
    page = researcher().get(reverse("benchmark", args=[made.pk])).content.decode()
    assert "75.0%" in page
    assert "2 of 4" in page
    assert f"{reverse('new-campaign')}?corpus={made.corpus_id}&amp;scheme=benchmark_review" in page


def test_the_review_is_a_campaign_over_people_s_continuations(product: Corpus) -> None:
    made = make("bench", [product], None, steps=("cut",))
    assert made.corpus is not None
    client = researcher()
    address = f"{reverse('new-campaign')}?corpus={made.corpus.pk}&scheme=benchmark_review"
    page = client.get(address).content.decode()
    assert '<option value="benchmark_review" selected>' in page
    campaign = factories.campaign(made.corpus, "benchmark_review")
    assert {task.continuation.key for task in campaign.tasks.all()} == {"human"}


@pytest.mark.exhaustive
def test_the_api_does_what_the_page_does(model: Served, product: Corpus) -> None:
    model.endpoint()
    client, address = api(), "/api/v1/benchmarks/"
    wanted = {
        "name": "bench", "sources": [{"corpus": "product", "source": "P"}],
        "per_source": 2, "endpoint": "fake",
    }  # fmt: skip
    nameless = {name: value for name, value in wanted.items() if name != "name"}
    same = [client.post(f"{address}estimate/", body, format="json").json() for body in (nameless, wanted)]
    assert same[0] == same[1], "what starts one is estimated, whatever it is called"
    estimated = client.post(f"{address}estimate/", nameless, format="json").json()
    assert [one["step"] for one in estimated["steps"]] == ["metadata", "summary"]
    answer = client.post(address, wanted, format="json")
    assert answer.status_code == 201
    one = f"{address}{answer.json()['id']}/"
    assert client.get(f"{one}file/").status_code == 400
    assert client.post(f"{one}checked/").status_code == 400
    assert client.post(f"{one}cancel/").json()["state"] == "cancelled"
    assert client.post(f"{one}go-on/", {}, format="json").json()["state"] == "making"
    found = brought_on(Benchmark.objects.get())
    told = client.get(one).json()
    assert (told["state"], told["corpus"], told["sha256"]) == ("done", "bench", found.sha256)
    assert client.get(address, {"state": "done"}).json()["results"] == [told]
    assert client.get(address, {"state": "stuck"}).json()["results"] == []
    assert hashlib.sha256(client.get(f"{one}file/").getvalue()).hexdigest() == found.sha256
    assert client.post(f"{one}checked/").json()["checked_for_offensive_content"]["at"]
    for change, why in {
        "corpus 'x'": {"sources": [{"corpus": "x"}]},
        "it asked the endpoint fake": {"endpoint": ""},
        "and it is another one": {"seed": 5},
    }.items():
        refused = client.post(address, wanted | why, format="json")
        assert refused.status_code == 400
        assert change in refused.content.decode().replace("\\u0027", "'")


def test_annotators_see_none_of_it(product: Corpus) -> None:
    made = make("bench", [product], None, steps=("cut",))
    client = Client()
    client.force_login(factories.user("ann"))
    for name in ("benchmarks", "new-benchmark"):
        assert client.get(reverse(name)).status_code == 403
    assert client.get(reverse("benchmark", args=[made.pk])).status_code == 403
    assert client.post(reverse("checked-benchmark", args=[made.pk])).status_code == 403


SIX = {
    "product one": ("ES2004",),
    "product two": ("ES2011",),
    "academic one": ("Bed", "Bro"),
    "academic two": ("Bmr",),
    "committee": ("covid", "education"),
}
"""Sources of QMSum meetings by how the meetings' names begin; the sixth are the chats of DeliData."""


@pytest.mark.shared
@pytest.mark.exhaustive
def test_meetings_and_chats_become_a_benchmark_of_six_sources(
    model: Served, shared_data: Path, tmp_path: Path
) -> None:
    meetings = [path for path in sorted((shared_data / "qmsum").rglob("*.json")) if path.name != "index.json"]
    for name, begins in SIX.items():
        folder = tmp_path / name
        folder.mkdir()
        for path in [one for one in meetings if one.name.startswith(begins)][:3]:
            (folder / path.name).write_bytes(path.read_bytes())
        import_path(path=folder, format="qmsum", corpus=name, into=False, by=None)
    import_path(path=shared_data / "delidata", format="delidata", corpus="chats", into=False, by=None)
    model.endpoint()
    sources = [part for name in (*SIX, "chats") for part in ("--from", name)]
    found = command(
        "make_benchmark", *sources, "--into", "six", "--per-source", "2", "--endpoint", "fake", "--clean",
        "--verbatim", "product one", "--verbatim", "academic two", "--part-tokens", "8000", "--quiet",
    )  # fmt: skip
    rows = {row["source"]: row for row in found["figures"]["by_source"]}
    assert set(rows) == {*SIX, "chats"}
    assert {row["instances"] for row in rows.values()} == {2}
    assert {row["turns"] for row in rows.values()} == {120}
    assert all(row["participants_speaking"] <= row["participants_listed"] for row in rows.values())
    assert rows["committee"]["tokens_per_turn"] > 30 > rows["product one"]["tokens_per_turn"] > 3
    assert {row["source"] for row in found["figures"]["cleaning"]} == {"product one", "academic two"}
