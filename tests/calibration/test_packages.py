"""Packages for other tools: their content matches their manifest and the labels."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotation.corpora import splits
from annotation.corpora.import_file import import_path
from annotation.models import Corpus, Label, TestLook
from calibration.errors import ExportRefused
from calibration.exports import downloads
from calibration.exports.downloads import ZIP, Order
from calibration.exports.packages import PACKAGES
from calibration.exports.parts import ExportPart
from calibration.exports.writing import MANIFEST
from calibration.models import Export
from calibration.statistics import Plan, Record, ratings_from_records
from calibration.statistics.replacement import alternative_annotator_test
from calibration.studies import study_actions as studies
from jobs.models import Job
from tests.calibration.test_label_studio import files
from tests.calibration.world import World, world
from tests.factories import user

pytestmark = pytest.mark.django_db
Answers = dict[str, dict[str, Any]]


@pytest.fixture
def rated() -> World:
    """Twelve dialogues of four turns: three people and a judge with two samples; a nominal question, too."""
    built = world("talks", dialogues=12, turns=4, systems=("human", "m"))
    built.corpus.source, built.corpus.licence = "written here: [link](x) | cell", "CC-BY-4.0"
    built.corpus.save()
    built.ask("quality", "ordinal", [1, 2, 3, 4, 5])
    built.ask("act", "nominal", ["ask", "tell"])
    for shift, name in enumerate(("ann", "ben", "cem")):
        built.say(name, "quality", [float(1 + (n * 7 + shift * (n % 3)) % 5) for n in range(48)])
        built.say(name, "act", [("ask", "tell")[(n + shift * (n % 4 == 0)) % 2] for n in range(40)])
    for sample in (0, 1):
        built.say(
            "gpt",
            "quality",
            [float(1 + (n * 7 + sample) % 5) for n in range(46)],
            kind="judge",
            sample=sample,
        )
    built.say("gpt", "act", [("ask", "tell")[(n + (n % 5 == 0)) % 2] for n in range(48)], kind="judge")
    return built


@pytest.mark.parametrize("kind", PACKAGES)
def test_a_manifest_holds_the_rows_size_and_hash_of_each_file(rated: World, kind: str) -> None:
    found = files(rated.corpus, kind)
    told = json.loads(found.pop(MANIFEST))
    assert (told["package"], told["corpus"], told["part"]) == (kind, "talks", "all")
    for entry in told["files"]:
        content = found.pop(entry["name"])
        assert (entry["bytes"], entry["sha256"]) == (len(content), hashlib.sha256(content).hexdigest())
    assert found == {}
    assert told["rows"] > 0


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", PACKAGES)
def test_the_same_labels_give_the_same_bytes(rated: World, kind: str) -> None:
    written = []
    for _ in range(2):
        file = io.BytesIO()
        written.append(Order(kind, rated.corpus, None, ExportPart(None, ""), ZIP).write(file))
    assert written[0] == written[1]


@pytest.mark.parametrize("kind", PACKAGES)
def test_without_labels_there_is_no_package_but_a_reason(kind: str) -> None:
    empty = world(dialogues=1, turns=1)
    with pytest.raises(ExportRefused):
        Order(kind, empty.corpus, None, ExportPart(None, ""), ZIP).write(io.BytesIO())


@pytest.mark.exhaustive
def test_a_revised_answer_is_in_a_package_once_as_it_is_now(rated: World) -> None:
    before = json.loads(files(rated.corpus)[MANIFEST])["rows"]
    rated.say("ann", "quality", {rated.turns[0]: 5.0})
    found = files(rated.corpus)
    assert json.loads(found[MANIFEST])["rows"] == before == Label.objects.filter(superseded_at=None).count()


def test_a_dataset_has_the_configurations_splits_and_features_that_its_card_tells(rated: World) -> None:
    found = files(rated.corpus, "hugging-face")
    _, front, body = found["README.md"].decode().split("---\n", 2)
    card = yaml.safe_load(front)
    assert (card["license"], card["pretty_name"]) == ("cc-by-4.0", "talks")
    arrow = {"string": "string", "int64": "int64", "float64": "double", "bool": "bool"}
    for config, info in zip(card["configs"], card["dataset_info"], strict=True):
        (split,) = info["splits"]
        (data,) = config["data_files"]
        content = found[data["path"]]
        table = pq.read_table(io.BytesIO(content))
        assert (split["name"], split["num_examples"], split["num_bytes"]) == (
            "full",
            table.num_rows,
            len(content),
        )
        assert hashlib.sha256(content).hexdigest() in body
        assert [field["name"] for field in info["features"]] == table.column_names
        for feature in info["features"]:
            if "dtype" in feature:
                assert str(table.schema.field(feature["name"]).type) == arrow[feature["dtype"]]
    assert [config["config_name"] for config in card["configs"]] == ["labels", "dialogues"]
    assert "\\[link\\]" in body


def test_a_dataset_holds_the_labels_and_the_turns(rated: World) -> None:
    found = files(rated.corpus, "hugging-face")
    labels = pq.read_table(io.BytesIO(found["data/labels/full.parquet"])).to_pylist()
    assert len(labels) == Label.objects.count()
    dialogues = pq.read_table(io.BytesIO(found["data/dialogues/full.parquet"])).to_pylist()
    assert [row["dialogue"] for row in dialogues] == sorted(f"d{n}" for n in range(12))
    assert dialogues[0]["turns"][1] == {
        "index": 1,
        "number": 2,
        "speaker": "B",
        "text": "words 1",
        "given": False,
        "at": None,
    }


def test_both_splits_of_a_dataset_have_one_type_of_value(rated: World) -> None:
    split = splits.draw(corpus=rated.corpus, by=None, seed=1)
    file = io.BytesIO()
    Order("hugging-face", rated.corpus, None, ExportPart(split, "all"), ZIP).write(file)
    with zipfile.ZipFile(file) as archive:
        tables = [
            pq.read_table(io.BytesIO(archive.read(f"data/labels/{part}.parquet"))) for part in ("dev", "test")
        ]
    assert tables[0].schema.equals(tables[1].schema)
    assert {part for table in tables for part in table["part"].to_pylist()} == {"dev", "test"}
    for table, part in zip(tables, ("dev", "test"), strict=True):
        assert set(table["part"].to_pylist()) == {part}


def _tested(
    people: dict[str, dict[str, Any]], judges: dict[str, dict[str, Any]], level: Any
) -> dict[str, float | None]:
    """Run the alternative annotator test over dictionaries."""
    records = [
        Record(item, who, value, kind="human") for who, mine in people.items() for item, value in mine.items()
    ]
    (name,) = judges
    records += [Record(item, name, value, kind="judge") for item, value in judges[name].items()]
    ratings = ratings_from_records(records, level=level)
    found = alternative_annotator_test(
        ratings, ratings.column(name), ratings.of_kind("human"), plan=Plan(resamples=20)
    )
    figures = (found.winning_rate, found.advantage)
    return {figure.name: figure.value for figure in figures}


@pytest.mark.exhaustive
def test_the_test_over_exported_dictionaries_is_that_of_a_study(rated: World) -> None:
    found = files(rated.corpus, "alt-test")
    index = {entry["question"]: entry for entry in json.loads(found["questions.json"])}
    assert set(index) == {"quality@1/quality", "act@1/act"}
    study = studies.automatic(corpus=rated.corpus)
    report = studies.compute(study=study, part="all", by=None)
    for question in report.result["questions"]:
        folder = index[question["ref"]]["folder"]
        people, judges = (json.loads(found[f"{folder}/{who}_annotations.json"]) for who in ("human", "llm"))
        computed = _tested(people, judges, question["level"])
        reported = {entry["name"]: entry["value"] for entry in question["replacement"]}
        assert reported == pytest.approx(computed, abs=1e-12)
        assert 0 < (computed["alt_test_advantage"] or 0) < 1


def test_one_question_can_be_asked_for(rated: World) -> None:
    found = files(rated.corpus, "alt-test", questions=["act@1/act"])
    assert [entry["question"] for entry in json.loads(found["questions.json"])] == ["act@1/act"]
    with pytest.raises(ExportRefused, match="there are act@1/act, quality@1/quality"):
        files(rated.corpus, "alt-test", questions=["nobody@1/asked"])


def test_anonymous_slots_are_not_taken_for_people_who_are_known() -> None:
    built = world(dialogues=2, turns=2)
    built.ask("quality", "ordinal", [1, 2, 3])
    for slot in ("slot 1", "slot 2", "slot 3"):
        built.say(slot, "quality", [1.0, 2.0, 3.0, 1.0], identified=False)
    built.say("gpt", "quality", [1.0, 2.0, 3.0, 1.0], kind="judge")
    with pytest.raises(ExportRefused, match="fewer than 2 people who are known"):
        files(built.corpus, "alt-test")


@pytest.mark.exhaustive
@pytest.mark.shared
@pytest.mark.parametrize("name", ["framing", "lesion"])
def test_published_dictionaries_come_back_as_they_are(shared_data: Path, tmp_path: Path, name: str) -> None:
    folder = shared_data / "alttest" / name
    people, judges = (
        json.loads((folder / f"{who}_annotations.json").read_text()) for who in ("human", "llm")
    )
    items = sorted({item for mine in [*people.values(), *judges.values()] for item in mine})[:400]
    keys = {item: f"i{number:05d}" for number, item in enumerate(items)}
    words = any(isinstance(value, str) for mine in people.values() for value in mine.values())
    path = tmp_path / "items.jsonl"
    with path.open("w") as file:
        for item, key in keys.items():
            labels = [
                {"rater": who, "kind": kind, "turn": 0, "question": "q", "value": mine[item]}
                for kind, answers in (("human", people), ("judge", judges))
                for who, mine in answers.items()
                if item in mine
            ]
            line = {"id": key, "turns": [{"speaker": "A", "text": "said"}], "labels": labels}
            file.write(json.dumps(line) + "\n")
    import_path(path=path, format="jsonl", corpus="published", into=False, by=None, scheme="own")
    found = files(Corpus.objects.get(), "alt-test")
    (entry,) = json.loads(found["questions.json"])
    assert entry["level"] == ("nominal" if words else "interval")
    for who, answers in (("human", people), ("llm", judges)):
        back = json.loads(found[f"{entry['folder']}/{who}_annotations.json"])
        assert back == {
            rater: {f"{keys[item]}/self/0": value for item, value in mine.items() if item in keys}
            for rater, mine in answers.items()
            if any(item in keys for item in mine)
        }


@pytest.fixture
def split(rated: World) -> Any:
    return splits.draw(corpus=rated.corpus, by=None, seed=3, test_share=0.5)


def _places(content: bytes, kind: str) -> set[str]:
    """Return the dialogues that a package's labels are about."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        if kind == "label-studio":
            tasks = json.loads(archive.read("tasks.json"))
            return {task["data"]["item"].split("/")[0] for task in tasks}
        if kind == "hugging-face":
            names = [name for name in archive.namelist() if name.endswith(".parquet")]
            tables = [pq.read_table(io.BytesIO(archive.read(name))) for name in names]
            return {dialogue for table in tables for dialogue in table["dialogue"].to_pylist()}
        names = [name for name in archive.namelist() if name.endswith("_annotations.json")]
        return {
            item.split("/")[0]
            for name in names
            for mine in json.loads(archive.read(name)).values()
            for item in mine
        }


def _asked(client: Client, rated: World, kind: str, api: bool) -> str:
    name = "api-export-package" if api else "export-package"
    return f"{reverse(name, args=[kind])}?corpus={rated.corpus.pk}"


@pytest.mark.exhaustive
@pytest.mark.parametrize("api", [False, True])
@pytest.mark.parametrize("kind", PACKAGES)
def test_test_is_taken_out_by_a_logged_look_alone(
    rated: World, split: Any, client: Client, kind: str, api: bool
) -> None:
    client.force_login(user(researcher=True))
    address = _asked(client, rated, kind, api)
    dev = b"".join(client.get(address))
    assert _places(dev, kind) == set(splits.clusters(split=split, part="dev"))
    assert not TestLook.objects.exists()
    body = {"corpus": rated.corpus.pk, "part": "test"}
    sent = {"content_type": "application/json"} if api else {}
    address = address.partition("?")[0] if api else address
    refused = client.post(address, body, **sent)
    assert (refused.status_code, TestLook.objects.count()) == (400 if api else 302, 0)
    answer = client.post(address, body | {"purpose": "the paper"}, **sent)
    assert _places(b"".join(answer), kind) == set(splits.clusters(split=split, part="test"))
    assert TestLook.objects.get().purpose == "export: the paper"
    export = Export.objects.latest("pk")
    assert (export.what, export.format, export.part) == (kind, "zip", "test")


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", PACKAGES)
def test_a_download_says_its_rows_and_hash_and_is_remembered(rated: World, client: Client, kind: str) -> None:
    client.force_login(user(researcher=True))
    answer = client.get(_asked(client, rated, kind, api=False))
    content = b"".join(answer)
    export = Export.objects.get()
    assert export.sha256 == hashlib.sha256(content).hexdigest()
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.testzip() is None
    assert answer.headers["Content-Length"] == str(len(content))
    assert answer.headers["Concord-Rows"] == str(export.rows)
    assert client.get(reverse("api-exports")).json()["results"][0]["what"] == kind
    page = client.get(reverse("exports"), {"corpus": rated.corpus.pk}).content.decode()
    assert export.sha256 in page


@pytest.mark.exhaustive
def test_a_large_package_is_written_by_a_job(
    rated: World, client: Client, monkeypatch: Any, tmp_path: Path, settings: Any
) -> None:
    settings.HOME = tmp_path
    client.force_login(user(researcher=True))
    whole = b"".join(client.get(_asked(client, rated, "label-studio", api=True)))
    monkeypatch.setattr(downloads, "AT_ONCE", 0)
    answer = client.get(_asked(client, rated, "label-studio", api=True))
    assert answer.status_code == 202
    job = Job.objects.get(pk=answer.json()["job"])
    result = downloads.run(job, lambda done, total: None)  # type: ignore[arg-type]
    assert result["sha256"] == hashlib.sha256(whole).hexdigest()


def test_a_package_of_nothing_is_refused_and_not_remembered(client: Client) -> None:
    empty = world("empty", dialogues=1, turns=1)
    client.force_login(user(researcher=True))
    refused = client.get(_asked(client, empty, "label-studio", api=True))
    assert (refused.status_code, "empty: there are no labels" in refused.json()["detail"]) == (400, True)
    assert not Export.objects.exists()


@pytest.mark.exhaustive
def test_parquet_of_labels_has_typed_columns_on_every_way(
    rated: World, client: Client, tmp_path: Path
) -> None:
    client.force_login(user(researcher=True))
    path = tmp_path / "labels.parquet"
    call_command("export_labels", corpus="talks", format="parquet", output=str(path))
    query = {"corpus": rated.corpus.pk}
    sent = [
        b"".join(client.get(reverse(n, args=["parquet"]), query))
        for n in ("export-labels", "api-export-labels")
    ]
    assert sent == [path.read_bytes()] * 2
    schema = pq.read_schema(path)
    types = {
        "turn": "int64",
        "turn_number": "int64",
        "sample": "int64",
        "identified": "bool",
        "rater": "string",
    }
    assert {name: str(schema.field(name).type) for name in types} == types
    manifest = json.loads((tmp_path / "labels.parquet.manifest.json").read_text())
    hashed = hashlib.sha256(sent[0]).hexdigest()
    assert [manifest["sha256"], *Export.objects.values_list("sha256", flat=True)] == [hashed] * 3
