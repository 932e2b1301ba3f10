"""Table of the built-in schemes; schemes of one family share a file."""

from annotation.schemes import cocoeval, ratings
from annotation.schemes.definitions import QuestionDefinition, SchemeDefinition
from jobs.tables import Table

SCHEMES: Table[SchemeDefinition] = Table(
    "schemes",
    {
        scheme.key: scheme
        for scheme in (
            ratings.COMPERDIAL_TURN,
            ratings.COMPERDIAL_DIALOGUE,
            cocoeval.BEHAVIOUR_TAGS,
            cocoeval.OVERALL_SCORES,
            cocoeval.BEHAVIOUR_COUNTS,
            ratings.CONSTRAINTS,
            ratings.FED_TURN,
            ratings.FED_DIALOGUE,
            ratings.FED_GPT4,
            ratings.USR,
            ratings.PAIR,
            ratings.RANKING,
        )
    },
)

__all__ = ["SCHEMES", "QuestionDefinition", "SchemeDefinition"]
