"""The built-in schemes, in one table; schemes of one family share a file."""

from annotation.schemes import cocoeval, ratings
from annotation.schemes.base import QuestionDefinition, SchemeDefinition
from suites.continuation import schemes as benchmark_review
from suites.group_chat import schemes as decisions
from suites.long_dialogue import schemes as long_dialogues

SCHEMES: dict[str, SchemeDefinition] = {
    scheme.key: scheme
    for scheme in (
        ratings.COMPERDIAL_TURN,
        ratings.COMPERDIAL_DIALOGUE,
        cocoeval.BEHAVIOUR_TAGS,
        cocoeval.OVERALL_SCORES,
        benchmark_review.SCHEME,
        cocoeval.BEHAVIOUR_COUNTS,
        ratings.CONSTRAINTS,
        ratings.FED_TURN,
        ratings.FED_DIALOGUE,
        ratings.FED_GPT4,
        ratings.USR,
        ratings.PAIR,
        ratings.RANKING,
        decisions.CASCADE,
        decisions.HUMAN,
        decisions.CONDUCT,
        decisions.COMPOSE,
        decisions.GROUND_MOVE,
        decisions.NATURALNESS,
        long_dialogues.FACT,
        long_dialogues.QUIZ,
        long_dialogues.STYLE,
        long_dialogues.ANSWERS,
    )
}

__all__ = ["SCHEMES", "QuestionDefinition", "SchemeDefinition"]
