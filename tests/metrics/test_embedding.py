"""Embeddings: each distinct text once, the same digits in any batch, and caching."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from judges.metrics import Embedder, ModelMissing, Tools
from judges.metrics.kit.models import text_hash, torch_on_one_thread
from tests.metrics.helpers import WordCounts

TEXTS = ["Yes.", "Shall we meet on Monday?", "是的", "ok", "The van takes six tables to the lake. " * 30]


class Shelf:
    """A store in memory that counts what is asked of it."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], bytes] = {}

    def load(self, model: str, hashes: Sequence[str]) -> Mapping[str, bytes]:
        return {key: self.kept[model, key] for key in hashes if (model, key) in self.kept}

    def save(self, model: str, vectors: Mapping[str, bytes]) -> None:
        self.kept |= {(model, key): vector for key, vector in vectors.items()}


def fresh(minilm: Tools) -> Embedder:
    """An embedder that knows no text yet, with the model that is loaded already."""
    embed = Embedder()
    embed._model = minilm.embed._loaded()
    return embed


@pytest.mark.exhaustive
@pytest.mark.embedding
@pytest.mark.parametrize("length", [1, 2, 3, 5, 9])
def test_a_vector_does_not_depend_on_the_texts_beside_it(minilm: Tools, length: int) -> None:
    """Short texts above all: libraries multiply few rows by another routine than many."""
    words = ["tea", "cake", "van", "lake", "road", "bread", "milk", "dog"]
    texts = [" ".join([word, *words[:length]][:length]) for word in words]
    together = fresh(minilm)(texts)
    for index, text in enumerate(texts):
        assert np.array_equal(fresh(minilm)([text])[0], together[index])
    for count in (2, 3, 5, 7):
        assert np.array_equal(fresh(minilm)(texts[:count]), together[:count])
    assert np.array_equal(fresh(minilm)(texts[::-1]), together[::-1])


@pytest.mark.embedding
def test_a_vector_does_not_depend_on_the_copy_of_the_model(minilm: Tools) -> None:
    assert np.array_equal(Embedder()(TEXTS[::-1]), fresh(minilm)(TEXTS)[::-1])


def test_threads_are_restored_by_the_last_of_several_callers() -> None:
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(2)
    outer, inner = torch_on_one_thread(), torch_on_one_thread()
    outer.__enter__()
    inner.__enter__()
    outer.__exit__(None, None, None)
    assert torch.get_num_threads() == 1
    inner.__exit__(None, None, None)
    assert torch.get_num_threads() == 2
    torch.set_num_threads(before)


@pytest.mark.embedding
def test_vectors_are_those_of_sentence_transformers(minilm: Tools) -> None:
    made = minilm.embed(TEXTS)
    bare = minilm.embed._model.encode(TEXTS, batch_size=32)
    assert made.dtype == np.float32
    assert np.abs(made - bare).max() < 1e-6


def test_each_distinct_text_is_embedded_once() -> None:
    embed = WordCounts()
    embed(["a", "b", "a"])
    embed.prepare(["b", "c", "c"])
    embed(["c", "a"])
    assert embed.computed == 3


def test_what_a_store_has_is_not_computed_again() -> None:
    shelf, first = Shelf(), WordCounts()
    first.store = shelf
    before = first(["tea and cake", "milk"])
    second = WordCounts()
    second.store = shelf
    assert np.array_equal(second(["milk", "tea and cake"]), before[::-1])
    assert (second.computed, len(shelf.kept)) == (0, 2)
    assert ("word counts", text_hash("milk")) in shelf.kept


def test_memory_holds_a_bounded_number_of_vectors() -> None:
    embed = WordCounts()
    embed.cache_size = 100
    for start in range(0, 1000, 50):
        embed([f"text {number}" for number in range(start, start + 50)])
        assert len(embed._vectors) <= 150


def test_no_texts_give_no_rows() -> None:
    assert len(WordCounts()([])) == 0


def test_an_absent_model_is_named_in_one_line(tmp_path) -> None:
    with pytest.raises(ModelMissing, match=r"the embedding model .* is not on this machine") as caught:
        Embedder(str(tmp_path / "absent"))(["a"])
    assert "\n" not in str(caught.value)


def test_torch_is_not_loaded_before_it_is_needed() -> None:
    code = (
        "import sys, judges.metrics, judges.runs.scoring; "
        "judges.metrics.instrument_for('pd'); "
        "heavy = {'torch', 'transformers', 'sentence_transformers', 'sklearn', 'nltk', 'django'}; "
        "sys.exit(','.join(heavy & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
