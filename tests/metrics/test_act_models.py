"""DAF with models of whole sequences: a hidden Markov model by all state paths, a causal model by hand."""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from annotation.records import Dialogue
from judges.metrics import MetricError, ModelMissing, Tools, acts, instrument_for
from judges.metrics.acts import ACTS, FITTED_ON_ITSELF, Learned, Model, digest
from tests.metrics import models
from tests.metrics.helpers import reply, talk

ASK, TELL, THANK = "How is it?", "It is red.", "Thanks."
KNOWN = Model(
    np.array([0.7, 0.3]),
    np.array([[0.8, 0.2], [0.4, 0.6]]),
    np.array([[0.6, 0.3, 0.1], [0.1, 0.2, 0.7]]),
)
PLACES = {"question": 0, "statement": 1, "thanks": 2}


def by_paths(model: Model, before: list[int], symbol: int) -> float:
    """The sum over all state paths of before and symbol, over that of before alone."""

    def total(symbols: list[int]) -> float:
        paths = product(range(len(model.start)), repeat=len(symbols))
        return math.fsum(chance(path, symbols) for path in paths)

    def chance(path: tuple[int, ...], symbols: list[int]) -> float:
        found = model.start[path[0]] * model.emissions[path[0], symbols[0]]
        for at in range(1, len(path)):
            found *= model.transitions[path[at - 1], path[at]] * model.emissions[path[at], symbols[at]]
        return float(found)

    return total([*before, symbol]) / total(before)


@pytest.mark.parametrize("before", [[0], [1, 2], [2, 2, 0], [0, 1, 0, 2, 1, 0]])
@pytest.mark.parametrize("symbol", [0, 1, 2])
def test_a_next_act_is_the_sum_over_all_state_paths(before: list[int], symbol: int) -> None:
    chances = KNOWN.next_symbol(before)
    assert chances is not None
    assert chances[symbol] == pytest.approx(by_paths(KNOWN, before, symbol), abs=1e-12)
    assert chances.sum() == pytest.approx(1.0, abs=1e-12)


def test_daf_with_a_known_model_is_that_sum() -> None:
    scene = reply(f"A: {ASK}", f"B: {TELL}", f"A: {THANK}", f"B: {ASK}")
    instrument = instrument_for("daf@hmm")
    learned = instrument.fit([scene.dialogue], Tools())
    known = Learned(frozenset(), KNOWN, PLACES)
    object.__setattr__(learned, "fitted", known)
    found = learned.score(scene, 0, Tools())
    assert found.value == pytest.approx(by_paths(KNOWN, [0, 1, 2], 0), abs=1e-12)
    assert found.flags == ()


def drawn(seed: int, sequences: int = 150) -> list[list[int]]:
    draw = np.random.default_rng(seed)
    found = []
    for _ in range(sequences):
        state, one = draw.choice(2, p=KNOWN.start), []
        for _ in range(draw.integers(1, 15)):
            one.append(int(draw.choice(3, p=KNOWN.emissions[state])))
            state = draw.choice(2, p=KNOWN.transitions[state])
        found.append(one)
    return found


@pytest.mark.parametrize("seed", range(3))
def test_a_fitted_model_is_at_least_as_likely_as_the_one_that_made_the_data(seed: int) -> None:
    data = drawn(seed)
    fitted = acts.fit_with(data, 3, 2)
    assert fitted.log_likelihood(data) >= KNOWN.log_likelihood(data)
    for rows in (fitted.start[None], fitted.transitions, fitted.emissions):
        assert rows.sum(axis=1) == pytest.approx(1.0)


def test_likelihood_is_the_sum_over_all_state_paths_and_em_never_lowers_it() -> None:
    data = [[0, 1, 2], [2], [1, 1]]
    expected = 0.0
    for one in data:
        paths = product(range(2), repeat=len(one))
        total = 0.0
        for path in paths:
            chance = KNOWN.start[path[0]] * KNOWN.emissions[path[0], one[0]]
            for at in range(1, len(one)):
                chance *= KNOWN.transitions[path[at - 1], path[at]] * KNOWN.emissions[path[at], one[at]]
            total += chance
        expected += math.log(total)
    assert KNOWN.log_likelihood(data) == pytest.approx(expected, abs=1e-12)
    blocks = acts._blocks(drawn(7))
    model, before = KNOWN, -math.inf
    for _ in range(5):
        likelihood, counts = acts._expected(model, blocks)
        assert likelihood >= before - 1e-9
        model, before = acts._maximised(model, counts), likelihood


def test_the_number_of_states_is_that_with_the_least_bic_and_the_same_every_time() -> None:
    data = drawn(0)
    chosen = acts.fit(data, 3)
    n = sum(map(len, data))
    bics = {}
    for states in range(2, 7):
        model = acts.fit_with(data, 3, states)
        free = (states - 1) + states * (states - 1) + states * 2
        bics[states] = free * math.log(n) - 2 * model.log_likelihood(data)
    assert len(chosen.start) == min(bics, key=bics.__getitem__)
    assert np.array_equal(chosen.emissions, acts.fit(data, 3).emissions)


def corpus(n: int = 6) -> list[Dialogue]:
    return [talk(*[f"A: {ASK}", f"B: {TELL}"] * (n + 1), f"A: {THANK}").dialogue for n in range(1, n + 1)]


def test_a_value_about_a_dialogue_that_was_learned_from_is_flagged() -> None:
    scene = reply(f"A: {ASK}", f"B: {TELL}", f"A: {THANK}", f"B: {ASK}")
    own = instrument_for("daf@hmm").fit([*corpus(), scene.dialogue], Tools()).score(scene, 0, Tools())
    others = instrument_for("daf@hmm").fit(corpus(), Tools()).score(scene, 0, Tools())
    assert own.flags == (FITTED_ON_ITSELF,)
    assert others.flags == ()
    ngram = instrument_for("daf").fit([*corpus(), scene.dialogue], Tools()).score(scene, 0, Tools())
    assert ngram.flags == (), "the dialogue itself is left out"


def test_an_act_that_was_never_learned_has_no_chance_and_after_it_nothing_is_defined() -> None:
    learned = instrument_for("daf@hmm").fit([talk(f"A: {ASK}", f"B: {TELL}", f"A: {ASK}").dialogue], Tools())
    assert learned.score(reply(f"A: {ASK}", f"B: {THANK}"), 0, Tools()).value == 0.0
    reason = "the acts before never follow each other in what was learned from"
    assert learned.score(reply(f"A: {THANK}", f"B: {ASK}"), 0, Tools()).reason == reason
    with pytest.raises(MetricError, match="no turns to learn acts from"):
        instrument_for("daf@hmm").fit([Dialogue("d")], Tools())


def test_what_was_learned_from_is_in_the_identity() -> None:
    one, other = (instrument_for("daf@hmm").fit(corpus(n), Tools()) for n in (3, 4))
    assert one.spec(Tools())["fitted_on"] != other.spec(Tools())["fitted_on"]
    named = instrument_for("daf@hmm:learn_from=dev")
    assert named.spec(Tools())["parameters"]["learn_from"] == "dev"


@pytest.fixture(scope="module")
def acts_model(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("acts")
    return models.of_acts(folder / "model", ACTS, {"question": 0.4, "statement": 0.2})


def test_a_causal_model_s_chances_are_renormalised_over_the_acts(acts_model: str) -> None:
    scene = reply(f"A: {ASK}", f"B: {TELL}", f"A: {ASK}")
    found = instrument_for(f"daf@transformer:model={acts_model}").score(scene, 0, Tools())
    rest = 0.4 / (len(ACTS) - 2 + len(models.SPECIAL))
    within = 0.4 + 0.2 + rest * (len(ACTS) - 2)
    assert found.value == pytest.approx(0.4 / within, rel=1e-5)
    told = reply(f"A: {ASK}", f"B: {TELL}")
    other = instrument_for(f"daf@transformer:model={acts_model}").score(told, 0, Tools())
    assert other.value == pytest.approx(0.2 / within, rel=1e-5)


def test_a_causal_model_is_its_files_and_may_say_what_it_learned_from(acts_model: str) -> None:
    instrument = instrument_for(f"daf@transformer:model={acts_model}")
    assert not instrument.learns
    before = instrument.spec(Tools())["model_hash"]
    (Path(acts_model) / "config.json").write_text((Path(acts_model) / "config.json").read_text() + "\n")
    assert instrument.spec(Tools())["model_hash"] != before
    scene = reply(f"A: {ASK}", f"B: {TELL}")
    declared = instrument_for(f"daf@transformer:model={acts_model},learn_from=dev")
    assert declared.learns
    fitted = declared.fit([scene.dialogue], Tools())
    assert fitted.spec(Tools())["fitted_on"]
    assert fitted.score(scene, 0, Tools()).flags == (FITTED_ON_ITSELF,)
    assert instrument.score(scene, 0, Tools()).flags == ()


def test_a_model_without_a_token_for_an_act_and_no_folder_are_one_line_each(tmp_path: Path) -> None:
    name = models.causal(tmp_path / "words")
    with pytest.raises(MetricError, match="has no token for the act 'question'"):
        instrument_for(f"daf@transformer:model={name}").score(reply(f"A: {ASK}", f"B: {TELL}"), 0, Tools())
    with pytest.raises(ModelMissing, match="is no folder that holds a model"):
        instrument_for("daf@transformer").spec(Tools())


def test_the_same_turns_are_the_same_dialogue_under_any_id() -> None:
    turns = talk(f"A: {ASK}").dialogue.turns
    assert digest(turns) == digest(talk(f"A: {ASK}").dialogue.turns)
    assert digest(turns) != digest(talk(f"B: {ASK}").dialogue.turns)
