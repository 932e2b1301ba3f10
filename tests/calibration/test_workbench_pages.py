"""The forms on the workbench's pages: running, confirming, marking, keeping, discarding, checking."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from annotation.corpora import splits
from annotation.models import Label, Occasion, Question, Rater
from annotation.work.labels import Answer, record
from calibration.models import ForAdjudication, Mark
from judges.drafts import benches
from judges.models import Bench, Draft
from tests.calibration.workbench_world import OWN, PROTOCOL, rated_bench, tried
from tests.fake_llm import FakeLLM
from tests.judges.helpers import endpoint_of, finish, small_corpus

pytestmark = pytest.mark.django_db(transaction=True)
NOISE = 0.9
"""How often the fake model is one step off: see `fake`."""


def post(rea: Client, address: str, **form: Any) -> str:
    response = rea.post(address, form, follow=True)
    assert response.status_code == 200, response.content
    return str(response.content.decode())


def text_of(endpoint: int, **form: Any) -> dict[str, Any]:
    user = f"{OWN.user}\r\n\r\nBe kind."
    return {
        "begin": "",
        "system": OWN.system,
        "user": user,
        "form": "",
        "variant": "without_reference",
        "endpoint": endpoint,
        "samples": 1,
        "items": "5",
    } | form


def test_one_target_of_dev_is_not_called_all_of_them(rea: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = rated_bench(2)
    monkeypatch.setattr(benches, "available", lambda _: 1)
    assert "On the one turn of dev" in rea.get(f"/workbench/{bench.pk}/").content.decode()


def test_a_bench_on_a_corpus_without_a_split_keeps_its_own_dev_and_says_so_before(rea: Client) -> None:
    corpus = small_corpus(4)
    address = f"/workbench/new/?corpus={corpus.pk}"
    offered = rea.get(address)
    assert "has no split yet. Drafts see half of its dialogues." in offered.content.decode()
    assert offered.context["form"]["name"].value() == f"{corpus.name}, bench 1"
    assert not corpus.splits.exists(), "looking draws nothing"
    page = post(rea, address, name="mine", protocol=PROTOCOL, seed=3)
    split = corpus.splits.get()
    assert (split.seed, split.test_share, split.fixed_at is None) == (0, 0.5, False)
    assert splits.lock_of(corpus) is None
    assert (
        "Benches try drafts on 2 clusters. They stay in dev."
        in rea.get(f"/corpora/{corpus.name}/settings/").content.decode()
    )
    drawn = rea.post(f"/corpora/{corpus.name}/split/", {"seed": 5, "test_share": 0.9}, follow=True)
    assert "The split is drawn: 2 clusters in dev, 2 in test." in drawn.content.decode()
    assert "Try the text on five turns" in page
    assert Bench.objects.get().seed == 3
    assert f"On all {benches.available(Bench.objects.get())} turns of dev" in page
    again = rea.post(address, {"name": "mine", "protocol": PROTOCOL, "seed": 3})
    assert (again.status_code, b"already a bench" in again.content) == (422, True)


@pytest.mark.exhaustive
def test_the_first_time_at_an_endpoint_is_confirmed_and_then_five_are_sent_at_once(
    rea: Client, fake: FakeLLM
) -> None:
    bench, endpoint = rated_bench(), endpoint_of(fake)
    address = f"/workbench/{bench.pk}/"
    asked = post(rea, address, **text_of(endpoint.pk))
    assert "goes to 127.0.0.1" in asked
    assert "Send and try" in asked
    assert Draft.objects.get().targets == 0
    page = post(rea, address, **text_of(endpoint.pk, confirmed="yes"))
    assert "0 of 5" in page
    assert 'hx-trigger="every 2s"' in page
    finish()
    assert "\r" not in Draft.objects.get().text.user
    panel = rea.get(f"{address}drafts/1/").content.decode()
    assert "5 of 5" in panel
    assert "hx-trigger" not in panel
    assert "Agreement so far" in panel
    assert "0 of 5" in post(rea, address, **text_of(endpoint.pk, system="Other. $notice"))
    many = post(rea, address, **text_of(endpoint.pk, system="More. $notice", items="all"))
    assert "Send and try" in many


def test_the_results_begin_with_ten_disagreements_with_reasons_and_draw_the_drafts(
    rea: Client, fake: FakeLLM
) -> None:
    bench = rated_bench()
    question = Question.objects.get(pk=bench.questions["overall"])
    ann = Rater.objects.get(corpus=bench.corpus, name="ann")
    tried(bench, fake, OWN)
    page = rea.get(f"/workbench/{bench.pk}/").content.decode()
    assert "draft by draft" not in page, "a line needs two drafts"
    for target in bench.targets.all():
        answer = Answer(target.item, question, 1.0, explanation="It <b>repeats</b> itself.")
        record(rater=ann, answers=[answer], occasion=Occasion.IMPORTED)
    tried(bench, fake)
    shown = rea.get(f"/workbench/{bench.pk}/")
    assert len(shown.context["apart"]) == 10
    assert shown.context["n_apart"] > 10
    shares = [row["difference"].share for row in shown.context["apart"]]
    assert shares == sorted(shares, reverse=True)
    page = shown.content.decode()
    assert "It &lt;b&gt;repeats&lt;/b&gt; itself." in page
    assert page.index("Largest disagreements") < page.index("Agreement so far") < page.index("draft by draft")
    assert {point.question for point in shown.context["line"].points} == {"draft 1", "draft 2"}
    listed = rea.get(f"/api/v1/workbench/{bench.pk}/disagreements/?judged=draft-2").json()["results"]
    assert listed[0]["reasons"]["ann"] == "It <b>repeats</b> itself."


@pytest.mark.exhaustive
def test_an_answer_is_marked_taken_back_and_sent_on(rea: Client, fake: FakeLLM) -> None:
    bench = rated_bench()
    tried(bench, fake)
    address, waiting = f"/workbench/{bench.pk}/disagreements/", f"/adjudication/?corpus={bench.corpus_id}"
    page = rea.get(address)
    one = page.context["rows"][0]["difference"]
    form = {"judged": "draft-1", "item": one.item, "question": one.sheet.question.id, "note": "seen"}
    marked = post(rea, f"/workbench/{bench.pk}/mark/", **form, verdict="people_wrong")
    assert "1 people wrong" in marked
    assert "To adjudication" in marked
    assert "waits for adjudication" in post(rea, f"/workbench/{bench.pk}/mark/", **form, verdict="adjudicate")
    assert "seen" in rea.get(waiting).content.decode()
    post(rea, f"/adjudication/{ForAdjudication.objects.get().pk}/withdraw/")
    assert "Nothing waits" in rea.get(waiting).content.decode()
    assert "0 people wrong" in post(rea, f"/workbench/{bench.pk}/mark/", **form, verdict="withdrawn")
    assert Mark.objects.count() == 2
    assert rea.get(f"/workbench/{bench.pk}/marks.csv").content.decode().count("\n") == 1
    assert rea.get(f"/workbench/{bench.pk}/marks.xlsx").status_code == 404


@pytest.mark.exhaustive
def test_a_draft_is_kept_or_thrown_away_and_says_what_is_refused(rea: Client, fake: FakeLLM) -> None:
    bench = rated_bench()
    tried(bench, fake, targets=5)
    people = Label.objects.count()
    act = f"/workbench/{bench.pk}/drafts/1/"
    assert "cannot be a prompt" in post(rea, f"{act}keep/", name="a/b")
    assert "Kept as kinder@1" in post(rea, f"{act}keep/", name="kinder")
    assert Label.objects.count() == people + 30
    assert "was kept as kinder@1 and stays" in post(rea, f"{act}discard/")
    tried(bench, fake, OWN, targets=5)
    assert "stays counted as tried" in post(rea, f"/workbench/{bench.pk}/drafts/2/discard/")
    assert rea.post(f"{act}explode/").status_code == 404
    page = rea.get(f"/workbench/{bench.pk}/versions/").content.decode()
    assert "kinder@1" in page
    assert "draft 2" not in page


@pytest.mark.exhaustive
def test_a_check_says_what_it_takes_and_then_what_it_found(rea: Client, fake: FakeLLM) -> None:
    bench = rated_bench()
    tried(bench, fake, targets=5)
    address = f"/workbench/{bench.pk}/checks/"
    told = post(rea, address, draft=1, check="rewordings")
    assert "15 calls" in told
    post(rea, address, draft=1, check="rewordings", confirmed="yes")
    finish()
    page = rea.get(f"{address}?draft=1").content.decode()
    assert "in other words, lists indented and starred" in page
    assert "what was changed" in page
    assert "fewer than two worked examples" in post(rea, address, draft=1, check="examples")
    own = rea.get(f"{address}?draft=1&own=secret-model").content.decode()
    assert "none of another" in own
