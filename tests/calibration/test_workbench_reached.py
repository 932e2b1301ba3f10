"""The API can do everything that the workbench's pages can."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError
from django.test import Client

from annotation.models import Label, Rater
from jobs.models import Endpoint
from judges.models import Bench
from tests.api_command import api
from tests.calibration.workbench_world import OWN, PROTOCOL, rated_bench
from tests.fake_llm import FakeLLM
from tests.judges.helpers import endpoint_of, finish, small_corpus

pytestmark = pytest.mark.django_db(transaction=True)
NOISE = 0.6
"""How often the fake model is one step off: see `fake`."""


@pytest.fixture
def bench() -> Bench:
    return rated_bench(24)


def ask(rea: Client, verb: str, address: str, body: Any = None, status: int = 200) -> Any:
    send = {"get": rea.get, "post": rea.post}[verb]
    how = {"content_type": "application/json", "data": json.dumps(body or {})} if verb == "post" else {}
    response = send(f"/api/v1/{address}", **how)
    assert response.status_code == status, response.content
    return response.json()


@pytest.mark.exhaustive
def test_a_program_walks_the_whole_way(rea: Client, bench: Bench, fake: FakeLLM) -> None:
    endpoint_of(fake)
    at = f"workbench/{bench.pk}/"
    text = {"endpoint": "fake", "user": f"{OWN.user}\n\nBe kind."}
    told = ask(rea, "post", f"{at}drafts/", text | {"estimate": True})
    assert (told["estimate"]["calls"], sum(fake.requests.values())) == (5, 0)
    assert ask(rea, "post", f"{at}drafts/", text, 201)["number"] == told["draft"] == 1
    ask(rea, "post", f"{at}drafts/", {"endpoint": "fake", "targets": 20, "temperature": 0.5}, 201)
    finish()
    draft = ask(rea, "get", f"{at}drafts/1/")
    assert (draft["tried"]["done"], draft["tried"]["cost"] > 0) == (5, True)
    assert {body.get("temperature") for body in fake.bodies} == {None, 0.5}
    kappa = next(row for row in draft["agreement"] if row["question"].endswith("/overall"))
    assert (kappa["statistic"], kappa["n_items"]) == ("cohen_kappa_quadratic", 5)
    assert {row["judge"] is None for row in draft["answers"] if row["people"]} == {False, True}
    listed = ask(rea, "get", f"{at}disagreements/?judged=draft-2&direction=higher")
    first = listed["results"][0]
    assert first["direction"] == "higher"
    mark = {"judged": "draft-2", "item": first["item_id"], "question": first["question_id"]}
    made = ask(rea, "post", f"{at}marks/", mark | {"verdict": "people_wrong", "adjudicate": True}, 201)
    assert ask(rea, "get", f"{at}marks/")["counts"]["people_wrong"] == 1
    (waiting,) = ask(rea, "get", "adjudication/")["results"]
    assert (waiting["id"], waiting["item"]) == (made["adjudication"], first["item"])
    ask(rea, "post", f"adjudication/{waiting['id']}/withdraw/")
    assert ask(rea, "get", "adjudication/")["count"] == 0
    beside = ask(rea, "get", f"{at}versions/?with=draft-1")
    assert (beside["tried"], beside["with"]) == (2, "draft-1")
    length = ask(rea, "get", f"{at}checks/?draft=2")["findings"][3]
    assert (length["check"], length["figures"][0]["n_items"]) == ("length", 20)
    check = {"draft": 1, "check_key": "rewordings"}
    assert ask(rea, "post", f"{at}checks/", check | {"estimate": True})["estimate"]["calls"] == 15
    assert len(ask(rea, "post", f"{at}checks/", check, 201)["drafts"]) == 3
    kept = ask(rea, "post", f"{at}drafts/1/keep/", {"name": "kinder"})
    assert (kept["kept"], Label.objects.filter(rater__spec__prompt="kinder@1").count()) == ("kinder@1", 30)
    assert ask(rea, "post", f"{at}drafts/2/discard/")["discarded"] is True


def test_a_program_is_told_what_is_wrong(rea: Client, bench: Bench, fake: FakeLLM) -> None:
    endpoint_of(fake)
    at = f"workbench/{bench.pk}/"
    wrong = ask(rea, "post", f"{at}drafts/", {"endpoint": "fake", "user": "no response"}, 400)
    assert "$response is missing" in wrong["detail"]
    assert "no endpoint 'other'" in ask(rea, "post", f"{at}drafts/", {"endpoint": "other"}, 400)["detail"]
    assert (
        "draft-9" in ask(rea, "post", f"{at}drafts/", {"endpoint": "fake", "begin": "draft-9"}, 400)["detail"]
    )
    corpus = small_corpus(1)
    new = {"name": "b", "protocol": PROTOCOL, "corpus": corpus.name}
    assert "fewer than two clusters" in ask(rea, "post", "workbench/", new, 400)["detail"]
    ask(rea, "get", f"{at}checks/", status=400)
    ask(rea, "get", f"{at}disagreements/", status=404)


@pytest.mark.exhaustive
def test_the_whole_way_from_the_command_line(
    rea: Client, bench: Bench, fake: FakeLLM, tmp_path: Path
) -> None:
    endpoint_of(fake)
    call = partial(api, account=User.objects.get().username)
    at, text = f"workbench/{bench.pk}/", tmp_path / "user.txt"
    text.write_text(f"{OWN.user}\n\nBe kind.")
    drafts = ("POST", f"{at}drafts/", "endpoint=fake")
    assert call(*drafts, "estimate=true")["estimate"]["calls"] == 5
    assert call(*drafts, f"user=@{text}", "targets=20")["number"] == 2
    finish()
    assert call("GET", f"{at}drafts/2/")["tried"]["done"] == 20
    asked = ("judged=draft-2", "question=overall")
    first, *_ = call("GET", f"{at}disagreements/", *asked)["results"]
    about = (f"item={first['item_id']}", f"question={first['question_id']}")
    call("POST", f"{at}marks/", "judged=draft-2", *about, "verdict=people_wrong", "note=x", "adjudicate=true")
    (waiting,) = call("GET", "adjudication/")["results"]
    call("POST", f"adjudication/{waiting['id']}/withdraw/")
    assert call("GET", "adjudication/")["results"] == []
    assert call("GET", f"{at}marks/")["marks"][0]["note"] == "x"
    assert call("GET", f"{at}versions/")["tried"] == 1
    call("POST", f"{at}checks/", "draft=2", "check_key=consistency")
    finish()
    found = {one["check"]: one for one in call("GET", f"{at}checks/", "draft=2")["findings"]}
    assert found["consistency"]["sentence"].startswith("Overall: asked again")
    assert call("POST", f"{at}drafts/2/keep/", "name=kinder")["kept"] == "kinder@1"
    assert Rater.objects.get(spec__prompt="kinder@1").labels.count() == 20 * 3 * 6
    assert call("GET", "workbench/")["results"][0]["drafts"][0]["kept"] == "kinder@1"
    for words, told in (
        (("GET", "workbench/0/"), "No Bench"),
        (("GET", f"{at}drafts/9/"), "No Draft"),
        (("POST", "workbench/", "name=b", "protocol=x", f"corpus={bench.corpus.name}"), "no protocol 'x'"),
        (("POST", f"{at}drafts/2/keep/"), "kept already"),
    ):
        with pytest.raises(CommandError, match=told) as refused:
            call(*words)
        assert refused.value.returncode == 4


@pytest.mark.exhaustive
def test_hostile_text_stays_text_on_every_page(rea: Client, bench: Bench, fake: FakeLLM) -> None:
    evil = "<script>alert(1)</script>"
    endpoint_of(fake)
    at = f"workbench/{bench.pk}/"
    Bench.objects.filter(pk=bench.pk).update(name=evil)
    fake.say = lambda prompt: FakeLLM.say(fake, prompt) + f"\n\n{evil}"  # type: ignore[method-assign]
    body = {"endpoint": "fake", "user": f"{OWN.user}\n{evil}", "targets": 20}
    ask(rea, "post", f"{at}drafts/", body, 201)
    finish()
    first = ask(rea, "get", f"{at}disagreements/?judged=draft-1")["results"][0]
    mark = {"judged": "draft-1", "item": first["item_id"], "question": first["question_id"]}
    told = {"verdict": "people_wrong", "note": evil, "adjudicate": True}
    ask(rea, "post", f"{at}marks/", mark | told, 201)
    rooms = ("", "disagreements/", "versions/", "checks/")
    corpus = bench.corpus
    lists = (f"/corpora/{corpus.name}/judges/", f"/adjudication/?corpus={corpus.pk}")
    for address in (*lists, *(f"/workbench/{bench.pk}/{room}" for room in rooms)):
        page = rea.get(address).content.decode()
        assert evil not in page, address
        assert "&lt;script&gt;" in page, address
    assert Endpoint.objects.count() == 1
