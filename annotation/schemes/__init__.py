"""The built-in schemes, one file each, in one table."""

from annotation.schemes import (
    benchmark_review,
    cascade,
    cocoeval_behaviours,
    cocoeval_counts,
    cocoeval_overall,
    comperdial_dialogue,
    comperdial_turn,
    conduct,
    conversation_constraints,
    fed,
    long_dialogue_answers,
    preference,
    script_review,
    usr,
)
from annotation.schemes.base import QuestionDefinition, SchemeDefinition

SCHEMES: dict[str, SchemeDefinition] = {
    scheme.key: scheme
    for scheme in (
        comperdial_turn.SCHEME,
        comperdial_dialogue.SCHEME,
        cocoeval_behaviours.SCHEME,
        cocoeval_overall.SCHEME,
        benchmark_review.SCHEME,
        cocoeval_counts.SCHEME,
        conversation_constraints.SCHEME,
        fed.TURN,
        fed.DIALOGUE,
        fed.GPT4,
        usr.SCHEME,
        preference.PAIR,
        preference.RANKING,
        cascade.SCHEME,
        cascade.HUMAN,
        conduct.CONDUCT,
        conduct.COMPOSE,
        conduct.GROUND,
        conduct.NATURALNESS,
        script_review.FACT,
        script_review.QUIZ,
        script_review.STYLE,
        long_dialogue_answers.SCHEME,
    )
}

__all__ = ["SCHEMES", "QuestionDefinition", "SchemeDefinition"]
