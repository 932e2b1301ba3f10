"""What adjudicators decided: before any other rule unless told otherwise, and as a rule of its own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from calibration.gold.rules.base import Answers, Option, Options, Rule
from calibration.gold.rules.by_scale import default_rule
from calibration.statistics.adjudication import adjudicated_first
from calibration.statistics.core.types import CATEGORIES, ORDERED, Samples
from calibration.statistics.gold import Chosen

NONE = "none"
BY_SCALE = "scale"
"""The fallback that follows each question's scale."""
DECISIONS = "decisions"
"""The option of every other rule that says what becomes of decisions."""
FIRST, IGNORED = "first", "ignored"
WHETHER = Option(
    FIRST,
    "What becomes of what adjudicators decided.",
    {FIRST: "it is the gold label, and the item says so", IGNORED: "as if nothing had been adjudicated"},
)


def before(other: Rule) -> Rule:
    """Return a rule that takes what was decided first, and chooses as the other does for the rest."""

    def choose(answers: Answers, options: Options) -> Chosen:
        chosen = other.choose(answers, options)
        decided = answers.empty or (answers.decisions is not None and answers.decisions.raters)
        if answers.decisions is None or not decided or options.get(DECISIONS) == IGNORED:
            return chosen
        return adjudicated_first(
            answers.ratings, answers.decisions, empty=answers.empty, fallback=chosen, name=other.key
        )

    options = {**other.options, DECISIONS: WHETHER}
    return replace(other, choose=choose, options=options, reads_adjudications=True)


def rule(others: Iterable[Rule]) -> Rule:
    """Return the rule that takes adjudications first and else chooses by one of the others."""
    table = {other.key: other for other in others}

    def fallback(answers: Answers, options: Options) -> str:
        name: str = options["fallback"]
        return default_rule([answers.ratings.level]) if name == BY_SCALE else name

    def choose(answers: Answers, options: Options) -> Chosen:
        assert answers.decisions is not None  # the rule reads adjudications
        name, chosen = fallback(answers, options), None
        if name != NONE:
            chosen = table[name].choose(answers, table[name].checked({}))
        return adjudicated_first(
            answers.ratings, answers.decisions, empty=answers.empty, fallback=chosen, name=name
        )

    def check(answers: Answers, options: Options) -> str:
        name = fallback(answers, options)
        if name != NONE:
            return table[name].unfit(answers, table[name].checked({}))
        decided = answers.empty or (answers.decisions is not None and answers.decisions.raters)
        return "" if decided else "nothing was adjudicated, and no other rule is to choose"

    def samples(options: Options) -> Samples | None:
        name = options["fallback"]
        if name == BY_SCALE:
            return None  # what fits the scale: the mean where it is ordered, else the first
        return "first" if name == NONE else table[name].samples_of(table[name].checked({}))

    def reads_dev(options: Options) -> bool:
        name = options["fallback"]
        return name in table and table[name].reads_dev(table[name].checked({}))

    def slow(options: Options) -> bool:
        name = options["fallback"]
        return name in table and table[name].is_slow(table[name].checked({}))

    choices = {key: other.title for key, other in table.items()}
    return Rule(
        key="adjudicated",
        title="Adjudicated first",
        levels=ORDERED | CATEGORIES,
        needs="a question with values",
        choose=choose,
        explanation="what was decided by adjudication; else another rule chooses, and the item says so",
        support="the share of the raters who say the same; else that of the other rule",
        options={
            "fallback": Option(
                BY_SCALE,
                "The rule for items that were not adjudicated, with its own defaults.",
                {
                    BY_SCALE: "the median on an ordered scale, the majority of categories",
                    **choices,
                    NONE: "no gold label where nothing was adjudicated",
                },
            )
        },
        samples=samples,
        learns_on_dev=reads_dev,
        reads_adjudications=True,
        slow=slow,
        check=check,
    )
