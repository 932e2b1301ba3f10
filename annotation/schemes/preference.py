"""Which of two is better on the whole, and in which order several are: the plainest comparisons there are."""

from annotation.schemes.base import QuestionDefinition, SchemeDefinition
from annotation.schemes.comparisons import COMPARISON

SOURCE = "Pairwise comparison as in MT-Bench and Chatbot Arena (Zheng et al. 2023); wording by Concord"

GUIDELINES = """Read what was said before, then all of the responses, and say which one you would rather \
have been given. Judge what they say, not where they stand: the order is drawn for each of you.

A response that is right and to the point is better than one that is longer. Say that both are alike where \
you would not mind which one you got, and that both are bad where you would want neither."""

PAIR = SchemeDefinition(
    key="preference",
    version=1,
    title="Overall preference between two",
    item_kind="pair",
    unit="item",
    introduction="Read both responses, then say which one is better.",
    questions=(
        QuestionDefinition(
            key="preference",
            wording="Which response is better, all in all?",
            level="nominal",
            values=COMPARISON,
        ),
    ),
    guidelines=GUIDELINES,
    source=SOURCE,
)

RANKING = SchemeDefinition(
    key="preference_ranking",
    version=1,
    title="Overall order of several",
    item_kind="ranking",
    unit="item",
    introduction="Read all responses, then put them into an order, best first.",
    questions=(
        QuestionDefinition(
            key="ranking",
            wording="In which order would you put the responses, best first?",
            level="ranking",
        ),
    ),
    guidelines=GUIDELINES,
    source=SOURCE,
)
