"""`manage.py api` calls any route in the process, as an account, with all protections of a server."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.core.signals import request_finished
from django.db import close_old_connections
from django.test import Client

from annotation.models import Campaign, Corpus
from calibration.exports import downloads
from config.management.commands import api
from config.models import Event
from jobs.models import Job
from tests import factories
from tests.security.addresses import addresses

pytestmark = pytest.mark.django_db
PILOT = ("name=pilot", "corpus=talks", "scheme=comperdial_turn")
RATINGS = "dialogue,turn,speaker,text\nd1,0,A,Hello.\nd1,1,B,你好。\n"


def call(*words: str, account: str = "root") -> Any:
    """What the command prints, read as JSON where it is JSON."""
    out = io.StringIO()
    call_command("api", *words, "--as", account, stdout=out)
    return json.loads(out.getvalue())


def refusal(*words: str, account: str = "root") -> tuple[int, str, Any]:
    """The exit status, the sentence and the body of a refused request."""
    out = io.StringIO()
    with pytest.raises(CommandError) as error:
        call_command("api", *words, "--as", account, stdout=out)
    return error.value.returncode, str(error.value), json.loads(out.getvalue() or "null")


@pytest.fixture(autouse=True)
def _root() -> Iterator[None]:
    factories.user("root", administrator=True)
    request_finished.disconnect(close_old_connections)  # all requests share the test's transaction
    yield
    request_finished.connect(close_old_connections)


def test_a_resource_is_made_read_changed_and_deleted() -> None:
    factories.dialogue(factories.corpus("talks"))
    made = call(
        "POST", "campaigns/", "name=pilot", "corpus=talks", "scheme=comperdial_turn", "raters_per_item=2"
    )
    assert made["raters_per_item"] == 2
    path = f"campaigns/{made['id']}"
    assert call("get", path)["name"] == "pilot"
    assert call("PATCH", f"/api/v1/{path}/", "deadline:=null", "raters_per_item=3")["raters_per_item"] == 3
    assert [row["name"] for row in call("GET", "campaigns/?state=draft", "limit=1")["results"]] == ["pilot"]
    assert call("DELETE", "corpora/talks/", "confirmation=talks") is not None


def test_what_is_done_is_the_named_accounts_in_the_audit_log() -> None:
    factories.dialogue(factories.corpus("talks"))
    factories.user("rita", researcher=True)
    call("POST", "campaigns/", *PILOT, account="rita")
    assert Campaign.objects.get().created_by.username == "rita"
    assert Event.objects.filter(by__username="rita", verb__contains="campaign").exists()


def test_a_field_takes_a_list_where_the_route_declares_one_or_it_is_repeated() -> None:
    group = call("POST", "groups/", "name=pilots", "people=root")
    assert group["people"] == ["root"]
    factories.user("ann")
    assert len(call("PATCH", f"groups/{group['id']}/", "people=root", "people=ann")["people"]) == 2
    assert call("PATCH", f"groups/{group['id']}/", "people:=[]")["people"] == []


def test_a_body_and_a_field_come_from_files(tmp_path: Path) -> None:
    factories.dialogue(factories.corpus("talks"))
    (tmp_path / "pilot.yaml").write_text("name: pilot\ncorpus: talks\nscheme: comperdial_turn\n")
    assert call("POST", "campaigns/", f"@{tmp_path}/pilot.yaml")["name"] == "pilot"
    (tmp_path / "guide.md").write_text("Rate every turn. 每轮都要评分。")
    made = call("PATCH", f"campaigns/{Campaign.objects.get().pk}/", f"guidelines=@{tmp_path}/guide.md")
    assert made["guidelines"] == "Rate every turn. 每轮都要评分。"


def test_files_are_uploaded_and_downloaded_whole(tmp_path: Path) -> None:
    (tmp_path / "talks.csv").write_text(RATINGS)
    job = call("POST", "imports/", "name=talks", "format=turns-csv", f"file=@{tmp_path}/talks.csv")
    assert job["format"] == "turns-csv", job
    campaign = factories.campaign(factories.dialogue(factories.corpus("others")).corpus)
    target = tmp_path / "labels.csv"
    written = call("GET", "exports/labels.csv", f"campaign={campaign.pk}", "--output", str(target))
    assert written == {"file": str(target), "bytes": target.stat().st_size}
    assert target.read_text().startswith("item,rater,value,")
    assert [entry.name for entry in tmp_path.iterdir() if entry.suffix == ".part"] == []


def test_a_job_that_is_to_write_the_file_is_printed_and_not_taken_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(downloads, "AT_ONCE", -1)
    campaign = factories.campaign(factories.dialogue(factories.corpus()).corpus)
    target = tmp_path / "labels.csv"
    answer = call("GET", "exports/labels.csv", f"campaign={campaign.pk}", "--output", str(target))
    assert answer == {"job": Job.objects.get(kind=downloads.KIND).pk}
    assert not target.exists()


@pytest.mark.parametrize(
    ("words", "status", "code"),
    [
        (("GET", "campaigns/7/"), 4, "not_found"),
        (("GET", "campaigns/", "stat=open"), 4, "invalid"),
        (("DELETE", "campaigns/"), 4, "method_not_allowed"),
        (("POST", "campaigns/", "name=pilot"), 4, "invalid"),
        (("GET", "campaigns/?state=nonsense"), 4, "invalid"),
    ],
)
def test_a_refusal_is_printed_in_its_one_shape_and_ends_with_the_class_of_its_status(
    words: tuple[str, ...], status: int, code: str
) -> None:
    returned, sentence, body = refusal(*words)
    assert (returned, body["code"]) == (status, code)
    assert sentence == body["detail"]


def test_an_account_may_do_what_it_may_do_over_http_and_no_more() -> None:
    factories.user("ann")
    status, _, body = refusal("GET", "campaigns/", account="ann")
    assert (status, body["code"]) == (4, "permission_denied")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("GET", "nowhere/"), "There is no route /api/v1/nowhere."),
        (("GET", "/people/"), "There is no route"),
        (("POST", "campaigns/", "name"), "'name': a field is key=text, key:=JSON or key=@FILE."),
        (("POST", "campaigns/", "deadline:=tomorrow"), "deadline: 'tomorrow' is not JSON."),
        (("POST", "campaigns/", "@missing.yaml"), "missing.yaml: No such file or directory"),
    ],
)
def test_a_mistake_in_the_command_is_one_line_and_asks_nothing(words: tuple[str, ...], sentence: str) -> None:
    if words == ("GET", "/people/"):  # a page's address is below the API's root here, too
        assert call(*words)["count"] == 1
        return
    status, said, body = refusal(*words)
    assert (status, body) == (2, None)
    assert said.startswith(sentence)


def test_an_unknown_or_inactive_account_asks_for_nothing() -> None:
    person = factories.user("gone")
    person.is_active = False
    person.save()
    for name in ("gone", "nobody"):
        assert refusal("GET", "campaigns/", account=name)[:2] == (2, f"There is no active account {name!r}.")


def test_without_a_name_the_only_administrator_asks() -> None:
    out = io.StringIO()
    call_command("api", "GET", "people/", stdout=out)
    assert [row["username"] for row in json.loads(out.getvalue())["results"]] == ["root"]
    factories.user("second", administrator=True)
    with pytest.raises(CommandError, match="--as NAME: there are several administrators"):
        call_command("api", "GET", "people/", stdout=out)


def test_help_about_no_route_is_one_line_too() -> None:
    with pytest.raises(CommandError, match="There is no route /api/v1/nowhere"):
        call_command("api", "GET", "nowhere/", "--help")


@pytest.mark.exhaustive
def test_every_list_and_page_of_the_api_answers_as_it_does_over_http() -> None:
    client = Client(raise_request_exception=False)
    client.login(username="root", password=factories.PASSWORD)
    compared = 0
    for address in addresses():
        if not address.path.startswith("/api/v1/"):
            continue
        request = api.prepare_request("GET", address.path, [], "http://testserver")
        answer, over_http = api.send(request, api.account("root")), client.get(address.path)
        assert answer.status_code == over_http.status_code, address.path
        assert answer.headers["Content-Type"] == over_http.headers["Content-Type"], address.path
        compared += 1
    assert compared > 150


def test_help_lists_every_route_and_describes_one(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        call_command("api", "--help")
    listing = capsys.readouterr().out
    for line in ("campaigns/  GET, POST", "corpora/{name}/  GET", "people/{pk}/  GET, PATCH, DELETE"):
        assert f"\n  {line}" in listing
    with pytest.raises(SystemExit):
        call_command("api", "PATCH", "campaigns/3/", "--help")
    described = capsys.readouterr().out
    assert described.startswith("PATCH /api/v1/campaigns/{campaign_id}/") or "campaigns/{" in described
    assert "raters_per_item (integer, from " in described
    assert Corpus.objects.count() == 0
