"""The Scenarios page, the editor, the API and the command, from a script to a stored scenario and back."""

from __future__ import annotations

import json
from copy import deepcopy
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotation.formats.jsonl import dialogue
from annotation.models import Corpus, Dialogue
from suites.group_chat import editing
from suites.group_chat.editing import STARTER, native, record_of, state_of, text_of
from tests import factories
from tests.suites.group_chat.scripts import LAUNCH

pytestmark = pytest.mark.django_db
START = STARTER.format(id="one")


@pytest.fixture
def rosa() -> Client:
    client = Client()
    client.force_login(factories.user("rosa", researcher=True))
    return client


@pytest.fixture
def corpus() -> Corpus:
    return factories.corpus("chats")


@pytest.fixture
def stored(corpus: Corpus) -> Dialogue:
    return editing.save(corpus=corpus, record=dialogue(deepcopy(LAUNCH)), by=None).dialogue


def page(client: Client, name: str, *args: Any) -> str:
    return client.get(reverse(name, args=args)).content.decode()


def put(client: Client, address: str, told: dict[str, Any]) -> Any:
    return client.put(address, told, content_type="application/json")


def test_the_page_counts_probes_and_names_those_without_a_control(
    rosa: Client, corpus: Corpus, stored: Dialogue
) -> None:
    shown = page(rosa, "scenarios", corpus.pk)
    assert "launch-07" in shown
    assert "family launch" in shown
    assert "No control: overheard, secret" in shown
    assert "The oracle has competence 1 at every point" in shown
    assert "author's key" in shown


def test_a_corpus_without_scenarios_says_what_to_do(rosa: Client, corpus: Corpus) -> None:
    assert "No scenario yet" in page(rosa, "scenarios", corpus.pk)
    assert reverse("scenarios", args=[corpus.pk]) not in page(rosa, "corpus", corpus.name)
    assert reverse("scenarios", args=[corpus.pk]) in page(rosa, "corpus-settings", corpus.name)


def test_the_page_shows_what_the_oracle_gets_wrong(rosa: Client, corpus: Corpus, stored: Dialogue) -> None:
    assert stored.scenario is not None
    stored.scenario["probes"][1]["key"]["must"] = ["June"]
    stored.scenario["probes"][1]["key"]["example"] = "Nobody knows."
    stored.save()
    shown = page(rosa, "scenarios", corpus.pk)
    assert "turn 4, field probes[1].key: the example lacks &#x27;June&#x27;" in shown


def test_a_scenario_is_written_checked_marked_and_saved(rosa: Client, corpus: Corpus) -> None:
    address = reverse("new-scenario", args=[corpus.pk])
    assert "The oracle scores everything right" in page(rosa, "new-scenario", corpus.pk)
    wrong = rosa.post(address, {"text": START.replace("Sam (to Kit)", "Sim (to Kit)"), "do": "save"})
    assert wrong.status_code == 422
    assert "line 14" in wrong.content.decode()
    assert "Sim (to Kit): Kit, is the hall free on Friday?" in wrong.content.decode()
    marked = rosa.post(
        address, {"text": START, "do": "mark", "kind": "buried_mention", "points": "2", "control": "on"}
    )
    text = marked.context["draft"].text
    assert "point p2" in text
    assert "control: true" in text
    assert marked.context["draft"].problem is None
    taken = rosa.post(address, {"text": text, "do": "unmark", "probe": "p2"})
    assert "p2" not in taken.context["draft"].text
    saved = rosa.post(address, {"text": text, "do": "save"})
    made = Dialogue.objects.get(key="scenario-1" if "scenario-1" in text else "one")
    assert saved.headers["Location"] == reverse("scenario", args=[corpus.pk, made.pk])
    assert record_of(made).scenario is not None


@pytest.mark.parametrize(
    ("do", "told", "problem"),
    [
        ("mark", {"points": "x", "kind": "secret"}, "is no number of a turn"),
        ("mark", {"points": "9", "kind": "secret"}, "name turns from 0 to 2"),
        ("mark", {"points": "", "kind": "secret"}, "name turns from 0 to 2"),
        ("mark", {"points": "1", "kind": "none"}, "there is no kind of probe"),
    ],
)
def test_what_cannot_be_marked_is_told(
    rosa: Client, corpus: Corpus, do: str, told: dict[str, str], problem: str
) -> None:
    answer = rosa.post(reverse("new-scenario", args=[corpus.pk]), {"text": START, "do": do, **told})
    assert answer.status_code == 422
    assert problem in answer.content.decode()
    assert answer.context["draft"].text == START


def test_the_editor_shows_who_sees_what(rosa: Client, corpus: Corpus, stored: Dialogue) -> None:
    address = reverse("scenario", args=[corpus.pk, stored.pk])
    whole = rosa.get(address).content.decode()
    assert "seen by Mia, Kit; not by Ole, Sam" in whole
    assert "(private: Mia to Kit)" in whole
    checked = {"text": text_of(record_of(stored)), "do": "check", "viewer": "ole", "until": "3"}
    part = rosa.post(address, checked, headers={"HX-Request": "true"}).content.decode()
    assert "Between us" not in part
    assert "The deck is at version 3." in part
    assert "who will run the fair" not in part
    assert "<html" not in part


def test_who_sees_what_is_shown_while_keys_are_wrong(rosa: Client, corpus: Corpus) -> None:
    address = reverse("new-scenario", args=[corpus.pk])
    told = {"text": START.replace("silence: 1}}", "silence: 2}}"), "do": "check"}
    part = rosa.post(address, told, headers={"HX-Request": "true"}).content.decode()
    assert "field probes[0].key.speak.silence: must be a score from 0 to 1" in part
    assert "seen by all" in part
    assert "oracle:" not in part


def test_as_json_and_back(rosa: Client, corpus: Corpus) -> None:
    address = reverse("new-scenario", args=[corpus.pk])
    told = rosa.post(address, {"text": START, "do": "other-form"}).context["draft"]
    assert told.as_json
    back = rosa.post(address, {"text": told.text, "do": "other-form"}).context["draft"]
    assert back.record == told.record
    assert not back.as_json


def test_a_copy_begins_with_another_id(rosa: Client, corpus: Corpus, stored: Dialogue) -> None:
    answer = rosa.get(reverse("new-scenario", args=[corpus.pk]), {"from": stored.pk})
    assert answer.context["draft"].record.id == "launch-07-copy"
    assert answer.context["draft"].record.cluster == "launch"


def test_a_second_save_is_told_of_the_first(rosa: Client, corpus: Corpus, stored: Dialogue) -> None:
    address = reverse("scenario", args=[corpus.pk, stored.pk])
    seen, text = state_of(record_of(stored)), text_of(record_of(stored))
    rosa.post(address, {"text": text.replace("version 3", "version 4"), "do": "save", "seen": seen})
    late = text.replace("the invoice", "the bill")
    told = rosa.post(address, {"text": late, "do": "save", "seen": seen})
    assert told.status_code == 422
    assert "somebody else saved this scenario meanwhile" in told.content.decode()
    again = rosa.post(address, {"text": late, "do": "save", "seen": told.context["seen"]})
    assert again.status_code == 302


@pytest.mark.exhaustive
def test_the_api_lists_checks_and_saves(rosa: Client, corpus: Corpus, stored: Dialogue) -> None:
    address = reverse("api-scenarios", args=[corpus.pk])
    told = rosa.get(address).json()
    assert (told["scenarios"], told["points"], told["probed"], told["count"]) == (1, 5, 3, 1)
    assert told["without_control"] == ["overheard", "secret"]
    assert told["results"][0]["problems"] == []
    checked = rosa.post(
        reverse("api-check-scenario"), {"text": START}, content_type="application/json"
    ).json()
    assert checked["native"]["id"] == "one"
    assert checked["turns"][2]["oracle"]["act"] == "message"
    refused = rosa.post(reverse("api-check-scenario"), {"text": "Ana: hi"}, content_type="application/json")
    assert refused.status_code == 400
    assert refused.json()["code"] == "import_refused"
    made = rosa.post(address, {"text": START}, content_type="application/json")
    assert (made.status_code, made.json()["became"]) == (201, "created")
    own = reverse("api-scenario", args=[corpus.pk, made.json()["id"]])
    one = rosa.get(own).json()
    assert one["script"] == made.json()["script"]
    changed = put(rosa, own, {"text": START.replace("tonight", "today"), "seen": one["state"]})
    assert (changed.status_code, changed.json()["became"]) == (200, "rewritten")
    late = put(rosa, own, {"text": START, "seen": one["state"]})
    assert late.status_code == 400
    as_native = json.dumps(native(dialogue(deepcopy(LAUNCH) | {"id": "two"})))
    assert rosa.post(address, {"text": as_native}, content_type="application/json").status_code == 201


def test_the_command_checks_files_and_a_corpus(tmp_path: Path, corpus: Corpus, stored: Dialogue) -> None:
    (tmp_path / "one.txt").write_text(START, encoding="utf-8")
    (tmp_path / "two.jsonl").write_text(json.dumps(LAUNCH) + "\n", encoding="utf-8")
    out = StringIO()
    call_command("check_scenarios", str(tmp_path), stdout=out)
    told = json.loads(out.getvalue().splitlines()[-1])
    assert (told["scenarios"], told["families"], told["problems"]) == (2, 2, [])
    assert (
        "overheard: 2 probes at 4 points, 0 controls at 0, in 2 scenarios of 2 families; no control"
        in out.getvalue()
    )
    out = StringIO()
    call_command("check_scenarios", str(tmp_path), "--write", "jsonl", stdout=out)
    assert [json.loads(line)["id"] for line in out.getvalue().splitlines()] == ["one", "launch-07"]
    out = StringIO()
    call_command("check_scenarios", "--corpus", "chats", "--write", "script", stdout=out)
    assert out.getvalue() == text_of(record_of(stored))


def test_the_command_fails_with_file_line_field_and_reason(tmp_path: Path) -> None:
    wrong = deepcopy(LAUNCH)
    wrong["probes"][0]["points"] = [4, 9]
    (tmp_path / "a.jsonl").write_text(json.dumps(LAUNCH) + "\n" + json.dumps(wrong | {"id": "b"}) + "\n")
    (tmp_path / "b.txt").write_text(START.replace("Sam (to", "Sim (to"))
    err = StringIO()
    with pytest.raises(CommandError, match="2 problems"):
        call_command("check_scenarios", str(tmp_path), stdout=StringIO(), stderr=err)
    assert "a.jsonl, line 2, field probes[0].points[1]: turn 9 is no point" in err.getvalue()
    assert "b.txt, line 14: 'Sim' is none of the participants" in err.getvalue()
    for arguments in (
        [],
        ["--corpus", "none"],
        [str(tmp_path / "gone.txt")],
        [str(tmp_path), "--corpus", "x"],
    ):
        with pytest.raises(CommandError):
            call_command("check_scenarios", *arguments, stdout=StringIO(), stderr=StringIO())
