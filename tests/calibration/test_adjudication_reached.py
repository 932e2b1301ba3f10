"""Adjudication on pages and through the API, and its permissions."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError
from django.test import Client
from django.urls import reverse

from annotation.models import Label, Occasion
from annotation.work.labels import called
from calibration.models import AdjudicationRound
from tests import factories
from tests.api_command import api
from tests.calibration.world import World, world

pytestmark = pytest.mark.django_db
EVIL = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def rated(module_database: None) -> World:
    built = world("secret-corpus", dialogues=3, turns=2, systems=("secret-system",))
    built.ask("quality", "ordinal", [1, 2, 3], wording="How good is it?", anchors={"3": "good"})
    for name, values in {"zed": [1, 1, 3, 2, 2, 2], "ann": [1, 3, 3, 2, 2, 1]}.items():
        built.say(name, "quality", [float(value) for value in values])
    return built


@pytest.fixture
def rea(client: Client) -> Client:
    client.force_login(factories.user("rea", researcher=True))
    return client


def ask(client: Client, method: str, address: str, body: Any = None, status: int = 200) -> Any:
    sent = {"data": json.dumps(body), "content_type": "application/json"} if body is not None else {}
    answer = getattr(client, method)(f"/api/v1/{address}", **sent)
    assert answer.status_code == status, answer.content
    return answer.json() if answer.content else None


def test_a_round_on_pages_from_its_rules_to_its_gold(rated: World, rea: Client) -> None:
    address = f"/adjudication/new/?corpus={rated.corpus.pk}"
    assert "No answer has more than half" in rea.get(address).content.decode()
    form = {
        "name": f"Round {EVIL}",
        "scheme": "quality@1",
        "no_majority": "on",
        "control": "1",
        "combine": "any",
        "seed": "3",
        "adjudicators": "1",
        "lease_minutes": "30",
        "confidence_rule": "majority",
    }
    shown = rea.post(address, form | {"act": "preview"}).content.decode()
    assert "3 cases on 3 items" in shown
    assert not AdjudicationRound.objects.exists()
    refused = rea.post(address, form | {"act": "begin", "no_majority": "", "control": "1"})
    assert (refused.status_code, "Choose a rule" in refused.content.decode()) == (422, True)
    made = rea.post(address, form | {"act": "begin"})
    found = AdjudicationRound.objects.get()
    assert made["Location"] == f"/adjudication/rounds/{found.pk}/"
    place = f"/adjudicate/{found.pk}/"
    for number in range(3):
        screen = rea.get(place).content.decode()
        for hidden in ("zed", "ann<", "secret-system", "control", EVIL):
            assert hidden not in screen
        assert "Rater A" in screen
        assert screen.count('<li class="turn item here" id="here" aria-current="true"') == 1
        held = found.decisions.get(state="held")
        own = f"{place}{held.pk}/"
        if number == 0:
            unsaid = rea.post(own, {"choice": "2", "reason": ""})
            assert (unsaid.status_code, "Say why" in unsaid.content.decode()) == (422, True)
            draft = {"version": 1, "client": "tab", "answer": 3, "cannot": False, "reason": "so far"}
            kept = rea.post(f"{own}draft/", json.dumps(draft), content_type="application/json")
            assert kept.json() == {"version": 1}
            assert 'value="so far"' in rea.get(place).content.decode()
        assert rea.post(own, {"choice": "2", "reason": EVIL})["Location"] == place
    assert "All cases are decided" in rea.get(place).content.decode()
    page = rea.get(f"/adjudication/rounds/{found.pk}/").content.decode()
    assert "no random sample" in page
    assert EVIL not in page
    case = found.cases.first()
    assert case is not None
    told = rea.get(f"/adjudication/rounds/{found.pk}/cases/{case.pk}/").content.decode()
    assert "3 · good" in told
    dialogue = rea.get(reverse("dialogue", args=[case.item.continuation.dialogue_id])).content.decode()
    assert "Decisions</th>" in dialogue
    gold = rea.post(
        f"/gold/new/?corpus={rated.corpus.pk}", {"scheme": "quality@1", "rule": "majority"}, follow=True
    ).content.decode()
    assert "adjudication" in gold
    adjudicator = called(User.objects.get(username="rea").pk, rated.corpus.pk)
    assert f"{adjudicator}: &lt;script&gt;" in gold
    assert "rea: " not in gold
    back = rea.post(
        f"/adjudication/decisions/{case.decisions.get().pk}/withdraw/", {"reason": "no"}, follow=True
    )
    assert "withdrawn" in back.content.decode()


@pytest.mark.exhaustive
def test_a_round_over_http_and_the_same_refusals(rated: World, rea: Client) -> None:
    plan = {"corpus": rated.corpus.pk, "scheme": "quality@1", "rules": {"no_majority": True}}
    assert ask(rea, "post", "adjudication/rounds/preview/", plan)["cases"] == 2
    told = ask(rea, "post", "adjudication/rounds/", plan | {"rules": {"odd": 1}, "name": "x"}, 422)
    assert told["code"] == "adjudication_refused"
    pk = ask(rea, "post", "adjudication/rounds/", plan | {"name": "HTTP"}, 201)["id"]
    at = f"adjudication/rounds/{pk}/"
    held = ask(rea, "post", f"adjudicate/{pk}/claim/")["decision"]
    assert [row["rater"] for row in held["answers"]] == ["Rater A", "Rater B"]
    assert held["system"] is None
    own = f"adjudicate/{pk}/{held['id']}/"
    assert ask(rea, "post", f"{own}draft/", {"version": 4, "answer": 2})["version"] == 4
    assert ask(rea, "post", f"{own}decide/", {"answer": 7, "reason": "x"}, 422)["detail"].endswith("1, 2, 3.")
    made = ask(rea, "post", f"{own}decide/", {"answer": 2, "reason": "between"})
    assert (made["value"], made["reason"], made["state"]) == (2, "between", "decided")
    ask(rea, "post", f"adjudication/decisions/{made['decision']}/withdraw/", {"reason": "too soon"})
    (case, other) = ask(rea, "get", f"{at}cases/?state=waiting")["results"]
    one = ask(rea, "get", f"{at}cases/{case['case']}/")
    assert {row["value"] for row in one["answers"]} <= {1, 2, 3}
    lines = "item,question,value,reason\n" + "".join(
        f"{row['item']},quality,1,read again\n" for row in (case, other)
    )
    assert ask(rea, "post", f"{at}import/", {"form": "csv", "content": lines})["decisions"] == 2
    assert ask(rea, "get", f"{at}report/")["questions"][0]["decided"] == 2
    assert b"read again" in rea.get(f"/api/v1/{at}decisions.csv").getvalue()
    assert ask(rea, "post", at, {"verb": "close"})["state"] == "closed"
    assert "closed" in ask(rea, "post", f"adjudicate/{pk}/claim/", status=422)["detail"]
    assert ask(rea, "get", "adjudicate/")["results"] == []
    ana = Client()
    ana.force_login(factories.user("ana"))
    ask(ana, "post", f"adjudicate/{pk}/claim/", status=404)
    ask(ana, "get", at, status=403)


@pytest.mark.exhaustive
def test_what_is_locked_tells_neither_answers_nor_decisions(rated: World, rea: Client) -> None:
    from annotation.corpora import splits

    splits.draw(corpus=rated.corpus, by=None)
    rated.say("gpt", "quality", [3.0] * 6, kind="judge")
    plan = {"corpus": rated.corpus.pk, "scheme": "quality@1", "rules": {"everything": True}}
    dev = ask(rea, "post", "adjudication/rounds/preview/", plan)["cases"]
    every = plan | {"takes_locked": True, "name": "all"}
    pk = ask(rea, "post", "adjudication/rounds/", every, 201)["id"]
    cases = ask(rea, "get", f"adjudication/rounds/{pk}/cases/")["results"]
    assert 0 < dev < len(cases) == 6
    found = [ask(rea, "get", f"adjudication/rounds/{pk}/cases/{case['case']}/") for case in cases]
    assert sum(one["locked"] for one in found) == 6 - dev
    assert all(bool(one["answers"]) != one["locked"] for one in found)
    while (held := ask(rea, "post", f"adjudicate/{pk}/claim/")["decision"]) is not None:
        ask(rea, "post", f"adjudicate/{pk}/{held['id']}/decide/", {"answer": 1, "reason": "why"})
    lines = rea.get(f"/api/v1/adjudication/rounds/{pk}/decisions.jsonl").getvalue().splitlines()
    assert len(lines) == dev
    assert ask(rea, "get", f"adjudication/rounds/{pk}/report/")["locked"] == 6 - dev


@pytest.mark.exhaustive
def test_a_round_from_the_command_line(rated: World, tmp_path: Path) -> None:
    factories.user("rea", researcher=True)
    call = partial(api, account="rea")
    place = (f"corpus={rated.corpus.pk}", "scheme=quality@1")
    assert call("POST", "adjudication/rounds/preview/", *place, 'rules:={"no_majority": true}')["cases"] == 2
    begin = ("POST", "adjudication/rounds/", "name=mine", *place, 'rules:={"spread": 2}')
    made = call(*begin)
    at = f"adjudication/rounds/{made['id']}/"
    assert made["progress"]["cases"] == 1
    row = call("GET", f"{at}queue.jsonl")  # of one line
    file = tmp_path / "decided.jsonl"
    file.write_text(json.dumps({"item": row["item"], "question": "quality", "value": 2, "reason": "between"}))
    assert call("POST", f"{at}import/", "form=jsonl", f"content=@{file}") == {"decisions": 1}
    assert Label.objects.get(occasion=Occasion.ADJUDICATION).number == 2
    assert call("GET", f"{at}decisions.jsonl")["reason"] == "between"
    assert call("GET", f"{at}report/")["questions"][0]["decided"] == 1
    assert call("POST", at, "verb=top-up")["added"] == 0
    assert [found["name"] for found in call("GET", "adjudication/rounds/")["results"]] == ["mine"]
    assert call("POST", at, "verb=close")["state"] == "closed"
    assert call("POST", at, "verb=reopen")["state"] == "open"
    for words in (
        ("GET", "adjudication/rounds/0/"),
        begin,
        (
            "POST",
            "adjudication/rounds/preview/",
            "corpus=0",
            "scheme=quality@1",
            'rules:={"everything": true}',
        ),
    ):
        with pytest.raises(CommandError) as refused:
            call(*words)
        assert refused.value.returncode == 4


def test_a_file_that_is_wrong_is_refused_on_the_page_with_its_line(rated: World, rea: Client) -> None:
    plan = {"corpus": rated.corpus.pk, "scheme": "quality@1", "rules": {"no_majority": True}, "name": "file"}
    pk = ask(rea, "post", "adjudication/rounds/", plan, 201)["id"]
    sent = {"file": SimpleUploadedFile("d.jsonl", b'{"item": "x"}\n')}
    page = rea.post(f"/adjudication/rounds/{pk}/import/", sent, follow=True).content.decode()
    assert "Line 1: the round has no case" in page
