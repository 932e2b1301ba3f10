"""Export to Label Studio and import back give the same answers by the same raters."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as xml

import pytest

from annotation.corpora.import_file import import_path
from annotation.formats import FORMATS
from annotation.formats.corpus_format import guess, read_start
from annotation.models import Continuation, Corpus, Dialogue, Item, Label, Occasion, System, Turn
from annotation.work.labels import Answer, record
from calibration.exports import label_studio
from calibration.exports.downloads import ZIP, Order
from calibration.exports.parts import ExportPart
from calibration.exports.writing import MANIFEST
from tests.calibration.world import World, world

pytestmark = pytest.mark.django_db

TAGS = ("repetition", "off_topic", "unclear_intent")


def files(corpus: Corpus, kind: str = "label-studio", **choice: Any) -> dict[str, bytes]:
    """Return the files of a package of all of a corpus."""
    file = io.BytesIO()
    Order(kind, corpus, None, ExportPart(None, ""), ZIP, choice=choice).write(file)
    with zipfile.ZipFile(file) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def content(corpus: Corpus) -> list[tuple[Any, ...]]:
    """Return what all live labels of a corpus say, in an order that they alone decide."""
    labels = Label.objects.filter(item__corpus=corpus, superseded_at=None).select_related(
        "item__continuation__dialogue", "item__turn", "question__version__scheme", "rater"
    )
    return sorted(
        (
            label.item.key,
            label.question.version.scheme.key,
            label.question.key,
            label.rater.kind,
            label.rater.name,
            label.rater.identified,
            label.sample,
            label.occasion,
            repr(label.value),
            label.missing,
            label.explanation,
        )
        for label in labels
    )


@pytest.fixture(scope="module")
def rated(module_database: None) -> World:
    """Every kind of question, rater and answer, on own turns and on continuations with a history."""
    built = world("talks", dialogues=2, turns=3)
    system = System.objects.create(corpus=built.corpus, name='model, "x" <y>')
    for dialogue in Dialogue.objects.filter(corpus=built.corpus):
        dialogue.participants = [{"id": "A", "name": "Ana", "role": "", "profile": [], "aliases": []}]
        dialogue.participants += [{"id": "B", "name": "", "role": "host", "profile": [], "aliases": []}]
        dialogue.metadata = {"topic": "food 🙂"}
        dialogue.save()
        part = Continuation.objects.create(dialogue=dialogue, key="x/1", system=system, condition={"k": 5})
        turns = Turn.objects.bulk_create(
            Turn(continuation=part, position=p, speaker="AB"[p % 2], text=f"more {p} 🙂 漢", given=p == 0)
            for p in range(3)
        )
        built.turns += Item.objects.bulk_create(
            Item(corpus=built.corpus, kind="turn", continuation=part, turn=turn) for turn in turns[1:]
        )
        built.dialogues.append(Item.objects.create(corpus=built.corpus, kind="dialogue", continuation=part))
    built.ask("quality", "ordinal", [1, 2, 3, 4, 5], scheme="mixed")
    built.ask("warmth", "ordinal", [0, 1, 2], scheme="mixed", anchors={"0": "cold"})
    built.ask("act", "nominal", ["ask", "tell & <say>"], scheme="mixed")
    built.ask("note", "text", scheme="mixed")
    built.ask("overall", "ordinal", [1, 2, 3], item_kind="dialogue", scheme="whole")
    built.ask("likelihood", "interval", item_kind="dialogue", scheme="metric:likelihood")
    for key, group in zip(TAGS, ("Inconsistent", "Uncollaborative", "Uncollaborative"), strict=True):
        built.ask(key, "binary", [0, 1], scheme="tags", group=group, positive=1, wording=key.title())
    built.say("ann", "quality", [1.0, 2.0, None, 4.0, 5.0, 1.0, 2.0], occasion=Occasion.MAIN)
    explained = [(turn, "warmth", 1.0) for turn in built.turns[:3]] + [(built.turns[6], "repetition", 1.0)]
    record(
        rater=built.rater("eve"),
        answers=[
            Answer(item, built.questions[key], value, explanation="because, =1")
            for item, key, value in explained
        ],
        occasion=Occasion.IMPORTED,
    )
    built.say("ben", "act", ["ask", "tell & <say>"])
    built.say("ben", "note", ["=1+1", "two\nlines", "漢字 🙂"])
    built.say("ann", "overall", [1.0, 2.0, 3.0, 1.0])
    built.say("slot 1", "overall", [3.0, None], identified=False)
    built.say("answers", "overall", [2.0], kind="key")
    for sample in (0, 1):
        built.say("gpt", "overall", [1.0 + sample, 2.0], kind="judge", sample=sample)
    built.say("lm", "likelihood", [-1.5, 0.1], kind="metric")
    for number, key in enumerate(TAGS):
        built.say("ann", key, [float((turn + number) % 2) for turn in range(6 - number)])
        built.say("gpt", key, [0.0, None, 1.0], kind="judge")
    return built


def test_a_round_trip_gives_the_same_labels(rated: World, tmp_path: Path) -> None:
    tasks = tmp_path / "tasks.json"
    tasks.write_bytes(files(rated.corpus)["tasks.json"])
    assert guess(FORMATS, read_start(tasks)) == "label-studio"
    result = import_path(path=tasks, format="label-studio", corpus="copy", into=False, by=None)
    copy = Corpus.objects.get(name="copy")
    assert content(copy) == content(rated.corpus)
    assert result.labels == len(content(copy))
    for before in Dialogue.objects.filter(corpus=rated.corpus):
        after = copy.dialogues.get(key=before.key)
        assert (after.participants, after.metadata, after.cluster) == (
            before.participants,
            before.metadata,
            before.cluster,
        )
        for part in before.continuations.all():
            same = after.continuations.get(key=part.key)
            assert (same.system.name, same.condition) == (part.system.name, part.condition)
            rows = ("position", "speaker", "text", "given", "at", "extra")
            assert list(same.turns.values_list(*rows)) == list(part.turns.values_list(*rows))


@pytest.mark.exhaustive
def test_what_answers_point_at_goes_out_and_comes_back(tmp_path: Path) -> None:
    own = [{"continuation": "self", "turn": 0, "start": 2, "end": 10}]
    other = [{"continuation": "self", "turn": 1}, {"continuation": "m", "turn": 0, "start": 0, "end": 2}]
    scale = {"rater": "r", "question": "contradiction", "value": 1, "level": "binary", "values": [0, 1]}
    line = {
        "id": "e1",
        "turns": [{"speaker": "A", "text": "I like tea \U0001f4a9 so"}, {"speaker": "B", "text": "No tea."}],
        "continuations": [{"system": "m", "turns": [{"speaker": "A", "text": "No."}]}],
        "labels": [
            {**scale, "turn": 1, "evidence": own},
            {**scale, "continuation": "m", "turn": 0, "evidence": other},
            {"rater": "r", "turn": 1, "question": "why", "value": "so", "level": "text", "evidence": own},
        ],
    }  # fmt: skip
    path = tmp_path / "native.jsonl"
    path.write_text(json.dumps(line))
    import_path(path=path, format="jsonl", corpus="native", into=False, by=None)
    corpus = Corpus.objects.get(name="native")
    written = files(corpus)
    assert "evidence" in written["README.txt"].decode()
    (tmp_path / "tasks.json").write_bytes(written["tasks.json"])
    import_path(path=tmp_path / "tasks.json", format="label-studio", corpus="copy", into=False, by=None)
    kept = [
        list(
            Label.objects.filter(item__corpus__name=name)
            .order_by("item__continuation__key", "question__key")
            .values_list("question__key", "evidence")
        )
        for name in ("native", "copy")
    ]
    assert kept[0] == kept[1]
    assert all(evidence for _, evidence in kept[1])


def test_the_file_comes_back_into_its_own_corpus_unchanged(rated: World, tmp_path: Path) -> None:
    tasks = tmp_path / "tasks.json"
    tasks.write_bytes(files(rated.corpus)["tasks.json"])
    before = content(rated.corpus)
    result = import_path(path=tasks, format="label-studio", corpus="talks", into=True, by=None)
    assert (result.created, content(rated.corpus)) == (False, before)


def tasks(corpus: Corpus) -> dict[str, Any]:
    """Return the exported tasks by their items."""
    return {task["data"]["item"]: task for task in json.loads(files(corpus)["tasks.json"])}


def test_people_and_keys_are_annotations_judges_and_metrics_predictions(rated: World) -> None:
    task = tasks(rated.corpus)["d0/self"]
    people = {(one["completed_by"]["first_name"], one["ground_truth"]) for one in task["annotations"]}
    assert people == {("ann", False), ("ben", False), ("eve", False), ("slot 1", False), ("answers", True)}
    models = [(one["model_version"], one.get("score")) for one in task["predictions"]]
    assert models == [("gpt", None), ("gpt (sample 1)", None), ("lm", -1.5)]


def test_an_answer_about_a_turn_is_in_the_region_of_its_message(rated: World) -> None:
    task = tasks(rated.corpus)["d0/x/1"]
    messages = task["data"]["messages"]
    assert [message["author"] for message in messages] == ["Ana", "B", "Ana", "Ana", "B", "Ana"]
    (ann,) = [
        one
        for one in task["annotations"]
        if one["concord"]["rater"] == "ann" and one["concord"]["occasion"] == "main"
    ]
    for result in ann["result"]:
        place = result["value"]
        assert (result["to_name"], place["start"]) == ("dialogue", place["end"])
        text = messages[int(place["start"])]["text"]
        assert place["endOffset"] == len(text.encode("utf-16-le")) // 2 == len(text) + 1
    assert {result["from_name"] for result in ann["result"]} == {"turn", "quality"}


def test_tags_of_several_groups_are_a_taxonomy(rated: World) -> None:
    (task,) = [task for key, task in tasks(rated.corpus).items() if key == "d0/self"]
    chosen = [
        result["value"]["taxonomy"]
        for one in task["annotations"]
        if one["concord"]["rater"] == "ann"
        for result in one["result"]
        if result["type"] == "taxonomy"
    ]
    assert chosen[:2] == [
        [["Uncollaborative", "Off_Topic"]],
        [["Inconsistent", "Repetition"], ["Uncollaborative", "Unclear_Intent"]],
    ]


def test_the_configuration_has_every_control_that_the_tasks_use(rated: World) -> None:
    found = files(rated.corpus)
    view = xml.fromstring(found["config.xml"])
    names = {element.get("name"): element for element in view.iter() if element.get("name")}
    used = {
        (result["from_name"], result["type"])
        for task in json.loads(found["tasks.json"])
        for kind in ("annotations", "predictions")
        for one in task[kind]
        for result in one["result"]
    }
    assert {kind for _, kind in used} == {
        "paragraphlabels",
        "rating",
        "choices",
        "taxonomy",
        "textarea",
        "number",
    }
    for name, kind in used:
        assert names[name].tag.lower() == kind
        assert names[name].get("toName") == "dialogue"
    options = [choice.get("value") for choice in names["act"]]
    assert options == ["ask", "tell & <say>"]
    assert [choice.get("hint") for choice in names["warmth"]] == ["cold", None, None]
    assert (names["quality"].get("perRegion"), names["overall"].get("perRegion")) == ("true", None)
    assert names["dialogue"].get("value") == "$messages"


@pytest.mark.exhaustive
def test_many_tasks_come_in_files_that_an_import_can_read(
    rated: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(label_studio, "LARGEST", 3000)
    found = files(rated.corpus)
    names = [name for name in found if name.startswith("tasks") and name.endswith(".json")]
    parts = [name for name in names if not name.endswith(".manifest.json")]
    assert len(parts) > 1
    for name in parts:
        (tmp_path / name).write_bytes(found[name])
        into = Corpus.objects.filter(name="copy").exists()
        import_path(path=tmp_path / name, format="label-studio", corpus="copy", into=into, by=None)
    assert content(Corpus.objects.get(name="copy")) == content(rated.corpus)
    assert json.loads(found[MANIFEST])["rows"] == len(content(rated.corpus))
