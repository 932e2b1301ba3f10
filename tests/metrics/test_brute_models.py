"""Metrics that learn from a corpus, against their formulas reimplemented as plain loops."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.mixture import GaussianMixture

from annotation.records import Continuation, Dialogue, Participant, Turn
from judges.metrics import Scene, Tools, instrument_for
from tests.metrics import oracle
from tests.metrics.helpers import WordCounts, tools
from tests.metrics.oracle import Said

SEEDS = range(40)
Mixture = list[float]


class FewDimensions(WordCounts):
    """So few that the BIC can afford several components."""

    DIMENSION = 5


class ByWord:
    """A topic model to which each word is a topic of its own."""

    def mixtures(self, texts: list[str]) -> np.ndarray:
        rows = [[text.split().count(word) for word in oracle.WORDS] for text in texts]
        return np.array([np.array(row) / max(sum(row), 1) for row in rows])


def theta(texts: list[str]) -> Mixture:
    """The mean of the texts' mixtures."""
    return [
        sum(text.split().count(w) / len(text.split()) for text in texts) / len(texts) for w in oracle.WORDS
    ]


def divergence(left: Mixture, right: Mixture) -> float:
    """Jensen-Shannon, in bits."""
    total = 0.0
    for p, q in zip(left, right, strict=True):
        for one in (p, q):
            if one:
                total += one * math.log2(one / ((p + q) / 2)) / 2
    return total


def scene(said: Said, name: str = "d", people: tuple[Participant, ...] = ()) -> Scene:
    turns = tuple(Turn(*one) for one in said)
    dialogue = Dialogue(name, turns, people)
    return Scene(dialogue, Continuation("self", "human", turns))


def value(key: str, said: Said, with_tools: Tools, fitted: object) -> float | None:
    from dataclasses import replace

    instrument = replace(instrument_for(key), fitted=fitted)
    return instrument.score(scene(said), len(said) - 1, with_tools).value


def alignment(said: Said) -> float | None:
    """Eq. 8."""
    *context, (who, _) = said
    own = [text for speaker, text in context if speaker == who]
    return 1 - math.sqrt(divergence(theta(own), theta([t for _, t in context]))) if own else None


def expansion(said: Said, step: int = 2, shift: float = 0.1, mass: float = 0.8) -> float | None:
    """Eq. 19 with both of its steps; a context that never shifts is stable as a whole."""
    texts = [text for _, text in said]
    context = texts[:-1]
    for size in range(step, len(context) - step + 1, step):
        if divergence(theta(context[-size:]), theta(context[-size - step :])) > shift:
            break
    else:
        size = len(context)
    if len(context) < 2 * step:
        return None
    main, held = set(), 0.0
    established = theta(context[-size:])
    for topic in sorted(range(len(established)), key=lambda t: (-established[t], t)):
        if held < mass - 1e-9:
            main.add(topic)
            held += established[topic]
    shown = theta(texts[-3:])
    return sum(share for topic, share in enumerate(shown) if topic not in main)


@pytest.mark.parametrize(("key", "formula"), [("ls_ta", alignment), ("tes", expansion)])
def test_topics_are_compared_as_the_paper_says(key: str, formula) -> None:
    with_tools, model, defined = tools(), ByWord(), 0
    for seed in SEEDS:
        said = oracle.conversation(seed, least=4, most=14)
        expected = formula(said)
        found = value(key, said, with_tools, model)
        assert (found is None) == (expected is None), said
        if expected is not None:
            assert found == pytest.approx(max(0.0, expected), abs=1e-6), said
            defined += 1
    assert defined > 15


ACTS = {"why?": "question", "thanks": "thanks", "lake": "statement"}


def transition(corpus: list[list[str]], context: list[str], act: str) -> float | None:
    """Add-0.1 over nine acts after the longest history, of up to four acts, that the corpus has."""
    for length in range(min(4, len(context)), -1, -1):
        history = context[len(context) - length :]
        followers = [
            acts[at]
            for acts in corpus
            for at in range(length, len(acts))
            if acts[at - length : at] == history
        ]
        if followers:
            return (followers.count(act) + 0.1) / (len(followers) + 0.9)
    return None


def test_act_transitions_are_counted_as_the_paper_says() -> None:
    draw = np.random.default_rng(0)
    talks = [[str(draw.choice(list(ACTS))) for _ in range(draw.integers(1, 9))] for _ in range(12)]
    scenes = [scene([("A", text) for text in talk], name=f"d{n}") for n, talk in enumerate(talks)]
    with_tools = tools()
    fitted = instrument_for("daf").fit([one.dialogue for one in scenes], with_tools)
    acts = [[ACTS[text] for text in talk] for talk in talks]
    for index, one in enumerate(scenes):
        others = acts[:index] + acts[index + 1 :]
        for turn in range(1, len(talks[index])):
            expected = transition(others, acts[index][:turn], acts[index][turn])
            assert fitted.score(one, turn, with_tools).value == pytest.approx(expected)


@pytest.mark.parametrize("key", ["gscc_dc_avg_multi", "gscc_dc_max_multi"])
@pytest.mark.parametrize("aug", [False, True])
def test_themes_are_the_means_of_the_mixture_with_the_least_bic(key: str, aug: bool) -> None:
    """Eq. 37-39: K from 1 to floor(sqrt n), each turn against its nearest mean."""
    said = [("Ana", text) for text in ("tea cake", "tea cake cake", "van lake", "road road van") * 6]
    with_tools = Tools(embed=FewDimensions())
    rows = with_tools.unit_texts([text for _, text in said])
    fits = [
        GaussianMixture(k, covariance_type="diag", reg_covar=1e-6, random_state=0).fit(rows)
        for k in range(1, math.isqrt(len(rows)) + 1)
    ]
    centres = min(fits, key=lambda one: one.bic(rows)).means_
    if aug:
        centres = 0.5 * centres + 0.5 * with_tools.unit_texts(["van"])
    centres = centres / np.linalg.norm(centres, axis=1, keepdims=True)
    best = [max(float(row @ centre) for centre in centres) for row in rows]
    expected = sum(best) / len(best) if "avg" in key else max(best)
    people = (Participant("Ana", profile=("van",)),)
    options = f"_aug:full_turns={2 * len(said)}" if aug else ""
    found = instrument_for(key + options).score(scene(said, people=people), None, with_tools)
    assert len(centres) > 1
    assert found.value == pytest.approx(expected, abs=1e-9)
