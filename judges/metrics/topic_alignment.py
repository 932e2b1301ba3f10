"""LS-TA: whether the predicted speaker talks about what the context is about."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from annotation.records import Dialogue
from judges.metrics.kit import topics
from judges.metrics.kit.base import (
    HIGHER,
    PAPER,
    REFERENCE,
    SPEAKER,
    Cause,
    Metric,
    Parameter,
    Score,
    Settings,
    scored,
    unscored,
)
from judges.metrics.kit.scene import Scene
from judges.metrics.kit.tools import Tools
from judges.metrics.kit.topics import Mixture, jensen_shannon, renormalised
from judges.metrics.turn_taking import NO_CONTEXT, NO_SPEAKER


def ls_ta(scene: Scene, turn: int | None, settings: Settings, tools: Tools) -> Score:
    """Topic alignment of the speaker with the context: MPCEval eq. 8.

    1 - sqrt(JSD(theta(C_s), theta(C_-k))), theta the mean of the turns' topic mixtures. `paper` takes a topic
    model fitted once on the corpus, and JSD in base 2: range 0 to 1. Undefined where the speaker has no turn,
    or a side has no word that the model knows. `reference` fits an LDA anew for every turn, on the context's
    turns and the speaker's again, takes JSD in base e (so the least value is .167), rounds to 4 decimals, and
    gives 0 where it is undefined.
    """
    assert turn is not None
    target = scene.target(turn)
    blank = settings.is_reference
    context = scene.context(turn, settings.integer("window"), keep_blank=blank)
    own = scene.among(scene.said_by(target.speaker, keep_blank=blank), context, keep_blank=blank)
    if settings.is_reference:
        said = [scene.turns[p].text for p in context]
        return scored(_reference(said, [scene.turns[p].text for p in own], settings.integer("topics")))
    if not target.speaker.strip():
        return unscored(NO_SPEAKER)
    if not own:
        return unscored("the speaker has no turn in the context" if context else NO_CONTEXT)
    turns = topics.of_turns(scene, tools.fitted)
    left, right = turns.mixture(own), turns.mixture(context)
    if not left.any() or not right.any():
        return unscored("the topic model knows no word of the speaker or the context")
    return scored(max(0.0, 1 - math.sqrt(jensen_shannon(left, right))), topic=int(right.argmax()))


def _reference(context: list[str], own: list[str], count: int) -> float:
    """Return the published code's value: 0 where there are no own turns or no words."""
    from sklearn.decomposition import LatentDirichletAllocation
    from sklearn.feature_extraction.text import CountVectorizer

    if not own:
        return 0.0
    vectorizer = CountVectorizer(max_features=topics.VOCABULARY)
    try:
        counts = vectorizer.fit_transform([*context, *own])
    except ValueError:
        return 0.0
    model = LatentDirichletAllocation(
        count, max_iter=topics.ITERATIONS, learning_method="batch", random_state=topics.SEED
    )
    rows = model.fit_transform(counts)
    divergence = jensen_shannon(_mean(rows[: len(context)]), _mean(rows[len(context) :]), base=math.e)
    return round(max(0.0, 1 - math.sqrt(divergence)), 4)


def _mean(rows: Mixture) -> Mixture:
    return renormalised(np.asarray(rows).mean(axis=0))


def _fit(dialogues: Iterable[Dialogue], settings: Settings, tools: Tools) -> topics.TopicModel:
    found = topics.documents(dialogues)
    if settings.text("model") == topics.BERTOPIC:
        return topics.fit_bertopic(found, settings.integer("topic_size"), tools)
    return topics.fit_lda(found, settings.integer("topics"))


CAUSES = {"topic": Cause("topic")}

FAMILY = (
    Metric(
        key="ls_ta",
        title="Topic alignment of speaker and context",
        kind="turn",
        aspect=SPEAKER,
        causes=CAUSES,
        compute=ls_ta,
        low=0.0,
        high=1.0,
        direction=HIGHER,
        needs=frozenset({"speakers", "corpus"}),
        parameters={
            "model": Parameter(topics.LDA, "the topic model", choices=(topics.LDA, topics.BERTOPIC)),
            "topics": Parameter(20, "topics of an LDA", low=2, high=1000),
            "topic_size": Parameter(5, "least documents of a BERTopic topic", low=2),
        },
        variants={PAPER: {}, REFERENCE: {}},
        fit=_fit,
        fit_when=lambda settings: not settings.is_reference,
    ),
)
