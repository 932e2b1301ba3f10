"""Every figure of three digits or more worked out in the text of docs/metrics is computed here.

Figures in fenced blocks are checked by `test_docs` and `tests/docs`, figures on speed by the benchmarks.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from annotation.records import Participant
from judges.metrics import topics
from judges.metrics.acts import ActModel
from judges.metrics.topics import dominant
from tests.metrics import models
from tests.metrics.helpers import answer, reply, score, talk
from tests.metrics.oracle import near
from tests.metrics.test_docs import SECTIONS

FENCED = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
FIGURE = re.compile(r"(?<![\w.])\d+\.\d{3,}\b")
GIVEN = {
    "turn-taking.md#concentration-sc-gini": {"0.031"},
    "agenda.md#progression-pd-hmp": {"0.000001"},
}
"""Figures that are measured, or a parameter's default, and not worked out."""
Figures = Callable[[Path], list[float]]


def acts(folder: Path) -> list[float]:
    model = ActModel(4)
    for act in ("statement", "statement", "statement", "question"):
        model.learn("other", ["question", act], 1)
    return [model.probability("statement", ["question"], "this", 0.1, 9) or 0.0]


def coverage(folder: Path) -> list[float]:
    """InfoCov by its two factors, of three turns about one item and of two about the other."""
    distances = 1 - np.array([near("tea cake", "tea"), near("tea cake", "cake"), near("tea", "cake")])
    grown = [1 - math.exp(-3 / 5), 1 - math.exp(-2 / 5)]
    second = grown[1] * (1 - near("van lake", "van"))
    return [*(1 - distances), distances.mean(), grown[0], distances.mean() * grown[0], second]


def spreads(folder: Path) -> list[float]:
    details = score("sc_gini", talk("Ana: tea", "Bo: tea cake", "Cy: van")).details
    return [1 - near("tea", "tea cake"), details["spread"]]


def bert_score(folder: Path) -> list[float]:
    name = models.encoder(folder)
    return [score(f"bert_score:model={name},layer=0", answer("b", "b c")).value or 0.0]


def novelty(folder: Path) -> list[float]:
    """IDF of what one of two documents has: ln(3/2) + 1."""
    new = math.log(3 / 2) + 1
    return [near("cake bread", "cake"), new, 1 + 2 * new]


def likelihood(folder: Path) -> list[float]:
    name = models.causal(folder, {"a": 0.5, "b": 0.25})
    return [score(f"ll:model={name}", reply("A: hello", "B: a b")).value or 0.0, 0.5 * 0.25]


def alignment(folder: Path) -> list[float]:
    half = topics.jensen_shannon(np.array([1.0, 0.0]), np.array([0.5, 0.5]))
    disjoint = topics.jensen_shannon(np.array([1.0, 0.0]), np.array([0.0, 1.0]), base=math.e)
    return [half, 1 - math.sqrt(half), 1 - math.sqrt(disjoint)]


def talks(folder: Path) -> list[float]:
    return [2 / 5, 4 / 10, math.log(3) / math.log(4)]


WORKED: dict[str, Figures] = {
    "turn-taking.md#act-transitions-daf": acts,
    "agenda.md#agenda-completion-acr-pe-cs": coverage,
    "agenda.md#agenda-progress-infocov-infogain-ap": coverage,
    "turn-taking.md#concentration-sc-gini": spreads,
    "likeness.md#likeness-of-context-and-speaker-ls-es": lambda folder: [near("tea cake", "tea")],
    "likeness.md#learned-overlap-bertscore-bleurt-bartscore": bert_score,
    "turn-taking.md#decisions-in-group-chats": talks,
    "likeness.md#lexical-novelty-lnr-lnr-e-lnr-e-w": novelty,
    "likeness.md#likelihood-ll": likelihood,
    "likeness.md#meteor": lambda folder: [10 * 0.6 / (0.6 + 9)],
    "turn-taking.md#participation-nse": lambda folder: [
        score("nse", talk("A: a", "B: b", "A: c")).value or 0.0
    ],
    "likeness.md#speaker-consistency-gscc-dc": lambda folder: [near("tea", "tea cake")],
    "agenda.md#task-success": coverage,
    "agenda.md#topic-alignment-ls-ta": alignment,
}


def shown(figure: str, value: float) -> bool:
    return abs(float(figure) - value) <= 0.5000001 * 10 ** -len(figure.partition(".")[2])


@pytest.mark.parametrize("section", [name for name in SECTIONS if not name.startswith("speed.md")])
def test_a_figure_in_the_text_is_what_it_works_out_to(section: str, tmp_path: Path) -> None:
    written = set(FIGURE.findall(FENCED.sub("", SECTIONS[section])))
    figures = written - GIVEN.get(section, set())
    values = WORKED[section](tmp_path) if figures else []
    assert [one for one in figures if not any(shown(one, value) for value in values)] == []


def test_the_pages_about_models_are_right_where_no_figure_shows_it(tmp_path: Path) -> None:
    """Likelihood, follow-ups and yes-no questions under models without an opinion; dominant topics."""
    causal, seq2seq = models.causal(tmp_path / "causal"), models.seq2seq(tmp_path / "seq2seq")
    scene = reply("A: hello", "B: yes. no.", people=(Participant("B", profile=("likes b",)),))
    assert score(f"ll:model={causal}", scene).value == pytest.approx(1 / models.SIZE, rel=1e-6)
    assert score(f"fed_engaging:model={causal}", scene).value == pytest.approx(0, abs=1e-6)
    assert score(f"fed_relevant:model={causal}", scene).value == pytest.approx(math.log(models.SIZE))
    assert score(f"unieval:model={seq2seq}", scene).value == pytest.approx(0.6)
    main = dominant(np.array([0.6, 0.3, 0.1]), 0.8)
    assert main == [0, 1]
    assert np.delete([0.2, 0.3, 0.5], main).sum() == pytest.approx(0.5)
