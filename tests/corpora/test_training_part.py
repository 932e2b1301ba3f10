"""Training dialogues of a benchmark are out of every selection that does not name them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse

from annotation.corpora import clusters, splits
from annotation.corpora.parts import part_in, sizes
from annotation.labels import counts
from annotation.models import Corpus, Dialogue, Item, LabelCount
from tests import factories
from tests.corpora.test_api import api, get
from tests.importing.helpers import continuation, imported, label, line, written

pytestmark = pytest.mark.django_db

PARTS = {"e1": "evaluation", "e2": "evaluation", "e3": "evaluation", "t1": "train", "t2": "train"}
EVALUATION, TRAINING = ["e1", "e2", "e3"], ["t1", "t2"]
SCORES = {"e1": (4, 4), "e2": (2, 3), "e3": (5, 4), "t1": (1, 5), "t2": (5, 1)}


@pytest.fixture
def bench(tmp_path: Path) -> Corpus:
    """A benchmark of three dialogues for evaluation and two for training, rated by two people and a judge."""
    lines = [_line(key, part) for key, part in PARTS.items()]
    imported(written(tmp_path, *lines), "bench")
    return Corpus.objects.get(name="bench")


def _line(key: str, part: str) -> dict[str, Any]:
    ann, ben = SCORES[key]
    place = {"continuation": "model-x"}
    labels = [
        label(ann, rater="ann", kind="human", **place),
        label(ben, rater="ben", kind="human", **place),
        label(ben, rater="gpt", kind="judge", **place),
    ]
    said = [continuation("human", "Well"), continuation("model-x", "So"), continuation("model-y", "Oh")]
    return line(key, metadata={"part": part, "goal": "meet"}, continuations=said, labels=labels)


def test_the_part_comes_from_the_metadata_which_stay_as_they_were(bench: Corpus) -> None:
    stored = {row.key: (row.part, row.metadata) for row in bench.dialogues.all()}
    assert stored == {
        key: ("training" if part == "train" else part, {"part": part, "goal": "meet"})
        for key, part in PARTS.items()
    }
    assert sizes(bench) == {"training": 2, "evaluation": 3}
    words = {"train": "training", " Training ": "training", "EVALUATION": "evaluation"}
    assert {word: part_in({"part": word}) for word in words} == words
    assert [part_in(metadata) for metadata in ({}, {"part": "dev"}, {"part": 1}, {"part": None})] == [""] * 4


def test_items_know_that_they_are_of_training(bench: Corpus) -> None:
    of_training = Item.objects.filter(corpus=bench, training=True)
    assert set(of_training.values_list("continuation__dialogue__key", flat=True)) == set(TRAINING)
    assert of_training.count() * 3 == Item.objects.filter(corpus=bench, training=False).count() * 2
    with pytest.raises(IntegrityError, match="in training"), transaction.atomic():
        of_training.update(training=False)


def test_a_part_is_the_one_that_the_dialogue_came_with(bench: Corpus) -> None:
    with pytest.raises(IntegrityError, match="the one that it came with"), transaction.atomic():
        Dialogue.objects.filter(corpus=bench, key="t1").update(part="")


def test_no_other_part_is_stored() -> None:
    with pytest.raises(IntegrityError, match="dialogue_part_known"), transaction.atomic():
        factories.dialogue(factories.corpus(), part="practice")


def test_labels_are_counted_by_training(bench: Corpus) -> None:
    rows = LabelCount.objects.filter(corpus=bench)
    assert [counts.total(rows.filter(training=training)).n for training in (False, True)] == [9, 6]
    assert counts.count(bench) == 15
    counts.compact()
    assert [counts.total(rows.filter(training=training)).n for training in (False, True)] == [9, 6]


def test_splits_are_drawn_of_what_is_not_training(bench: Corpus) -> None:
    assert clusters.of_corpus(bench) == set(EVALUATION)
    split = splits.draw(corpus=bench, by=None)
    assert set(split.clusters.values_list("cluster", flat=True)) == set(EVALUATION)


def test_the_part_stands_in_the_api(bench: Corpus) -> None:
    assert get("bench/")["parts"] == {"training": 2, "evaluation": 3}
    rows = get("bench/dialogues/")["results"]
    assert {row["key"]: row["part"] for row in rows} == {row.key: row.part for row in bench.dialogues.all()}
    assert [row["key"] for row in get("bench/dialogues/?part=training")["results"]] == TRAINING
    items = get("bench/items/?dialogue=t1")["results"] + get("bench/items/?dialogue=e1")["results"]
    assert {row["part"] for row in items if row["key"].startswith("t1/")} == {"training"}
    assert {row["part"] for row in items if row["key"].startswith("e1/")} == {"evaluation"}
    detail = api(researcher=True).get(f"/api/v1/dialogues/{bench.dialogues.get(key='t1').pk}/")
    assert detail.json()["part"] == "training"
    assert api(researcher=True).get("/api/v1/corpora/bench/dialogues/?part=practice").status_code == 400


def test_the_part_stands_on_the_pages(bench: Corpus, researcher: Client) -> None:
    page = researcher.get("/corpora/bench/").content.decode()
    assert "2 dialogues, left out unless named" in " ".join(page.split())
    assert page.count("<td>training</td>") == 2
    pk = bench.dialogues.get(key="t1").pk
    assert "<dt>Part</dt><dd>training</dd>" in researcher.get(reverse("dialogue", args=[pk])).content.decode()


def test_a_corpus_without_parts_shows_none(corpus: Corpus, researcher: Client) -> None:
    assert get("c/")["parts"] == {}
    page = researcher.get("/corpora/c/").content.decode()
    assert "In training" not in page
    assert ">Part<" not in page
