"""Table of all metrics; each family has its own file.

instrument = instrument_for("m_sns_avg@paper:window=10")
for instrument, turn, score in score_continuation([instrument], dialogue, continuation, Tools()):
    score.value, score.reason
"""

from __future__ import annotations

from collections.abc import Mapping

from jobs.tables import Table
from judges.metrics import (
    acts,
    agendas,
    constraints,
    lexical,
    likelihood,
    novelty,
    participation,
    references,
    speakers,
    topics,
    turn_taking,
)
from judges.metrics.kit.instrument import (
    Content,
    Instrument,
    content_hash,
    corpus_hash,
    parse_key,
    score_continuation,
    split_keys,
)
from judges.metrics.kit.metric import (
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
from judges.metrics.kit.models import DEFAULT_MODEL, Embedder
from judges.metrics.kit.tools import Models, Scene, Tools

METRICS: Table[Metric] = Table(
    "metrics",
    {
        metric.key: metric
        for family in (
            turn_taking.FAMILY,
            speakers.ALIGNMENT,
            topics.TOPIC_ALIGNMENT,
            agendas.AGENDA_PROGRESS,
            lexical.FAMILY,
            novelty.FAMILY,
            acts.FAMILY,
            likelihood.FAMILY,
            topics.TOPIC_EXPANSION,
            speakers.OWN_TURNS,
            participation.FAMILY,
            participation.CONCENTRATION,
            agendas.TASK_SUCCESS,
            agendas.AGENDA_COMPLETION,
            novelty.PROGRESSION,
            speakers.CENTROIDS,
            references.OVERLAP,
            references.METEOR,
            references.LEARNED_OVERLAP,
            references.BART_SCORE,
            likelihood.FOLLOW_UPS,
            likelihood.YES_NO,
            constraints.FAMILY,
        )
        for metric in family
    },
)


def aspects() -> list[Aspect]:
    """Return the aspects of all metrics, in the order of the table, which is that of the papers."""
    return list(dict.fromkeys(metric.aspect for metric in METRICS.values()))


def instrument_for(key: str, shared: Mapping[str, str] | None = None) -> Instrument:
    """Return the instrument for a key such as `hmp@reference:epsilon=0.01`; raise KeyRefused if invalid."""
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
