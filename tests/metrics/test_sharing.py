"""Data shared by a conversation's turns is computed once, and changes no score."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from annotation.records import Agenda, Continuation, Dialogue, Participant, Turn
from judges.metrics import Instrument, Scene, Tools, instrument_for
from judges.metrics.acts import ActModel
from judges.metrics.agendas import pair_sums
from judges.metrics.kit import tools as blocks
from judges.metrics.kit.models import one_thread
from judges.metrics.lexical import Neighbours
from judges.metrics.topics import Turns, documents, jensen_shannon
from tests.metrics.helpers import WordCounts, reply, score, tools

WORDS = (
    *("tea", "cake", "van", "lake", "road", "bread", "milk", "dog", "Ana", "@Bo", "Cy", "picnic", "weather"),
    *("茶", "我们"),
)
AGENDA = Agenda({"a": "tea cake bread", "b": "van road", "c": "lake dog"}, edges=(("a", "b"), ("b", "c")))
PEOPLE = (Participant("Ana", profile=("likes tea",)), Participant("Bo", profile=("likes dog",)))
LOCAL = (
    *("dnr", "dnr@reference", "ir", "ir@reference", "pf", "ls_es_avg", "ls_es_max", "ls_es_avg@reference"),
    *("ls_es_avg_aug", "ls_es_max_aug", "ls_ta", "info_cov:relevance=0.2", "info_gain:relevance=0.2"),
    *("ap:relevance=0.2", "lnr", "lnr_e", "lnr_e_w", "lnr_e_w@reference", "m_sns_avg", "m_sns_min"),
    *("m_sns_avg@reference", "daf", "tes", "lscc_es_avg", "lscc_es_max", "lscc_es_min", "lscc_es_aug"),
)


def said(count: int, seed: int = 0) -> tuple[Turn, ...]:
    """Return turns by three people, some without text."""
    rng = np.random.default_rng(seed)
    texts = (" ".join(rng.choice(WORDS, size=rng.integers(0, 5))) for _ in range(count))
    return tuple(Turn(str(rng.choice(["Ana", "Bo", "Cy"])), text) for text in texts)


def dialogue(turns: tuple[Turn, ...], *continuations: Continuation) -> Dialogue:
    return Dialogue("talk", turns, PEOPLE, continuations, agenda=AGENDA)


def whole(turns: tuple[Turn, ...]) -> Scene:
    found = dialogue(turns)
    return Scene(found, found.own())


def alone(turns: tuple[Turn, ...], index: int) -> Scene:
    """Return one turn as the only prediction after the turns before it."""
    last = Turn(turns[index].speaker, turns[index].text, at=index)
    predicted = Continuation("x", "x", (last,), mode="static")
    return Scene(dialogue(turns[:index], predicted), predicted)


def fitted(key: str, turns: tuple[Turn, ...], using: Tools) -> Instrument:
    other = Dialogue("other", said(30, 1), PEOPLE, agenda=AGENDA)
    return instrument_for(key).fit([dialogue(turns), other], using)


@pytest.mark.parametrize("window", [0, 5])
@pytest.mark.parametrize("key", LOCAL)
def test_a_turn_has_the_same_score_in_a_conversation_as_alone(
    key: str, window: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "NUMBERS", 200)  # few rows at a time, so that blocks follow each other
    turns, using = said(40), tools()
    instrument = fitted(f"{key},window={window}" if ":" in key else f"{key}:window={window}", turns, using)
    for index, together in instrument.scores(whole(turns), using):
        single = instrument.score(alone(turns, index), 0, using)
        assert together.reason == single.reason
        assert together.value == (None if single.value is None else pytest.approx(single.value, abs=1e-12))


@pytest.mark.parametrize("key", LOCAL)
def test_turns_may_be_scored_in_any_order(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "NUMBERS", 200)
    turns, using = said(40), tools()
    instrument, backwards = fitted(key, turns, using), whole(turns)
    forwards = dict(instrument.scores(whole(turns), using))
    assert {i: instrument.score(backwards, i, using) for i in reversed(forwards)} == forwards


def test_the_sum_over_pairs_grows_by_the_pairs_of_each_turn() -> None:
    rows = np.random.default_rng(0).normal(size=(6, 4))
    pairs = [sum(rows[i] @ rows[j] for j in range(k) for i in range(j)) for k in range(1, 7)]
    assert pair_sums(rows, range(6)) == pytest.approx(pairs, abs=1e-12)


@pytest.mark.parametrize(("distance", "near"), [(1e-9, True), (-1e-9, False), (0.1, True), (-0.1, False)])
def test_a_cosine_next_to_the_threshold_is_decided_in_double_precision(distance: float, near: bool) -> None:
    cosine = 0.7 + distance
    vectors = {"a": np.array([1.0, 0.0]), "b": np.array([cosine, np.sqrt(1 - cosine**2)])}
    found = Neighbours(["a", "b"], np.array([1]), lambda units: np.array([vectors[u] for u in units]), 0.7)
    assert found.before(1, 1) is near
    assert found.among(np.array([1]), np.array([0])).tolist() == [near]


def test_a_particle_in_a_message_counts_in_the_reference_variant() -> None:
    assert score("lnr_e_w@reference", reply("A: 茶", "B: 茶 的")).value > 0


@pytest.mark.parametrize("shift", [0.05, 0.1, 0.3])
def test_no_step_beyond_the_reach_moves_a_mean_mixture_by_the_shift(shift: float) -> None:
    rng = np.random.default_rng(0)
    rows = rng.dirichlet([0.02] * 5, size=200) * (rng.random((200, 1)) > 0.2)

    class Model:
        def mixtures(self, texts: list[str]) -> np.ndarray:
            return rows

    turns, context = Turns(whole(said(200)), Model()), list(range(200))
    beyond = range(turns.reach(context, 2, shift) - 1, 198)
    assert len(beyond) > 10
    moved = [jensen_shannon(turns.mixture(context[-k:]), turns.mixture(context[-k - 2 :])) for k in beyond]
    assert max(moved) <= shift


def test_a_dialogue_with_several_sequences_leaves_all_of_them_out() -> None:
    model = ActModel(2)
    model.learn("this", ["question", "statement"], 0)
    model.learn("this", ["question", "thanks"], 0)
    model.learn("other", ["question", "statement"], 0)
    assert model.probability("statement", ["question"], "this", 0.1, 2) == pytest.approx(1.1 / 1.2)
    assert model.probability("statement", ["question"], "other", 0.1, 2) == pytest.approx(1.1 / 2.2)


def test_libraries_compute_on_one_thread_and_then_as_before() -> None:
    import sklearn.utils._openmp_helpers  # noqa: F401
    from threadpoolctl import threadpool_info

    before = [pool["num_threads"] for pool in threadpool_info()]
    with one_thread():
        assert {pool["num_threads"] for pool in threadpool_info()} == {1}
    assert [pool["num_threads"] for pool in threadpool_info()] == before


@pytest.mark.exhaustive
@pytest.mark.parametrize("key", ["ls_es_avg", "m_sns_avg", "lscc_es_avg", "ls_es_avg_aug"])
def test_a_long_conversation_holds_no_square_matrix(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "NUMBERS", 20_000)
    monkeypatch.setattr(WordCounts, "DIMENSION", 16)
    scene, using = whole(said(1000)), tools()
    using.unit(scene)
    tracemalloc.start()
    for _ in instrument_for(key).scores(scene, using):
        pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1000 * 1000 * 8 / 4


def test_texts_used_lately_stay_when_old_ones_make_room() -> None:
    embed = WordCounts()
    embed.cache_size = 100
    for start in range(0, 1000, 50):
        embed.prepare(["always here", *(f"text {number}" for number in range(start, start + 50))])
        assert len(embed._vectors) <= 150
    assert embed.computed == 1001


def test_a_topic_model_of_a_large_corpus_takes_a_sample_that_hangs_on_the_corpus_alone() -> None:
    corpus = [Dialogue(f"d{number}", said(25, number)) for number in range(20)]
    every, some = documents(corpus), documents(corpus, most=30)
    assert len(every) > len(some) == 30
    assert some == documents(corpus[::-1], most=30)
    assert some == [text for text in every if text in some]
