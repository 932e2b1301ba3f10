"""The metrics, one file a family, in one table.

instrument = instrument_for("m_sns_avg@paper:window=10")
for instrument, turn, score in score_continuation([instrument], dialogue, continuation, Tools()):
    score.value, score.reason
"""

from __future__ import annotations

from collections.abc import Mapping

from judges.metrics import (
    act_transitions,
    agenda_completion,
    agenda_progress,
    alignment,
    bart_score,
    cascade_observed,
    centroids,
    concentration,
    constraints,
    follow_ups,
    learned_overlap,
    lexical,
    likelihood,
    live_talk,
    meteor,
    novelty,
    overlap,
    own_turns,
    participation,
    progression,
    talk_share,
    task_success,
    topic_alignment,
    topic_expansion,
    turn_taking,
    yes_no,
)
from judges.metrics.kit.base import (
    Aspect,
    InputRefused,
    KeyRefused,
    Metric,
    MetricError,
    ModelMissing,
    Parameter,
    Score,
    Settings,
)
from judges.metrics.kit.embedding import DEFAULT_MODEL, Embedder
from judges.metrics.kit.instrument import (
    Content,
    Instrument,
    content_hash,
    corpus_hash,
    parse_key,
    score_continuation,
    split_keys,
)
from judges.metrics.kit.scene import Scene
from judges.metrics.kit.tools import Models, Tools

METRICS: dict[str, Metric] = {
    metric.key: metric
    for family in (
        turn_taking.FAMILY,
        alignment.FAMILY,
        topic_alignment.FAMILY,
        agenda_progress.FAMILY,
        lexical.FAMILY,
        novelty.FAMILY,
        act_transitions.FAMILY,
        likelihood.FAMILY,
        topic_expansion.FAMILY,
        own_turns.FAMILY,
        participation.FAMILY,
        concentration.FAMILY,
        task_success.FAMILY,
        agenda_completion.FAMILY,
        progression.FAMILY,
        centroids.FAMILY,
        overlap.FAMILY,
        meteor.FAMILY,
        learned_overlap.FAMILY,
        bart_score.FAMILY,
        follow_ups.FAMILY,
        yes_no.FAMILY,
        constraints.FAMILY,
        cascade_observed.FAMILY,
        talk_share.FAMILY,
        live_talk.FAMILY,
    )
    for metric in family
}


def aspects() -> list[Aspect]:
    """Return the aspects that metrics have, in the order of the table: that of the papers."""
    return list(dict.fromkeys(metric.aspect for metric in METRICS.values()))


def instrument_for(key: str, shared: Mapping[str, str] | None = None) -> Instrument:
    """Return the instrument that a key such as `hmp@reference:epsilon=0.01` names; raise KeyRefused."""
    return parse_key(key, METRICS, shared)


__all__ = [
    "Aspect",
    "Content",
    "DEFAULT_MODEL",
    "METRICS",
    "Embedder",
    "InputRefused",
    "Instrument",
    "KeyRefused",
    "Metric",
    "MetricError",
    "ModelMissing",
    "Models",
    "Parameter",
    "Scene",
    "Score",
    "Settings",
    "Tools",
    "content_hash",
    "corpus_hash",
    "instrument_for",
    "parse_key",
    "aspects",
    "score_continuation",
    "split_keys",
]
