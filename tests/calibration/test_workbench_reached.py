"""What the workbench's pages do, the HTTP API and the command do too."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from annotation.models import Label, Rater
from jobs.models import Endpoint
from judges.models import Bench
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


def said(*words: str, **options: Any) -> list[Any]:
    out = StringIO()
    call_command("workbench", *words, stdout=out, stderr=StringIO(), **options)
    return [json.loads(line) for line in out.getvalue().splitlines()]


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
    corpus = small_corpus(2)
    new = {"name": "b", "protocol": PROTOCOL, "corpus": corpus.name}
    assert "has no split" in ask(rea, "post", "workbench/", new, 400)["detail"]
    ask(rea, "get", f"{at}checks/", status=400)
    ask(rea, "get", f"{at}disagreements/", status=404)


@pytest.mark.exhaustive
def test_the_command_walks_the_whole_way(fake: FakeLLM, tmp_path: Any) -> None:
    endpoint_of(fake)
    bench = rated_bench(24)
    Bench.objects.filter(pk=bench.pk).update(name="mine")
    (tmp_path / "user.txt").write_text(f"{OWN.user}\n\nBe kind.")
    how = ("--endpoint", "fake", "--quiet")
    assert said("try", "mine", "--estimate", *how)[0]["estimate"]["calls"] == 5
    (draft,) = said("try", "mine", "--user", str(tmp_path / "user.txt"), "--items", "20", *how)
    assert (draft["number"], draft["tried"]["done"]) == (2, 20)
    first, *_ = said("disagreements", "mine", "--judged", "draft-2", "--question", "overall")
    said("mark", "mine", "draft-2", first["item"], "overall", "people_wrong", "--note", "x", "--adjudicate")
    (waiting,) = said("adjudication")
    assert said("adjudication", "--withdraw", str(waiting["id"])) == []
    assert json.loads("".join(_lines("marks", "mine", "--format", "json")))["marks"][0]["note"] == "x"
    assert said("versions", "mine")[0]["tried"] == 1
    (found,) = said("check", "mine", "2", "consistency", "--ask", "--quiet")
    assert found["sentence"].startswith("Overall: asked again")
    assert said("keep", "mine", "2", "--name", "kinder")[0]["version"] == "kinder@1"
    assert Rater.objects.get(spec__prompt="kinder@1").labels.count() == 20 * 3 * 6
    assert said("list")[0]["drafts"][0]["kept"] == "kinder@1"
    for words, told in (
        (("show", "nothing", "1"), "There is no bench 'nothing'"),
        (("show", "mine", "9"), "has no draft 9"),
        (("open", "b", "--protocol", "x", "--corpus", bench.corpus.name), "no protocol 'x'"),
        (("keep", "mine", "2"), "kept already"),
        (("try", "mine", "--user", str(tmp_path / "none"), *how), "cannot be read"),
    ):
        with pytest.raises(CommandError, match=told):
            said(*words)


def _lines(*words: str) -> list[str]:
    out = StringIO()
    call_command("workbench", *words, stdout=out)
    return out.getvalue().splitlines()


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
    for address in ("/workbench/", "/adjudication/", *(f"/workbench/{bench.pk}/{room}" for room in rooms)):
        page = rea.get(address).content.decode()
        assert evil not in page, address
        assert "&lt;script&gt;" in page, address
    assert Endpoint.objects.count() == 1
