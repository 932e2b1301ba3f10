"""Prompts by command and through the API: the same functions as on pages."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from rest_framework.test import APIClient

from annotation.models import Rater
from judges.models import Prompt, PromptVersion
from judges.prompts import versions
from tests import factories
from tests.fake_llm import FakeLLM
from tests.judges.helpers import endpoint_of, small_corpus
from tests.judges.test_prompt_examples import rated
from tests.judges.test_prompt_versions import KINDER, own

pytestmark = pytest.mark.django_db(transaction=True)
SIMPLE = "cpdscore_simple_without_reference"


def say(*words: str) -> Any:
    out = StringIO()
    call_command("prompts", *words, "--json", stdout=out, stderr=StringIO())
    return json.loads(out.getvalue().splitlines()[-1])


@pytest.fixture
def api() -> APIClient:
    client = APIClient()
    client.force_authenticate(factories.user("rea", researcher=True))
    return client


def test_a_prompt_is_copied_saved_compared_and_archived_by_command(tmp_path: Path) -> None:
    assert say("copy", SIMPLE, "mine")["ref"] == "mine@1"
    user = tmp_path / "user.txt"
    user.write_text(f"{versions.find(SIMPLE).wording.user}\r\nBe kind.\n")
    saved = say("save", "mine", "--user", str(user), "--note", "kinder")
    assert (saved["ref"], saved["parent"], saved["note"]) == ("mine@2", "mine@1", "kinder")
    assert saved["user"].endswith("\nBe kind.")
    changed = [row for row in say("diff", "mine@1", "mine")["user"] if row["op"] != "same"]
    assert changed[-1] == {"op": "added", "right": {"line": changed[-1]["right"]["line"], "text": "Be kind."}}
    assert say("archive", "mine") == {"name": "mine", "archived": True}
    assert [one["archived"] for one in say("list") if one["name"] == "mine"] == [True]
    assert say("restore", "mine")["archived"] is False
    assert say("delete", "mine@2") == {"deleted": "mine@2"}
    assert say("show", "mine")["number"] == 1


@pytest.mark.parametrize("form", ["yaml", "md"])
def test_a_prompt_is_exported_and_imported_by_command(tmp_path: Path, form: str) -> None:
    own()
    path = tmp_path / f"kinder.{form}"
    say("export", "kinder", "--form", form, "--output", str(path))
    assert say("import", str(path)) == {"versions": []}
    assert say("import", str(path), "--name", "theirs") == {"versions": ["theirs@1"]}
    assert versions.find("theirs").wording.digest() == KINDER.digest()
    path.write_text("concord_prompt: 9\nversions: []\n")
    with pytest.raises(CommandError, match="line 1: concord_prompt is 9"):
        call_command("prompts", "import", str(path))
    with pytest.raises(CommandError, match=r"nothing\.yaml: No such file"):
        call_command("prompts", "import", "nothing.yaml")


def test_examples_and_requests_by_command(fake: FakeLLM) -> None:
    own()
    corpus, endpoint = rated(2), endpoint_of(fake)
    picked = say("examples", "kinder", "--corpus", corpus.name, "--rule", "balanced", "--whole-corpus")
    assert (picked["ref"], picked["examples_shown"]) == ("kinder@2", 4)
    [asked] = say(
        "request", "kinder", "--corpus", corpus.name, "--item", "d0/c/1", "--endpoint", endpoint.name
    )
    assert json.loads(asked["exact"]) == asked["body"]
    assert asked["body"]["model"] == "fake-1"
    assert asked["cost"] > 0
    out, told = StringIO(), StringIO()
    call_command("prompts", "request", "kinder", "--corpus", corpus.name, stdout=out, stderr=told)
    assert json.loads(out.getvalue())["messages"][0]["role"] == "system"
    assert "four characters of ASCII" in told.getvalue()


def test_a_run_by_command_and_over_http_names_a_version(api: APIClient, fake: FakeLLM) -> None:
    own()
    corpus, endpoint = small_corpus(1), endpoint_of(fake)
    out = StringIO()
    told = ("--prompt", "kinder@1", "--endpoint", endpoint.name, "--corpus", corpus.name)
    call_command("run_judge", *told, stdout=out, stderr=StringIO())
    assert json.loads(out.getvalue().splitlines()[-1])["done"] == 6
    body = {"prompt": "kinder@1", "endpoint": endpoint.name, "corpus": corpus.name}
    started = api.post("/api/v1/runs/", body, format="json")
    assert (started.status_code, started.json()["spec"]["prompt"]) == (201, "kinder@1")
    assert Rater.objects.filter(kind="judge").count() == 1
    both = api.post("/api/v1/runs/", body | {"metric": "lscc_es_avg"}, format="json")
    assert both.status_code == 400


def test_prompts_over_http(api: APIClient) -> None:
    made = api.post("/api/v1/prompts/", {"name": "mine", "copy_of": SIMPLE, "note": "why"}, format="json")
    assert (made.status_code, made.json()["parent"]) == (201, f"{SIMPLE}@1")
    text = {"system": "$notice", "user": "Rate:\n$response"}
    assert api.post("/api/v1/prompts/mine/versions/", text, format="json").json()["ref"] == "mine@2"
    stale = api.post(
        "/api/v1/prompts/mine/versions/", text | {"user": "$response", "made_from": 1}, format="json"
    )
    assert (stale.json()["ref"], stale.json()["parent"]) == ("mine@3", "mine@1")
    wrong = api.post("/api/v1/prompts/mine/versions/", text | {"user": "$x"}, format="json")
    assert (wrong.status_code, "there is no variable $x" in wrong.json()["detail"]) == (400, True)
    built_in = api.post(f"/api/v1/prompts/{SIMPLE}/versions/", text, format="json")
    assert (built_in.status_code, "cannot be changed" in built_in.json()["detail"]) == (400, True)
    assert api.get("/api/v1/prompts/mine/versions/").json()["count"] == 3
    assert api.get("/api/v1/prompts/diff/", {"a": "mine@2", "b": "mine@3"}).json()["same"] is False
    archived = api.patch("/api/v1/prompts/mine/", {"archived": True}, format="json")
    assert archived.json()["archived"] is True
    assert api.delete("/api/v1/prompts/mine/versions/3/").status_code == 204
    assert PromptVersion.objects.count() == 2


def test_files_examples_and_requests_over_http(api: APIClient) -> None:
    own()
    corpus = rated(2)
    text = api.get("/api/v1/prompts/kinder/export.yaml").content.decode()
    imported = api.post("/api/v1/prompts/import/", {"text": text, "name": "theirs"}, format="json")
    assert imported.json() == {"versions": ["theirs@1"]}
    bad = api.post("/api/v1/prompts/import/", {"text": text.replace("$notice", "$nothing")}, format="json")
    assert bad.status_code == 400
    assert [line.partition(":")[0][:5] for line in bad.json()["problems"]] == ["line ", "line "]
    how = {"corpus": corpus.name, "rule": "most_disagreed", "n": 1}
    refused = api.post("/api/v1/prompts/theirs/examples/", how, format="json")
    assert "has no split" in refused.json()["detail"]
    picked = api.post("/api/v1/prompts/theirs/examples/", how | {"whole_corpus": True}, format="json")
    assert (picked.status_code, picked.json()["picking"]["rule"]) == (201, "most_disagreed")
    ask = {"prompt": "theirs", "corpus": corpus.name, "item": "d0/c/1"}
    [asked] = api.post("/api/v1/prompts/request/", ask, format="json").json()
    assert "Example 1:" in asked["body"]["messages"][0]["content"]
    [draft] = api.post("/api/v1/prompts/request/", ask | {"user": "So: $response"}, format="json").json()
    assert draft["body"]["messages"][1]["content"].startswith("So: <<<BEGIN RESPONSE>>>")
    assert Prompt.objects.count() == 2
