"""The API of corpora, and its permissions."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from rest_framework.test import APIClient

from annotation.models import Corpus, Dialogue, Upload
from annotation.people import accounts
from tests import factories
from tests.corpora.conftest import work_off
from tests.importing.helpers import label, line

pytestmark = pytest.mark.django_db

READ = ("", "c/", "c/dialogues/", "c/turns/", "c/items/", "c/splits/")


def api(**role: bool) -> APIClient:
    client = APIClient()
    made = accounts.make(person=factories.user(**role), name="tests", scope="write", days=1)
    client.credentials(HTTP_AUTHORIZATION=f"Token {made.key}")
    return client


def get(path: str) -> Any:
    response = api(researcher=True).get(f"/api/v1/corpora/{path}")
    assert response.status_code == 200, response.content
    return response.json()


def send(client: APIClient, *lines: object, **fields: str) -> Any:
    content = "".join(json.dumps(one) + "\n" for one in lines).encode()
    return client.post("/api/v1/imports/", {"file": SimpleUploadedFile("f.jsonl", content), **fields})


def test_only_researchers_use_it(corpus: Corpus) -> None:
    pk = Dialogue.objects.values_list("pk", flat=True)[0]
    for client, status in ((APIClient(), 401), (api(), 403)):
        for path in READ:
            assert client.get(f"/api/v1/corpora/{path}").status_code == status
        assert client.get(f"/api/v1/dialogues/{pk}/").status_code == status
        assert send(client, line(), name="x").status_code == status
        assert client.post("/api/v1/corpora/c/splits/").status_code == status
        assert client.delete("/api/v1/corpora/c/").status_code == status


def test_a_file_is_imported_once(corpus: Corpus) -> None:
    client = api(researcher=True)
    first = send(client, line(labels=[label()]), name="new", source="here")
    assert (first.status_code, first.json()["labels"], first.json()["created"]) == (201, 1, True)
    again = send(client, line(labels=[label()]), name="new")
    assert (again.status_code, again.json()["created"]) == (200, False)
    assert send(client, line("d2"), into="new").json()["dialogues"] == 1
    assert Corpus.objects.get(name="new").source == "here"


def test_a_refusal_has_file_line_field_and_reason() -> None:
    response = send(api(researcher=True), line(), {"id": "x", "turns": [{"speaker": 1}]}, name="new")
    assert response.status_code == 400
    told = response.json()
    assert told.pop("detail").startswith("f.jsonl")
    assert told == {
        "code": "import_refused",
        "file": "f.jsonl",
        "line": 2,
        "field": "turns[0].speaker",
        "reason": "must be a text, not a number",
    }


@pytest.mark.parametrize("fields", [{}, {"name": "a", "into": "b"}, {"name": "a", "format": "xml"}])
def test_an_unclear_request_is_refused(fields: dict[str, str]) -> None:
    assert send(api(researcher=True), line(), **fields).status_code == 400


def test_corpora_and_one_of_them(corpus: Corpus) -> None:
    assert get("")["results"][0]["counts"] == {"dialogues": 3, "turns": 7, "continuations": 4, "items": 11}
    found = get("c/")
    assert (found["labels"], found["systems"], found["imports"][0]["file_name"]) == (
        3, ["human", "model-x"], "file.jsonl",
    )  # fmt: skip
    assert api(researcher=True).get("/api/v1/corpora/none/").status_code == 404


def test_dialogues_turns_and_items(corpus: Corpus) -> None:
    dialogues = get("c/dialogues/?system=model-x")["results"]
    assert [one["key"] for one in dialogues] == ["d/1"]
    turns = get("c/turns/?text=unusual")["results"]
    assert [(one["dialogue"], one["continuation"], one["system"]) for one in turns] == [
        ("d/1", "model-x", "model-x")
    ]
    items = get("c/items/?kind=turn&dialogue=d/1&system=model-x")["results"]
    assert [one["key"] for one in items] == ["d%2F1/model-x/0"]


def test_a_dialogue_comes_with_its_continuations(corpus: Corpus) -> None:
    pk = Dialogue.objects.get(key="d/1").pk
    found = api(researcher=True).get(f"/api/v1/dialogues/{pk}/").json()
    assert [(one["id"], len(one["turns"])) for one in found["continuations"]] == [("self", 2), ("model-x", 1)]


def test_a_split_is_drawn_and_listed(corpus: Corpus) -> None:
    client = api(researcher=True)
    drawn = client.post("/api/v1/corpora/c/splits/", {"seed": 3, "test_share": 0.34}, format="json")
    assert (drawn.status_code, drawn.json()["dev"], drawn.json()["test"]) == (201, 2, 1)
    assert client.post("/api/v1/corpora/c/splits/", {"test_share": 1}, format="json").status_code == 400
    assert [one["seed"] for one in client.get("/api/v1/corpora/c/splits/").json()] == [3]


@pytest.mark.exhaustive
def test_only_an_administrator_deletes_and_only_by_name(corpus: Corpus) -> None:
    confirmed = {"confirmation": "c"}
    refused = api(researcher=True).delete("/api/v1/corpora/c/", confirmed, format="json")
    assert refused.status_code == 403
    boss = api(administrator=True)
    assert boss.delete("/api/v1/corpora/c/", {"confirmation": "x"}, format="json").status_code == 400
    assert boss.delete("/api/v1/corpora/c/", {}, format="json").status_code == 400
    done = boss.delete("/api/v1/corpora/c/", confirmed, format="json")
    assert (done.status_code, done.json()["deleted"]["annotation_dialogue"]) == (200, 3)
    assert not Corpus.objects.exists()


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_a_larger_file_is_left_to_a_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotation.api.corpora.AT_ONCE", 10)
    client = api(researcher=True)
    answer = send(client, line(labels=[label()]), name="new", licence="CC0")
    assert answer.status_code == 202
    work_off()
    job = client.get(f"/api/v1/jobs/{answer.json()['job']}/").json()
    assert (job["state"], job["result"]["labels"], job["result"]["created"]) == ("done", 1, True)
    assert Corpus.objects.get(name="new").licence == "CC0"


@pytest.mark.exhaustive
def test_the_document_says_how_a_file_is_refused() -> None:
    client = api(researcher=True)
    document = client.get("/api/v1/schema/?format=json").json()
    told = document["paths"]["/api/v1/imports/"]["post"]["responses"]["400"]["content"]["application/json"]
    wrong = line(turns=[{"speaker": 1, "text": "x"}])
    one, several = (
        send(client, wrong, name="x"),
        send(client, wrong, line("d2", turns=[{"speaker": 2}]), name="x"),
    )
    assert len(several.json()["problems"]) == 2
    refused = told["schema"]
    assert sorted(refused["required"]) == ["code", "detail"]
    assert refused["properties"]["problems"]["items"]["properties"].keys() < one.json().keys()
    assert several.json().keys() == refused["properties"].keys() - {"fields", "readings"}
    assert send(client, line()).json().keys() <= {"detail", "code", "fields"}


def preview(client: APIClient, content: str, **fields: Any) -> Any:
    file = SimpleUploadedFile("f.jsonl", content.encode())
    return client.post("/api/v1/imports/preview/", {"file": file, **fields})


def test_a_preview_has_the_first_records_as_stored_and_stores_nothing() -> None:
    labels = [label(4, rater="ann"), label(None, rater="bo", kind="judge", missing="unclear")]
    content = json.dumps(line(labels=labels)) + "\n"
    answer = preview(api(researcher=True), content, rated="A")
    assert answer.status_code == 200, answer.content
    told = answer.json()
    assert (told["format"], told["is_complete"], told["problems"]) == ("jsonl", True, [])
    assert told["counts"] == {"dialogues": 1, "turns": 2, "labels": 2}
    assert (told["speakers"], told["raters"]) == ({"A": True, "B": False}, {"ann": "human", "bo": "judge"})
    [dialogue] = told["dialogues"]
    assert dialogue["turns"][1] == {"speaker": "B", "text": "Hi", "given": True}
    again = send(api(researcher=True), dialogue, name="again")
    assert (again.status_code, again.json()["labels"], again.json()["missing"]) == (201, 2, 1)
    assert not Upload.objects.exists()


def test_a_preview_lists_problems_with_their_lines() -> None:
    content = "\n".join(json.dumps(record) for record in (line(), {"id": "x", "turns": [{"speaker": 1}]}))
    told = preview(api(researcher=True), content).json()
    assert [(one["line"], one["field"]) for one in told["problems"]] == [(2, "turns[0].speaker")]
    assert told["counts"]["dialogues"] == 1


def test_only_researchers_preview_files() -> None:
    for client, status in ((APIClient(), 401), (api(), 403)):
        assert preview(client, json.dumps(line())).status_code == status
    assert preview(api(researcher=True), "{}", format="xml").status_code == 400
