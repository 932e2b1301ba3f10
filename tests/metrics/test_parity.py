"""The `reference` variants match MPCEval's published code on the 40 meetings."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from judges.metrics import Scene, Score, Tools, instrument_for
from judges.metrics.agendas import cosine_distances, prim
from judges.metrics.participation import spread
from judges.runs.scoring import read

pytestmark = [pytest.mark.shared, pytest.mark.embedding, pytest.mark.exhaustive]

Published = Callable[[str], dict[str, Any]]

PAIRS = [
    ("dnr", "qmsum40_local_speaker_k10_lda", "direct_name_reference", 0.0),
    ("ir", "qmsum40_local_speaker_k10_lda", "implicit_reference", 0.0),
    ("pf", "qmsum40_local_speaker_k10_lda", "participation_frequency", 0.0),
    ("ls_ta", "qmsum40_local_speaker_k10_lda", "topic_alignment", 0.0),
    ("ls_es_avg", "qmsum40_local_speaker_k10_lda", "average_embedding_similarity", 1e-4),
    ("ls_es_max", "qmsum40_local_speaker_k10_lda", "maximum_embedding_similarity", 1e-4),
    ("lscc_es_avg", "qmsum40_lscc_k10_w10", "scc_avg", 1e-4),
    ("lscc_es_max", "qmsum40_lscc_k10_w10", "scc_max", 1e-4),
    ("lscc_es_min", "qmsum40_lscc_k10_w10", "scc_min", 1e-4),
    ("m_sns_avg", "qmsum40_msns_avg_k10", "message_semantic_novelty_avg", 1e-4),
    ("m_sns_min", "qmsum40_msns_min_k10", "message_semantic_novelty_min", 1e-4),
    ("lnr_e_w", "qmsum40_lexical_k10", "lexical_weighted_snr", 1e-4),
]
WHOLE = [
    ("pd", "qmsum40_global_content_eps1e-2", "pd", 1e-4),
    ("hmp", "qmsum40_global_content_eps1e-2", "hmp", 1e-4),
    ("nse", "qmsum40_global_speaker", "nse", 1e-12),
    ("gscc_dc_avg", "qmsum40_global_consistency", "aggregate single avg", 1e-4),
    ("gscc_dc_max", "qmsum40_global_consistency", "aggregate single max", 1e-4),
    ("gscc_dc_avg_multi", "qmsum40_global_consistency", "aggregate multi avg", 1e-4),
    ("gscc_dc_max_multi", "qmsum40_global_consistency", "aggregate multi max", 1e-4),
]


def scenes(path: Path) -> Iterator[Scene]:
    for dialogue in read(path):
        yield Scene(dialogue, dialogue.continuations[0])


@pytest.fixture(scope="module")
def pairs(parity: Path) -> list[Scene]:
    return list(scenes(parity / "inputs" / "qmsum40_pairs_k10.jsonl"))


@pytest.fixture(scope="module")
def meetings(parity: Path, minilm: Tools) -> list[Scene]:
    found = list(scenes(parity / "inputs" / "qmsum40_global"))
    minilm.embed.prepare(turn.text for scene in found for turn in scene.turns)
    return found


def field(record: dict[str, Any], path: str) -> float:
    record = record.get("metrics", record)
    for key in path.split():
        record = record[key]
    return record


@pytest.mark.parametrize(("key", "output", "path", "tolerance"), PAIRS)
def test_a_predicted_turn_has_the_published_value(
    pairs: list[Scene],
    minilm: Tools,
    published: Published,
    key: str,
    output: str,
    path: str,
    tolerance: float,
) -> None:
    expected = published(output)
    instrument = instrument_for(f"{key}@reference")
    values = [instrument.score(scene, 0, minilm).value for scene in pairs]
    assert values == pytest.approx(
        [field(expected[s.dialogue.id], path) for s in pairs], abs=tolerance, rel=0
    )


@pytest.mark.parametrize(("key", "output", "path", "tolerance"), WHOLE)
def test_a_whole_meeting_has_the_published_value(
    meetings: list[Scene],
    minilm: Tools,
    published: Published,
    key: str,
    output: str,
    path: str,
    tolerance: float,
) -> None:
    expected = published(output)
    instrument = instrument_for(f"{key}@reference")
    values = [instrument.score(scene, None, minilm).value for scene in meetings]
    assert values == pytest.approx(
        [field(expected[s.dialogue.id], path) for s in meetings], abs=tolerance, rel=0
    )


def test_novelty_over_a_whole_context_has_the_published_value(
    parity: Path, minilm: Tools, published: Published
) -> None:
    expected = published("qmsum40_lexical_full")
    found = list(scenes(parity / "inputs" / "qmsum40_pairs_full.jsonl"))
    instrument = instrument_for("lnr_e_w@reference")
    minilm.embed.prepare(text for scene in found for text in instrument.texts(scene))
    for scene in found:
        value = instrument.score(scene, 0, minilm).value
        assert value == pytest.approx(expected[scene.dialogue.id]["lexical_weighted_snr"], abs=1e-4)


def test_act_transitions_have_the_published_values_exactly(
    parity: Path, minilm: Tools, published: Published
) -> None:
    expected = published("qmsum40_daf_full")
    path = parity / "inputs" / "qmsum40_pairs_full.jsonl"
    instrument = instrument_for("daf@reference").fit(read(path), minilm)
    for scene in scenes(path):
        value = instrument.score(scene, 0, minilm).value
        assert value == expected[scene.dialogue.id]["dialogue_act_transition_fit"]


ON_ROUNDING = "Bed002 Bed006 Bed009 Bed016 Bmr005 ES2002d ES2004d ES2005a ES2005c ES2005d ES2006a ES2006b"
"""Meetings whose spread hangs on which repeated messages rounding left apart."""
ALSO_SHARES = "Bed002 Bed009 Bmr005 ES2002d ES2006a"
"""Those of them in which the speakers' shares do, too."""
MAY_DIFFER = {"spread": ON_ROUNDING, "global": ALSO_SHARES, "value": ALSO_SHARES, "local": ""}


@pytest.fixture(scope="module")
def concentrations(parity: Path, minilm: Tools) -> dict[str, Score]:
    """Scores of the meetings above, or of all with CONCORD_ALL_MEETINGS=1: padded batches take 5 s each."""
    instrument = instrument_for("sc_gini@reference")
    wanted = "" if os.environ.get("CONCORD_ALL_MEETINGS") else ON_ROUNDING
    found = scenes(parity / "inputs" / "qmsum40_global")
    return {
        scene.dialogue.id: instrument.score(scene, None, minilm)
        for scene in found
        if not wanted or scene.dialogue.id.rpartition("_")[2] in wanted.split()
    }


@pytest.mark.parametrize(
    ("part", "path"),
    [
        ("value", "sgini"),
        ("spread", "global_spread_full"),
        ("global", "sgini_global"),
        ("local", "sgini_local"),
    ],
)
def test_concentration_has_the_published_value(
    concentrations: dict[str, Score], published: Published, part: str, path: str
) -> None:
    """With the published batches of 64, the same repeated messages lose their edges to rounding.

    Which ones hangs on the processor: one that rounds as the published runs did has every figure. On any
    other only what is named above may differ; it does with each of the sets of instructions that were tried
    (AVX-512, AVX2, SSE4), and the bounds of the test below hold.
    """
    expected = published("qmsum40_global_speaker")
    assert len(concentrations) in (12, 40)
    values = {n: f.value if part == "value" else f.details[part] for n, f in concentrations.items()}
    other = {n for n, v in values.items() if v != pytest.approx(expected[n][path], abs=1e-4, rel=0)}
    assert {n.rpartition("_")[2] for n in other} <= set(MAY_DIFFER[part].split())
    if part != "global":
        assert all(abs(v - expected[n][path]) < 0.15 for n, v in values.items())


def test_published_spreads_lie_between_keeping_all_edges_of_length_zero_and_none(
    meetings: list[Scene], minilm: Tools, published: Published
) -> None:
    """On a machine that rounds otherwise `reference` may differ, but never beyond these bounds."""
    expected = published("qmsum40_global_speaker")
    for scene in meetings:
        distances = cosine_distances(minilm.unit(scene))
        kept = prim(distances, np.arange(len(distances))).length / (len(distances) - 1)
        dropped = spread(1.0 - np.where(distances < 1e-6, 0.0, distances))
        assert kept - 1e-6 <= expected[scene.dialogue.id]["global_spread_full"] <= dropped + 1e-6
