"""Schemes by command and by HTTP: checked, stored, compared, archived, with every refusal in words."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from annotation.models import SchemeVersion
from tests import factories

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


def run(*args: str) -> str:
    out = StringIO()
    call_command("schemes", *args, stdout=out)
    return out.getvalue()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "polite.yaml"
    path.write_text(FILE)
    return path


def test_a_file_is_checked_imported_shown_exported_and_compared(file: Path) -> None:
    assert run("check", str(file)) == "polite can be asked: 1 question.\n"
    assert not SchemeVersion.objects.exists()
    assert run("import", str(file)) == "polite@1 is stored.\n"
    run("export", "polite", "--output", f"{file}.out")
    assert run("show", "polite") == Path(f"{file}.out").read_text()
    factories.campaign(factories.corpus(), "polite", opened=False)
    file.write_text(FILE.replace("rude", "very rude"))
    assert run("import", str(file)) == "polite@2 is stored.\n"
    told = "Question polite, anchors 1: “rude” → “very rude”\n"
    assert run("diff", "polite@1", "polite@2") == told
    assert "polite@2  turn  1 question  How polite?" in run("list")
    assert run("archive", "polite") == "polite is archived.\n"
    assert json.loads(run("show", "polite@1", "--json"))["archived"] is True


def test_a_file_that_cannot_be_asked_is_refused_with_a_line_for_each_problem(file: Path) -> None:
    file.write_text(FILE.replace("[1, 2, 3]", "[3, 2, 1]").replace("title: How polite?\n", ""))
    with pytest.raises(CommandError) as refused:
        run("check", str(file))
    assert str(refused.value).splitlines() == [
        "line 1, title: Give the scheme a title.",
        "line 7, question 1 (polite), values: The values must rise from the first to the last, none twice.",
    ]
    with pytest.raises(CommandError, match="There is no scheme “nothing”"):
        run("show", "nothing")


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
