"""Schemes through the API: validated, stored, compared, archived, with a message for every refusal."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError
from django.test import Client

from annotation.models import SchemeVersion
from annotation.schemes.files import read
from tests import factories
from tests.api_command import api

pytestmark = pytest.mark.django_db
FILE = """scheme: polite
title: How polite?
item_kind: turn
questions:
- key: polite
  wording: How polite is the response?
  level: ordinal
  values: [1, 2, 3]
  anchors: {1: rude, 3: polite}
"""


@pytest.fixture
def call() -> partial[Any]:
    return partial(api, account=factories.user(researcher=True).username)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "polite.yaml"
    path.write_text(FILE)
    return path


def test_a_file_is_checked_stored_shown_and_compared(call: partial[Any], file: Path) -> None:
    text = f"text=@{file}"
    assert call("POST", "schemes/check/", text)["ok"]
    assert not SchemeVersion.objects.exists()
    made = call("POST", "schemes/", text)
    assert made["ref"] == "polite@1"
    assert call("GET", "schemes/polite/")["yaml"] == made["yaml"]
    assert read(made["yaml"]) == read(FILE)
    factories.campaign(factories.corpus(), "polite", opened=False)
    file.write_text(FILE.replace("rude", "very rude"))
    saved = call("POST", "schemes/polite/versions/", text, f"seen={made['id']}")
    assert saved["ref"] == "polite@2"
    (change,) = call("GET", "schemes/diff/", "a=polite@1", "b=polite@2")["changes"]
    assert change["sentence"] == "Question polite, anchors 1: “rude” → “very rude”"
    (row,) = [row for row in call("GET", "schemes/")["results"] if row["key"] == "polite"]
    told = [row[name] for name in ("newest", "item_kinds", "questions", "title")]
    assert told == [2, ["turn"], 1, "How polite?"]
    assert call("PATCH", "schemes/polite/", "archived:=true")["archived"]
    assert call("GET", "schemes/polite/versions/1/")["archived"]


def test_a_file_that_cannot_be_asked_is_refused_with_every_problem(call: partial[Any], file: Path) -> None:
    file.write_text(FILE.replace("[1, 2, 3]", "[3, 2, 1]").replace("title: How polite?\n", ""))
    problems = call("POST", "schemes/check/", f"text=@{file}")["problems"]
    assert [f"{one['place']}: {one['sentence']}" for one in problems] == [
        "line 1, title: Give the scheme a title.",
        "line 7, question 1 (polite), values: The values must rise from the first to the last, none twice.",
    ]
    with pytest.raises(CommandError) as refused:
        call("GET", "schemes/nothing/")
    assert refused.value.returncode == 4


def test_programs_check_store_save_compare_and_archive() -> None:
    client = Client()
    client.force_login(factories.user(researcher=True))

    def ask(method: str, path: str, status: int, **body: Any) -> Any:
        data = body if method == "get" else json.dumps(body)
        answer = getattr(client, method)(f"/api/v1/schemes/{path}", data, content_type="application/json")
        assert answer.status_code == status, answer.content
        return answer.json()

    bad = FILE.replace("ordinal", "likert")
    assert ask("post", "check/", 200, text=FILE) == {"ok": True, "problems": []}
    assert ask("post", "check/", 200, text=bad)["problems"][0]["path"] == "questions.0.level"
    refused = ask("post", "", 422, text=bad)
    assert (refused["code"], refused["problems"][0]["place"]) == (
        "scheme_refused",
        "line 7, question 1 (polite), level",
    )
    made = ask("post", "", 201, text=FILE)
    assert made["definition"]["questions"][0]["anchors"] == {"1": "rude", "3": "polite"}
    changed = made["definition"] | {"title": "Politeness"}
    factories.campaign(factories.corpus(), "polite", opened=False)
    saved = ask("post", "polite/versions/", 201, definition=changed, seen=made["id"])
    assert (saved["ref"], saved["used"], made["used"]) == ("polite@2", False, False)
    late = ask("post", "polite/versions/", 422, definition=changed, seen=made["id"])
    assert "Somebody saved version 2 meanwhile" in late["detail"]
    found = client.get("/api/v1/schemes/diff/", {"a": "polite@1", "b": "polite"}).json()
    assert [change["sentence"] for change in found["changes"]] == [
        "Scheme, title: “How polite?” → “Politeness”"
    ]
    assert [row["ref"] for row in ask("get", "polite/versions/", 200)["results"]] == ["polite@2", "polite@1"]
    assert ask("get", "polite/versions/1/", 200)["used"] is True
    assert ask("patch", "polite/", 200, archived=True)["archived"] is True
    listed = {row["key"]: row for row in ask("get", "", 200)["results"]}
    assert (listed["polite"]["archived"], listed["fed_turn"]["built_in"]) == (True, True)
    ask("get", "polite/versions/9/", 404)
    ask("patch", "fed_turn/", 422, archived=True)
