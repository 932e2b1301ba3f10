"""Conversations leave Concord and come back as the same, and reveal no account on the way."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation.corpora.import_file import import_path
from annotation.models import Corpus
from calibration.exports import downloads
from calibration.models import Export
from jobs.models import Job
from tests import factories
from tests.browser.working import work_off
from tests.suites.collecting.release_world import EXCLUDE, PASSED, world
from tests.suites.collecting.talking import chat_campaign, hold, meet

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def people() -> list[User]:
    return [factories.user(f"{name}.lastname@example.org") for name in ("ana", "ben", "cem")]


def client_of(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


def lines_of(corpus: Corpus, api: str = "", **query: Any) -> list[dict[str, Any]]:
    """Download the dialogues of a corpus, by their page or by the API."""
    client = client_of(factories.user(researcher=True))
    answer: Any = client.get(f"/{api}exports/dialogues.jsonl", {"corpus": corpus.pk, **query})
    assert answer.status_code == 200, answer.content
    return [json.loads(line) for line in b"".join(answer.streaming_content).decode().splitlines()]


def bring_back(folder: Path, lines: list[dict[str, Any]], name: str) -> Corpus:
    path = folder / f"{name}.jsonl"
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    import_path(path=path, name=path.name, format="jsonl", corpus=name, into=False, by=None)
    return Corpus.objects.get(name=name)


@pytest.mark.parametrize("api", ["", "api/v1/"])
def test_a_conversation_is_the_same_after_its_export_and_import(
    people: list[User], tmp_path: Path, api: str
) -> None:
    campaign = chat_campaign(people)
    hold(meet(campaign, *people[:2]), *people[:2])
    lines = lines_of(campaign.corpus, api)
    (held,) = [line for line in lines if "continuations" in line]
    (part,) = held["continuations"]
    assert (part["id"], part["system"], part["mode"]) == (f"chat-{campaign.pk}", "human", "rollout")
    assert [turn["text"] for turn in part["turns"]] == [f"turn {number}" for number in (1, 2, 3, 4)]
    times = [turn["time"] for turn in part["turns"]]
    assert times == sorted(times)
    assert all(times)
    names = [turn["extra"]["annotator"] for turn in part["turns"]]
    assert names[:2] == names[2:]
    assert len(set(names)) == 2
    assert held["participants"][0]["profile"]
    again = bring_back(tmp_path, lines, "again")
    assert lines_of(again, api) == lines


def test_a_file_of_conversations_names_nobody_and_another_corpus_uses_other_pseudonyms(
    people: list[User],
) -> None:
    campaign, other = chat_campaign(people), chat_campaign(people)
    hold(meet(campaign, *people[:2]), *people[:2])
    hold(meet(other, *people[:2]), *people[:2])
    texts = [json.dumps(lines_of(each.corpus)) for each in (campaign, other)]
    for text in texts:
        assert not any(part in text for part in ("lastname", "example.org", "ana.", "ben."))
    used = [
        {turn["extra"]["annotator"] for line in json.loads(text) for turn in turns_of(line)} for text in texts
    ]
    assert [len(names) for names in used] == [2, 2]
    assert not used[0] & used[1]
    assert used[0] == {factories.called(person, campaign) for person in people[:2]}


def turns_of(line: dict[str, Any]) -> list[dict[str, Any]]:
    return [turn for part in line.get("continuations", ()) for turn in part["turns"]]


def test_an_unfinished_conversation_and_what_did_not_pass_are_in_no_file(people: list[User]) -> None:
    campaign = chat_campaign(people)
    meet(campaign, *people[:2])
    assert not any("continuations" in line for line in lines_of(campaign.corpus))
    checked = world()
    assert [line["id"] for line in lines_of(checked.corpus, exclude=EXCLUDE)] == PASSED
    assert len(lines_of(checked.corpus)) == 5
    export = Export.objects.filter(what="dialogues", corpus=checked.corpus).earliest("pk")
    assert export.excluded is not None
    assert export.excluded["not_checked"] == 2
    client = client_of(checked.researcher)
    query = {"corpus": checked.corpus.pk, "exclude": "rudeness>=1"}
    assert client.get("/api/v1/exports/dialogues.jsonl", query).status_code == 400
    page = client.get("/exports/dialogues.jsonl", query, follow=True).content.decode()
    assert "Not downloaded: no question" in page
    assert client_of(people[0]).get("/exports/dialogues.jsonl", query).status_code == 403


def test_a_worker_writes_the_file_of_a_large_corpus(monkeypatch: pytest.MonkeyPatch) -> None:
    checked = world()
    whole = lines_of(checked.corpus)
    monkeypatch.setattr(downloads, "AT_ONCE", 5)
    client = client_of(checked.researcher)
    answer = client.get("/api/v1/exports/dialogues.jsonl", {"corpus": checked.corpus.pk})
    assert answer.status_code == 202
    work_off("jobs")
    written: Any = client.get(f"/exports/files/{Job.objects.get(kind='export').pk}/")
    assert [json.loads(line) for line in b"".join(written.streaming_content).splitlines()] == whole
