"""The Python client can carry out a whole study."""

from __future__ import annotations

import json
import runpy
import shutil
from pathlib import Path
from typing import Any

import pytest

from annotation.people import accounts
from tests import factories
from tests.api.openapi import document

FOLDER = Path(__file__).resolve().parents[2] / "clients" / "python"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the client with the modules that `make client` writes from the API's document."""
    folder = tmp_path_factory.mktemp("client")
    shutil.copytree(FOLDER / "concord_client", folder / "concord_client")
    runpy.run_path(str(FOLDER / "generate.py"))["write"](document(), folder / "concord_client")
    return folder


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch, package: Path) -> None:
    """The client is a package of its own, and not installed here."""
    monkeypatch.syspath_prepend(str(package))


def of(server: Any, person: Any, **more: Any) -> Any:
    from concord_client import Concord

    key = accounts.make(person=person, name="client", scope="write", days=1).key
    return Concord(server.url, key, **more)


@pytest.mark.django_db(transaction=True)
def test_a_program_goes_from_a_file_to_a_report_and_takes_the_labels_out(live_server: Any) -> None:
    from concord_client import ConcordError

    rosa, ana = factories.user("rosa", researcher=True), factories.user("ana")
    lab, annotator = of(live_server, rosa), of(live_server, ana)
    lines = [
        {"id": f"d{number}", "turns": [{"speaker": "A", "text": "Hi"}, {"speaker": "B", "text": "Yes."}]}
        for number in range(3)
    ]
    file = ("talks.jsonl", "\n".join(json.dumps(line) for line in lines).encode())
    assert lab.imports_create({"file": file, "name": "talks"})["dialogues"] == 3
    assert [row["key"] for row in lab.corpora_dialogues_list("talks")] == ["d0", "d1", "d2"]
    made = lab.campaigns_create(
        {
            "name": "pilot",
            "corpus": "talks",
            "scheme": "comperdial_turn",
            "raters_per_item": 1,
            "annotators": ["ana"],
        }
    )
    with pytest.raises(ConcordError) as refused:
        annotator.work_next_create(made["id"] + 1)
    assert (refused.value.status, refused.value.code) == (404, "not_found")
    lab.campaigns_state_create(made["id"], {"verb": "open"})
    told = annotator.work_next_create(made["id"])
    while told["task"]:
        task = told["task"]
        answers = {str(item): {"overall": 1 + item % 5} for item in task["items"]}
        told = annotator.work_submit_create(made["id"], task["assignment"], {"answers": answers})
    assert lab.campaigns_retrieve(made["id"])["counts"]["submitted"] == 6
    study = lab.studies_create(
        {"name": "ours", "corpus": lab.corpora_retrieve("talks")["id"], "definition": {"resamples": 20}}
    )
    report = lab.studies_recompute_create(study["id"], {})
    assert report["result"]
    labels = lab.exports_labels_file_retrieve("jsonl", campaign=made["id"])
    assert len(labels.splitlines()) == 6
    with pytest.raises(ConcordError) as wrong:
        lab.campaigns_create({"name": "again", "corpus": "nothing", "scheme": "comperdial_turn"})
    assert "corpus" in wrong.value.fields


@pytest.mark.django_db(transaction=True)
def test_a_program_sends_the_files_of_a_data_set(live_server: Any) -> None:
    told = {"conversation_id": "c", "text": "A?", "speaker": "p", "meta": {}, "reply-to": None}
    files = {
        "utterances.jsonl": {"id": "1", **told},
        "conversations.json": {"c": {"meta": {"correct_ratio": 0.5}}},
        "speakers.json": {"p": {"meta": {}}},
    }
    first, *more = ((name, json.dumps(content).encode()) for name, content in files.items())
    lab = of(live_server, factories.user("rosa", researcher=True))
    made = lab.imports_create({"file": first, "more": more, "name": "chats", "format": "delidata"})
    assert (made["dialogues"], made["turns"]) == (1, 1)


def test_what_fails_in_passing_is_tried_again_under_one_key(monkeypatch: pytest.MonkeyPatch) -> None:
    import io
    import urllib.error
    import urllib.request
    from email.message import Message

    from concord_client import Concord, ConcordError, Unreachable, transport

    asked: list[Any] = []
    waits: list[float] = []

    def answer(request: Any, timeout: float) -> Any:
        asked.append(request)
        if len(asked) == 1:
            raise urllib.error.URLError("refused")
        headers = Message()
        headers["Retry-After"] = "7"
        raise urllib.error.HTTPError(
            request.full_url, 503 if len(asked) < 4 else 409, "x", headers, io.BytesIO(b'{"detail": "Busy."}')
        )

    monkeypatch.setattr(urllib.request, "urlopen", answer)
    monkeypatch.setattr(transport.time, "sleep", waits.append)
    client = Concord("https://concord.example", "t")
    with pytest.raises(ConcordError, match="Busy"):
        client.campaigns_create({"name": "x"})
    assert (len(asked), waits[1:]) == (4, [7.0, 7.0])
    assert len({one.get_header("Idempotency-key") for one in asked}) == 1
    monkeypatch.setattr(
        urllib.request, "urlopen", lambda *_, **__: (_ for _ in ()).throw(urllib.error.URLError("refused"))
    )
    waits.clear()
    with pytest.raises(Unreachable):
        client.account_tokens_create({"name": "x"})
    assert waits == []
