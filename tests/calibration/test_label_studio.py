"""Labels go to Label Studio and come back: the same answers by the same raters."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest

from annotation.formats import FORMATS
from annotation.formats.guessing import beginning, guess
from annotation.importing import import_path
from annotation.labels.recording import Answer, record
from annotation.models import Continuation, Corpus, Dialogue, Item, Label, Occasion, System, Turn
from calibration.exports.orders import ZIP, Order
from calibration.exports.parts import Taken
from tests.calibration.world import World, world

pytestmark = pytest.mark.django_db

TAGS = ("repetition", "off_topic", "unclear_intent")


def files(corpus: Corpus, kind: str = "label-studio", **choice: Any) -> dict[str, bytes]:
    """Return the files of a package of all of a corpus."""
    file = io.BytesIO()
    Order(kind, corpus, None, Taken(None, ""), ZIP, choice=choice).write(file)
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


@pytest.fixture
def rated() -> World:
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
    assert guess(FORMATS, beginning(tasks)) == "label-studio"
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


def test_the_file_comes_back_into_its_own_corpus_unchanged(rated: World, tmp_path: Path) -> None:
    tasks = tmp_path / "tasks.json"
    tasks.write_bytes(files(rated.corpus)["tasks.json"])
    before = content(rated.corpus)
    result = import_path(path=tasks, format="label-studio", corpus="talks", into=True, by=None)
    assert (result.created, content(rated.corpus)) == (False, before)
