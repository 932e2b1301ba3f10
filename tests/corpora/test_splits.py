"""Splits: drawn by cluster from a seed, fixed at first use, with test opened on purpose."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.db import IntegrityError, transaction

from annotation.corpora import splits
from annotation.errors import SplitRefused
from annotation.models import Corpus, SplitCluster, TestLook
from config.models import Event
from tests import factories
from tests.importing.helpers import imported, line, written


def test_the_part_of_a_cluster_follows_from_seed_and_name_alone() -> None:
    names = [f"c{number}" for number in range(40)]
    drawn = splits.choose(names, seed=3, test_share=0.25)
    assert splits.choose(reversed(names), seed=3, test_share=0.25) == drawn
    assert splits.choose(names, seed=4, test_share=0.25) != drawn
    assert sum(part == "test" for part in drawn.values()) == 10


@pytest.mark.parametrize("share", [0.01, 0.5, 0.99])
def test_no_part_of_two_clusters_is_empty(share: float) -> None:
    assert set(splits.choose(["a", "b"], seed=0, test_share=share).values()) == {"dev", "test"}


def corpus(tmp_path: Path, number: int = 10) -> Corpus:
    lines = [line(f"d{one}", cluster=f"c{one // 2}") for one in range(number)]
    imported(written(tmp_path, *lines))
    return Corpus.objects.get()


@pytest.mark.django_db
def test_dialogues_that_share_a_cluster_share_its_part(tmp_path: Path) -> None:
    split = splits.draw(corpus=corpus(tmp_path), by=None, test_share=0.4)
    assert SplitCluster.objects.filter(split=split).count() == 5
    assert splits.clusters(split=split, part="test") | splits.clusters(split=split, part="dev") == {
        f"c{number}" for number in range(5)
    }
    assert len(splits.clusters(split=split, part="test")) == 2


@pytest.mark.django_db
def test_a_split_is_drawn_again_until_it_is_used(tmp_path: Path) -> None:
    made = corpus(tmp_path)
    splits.draw(corpus=made, by=None)
    split = splits.draw(corpus=made, by=None, seed=1)
    splits.fix(split=split, by=None)
    splits.fix(split=split, by=None)
    assert Event.objects.filter(verb="fix split").count() == 1
    with pytest.raises(SplitRefused, match="it is fixed"):
        splits.draw(corpus=made, by=None, seed=2)
    with pytest.raises(IntegrityError), transaction.atomic():
        SplitCluster.objects.filter(split=split).update(part="dev")


@pytest.mark.django_db
def test_clusters_of_later_imports_join_a_fixed_split(tmp_path: Path) -> None:
    made = corpus(tmp_path)
    split = splits.draw(corpus=made, by=None)
    splits.fix(split=split, by=None)
    before = dict(split.clusters.values_list("cluster", "part"))
    imported(written(tmp_path, *[line(f"new{number}") for number in range(20)], name="b.jsonl"), into=True)
    after = dict(split.clusters.values_list("cluster", "part"))
    assert len(after) == 25
    assert before.items() <= after.items()
    for name in after.keys() - before.keys():
        assert after[name] == ("test" if splits.place(split.seed, name) < split.test_share else "dev")


@pytest.mark.django_db
def test_opening_test_needs_a_purpose_is_logged_and_fixes_the_split(tmp_path: Path) -> None:
    split = splits.draw(corpus=corpus(tmp_path), by=None)
    with pytest.raises(SplitRefused, match="say what"):
        splits.open_test(split=split, by=None, purpose="  ")
    person = factories.user(researcher=True)
    look = splits.open_test(split=split, by=person, purpose="final report")
    assert (look.by, look.purpose, TestLook.objects.count()) == (person, "final report", 1)
    assert split.fixed_at is not None


@pytest.mark.django_db
@pytest.mark.parametrize("share", [0, 1, -1, 2])
def test_a_share_outside_zero_and_one_is_refused(tmp_path: Path, share: float) -> None:
    with pytest.raises(SplitRefused, match="between 0 and 1"):
        splits.draw(corpus=corpus(tmp_path), by=None, test_share=share)


@pytest.mark.django_db
def test_one_cluster_cannot_be_split(tmp_path: Path) -> None:
    with pytest.raises(SplitRefused, match="fewer than two"):
        splits.draw(corpus=corpus(tmp_path, 1), by=None)
